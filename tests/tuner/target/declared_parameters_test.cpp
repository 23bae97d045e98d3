// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/parameter_reader.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string names(const std::string& text) {
  const Reading reading(toml(text), {});
  std::string names;
  for (const Declared& each : declared_parameters(reading)) {
    names += each.scope->name + "." + each.name + " ";
  }
  return names;
}

void expect_parameter_error(const std::string& parameter, const std::string& what) {
  EXPECT_THAT([&] { names("parameters.BM = " + parameter); },
              ThrowsMessage<Error>(HasSubstr(what)));
}

TEST(DeclaredParameters, AreTheTargetsThenThoseOfFamiliesPartsFirst) {
  EXPECT_EQ(names(R"(
parameters.A = [1]
parts.tiles.parameters.T = [1]
families.plain.parameters.B = [1]
[families.fast]
parts = ["tiles"]
parameters.C = [1]
)"),
            ".A plain.B fast.T fast.C ");
}

TEST(DeclaredParameters, AreAListOrATable) {
  const Reading reading(toml(R"(
parameters.A = [4, 2]
parameters.B = { from = 1, to = 4, factor = 2, when = "A > 2", run_time = true }
parameters.C = { values = ["x", "y"], as = "text" }
)"),
                        {});
  const std::vector<Declared> all = declared_parameters(reading);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0].values, ElementsAre(Value(4), Value(2)));
  EXPECT_FALSE(all[0].run_time);
  EXPECT_EQ(all[0].when, nullptr);
  EXPECT_THAT(all[1].values, ElementsAre(Value(1), Value(2), Value(4)));
  EXPECT_TRUE(all[1].run_time);
  ASSERT_NE(all[1].when, nullptr);
  EXPECT_EQ(all[1].when->text(), "A > 2");
  EXPECT_EQ(all[2].form, WordForm::text);
}

TEST(DeclaredParameters, HaveTheirValuesFromOnePlace) {
  expect_parameter_error("64", "a.toml:1:17: expected a list, got an integer");
  expect_parameter_error("{ values = [1, 2], from = 1, to = 9, step = 1 }",
                         "a.toml:1:43: give \"values\" or a range, not both");
  expect_parameter_error("{ values = [1, 2], step = 2 }", "give \"values\" or a range, not both");
  expect_parameter_error("{ value = [1, 2] }", "there is no key \"value\" (did you mean values?)");
  expect_parameter_error("{ values = ['a'], as = 'text', run_time = true }",
                         "has no text in the source");
}

}  // namespace
}  // namespace autotune
