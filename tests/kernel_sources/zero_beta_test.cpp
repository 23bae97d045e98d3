// SPDX-License-Identifier: Apache-2.0
// With scale=beta and a beta that is 0 when the kernel runs, no gemm reads C, as in BLAS: there C
// may hold anything.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::host;

Target gemm(const std::string& name) {
  return load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name + ".target.toml");
}

NamedValues sizes_of(const Target& target) {
  const std::vector<std::int64_t> all{64, 48, 256}, strided{64, 48, 256, 256, 256, 48, 48},
      batch{2, 64, 48, 256};
  NamedValues values;
  for (const std::vector<std::int64_t>& sizes : {all, batch, strided}) {
    if (sizes.size() != needed_sizes(target)) continue;
    for (std::size_t i = 0; i < sizes.size(); ++i) values.push_back({target.sizes[i], sizes[i]});
  }
  return values;
}

LaunchPlan without_beta(LaunchPlan plan) {
  for (Launch& launch : plan.launches) {
    for (Argument& argument : launch.arguments) {
      auto* const scalar = std::get_if<Scalar>(&argument);
      if (scalar != nullptr && scalar->name == "beta") *scalar = with_value(*scalar, 0);
    }
  }
  return plan;
}

/// The first configuration with these values, whose C is NaN.
void expect_c_unread(const std::string& name, const DeviceInfo& device, const NamedValues& held) {
  const Target target = gemm(name);
  const Problem problem = problem_of(target, sizes_of(target), {{"scale", std::string("beta")}});
  const ParameterSpace space = space_of(with_fixed(target, held), problem, device);
  ASSERT_FALSE(space.empty()) << name << " " << problem.text();
  const Configuration configuration = space.at(space.size() / 2);
  SCOPED_TRACE(name + " " + problem.text() + ": " + to_text(configuration));
  Workload workload = workload_of(target, problem, host().info());
  int changed = 0;
  for (BufferSpec& buffer : workload.buffers) {
    if (buffer.name != "C") continue;
    buffer.fill = Fill::value;
    buffer.fill_values = {std::numeric_limits<double>::quiet_NaN()};
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  workload.reference = without_beta(workload.reference);
  const LaunchPlan plan = launch_plan(target, problem, configuration, device);
  ASSERT_NE(without_beta(plan).launches, plan.launches) << "no kernel takes beta";
  const CompiledKernel kernel = host().compile(source_unit(target, problem, configuration, device));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const Verdict verdict = host().open(workload)->load(kernel, without_beta(plan))->verify();
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

NamedValues value(const char* name, const char* word) { return {{name, std::string(word)}}; }

TEST(ZeroBeta, LeavesCUnreadInEveryFamilyOfTheHost) {
  for (const char* const kernel : {"naive", "tiled", "micro"}) {
    expect_c_unread("gemm", host().info(), value("KERNEL", kernel));
  }
}

TEST(ZeroBeta, LeavesCUnreadHoweverSumsMeet) {
  for (const char* const reduction : {"none", "workspace"}) {
    NamedValues held = value("KERNEL", "fast");
    held.push_back({"REDUCTION", std::string(reduction)});
    expect_c_unread("gemm", testing::small_gpu(), held);
    expect_c_unread("gemm", testing::small_gpu(), held);
  }
  NamedValues cluster = value("KERNEL", "fast");
  cluster.push_back({"REDUCTION", std::string("cluster")});
  cluster.push_back({"LOADER", std::string("async")});
  expect_c_unread("gemm", testing::small_hopper(), cluster);
}

TEST(ZeroBeta, LeavesCUnreadOnTensorCores) {
  for (const char* const name : {"gemm16", "gemm_tf32"}) {
    expect_c_unread(name, testing::small_gpu(), value("KERNEL", "mma"));
    expect_c_unread(name, testing::small_hopper(), value("KERNEL", "wgmma"));
  }
  NamedValues one_group = value("KERNEL", "split");
  one_group.push_back({"K_GROUPS", std::int64_t{1}});
  expect_c_unread("gemm", testing::small_hopper(), one_group);
  expect_c_unread("gemm", testing::small_hopper(), value("KERNEL", "streamed"));
}

}  // namespace
}  // namespace autotune
