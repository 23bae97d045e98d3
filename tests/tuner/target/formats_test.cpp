// SPDX-License-Identifier: Apache-2.0
// Shipped manifests of format 2 against their forerunners of format 1.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

DeviceInfo a_gpu(int capability, int multiprocessors) {
  DeviceInfo device;
  device.name = "a GPU";
  device.kind = DeviceKind::cuda;
  device.compute_capability = capability;
  device.multiprocessors = multiprocessors;
  device.shared_bytes_per_block = capability == 90 ? 227 << 10 : 99 << 10;
  return device;
}

std::string key_of(const NamedValues& values) {
  std::set<std::string> parts;
  for (const NamedValue& each : values) parts.insert(each.name + "=" + each.value.text());
  std::string text;
  for (const std::string& part : parts) text += part + " ";
  return text;
}

class Formats : public testing::TestWithParam<std::string> {};

TEST_P(Formats, MeanTheSame) {
  const fs::path folder = fs::path(AUTOTUNE_SOURCE_DIR "/kernel_sources") / GetParam();
  const Target one = load_manifest(folder / (GetParam() + ".target.json"));
  const Target two = load_manifest(folder / (GetParam() + ".target.toml"));
  DeviceInfo host;
  host.kind = DeviceKind::host;
  host.multiprocessors = 4;
  std::minstd_rand random(7);
  std::size_t valid = 0, plans = 0;
  const char* const rounds = std::getenv("FORMATS_ROUNDS");
  for (int round = 0; round < (rounds ? std::atoi(rounds) : 6); ++round) {
    NamedValues sizes, settings;
    static constexpr int kSizes[] = {512, 1024, 128, 97, 640, 2048, 333, 4096};
    const int base = kSizes[random() % 8];
    for (const std::string& name : one.sizes) {
      sizes.push_back({name, name == "BATCH"     ? 16
                             : random() % 3 == 0 ? kSizes[random() % 8]
                                                 : base});
    }
    for (const Setting& setting : one.settings) {
      if (random() % 3 == 0) {
        settings.push_back({setting.name, setting.values[random() % setting.values.size()]});
      }
    }
    const DeviceInfo device = round % 3 == 2   ? host
                              : round % 3 == 1 ? a_gpu(86, 30)
                                               : a_gpu(90, 132);
    const Problem problem = problem_of(one, sizes, settings);
    SCOPED_TRACE(problem.text() + " on " + device.name);
    const ParameterSpace first = space_of(one, problem, device);
    const ParameterSpace second = space_of(two, problem, device);
    ASSERT_EQ(first.size(), second.size());
    valid += first.size();
    ASSERT_EQ(work_of(one, problem, device).flops, work_of(two, problem, device).flops);
    ASSERT_EQ(work_of(one, problem, device).bytes, work_of(two, problem, device).bytes);
    ASSERT_EQ(buffers_of(one, problem, device), buffers_of(two, problem, device));
    ASSERT_EQ(scalars_of(one, problem, device), scalars_of(two, problem, device));
    if (first.empty()) continue;
    EXPECT_EQ(key_of(active_values(one, problem, first.at(default_index(one, first)), device)),
              key_of(active_values(two, problem, second.at(default_index(two, second)), device)));
    const TargetProgram a(one, problem, device), b(two, problem, device);
    for (int sample = 0; sample < 300; ++sample) {
      const Configuration chosen = first.at(random() % first.size());
      Configuration same;
      for (const Parameter& parameter : two.parameters) {
        same.push_back({parameter.name, *find_value(chosen, parameter.name)});
      }
      const auto index = second.find(same);
      ASSERT_TRUE(index) << to_text(chosen);
      const LaunchPlan left = a.plan(a.levels(chosen)), right = b.plan(b.levels(same));
      ASSERT_EQ(left, right) << to_text(chosen);
      ASSERT_EQ(a.reference_plan(a.levels(chosen)).launches,
                b.reference_plan(b.levels(same)).launches);
      const auto left_needs = a.estimates(a.levels(chosen));
      const auto right_needs = b.estimates(b.levels(same));
      ASSERT_EQ(left_needs.registers.value_or(0), right_needs.registers.value_or(0));
      ASSERT_EQ(left_needs.shared_bytes.value_or(0), right_needs.shared_bytes.value_or(0));
      std::istringstream mine(b.source_unit(b.levels(same)).prelude);
      const std::string theirs = "\n" + a.source_unit(a.levels(chosen)).prelude;
      for (std::string line; std::getline(mine, line);) {
        ASSERT_NE(theirs.find("\n" + line + "\n"), std::string::npos) << line << to_text(chosen);
      }
      ++plans;
    }
  }
  std::cout << GetParam() << ": " << valid << " valid, " << plans << " plans\n";
}

INSTANTIATE_TEST_SUITE_P(Targets, Formats,
                         testing::Values("vector_add", "matrix_add", "transpose", "reduction",
                                         "stencil", "convolution_2d", "gemm_batched", "gemm"));

}  // namespace
}  // namespace autotune
