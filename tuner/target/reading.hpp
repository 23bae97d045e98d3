// SPDX-License-Identifier: Apache-2.0
// The state of reading a manifest: its scopes and the names that they declare.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/names.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

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
  /// with empty braces.
  std::string with_values(const ManifestScope& scope, const Node& node,
                          std::vector<Expression>& values);

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
/// Whether a compiler option depends on the configuration: by braces, or as a table.
bool is_configured(const Node& option);
/// The options that do.
void read_configured_options(Reading& reading, Target& target);
/// Kernels, those that prepare and check, and the reference.
void read_launches(Reading& reading, Target& target);

}  // namespace autotune
