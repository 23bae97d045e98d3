// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/reading.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Reading reading(const std::string& text) { return {toml(text), {}}; }

void expect_reading_error(const std::string& text, const std::string& what) {
  EXPECT_THAT([&] { reading(text); }, ThrowsMessage<Error>(HasSubstr(what)));
}

TEST(Reading, AFamilyHasTheKeysOfItsPartsAndItsOwnOnTop) {
  const Reading read = reading(R"(
family = "KERNEL"
parts.tiles = { main = "tiled", let = "t = 1" }
families.fast = { parts = ["tiles"], main = "fast" }
)");
  EXPECT_EQ(read.family_parameter, "KERNEL");
  ASSERT_EQ(read.scopes.size(), 2u);
  EXPECT_EQ(read.target().name, "");
  const ManifestScope& fast = read.scopes[1];
  EXPECT_EQ(fast.name, "fast");
  EXPECT_EQ(fast.all("main").size(), 2u);
  EXPECT_EQ(fast.last("main")->text(), "fast");
  EXPECT_EQ(fast.last("let")->text(), "t = 1");
  EXPECT_EQ(fast.last("when"), nullptr);
}

TEST(Reading, FamiliesAndPartsThatMakeNoSenseAreRefused) {
  expect_reading_error("families = {}", "there are no families: leave the key out");
  expect_reading_error("families.f.parts = [\"a\"]", "there is no part a (there are none)");
  expect_reading_error("parts.tiles.main = 'f'\nfamilies.f.parts = [\"tile\"]",
                       "there is no part tile (did you mean tiles?)");
  expect_reading_error("families.f.sizes = ['N']", "\"sizes\" is a key of the target");
  expect_reading_error("parts.a.mains = 'f'\nfamilies.f.parts = ['a']", "did you mean main?");
}

TEST(Reading, APartThatUsesOtherPartsIsRefused) {
  expect_reading_error("parts.a.main = 'f'\nparts.b.parts = ['a']\nfamilies.f.parts = ['b']",
                       "a.toml:2:17: a part cannot use other parts: list them all in the family");
}

}  // namespace
}  // namespace autotune
