// SPDX-License-Identifier: Apache-2.0
// Every target that ships computes the right thing on the host device: configurations that
// together hold every value of every parameter, for the first values of each setting, at sizes that
// no tile divides.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/offered_size.hpp"
#include "tests/support/shipped_manifests.hpp"
#include "tests/support/verdicts.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/check.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune::host_test {
namespace {

using testing::host;

/// $AUTOTUNE_TEST_CONFIGURATIONS, for a deeper look than every build takes.
std::size_t most_configurations() {
  const char* const text = std::getenv("AUTOTUNE_TEST_CONFIGURATIONS");
  return text ? std::strtoul(text, nullptr, 10) : 6;
}

/// Of four sizes, the last one is a batch.
NamedValues sizes_of(const Target& target, bool are_odd) {
  const std::map<std::size_t, std::vector<std::int64_t>> odd{
      {1, {70001}}, {2, {61, 131}}, {3, {61, 131, 67}}, {4, {61, 131, 67, 1}}};
  const std::map<std::size_t, std::vector<std::int64_t>> even{
      {1, {131072}}, {2, {64, 256}}, {3, {64, 256, 32}}, {4, {64, 256, 32, 2}}};
  const std::vector<std::int64_t>& sizes = (are_odd ? odd : even).at(target.sizes.size());
  NamedValues values;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    values.push_back({target.sizes[i], offered_size(target, i, sizes[i])});
  }
  return values;
}

void expect_right(const Target& target, const Problem& problem, std::size_t most) {
  const ParameterSpace space = space_of(target, problem, host().info());
  const auto workbench = host().open(workload_of(target, problem, host().info()));
  for (const std::size_t i : covering_configurations(
           space, *space.find(valid_default(target, problem, host().info())), most)) {
    SCOPED_TRACE(problem.text() + ": " + to_text(space.at(i)));
    const CompiledKernel kernel =
        host().compile(source_unit(target, problem, space.at(i), host().info()));
    ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
    const auto candidate =
        workbench->load(kernel, launch_plan(target, problem, space.at(i), host().info()));
    expect_right_verdict(candidate->verify());
  }
}

bool is_offered(const Target& target, const NamedValues& sizes, const NamedValues& settings) try {
  space_of(target, problem_of(target, sizes, settings), host().info());
  return true;
} catch (const UsageError&) {
  return false;
}

/// The i-th value of every setting that has so many, as far as they go together: the values are
/// seen together, not one by one.
NamedValues other_settings(const Target& target, const NamedValues& sizes, std::size_t i) {
  NamedValues settings;
  for (const Setting& setting : target.settings) {
    if (i >= setting.values.size()) continue;
    settings.push_back({setting.name, setting.values[i]});
    if (!is_offered(target, sizes, settings)) settings.pop_back();
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
    const NamedValues settings = other_settings(target, odd, i);
    if (!settings.empty()) expect_right(target, problem_of(target, odd, settings), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Shipped, testing::ValuesIn(shipped_manifests()),
                         [](const auto& each) {
                           return each.param.parent_path().filename().string();
                         });

}  // namespace
}  // namespace autotune::host_test
