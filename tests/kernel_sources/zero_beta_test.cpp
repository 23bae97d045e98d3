// SPDX-License-Identifier: Apache-2.0
// With scale=beta and a beta that is 0 when the kernel runs, no gemm reads C, as in BLAS: there C
// may hold anything.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/verdicts.hpp"

namespace autotune::zero_beta_test {
namespace {

using testing::host;
using testing::named;

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
void expect_c_unread(const DeviceInfo& device, const NamedValues& held, NamedValues settings = {}) {
  const Target& target = testing::gemm();
  settings.push_back({"scale", std::string("beta")});
  const Problem problem = problem_of(target, {{"M", 64}, {"N", 48}, {"K", 256}}, settings);
  const ParameterSpace space = space_of(with_fixed(target, held), problem, device);
  ASSERT_FALSE(space.empty()) << problem.text();
  const Configuration configuration = space.at(space.size() / 2);
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
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
  expect_right_verdict(host().open(workload)->load(kernel, without_beta(plan))->verify());
}

TEST(ZeroBeta, LeavesCUnreadInEveryFamilyOfTheHost) {
  for (const char* const kernel : {"naive", "tiled", "micro"}) {
    expect_c_unread(host().info(), {{"KERNEL", kernel}});
  }
}

TEST(ZeroBeta, LeavesCUnreadHoweverSumsMeet) {
  for (const char* const reduction : {"none", "workspace"}) {
    expect_c_unread(testing::small_gpu(), {{"KERNEL", "fast"}, {"REDUCTION", reduction}});
  }
  expect_c_unread(testing::small_hopper(), named("KERNEL=fast REDUCTION=cluster LOADER=async"));
}

TEST(ZeroBeta, LeavesCUnreadOnTensorCores) {
  const NamedValues f16 = named("dtype=f16"), tf32 = named("math=tf32");
  expect_c_unread(testing::small_gpu(), named("KERNEL=mma"), f16);
  expect_c_unread(testing::small_hopper(), named("KERNEL=wgmma"), f16);
  expect_c_unread(testing::small_gpu(), named("KERNEL=skinny"), named("dtype=f16 layout=NT"));
  expect_c_unread(testing::small_gpu(), named("KERNEL=mma_along_k"), tf32);
  expect_c_unread(testing::small_hopper(), named("KERNEL=wgmma_along_k"), tf32);
  expect_c_unread(testing::small_hopper(), named("KERNEL=split K_GROUPS=1"));
  expect_c_unread(testing::small_hopper(), named("KERNEL=streamed"));
}

}  // namespace
}  // namespace autotune::zero_beta_test
