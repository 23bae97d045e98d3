// SPDX-License-Identifier: Apache-2.0
// Every target that ships computes the right thing on the host device: configurations that
// together hold every value of every parameter, for the first values of each setting, at sizes that
// no tile divides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/support/shipped_manifests.hpp"
#include "tuner/core/target.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/target/covering.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

/// $AUTOTUNE_TEST_CONFIGURATIONS, for a deeper look than every build takes.
std::size_t most_configurations() {
  const char* const text = std::getenv("AUTOTUNE_TEST_CONFIGURATIONS");
  return text ? std::strtoul(text, nullptr, 10) : 6;
}

Device& host() {
  static const std::unique_ptr<Device> device = make_host_device(
      std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"), {.optimization = "-O1"});
  return *device;
}

/// For a target of up to four sizes. Of seven, the last four are leading dimensions; of twelve the
/// last four are distances of matrices.
NamedValues sizes_of(const Target& target, bool are_odd) {
  static const std::vector<std::int64_t> kOddBatch{3,  37, 41,   29,   37,   43,
                                                   41, 43, 1400, 1801, 1517, 1600};
  const std::map<std::size_t, std::vector<std::int64_t>> odd{{1, {70001}},
                                                             {2, {61, 131}},
                                                             {3, {61, 131, 67}},
                                                             {4, {3, 37, 41, 29}},
                                                             {7, {61, 131, 67, 67, 139, 131, 133}},
                                                             {12, kOddBatch}};
  const std::map<std::size_t, std::vector<std::int64_t>> even{
      {1, {131072}},
      {2, {64, 256}},
      {3, {64, 256, 32}},
      {4, {2, 64, 32, 32}},
      {7, {64, 256, 32, 32, 260, 256, 264}},
      {12, {2, 64, 32, 32, 32, 40, 32, 48, 2048, 1280, 2048, 3072}}};
  const std::vector<std::int64_t>& sizes = (are_odd ? odd : even).at(target.sizes.size());
  NamedValues values;
  for (std::size_t i = 0; i < sizes.size(); ++i) values.push_back({target.sizes[i], sizes[i]});
  return values;
}

void expect_right(const Target& target, const Problem& problem, std::size_t most) {
  const ParameterSpace space = space_of(target, problem, host().info());
  const auto workbench = host().open(workload_of(target, problem, host().info()));
  for (const std::size_t i : covering_configurations(space, default_index(target, space), most)) {
    SCOPED_TRACE(problem.text() + ": " + to_text(space.at(i)));
    const CompiledKernel kernel =
        host().compile(source_unit(target, problem, space.at(i), host().info()));
    ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
    const auto candidate =
        workbench->load(kernel, launch_plan(target, problem, space.at(i), host().info()));
    const Verdict verdict = candidate->verify();
    EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
  }
}

/// The i-th value of every setting that has so many: the values are seen together, not one by one.
NamedValues other_settings(const Target& target, std::size_t i) {
  NamedValues settings;
  for (const Setting& setting : target.settings) {
    if (i < setting.values.size()) settings.push_back({setting.name, setting.values[i]});
  }
  return settings;
}

class Shipped : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Shipped, IsRightOnTheHost) {
  const Target target = load_manifest(GetParam());
  const NamedValues odd = sizes_of(target, true), even = sizes_of(target, false);
  expect_right(target, problem_of(target, odd, {}), most_configurations());
  expect_right(target, problem_of(target, even, {}), most_configurations());
  for (std::size_t i = 1; i < 6; ++i) {
    const NamedValues settings = other_settings(target, i);
    if (!settings.empty()) expect_right(target, problem_of(target, odd, settings), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Shipped, testing::ValuesIn(shipped_manifests()),
                         [](const auto& each) {
                           return each.param.parent_path().filename().string();
                         });

}  // namespace
}  // namespace autotune
