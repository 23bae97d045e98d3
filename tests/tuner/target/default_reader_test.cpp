// SPDX-License-Identifier: Apache-2.0
// The default configuration of a target.
#include <gmock/gmock.h>

#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/reading.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The default configuration of a manifest of parameters and families alone.
std::string default_of(const std::string& text) {
  Reading reading(toml(text), {});
  Target target;
  read_parameters(reading, target);
  read_default(reading, target);
  std::string all = to_text(target.default_configuration);
  for (const Configuration& each : target.other_defaults) all += "; " + to_text(each);
  return all;
}

void expect_default_error(const std::string& text, const std::string& what) {
  EXPECT_THAT([&] { default_of(text); }, ThrowsMessage<Error>(HasSubstr(what)));
}

constexpr const char* kFamilies = R"(
parameters.SPLIT = [1, 2]
parts.tiles = { parameters.BM = [32, 64], default.BM = 64 }
families.plain.parameters.BM = [16, 128]
families.plain.parameters.VEC = [4, 8]
families.fast.parts = ["tiles"]
families.fast.parameters.STAGES = [2, 3]
)";

TEST(DefaultReader, AParameterTakesItsFirstValueUnlessAnotherIsNamed) {
  EXPECT_EQ(default_of("parameters.A = [4, 2]\nparameters.B = [8, 16]\ndefault.B = 16"),
            "A=4 B=16");
}

TEST(DefaultReader, AValueIsMeantAsAPersonWritesIt) {
  EXPECT_EQ(default_of("parameters.A = [0.5, 1]\nparameters.B = [false, true]\n"
                       "default = { A = 1, B = true }"),
            "A=1.0 B=1");
}

TEST(DefaultReader, TheFirstFamilyIsTheDefaultWithItsOwnFirstValues) {
  EXPECT_EQ(default_of(kFamilies), "FAMILY=plain SPLIT=1 BM=16 VEC=4 STAGES=2");
}

TEST(DefaultReader, ThePartsOfTheChosenFamilyHaveDefaultsToo) {
  EXPECT_EQ(default_of(kFamilies + std::string("families.fast.default.STAGES = 3\n"
                                               "default = { FAMILY = 'fast', SPLIT = 2 }")),
            "FAMILY=fast SPLIT=2 BM=64 VEC=4 STAGES=3");
}

TEST(DefaultReader, AListOfFamiliesGivesADefaultOfEach) {
  EXPECT_EQ(default_of(kFamilies + std::string("families.fast.default.STAGES = 3\n"
                                               "default = { FAMILY = ['fast', 'plain'] }")),
            "FAMILY=fast SPLIT=1 BM=64 VEC=4 STAGES=3; FAMILY=plain SPLIT=1 BM=16 VEC=4 STAGES=2");
  expect_default_error(kFamilies + std::string("default = { FAMILY = ['fast', 'slow'] }"),
                       "slow is not a value of the parameter");
  expect_default_error(kFamilies + std::string("default = { FAMILY = [] }"), "expected");
}

TEST(DefaultReader, WhatIsNotAParameterOrNotItsValueIsRefused) {
  expect_default_error("parameters.BLOCK = [64]\ndefault.BLOC = 64",
                       "a.toml:2:16: there is no such parameter (did you mean BLOCK?)");
  expect_default_error("parameters.BLOCK = [64]\ndefault.BLOCK = 100",
                       "100 is not a value of the parameter");
  expect_default_error("parameters.BLOCK = [64]\ndefault = 64", "expected a table, got an integer");
  expect_default_error(kFamilies + std::string("default.FAMILY = 'slow'"),
                       "slow is not a value of the");
}

TEST(DefaultReader, AParameterOfAFamilyHasItsDefaultThere) {
  expect_default_error(kFamilies + std::string("default.STAGES = 3"),
                       "STAGES belongs to the family fast: set it in the default of that family");
  expect_default_error(kFamilies + std::string("families.plain.default.STAGES = 3"),
                       "STAGES belongs to the family fast");
}

}  // namespace
}  // namespace autotune
