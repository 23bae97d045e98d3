// SPDX-License-Identifier: Apache-2.0
// The state of reading a manifest: its scopes and the names that they declare.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/access.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"
#include "tuner/target/statements.hpp"

namespace autotune {

// The names that a manifest declares, and their meaning in each scope.

/// The names that an expression may use: those of a problem only, or of a configuration, too.
enum class NameLevel : std::uint8_t { problem, configuration };

/// Names of the target (scope "") are visible everywhere, names of a family only in that family.
/// Every function throws Error with the place.
class Names {
 public:
  /// Declares the `device.` names.
  Names();

  /// Declares a size, setting, parameter, or the size of a type (`dtype_bytes`). Several families
  /// may declare the same parameter.
  void declare(const Node& place, const std::string& name, NameLevel level,
               const std::vector<Value>& values = {}, const std::string& scope = "");
  /// Declares a buffer, scalar or tensor map, among which expressions may choose. Returns its full
  /// name, such as `fast.partial`.
  std::string declare_handle(const Node& place, const std::string& name,
                             const std::string& scope = "");
  /// Declares a definition or function, which may use later ones. The value of a free size is
  /// replaced by that of a call.
  void define(const Definition& definition, const std::string& scope, bool is_macro);

  /// All definitions, each after those that it uses. The caller adds `when` and guards.
  struct Defined {
    std::string scope;
    DefineSpec spec;
    Node place;
  };
  std::vector<Defined> definitions();

  /// Parses the excerpt. It may name handles only if `handles`.
  Expression expression(const Excerpt& excerpt, NameLevel level, const std::string& scope = "",
                        bool handles = false);
  Expression expression(const Node& node, NameLevel level, const std::string& scope = "");
  /// An expression whose value is an integer.
  Expression integer(const Excerpt& excerpt, NameLevel level, const std::string& scope = "");
  Expression integer(const Node& node, NameLevel level, const std::string& scope = "");
  /// Of a key of a table; nullopt if it is missing.
  std::optional<Expression> integer_in(const Node& table, std::string_view key, NameLevel level,
                                       const std::string& scope = "");
  /// A kernel's access to one of its buffers.
  AccessSpec access(const Excerpt& excerpt, const std::string& scope = "");

  /// From now on, or no longer, expressions of a configuration may use `turn` and `turns`. Throws
  /// Error at the place if the manifest has declared one of these names.
  void allow_turns(const Node& place);
  void forbid_turns() { has_turns_ = false; }

 private:
  struct Entry {
    enum class Kind : std::uint8_t { value, handle, definition, function } kind = Kind::value;
    std::string name;  // in expressions: `fast.shared`
    NameLevel level = NameLevel::problem;
    ValueKind value_kind = ValueKind::integer;
    std::vector<std::string> words;
    std::shared_ptr<const FunctionText> function;
    std::optional<Definition> definition;
    std::optional<Expression> value;  // of a definition, once it is parsed
    bool is_macro = false;
    Node place;
  };

  Entry& add(const Node& place, const std::string& name, const std::string& scope);
  Entry* find(const std::string& name, const std::string& scope);
  NameMeaning meaning(const std::string& name, NameLevel level, const std::string& scope,
                      bool handles);
  void parse(Entry& entry, const std::string& scope);
  static std::string short_name_of(const std::string& name);
  void check_function(const Entry& entry, const std::string& scope);
  std::string reason_unknown(const std::string& name, const std::string& scope, bool handles) const;
  std::string path_to_parameter(const Entry& entry) const;

  std::map<std::string, std::map<std::string, Entry>> scopes_;
  std::vector<std::pair<std::string, std::string>> defined_;  // scope and name, in file order
  std::vector<const Entry*> path_;                            // definitions being parsed
  std::vector<Defined> parsed_;
  bool has_turns_ = false;
};

/// The target itself, or a family with the parts that it uses.
struct ManifestScope {
  std::string name;          // empty for the target
  std::vector<Node> tables;  // the parts, then the family itself
  /// Holds in configurations of this family; empty for the target.
  std::optional<Expression> guard = {};

  /// The values of a key in all tables, in order.
  std::vector<const Node*> all(std::string_view key) const;
  /// The last of them, which has precedence, or nullptr.
  const Node* last(std::string_view key) const;
};

struct Reading {
  Reading(Node root, std::filesystem::path folder);

  /// `expression` if the scope's guard holds, else `otherwise`.
  static Expression guarded(const ManifestScope& scope, const Expression& expression,
                            std::int64_t otherwise);
  const ManifestScope& target() const { return scopes.front(); }
  /// A list of expressions, or a single one, in a scope.
  std::vector<Expression> integers(const ManifestScope& scope, const Node& node, std::size_t fewest,
                                   std::size_t most);

  /// Text with an expression in each pair of braces, which are appended to `values`. Returns it
  /// with empty braces. `{{` and `}}` are braces themselves.
  std::string with_values(const ManifestScope& scope, const Node& node,
                          std::vector<Expression>& values);
  /// The same, but braces that `literal` knows stay as the text that it returns.
  using Literal = std::function<std::optional<std::string>(const std::string& inside)>;
  std::string with_values(const ManifestScope& scope, const Node& node,
                          std::vector<Expression>& values, const Literal& literal);

  Node root;
  std::filesystem::path folder;
  Names names;
  std::vector<ManifestScope> scopes;  // the target, then its families
  std::string family_parameter;       // empty without families
};

/// The functions that read a problem and its space must be called in this order.
void read_problem(Reading& reading, Target& target);
void read_parameters(Reading& reading, Target& target);
void read_definitions(Reading& reading, Target& target);
/// The leasts of free sizes, and what the target requires of a problem.
void read_rules(Reading& reading, Target& target);
/// The `when` of each parameter; these expressions may use definitions.
void read_conditions(Reading& reading, Target& target);
void read_space(Reading& reading, Target& target);
void read_default(Reading& reading, Target& target);

/// Declares the names of arguments, workspace and tensor maps. Must be called first, so that
/// definitions cannot take these names.
void declare_handles(Reading& reading);
/// Arguments, workspace and tensor maps.
void read_arguments(Reading& reading, Target& target);
/// Whether a target is a command that runs, not kernels that are launched. Throws Error for a key
/// that such a target has not.
bool runs_commands(const Node& root);
/// Whether a compiler option depends on the configuration: by braces, or as a table.
bool is_configured(const Node& option);
/// The options that do.
void read_configured_options(Reading& reading, Target& target);
/// Kernels, those that prepare and check, and the reference.
void read_launches(Reading& reading, Target& target);

}  // namespace autotune
