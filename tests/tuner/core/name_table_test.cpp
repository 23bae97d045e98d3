// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/name_table.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Parameters X = 1, 2, 4 and Y = 10, 20; constant N = 100; PITCH = N + X; ROWS = N / (Y - 20).
NameTable table(std::optional<FixedLevel> fixed = std::nullopt) {
  const std::vector<Parameter> parameters{
      {.name = "X", .values = {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}, .when = {}},
      {.name = "Y", .values = {std::int64_t{10}, std::int64_t{20}}, .when = {}}};
  const std::vector<DefineSpec> defines{{"PITCH", Expression::parse("N + X")},
                                        {"ROWS", Expression::parse("N / (Y - 20)")},
                                        {"AREA", Expression::parse("PITCH * 2")}};
  Scope constants;
  constants.bind("N", 100);
  const std::vector<std::string> given{"tx"};
  return {parameters, defines, constants, given, fixed};
}

std::int64_t value(NameTable& names, const char* text, const std::vector<std::uint16_t>& levels,
                   std::int64_t given = 0) {
  const Formula formula = names.bind(Expression::parse(text));
  const std::vector<std::int64_t> passed{given};
  return names.value(formula, names.slots(levels, passed, names.schedule(formula)));
}

TEST(NameTable, ComputesParametersDefinitionsAndGivenNames) {
  NameTable names = table();
  EXPECT_EQ(value(names, "X", {2, 0}), 4);
  EXPECT_EQ(value(names, "PITCH", {1, 0}), 102);
  EXPECT_EQ(value(names, "AREA + Y", {0, 1}), 222);
  EXPECT_EQ(value(names, "tx * 3", {0, 0}, 7), 21);
}

TEST(NameTable, WhatHangsOnNothingIsComputedOnce) {
  NameTable names = table();
  const Formula fixed = names.bind(Expression::parse("N * 2"));
  EXPECT_TRUE(fixed.is_fixed());
  EXPECT_THAT(names.schedule(fixed), IsEmpty());
  EXPECT_FALSE(names.bind(Expression::parse("N * X")).is_fixed());
}

TEST(NameTable, OnlyWhatAFormulaNeedsIsScheduled) {
  NameTable names = table();
  EXPECT_THAT(names.schedule(names.bind(Expression::parse("AREA"))), ElementsAre(0, 2));
  EXPECT_THAT(names.schedule(names.bind(Expression::parse("X + Y"))), IsEmpty());
  EXPECT_THAT(names.parameters_of(names.bind(Expression::parse("AREA"))), ElementsAre(true, false));
}

TEST(NameTable, AFixedParameterIsAConstant) {
  NameTable names = table(FixedLevel{0, 2});
  const Formula pitch = names.bind(Expression::parse("PITCH"));
  EXPECT_TRUE(pitch.is_fixed());
  EXPECT_EQ(names.value(pitch, names.initial()), 104);
}

TEST(NameTable, ADefinitionWithoutAValueIsToBlame) {
  NameTable names = table();
  const Formula formula = names.bind(Expression::parse("ROWS + 1"));
  const std::vector<std::uint16_t> levels{0, 1};
  const std::vector<std::int64_t> given{0};
  const Slots slots = names.slots(levels, given, names.schedule(formula));
  EXPECT_FALSE(formula.value(slots).has_value());
  EXPECT_EQ(names.culprit(formula, slots).expression().text(), "N / (Y - 20)");
  EXPECT_THAT(names.explain(formula, slots).what(), HasSubstr("N / (Y - 20)"));
  EXPECT_THROW(names.value(formula, slots), ExpressionError);
}

TEST(NameTable, AnUnknownNameIsRefused) {
  NameTable names = table();
  EXPECT_THROW(names.bind(Expression::parse("PITHC")), Error);
}

}  // namespace
}  // namespace autotune
