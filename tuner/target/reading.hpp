// SPDX-License-Identifier: Apache-2.0
// A manifest while it is read: its scopes, and the names that they declare.
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

/// The target itself, or a family with the parts that it takes over: keys are looked up in all.
struct ManifestScope {
  std::string name;          // empty of the target
  std::vector<Node> tables;  // parts first
  /// True in configurations of this family; none of the target's.
  std::optional<Expression> guard = {};

  /// Every value of a key, in order.
  std::vector<const Node*> all(std::string_view key) const;
  /// The last, nullptr where there is none.
  const Node* last(std::string_view key) const;
};

struct Reading {
  Reading(Node root, std::filesystem::path folder, int format);

  /// The scope's expression where its guard holds, `otherwise` elsewhere.
  static Expression guarded(const ManifestScope& scope, const Expression& expression,
                            std::int64_t otherwise);
  const ManifestScope& target() const { return scopes.front(); }
  /// A list of expressions, or a single one, in a scope.
  std::vector<Expression> integers(const ManifestScope& scope, const Node& node, std::size_t fewest,
                                   std::size_t most);

  Node root;
  std::filesystem::path folder;
  int format;
  Names names;
  std::vector<ManifestScope> scopes;  // the target, then its families
  std::string family_parameter;       // empty without families
};

/// The parts of a problem and its space, in the order in which they must be read.
void read_problem(Reading& reading, Target& target);
void read_parameters(Reading& reading, Target& target);
void read_definitions(Reading& reading, Target& target);
/// When each parameter has a meaning; the expressions may use definitions.
void read_conditions(Reading& reading, Target& target);
void read_space(Reading& reading, Target& target);
void read_default(Reading& reading, Target& target);

/// Arguments, workspace and tensor maps: their names, which definitions may not have, first.
void declare_handles(Reading& reading);
/// Arguments, workspace and tensor maps.
void read_arguments(Reading& reading, Target& target);
/// Kernels, those that prepare and check, and the reference.
void read_launches(Reading& reading, Target& target);

}  // namespace autotune
