// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/old_names.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/support/shipped_manifests.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

TEST(SameSources, AreThoseOfTodaysTargetsAndNoneIsStillToday) {
  std::set<std::string, std::less<>> todays;
  for (const auto& manifest : shipped_manifests()) {
    const Target target = load_manifest(manifest);
    todays.insert({target.fingerprint, target.space_fingerprint});
  }
  for (const SameSource& each : same_sources()) {
    EXPECT_TRUE(todays.contains(each.is)) << each.was << ": no target is " << each.is << " now";
    EXPECT_FALSE(todays.contains(each.was)) << each.was;
  }
}

TEST(SameSources, ASpaceIsTheSameAsItselfAndAsTheOneInTheTable) {
  const std::string was(same_sources().back().was), is(same_sources().back().is);
  EXPECT_TRUE(is_same_space(was, is));
  EXPECT_TRUE(is_same_space(is, is));
  EXPECT_FALSE(is_same_space(is, was));
  EXPECT_FALSE(is_same_space("unknown", is));
}

}  // namespace
}  // namespace autotune
