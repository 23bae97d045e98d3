// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/target.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// DEPTH means something where LOADER is async.
Target loader() {
  Target target;
  target.name = "loader";
  target.sizes = {"N"};
  target.parameters = {{"LOADER", {"plain", "async"}, {}},
                       {"DEPTH", {1, 2, 4}, Expression::parse("LOADER == 'async'")}};
  target.default_configuration = {{"LOADER", "plain"}, {"DEPTH", 1}};
  return target;
}

std::vector<std::string> configurations(const Target& target) {
  const ParameterSpace space = space_of(target, problem_of(target, {{"N", 1}}, {}), {});
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < space.size(); ++i) texts.push_back(to_text(space.at(i)));
  return texts;
}

void expect_error(const NamedValues& fixed, const std::string& what) {
  EXPECT_THAT([&] { with_fixed(loader(), fixed); }, ThrowsMessage<UsageError>(HasSubstr(what)));
}

TEST(ProblemText, LeavesOutTheSettingsThatAreAtTheirDefault) {
  Target target = loader();
  target.settings = {{"dtype", {"f32", "f64"}}, {"batch", {1, 2}}};
  const auto text = [&](const NamedValues& chosen) {
    return problem_text(target, problem_of(target, {{"N", 1}}, chosen));
  };
  EXPECT_EQ(text({}), "N=1");
  EXPECT_EQ(text({{"batch", 2}, {"dtype", "f32"}}), "N=1 batch=2");
  EXPECT_EQ(text({{"batch", 2}, {"dtype", "f64"}}), "N=1 dtype=f64 batch=2");
  // Of a problem that was stored before the target had `dtype`, and had another setting.
  EXPECT_EQ(problem_text(target, {parse_named_values("N=1 batch=1 order=fixed")}),
            "N=1 order=fixed");
}

TEST(ConfigurationText, LeavesOutWhatMeansNothing) {
  const Target target = loader();
  const Problem problem = problem_of(target, {{"N", 1}}, {});
  const auto text = [&](const char* stored) {
    return configuration_text(target, problem, stored, {});
  };
  EXPECT_EQ(text("LOADER=plain DEPTH=1"), "LOADER=plain");
  EXPECT_EQ(text("LOADER=async DEPTH=2"), "LOADER=async DEPTH=2");
  for (const char* const other : {"DEPTH=2", "of another tool", ""}) EXPECT_EQ(text(other), other);
}

TEST(ConfigurationText, AWhenMayNameDefinesElementSizesAndTheDevice) {
  Target target = loader();
  target.settings = {{"dtype", {"f32", "f64"}}};
  target.defines = {{"ASYNC", Expression::parse("LOADER == 'async'")}};
  target.parameters[1].when =
      Expression::parse("ASYNC && dtype_bytes == 4 && device.max_threads > 512");
  DeviceInfo device;
  device.max_threads_per_block = 1024;
  const auto text = [&](const char* dtype, const DeviceInfo& on) {
    const Problem problem = problem_of(target, {{"N", 1}}, {{"dtype", dtype}});
    return configuration_text(target, problem, "LOADER=async DEPTH=1", on);
  };
  EXPECT_EQ(text("f32", device), "LOADER=async DEPTH=1");
  EXPECT_EQ(text("f64", device), "LOADER=async");
  device.max_threads_per_block = 256;
  EXPECT_EQ(text("f32", device), "LOADER=async");
}

TEST(FixedParameters, LeaveTheConfigurationsThatHaveTheValue) {
  EXPECT_EQ(configurations(loader()).size(), 4u);
  EXPECT_THAT(configurations(with_fixed(loader(), {{"DEPTH", 2}})),
              ElementsAre("LOADER=async DEPTH=2"));
  EXPECT_THAT(configurations(with_fixed(loader(), {{"LOADER", "plain"}})),
              ElementsAre("LOADER=plain DEPTH=1"));
}

TEST(FixedParameters, OutOfMeaningDoNotCount) {
  EXPECT_THAT(configurations(with_fixed(loader(), {{"DEPTH", 1}})),
              ElementsAre("LOADER=async DEPTH=1"));
}

TEST(FixedParameters, ThatNothingUsesAreNamed) {
  Target both = loader();
  both.parameters[0].values = {"async", "plain"};
  const Target target = with_fixed(both, {{"LOADER", "plain"}, {"DEPTH", 1}});
  EXPECT_THAT(space_of(target, problem_of(target, {{"N", 1}}, {}), {}).why_empty(),
              HasSubstr("\"DEPTH is used\""));
}

TEST(FixedParameters, ChangeNeitherMacrosNorWordNumbers) {
  const Target target = with_fixed(loader(), {{"LOADER", "async"}});
  EXPECT_EQ(target.parameters[0].values.size(), 2u);
}

TEST(FixedParameters, UnknownNamesAndValuesAreAnsweredWithNearOnes) {
  expect_error({{"DEPTHS", 2}}, "loader has no parameter DEPTHS (did you mean DEPTH?");
  expect_error({{"LOADER", "asynk"}}, "LOADER=asynk is not offered (did you mean async?");
  expect_error({{"DEPTH", 3}}, "DEPTH=3 is not offered (there are: 1, 2, 4)");
  expect_error({{"DEPTH", 2}, {"DEPTH", 4}}, "DEPTH is fixed twice");
}

TEST(Sizes, ThatAreLeftOutHaveTheirDefault) {
  Target target;
  target.name = "t";
  target.sizes = {"M", "batch", "group"};
  EXPECT_EQ(needed_sizes(target), 3u);
  target.size_rules = {{}, {.if_absent = 1}, {.multiple = 2, .if_absent = 4}};
  EXPECT_EQ(needed_sizes(target), 1u);
  const auto all = [&](std::vector<std::int64_t> given) { return all_sizes(target, given); };
  EXPECT_THAT(all({7}), ElementsAre(7, 1, 4));
  EXPECT_THAT(all({7, 5}), ElementsAre(7, 5, 4));
  EXPECT_THAT(all({7, 5, 6, 8}), ElementsAre(7, 5, 6, 8)) << "too many stay too many";
  EXPECT_THAT(all({}), testing::IsEmpty()) << "too few stay too few";
  EXPECT_EQ(problem_of(target, {{"M", 7}, {"group", 6}}, {}).text(), "M=7 batch=1 group=6");
  EXPECT_THAT(
      [&] {
        problem_of(target, {{"batch", 1}}, {});
      },
      ThrowsMessage<UsageError>(HasSubstr("size M is missing")));
}

}  // namespace
}  // namespace autotune
