// SPDX-License-Identifier: Apache-2.0
// Every target that ships computes the right thing on the GPU: configurations that together hold
// every value of every parameter, at sizes that no tile divides and at ones that all do.
#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <thread>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/offered_size.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/check.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"

namespace autotune {
namespace {

class ShippedTargets : public Gpu, public testing::WithParamInterface<std::string> {
 protected:
  struct Count {
    int right = 0, refused = 0, wrong = 0;
    double best = std::numeric_limits<double>::infinity();
  };

  static std::vector<CompiledKernel> compile_all(const std::vector<SourceUnit>& units) {
    std::vector<CompiledKernel> kernels(units.size());
    on_all_cores(units.size(), [&](std::size_t i) { kernels[i] = device().compile(units[i]); });
    return kernels;
  }

  static Count judge(const Target& target, const Problem& problem, std::size_t most) {
    const DeviceInfo& info = device().info();
    const ParameterSpace space = space_of(target, problem, info);
    const auto chosen =
        covering_configurations(space, *space.find(valid_default(target, problem, info)), most);
    std::vector<SourceUnit> units;
    for (const std::size_t i : chosen) {
      units.push_back(source_unit(target, problem, space.at(i), info));
    }
    const std::vector<CompiledKernel> kernels = compile_all(units);
    const auto bench = device().open(workload_of(target, problem, info));
    Count count;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Configuration configuration = space.at(chosen[i]);
      SCOPED_TRACE(target.name + " " + problem.text() + ": " + to_text(configuration));
      EXPECT_EQ(kernels[i].outcome, Outcome::ok) << kernels[i].log;
      if (kernels[i].outcome != Outcome::ok) continue;
      try {
        const auto candidate =
            bench->load(kernels[i], launch_plan(target, problem, configuration, info));
        const Verdict verdict = candidate->verify();
        EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
        ++(verdict.outcome == Outcome::ok ? count.right : count.wrong);
        count.best = std::min(count.best, candidate->time(20, L2State::hot).seconds);
      } catch (const KernelFailure& failure) {
        // Registers can be more than the manifest's estimate: a session makes a row of it.
        EXPECT_EQ(failure.outcome(), Outcome::launch_error) << failure.what();
        ++count.refused;
      }
    }
    return count;
  }

  static NamedValues sizes_of(const Target& target, const std::vector<std::int64_t>& sizes) {
    NamedValues values;
    for (std::size_t i = 0; i < target.sizes.size(); ++i) {
      const std::int64_t wanted = sizes[std::min(i, sizes.size() - 1)];
      values.push_back({target.sizes[i], offered_size(target, i, wanted)});
    }
    return values;
  }
};

/// The manifests' paths, relative to the sources. A test each, so that processes can share them.
std::vector<std::string> shipped_manifests() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder() / "kernel_sources")) {
    if (!entry.path().string().ends_with(".target.toml")) continue;
    paths.push_back(entry.path().lexically_relative(source_folder()).string());
  }
  std::ranges::sort(paths);
  return paths;
}

using Sizes = std::vector<std::int64_t>;

const std::map<std::size_t, std::vector<Sizes>>& sizes_by_rank() {
  static const std::map<std::size_t, std::vector<Sizes>> all = {
      {1, {{70001}, {1 << 22}}},
      {2, {{61, 131}, {1024, 1024}}},
      {3, {{61, 131, 67}, {512, 512, 512}}},
      {4, {{61, 131, 67, 1}, {512, 512, 512, 1}, {37, 41, 29, 3}, {128, 128, 128, 8}}}};
  return all;
}

TEST_P(ShippedTargets, AreRight) {
  const Target target = load_manifest(source_folder() / GetParam());
  const std::vector<Sizes>& all_sizes = sizes_by_rank().at(target.sizes.size());
  for (const Sizes& sizes : all_sizes) {
    const Problem problem = problem_of(target, sizes_of(target, sizes), {});
    const Count count = judge(target, problem, 30);
    EXPECT_GT(count.right, 0);
    figure(format("{} {}", target.name, problem.text()),
           format("{} right, {} wrong, {} refused, best {}", count.right, count.wrong,
                  count.refused, time_text(count.best)),
           "0 wrong");
  }
  const auto odd = sizes_of(target, all_sizes.front());
  for (const Setting& setting : target.settings) {
    for (std::size_t i = 1; i < setting.values.size(); ++i) {
      const Problem problem = problem_of(target, odd, {{setting.name, setting.values[i]}});
      const TargetProgram program(target, problem, device().info());
      if (!program.refusal().empty()) continue;  // not with the defaults of other settings
      EXPECT_GT(judge(target, problem, 6).right, 0) << problem.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTargets, testing::ValuesIn(shipped_manifests()),
                         [](const auto& info) {
                           const std::string file =
                               std::filesystem::path(info.param).filename().string();
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace autotune
