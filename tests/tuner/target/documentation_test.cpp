// SPDX-License-Identifier: Apache-2.0
// The example of docs/manifest.md is a manifest.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

TEST(Documentation, ItsExampleLoadsAndPlansALaunch) {
  std::ifstream page(AUTOTUNE_SOURCE_DIR "/docs/manifest.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string all = text.str();
  const std::size_t start = all.find("```toml\n") + 8;
  ASSERT_LT(start, all.size());
  const ScratchFolder folder;
  folder.write("axpy.cu", "");
  const Target target = load_manifest(
      folder.write("axpy.target.toml", all.substr(start, all.find("```", start) - start)));
  const Problem problem = problem_of(target, {{"N", 1000}}, {});
  const DeviceInfo device;
  const ParameterSpace space = space_of(target, problem, device);
  EXPECT_EQ(space.size(), 16u);
  const LaunchPlan plan =
      launch_plan(target, problem, valid_default(target, problem, device), device);
  EXPECT_EQ(plan.launches[0].grid.x, 4);
}

}  // namespace
}  // namespace autotune
