// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/declared_parameters.hpp"

#include "tuner/target/value_reader.hpp"

namespace autotune {
namespace {

Declared declared(const ManifestScope& scope, const std::string& name, const Node& node) {
  Declared made{name, &scope, node, {}};
  if (!node.is(Node::Kind::table)) {
    made.values = listed_values(node, name);
    return made;
  }
  node.expect_keys({"values", "from", "to", "factor", "step", "when", "run_time", "as"});
  const Node* const values = node.find("values");
  for (const char* const key : {"from", "to", "factor", "step"}) {
    if (values && node.has(key)) node[key].fail("give \"values\" or a range, not both");
  }
  made.values = values && is_text(node) ? listed_texts(*values, name, made.texts)
                : values                ? listed_values(*values, name)
                                        : ranged_values(node);
  if (!values && ends_by_problem(node)) made.most = node.find("to");
  made.when = node.find("when");
  if (const Node* const run_time = node.find("run_time")) made.run_time = run_time->flag();
  made.form = form_of(node, made.values);
  if (made.run_time && made.form != WordForm::number) {
    node["as"].fail("a run_time parameter is not compiled in, so it has no text in the source");
  }
  return made;
}

}  // namespace

std::vector<Declared> declared_parameters(const Reading& reading) {
  std::vector<Declared> all;
  for (const ManifestScope& scope : reading.scopes) {
    for (const Node* const parameters : scope.all("parameters")) {
      for (const auto& [name, node] : parameters->members()) {
        all.push_back(declared(scope, name, node));
      }
    }
  }
  return all;
}

}  // namespace autotune
