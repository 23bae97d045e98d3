// SPDX-License-Identifier: Apache-2.0
// The names that a manifest declares, and their meaning in each scope.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/core/access.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/target/statements.hpp"

namespace autotune {

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

}  // namespace autotune
