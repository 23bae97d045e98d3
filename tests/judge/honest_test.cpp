// SPDX-License-Identifier: Apache-2.0
// The judge refuses no valid configuration of the kernels that ship, nor of the examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/source_folder.hpp"
#include "tuner/session/kernel_judge.hpp"
#include "tuner/target/candidate.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
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
  return needed_sizes(target) >= 3 ? 32 : needed_sizes(target) == 2 ? 200 : 2000;
}

/// The device of a run: `host`, or a GPU's.
std::string device_spec() {
  const char* const given = std::getenv("AUTOTUNE_TEST_HONEST_DEVICE");
  return given ? given : "host";
}

/// A valid configuration of a target, before the judge.
struct Honest {
  fs::path manifest;
  Target candidate;
  JudgeRequest request;
  std::unique_ptr<CompileRequests> ahead = nullptr;
};

std::vector<Honest> honest_kernels(const DeviceInfo& device) {
  const char* const seed = std::getenv("AUTOTUNE_TEST_SEED");
  std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 7);
  std::vector<Honest> kernels;
  for (const fs::path& manifest : manifests()) {
    const auto target = std::make_shared<const Target>(load_manifest(manifest));
    const bool has_files =  // which belong to one size
        std::ranges::any_of(target->arguments,
                            [](const ArgumentSpec& each) { return each.file.has_value(); });
    if (!target->check_kernels.empty() || has_files) continue;
    const Problem problem = problem_from(*target, size_of(*target), {});
    const ParameterSpace space = space_of(*target, problem, device);
    for (int i = 0; i < variants() && space.size() > 0; ++i) {
      Target variant = *target;
      variant.default_configuration = space.at(random() % space.size());
      variant.other_defaults.clear();
      variant.sized_defaults.clear();
      JudgeRequest request{.problems = {problem}, .seed = random(), .own_sizes = 2};
      request.policy.context = default_context(device.kind);
      request.policy.playoff_seconds = 0.1;
      request.repeat_seconds = 0.05;
      kernels.push_back({manifest, candidate_for(target, std::move(variant)), std::move(request)});
    }
  }
  return kernels;
}

TEST(JudgeOfHonestKernels, RefusesNoValidConfigurationOfWhatShips) {
  const auto device = make_worker_device(
      device_spec(), std::make_shared<BuildCache>(BuildCache::default_folder()),
      {.least_seconds = 10, .most_seconds = 120, .readable = {source_folder().string()}});
  CompilePool pool(*device, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
  std::vector<Honest> kernels = honest_kernels(device->info());
  constexpr std::size_t kAhead = 12;
  std::size_t next = 0;
  int judged = 0, right = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  constexpr double kSlow = 10;
  for (Honest& each : kernels) {
    for (; next < kernels.size() && &kernels[next] < &each + kAhead; ++next) {
      Honest& later = kernels[next];
      later.ahead = std::make_unique<CompileRequests>(pool);
      for (SourceUnit& unit : units_of(later.candidate, later.request, device->info())) {
        later.ahead->prefetch(std::move(unit));
      }
    }
    const double before = seconds();
    const KernelJudgement judgement = judge_kernel(each.candidate, each.request, *device, pool);
    each.ahead.reset();
    const bool is_unusable = judgement.outcome == Outcome::launch_error ||
                             judgement.outcome == Outcome::invalid;  // for the device: not refused
    right += judgement.ruling == Ruling::right ? 1 : 0;
    const std::string what =
        each.manifest.string() + ": " +
        configuration_text(each.candidate, each.request.problems[0],
                           each.candidate.default_configuration, device->info());
    if (is_unusable || seconds() - before > kSlow) {
      std::cout << what << ": " << seconds() - before << " s, " << name_of(judgement.outcome)
                << ": " << judgement.why << joined(judgement.notes, "; ") << std::endl;
    }
    if (++judged % 20 == 0 || judged == static_cast<int>(kernels.size())) {
      std::cout << judged << " kernels were judged in " << seconds() << " s, " << right
                << " are right" << std::endl;
    }
    EXPECT_TRUE(judgement.ruling == Ruling::right || is_unusable)
        << what << ": " << name_of(judgement.ruling) << ": " << judgement.where << ": "
        << judgement.why;
  }
  EXPECT_GE(kernels.size(), 10u);
}

}  // namespace
}  // namespace autotune::testing
