// SPDX-License-Identifier: Apache-2.0
// The judge refuses no valid configuration of the kernels that ship, nor of the examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/session/kernel_judge.hpp"
#include "tuner/target/candidate.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> manifests() {
  std::vector<fs::path> found;
  for (const char* const folder : {"kernel_sources", "examples/kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_folder() / folder)) {
      if (entry.path().string().ends_with(".target.toml")) found.push_back(entry.path());
    }
  }
  return found;
}

/// How many variants of each target; 200 of all in a long run.
int variants() {
  const char* const given = std::getenv("AUTOTUNE_TEST_HONEST");
  return given ? std::atoi(given) : 1;
}

/// Little work, as most of it is on one core here.
std::int64_t size_of(const Target& target) {
  return needed_sizes(target) >= 3 ? 96 : needed_sizes(target) == 2 ? 200 : 5000;
}

/// The device of a run: `host`, or a GPU's.
std::string device_spec() {
  const char* const given = std::getenv("AUTOTUNE_TEST_HONEST_DEVICE");
  return given ? given : "host";
}

TEST(JudgeOfHonestKernels, RefusesNoValidConfigurationOfWhatShips) {
  const auto device =
      make_worker_device(device_spec(), std::make_shared<BuildCache>(BuildCache::default_folder()));
  CompilePool pool(*device, 2);
  std::mt19937_64 random(7);
  JudgeRequest request;
  request.own_sizes = 1;
  request.policy.context = default_context(device->info().kind);
  request.policy.playoff_seconds = 0.1;
  request.repeat_seconds = 0.05;
  int judged = 0, right = 0;
  for (const fs::path& manifest : manifests()) {
    const auto target = std::make_shared<const Target>(load_manifest(manifest));
    const bool has_files =  // which belong to one size
        std::ranges::any_of(target->arguments,
                            [](const ArgumentSpec& each) { return each.file.has_value(); });
    if (!target->check_kernels.empty() || has_files) continue;
    const Problem problem = problem_from(*target, size_of(*target), {});
    const ParameterSpace space = space_of(*target, problem, device->info());
    std::cout << target->name << ' ' << judged << std::endl;
    for (int i = 0; i < variants() && space.size() > 0; ++i) {
      Target variant = *target;
      variant.default_configuration = space.at(random() % space.size());
      variant.other_defaults.clear();
      request.problems = {problem};
      request.seed = random();
      const KernelJudgement judgement =
          judge_kernel(candidate_for(target, std::move(variant)), request, *device, pool);
      const bool is_usable = judgement.outcome == Outcome::launch_error ||
                             judgement.outcome == Outcome::invalid;  // for the device: not refused
      ++judged;
      right += judgement.ruling == Ruling::right ? 1 : 0;
      EXPECT_TRUE(judgement.ruling == Ruling::right || is_usable)
          << manifest << ": " << name_of(judgement.ruling) << ": " << judgement.where << ": "
          << judgement.why;
    }
  }
  std::cout << judged << " kernels were judged, " << right << " are right\n";
  EXPECT_GE(judged, 10);
}

}  // namespace
}  // namespace autotune::testing
