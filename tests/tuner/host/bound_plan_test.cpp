// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/bound_plan.hpp"

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

TEST(HostPlan, ArgumentsThatTheKernelDoesNotTakeAreALaunchError) {
  const auto device = make_host_device(test_cache());
  const auto expect_refused = [&](const char* text, const char* why) {
    const KernelCase one{.text = text};
    const auto bench = device->open(one.workload());
    expect_kernel_failure([&] { bench->load(device->compile(one.unit()), one.plan()); },
                          Outcome::launch_error, why);
  };
  expect_refused("extern \"C\" __global__ void kernel(const int* in, int* out) {}\n",
                 "kernel: it takes 2 arguments, not 3");
  expect_refused("extern \"C\" __global__ void kernel(const int* in, int n, int* out) {}\n",
                 "argument 2 has 8 bytes, and the kernel's parameter 4");
  expect_refused("extern \"C\" __global__ void kernel(const int* in, int* out, float n) {}\n",
                 "argument 3 is i32, parameter 3 of kernel is float");
}

TEST(HostPlan, ScalarsArriveAsTheyAre) {
  const auto device = make_host_device(test_cache());
  KernelCase scalars{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n, long long big, float f,
                                      double d) {
      const bool right = big == (1ll << 40) && f == 0.5f && d == 0.1;
      for (int i = 0; i < n; ++i) out[i] = right ? in[i] : 12345;
    })"};
  LaunchPlan plan = scalars.plan();
  plan.launches[0].arguments.push_back(Scalar{ElementType::i64, std::int64_t{1} << 40, 0});
  plan.launches[0].arguments.push_back(Scalar{ElementType::f32, 0, 0.5});
  plan.launches[0].arguments.push_back(Scalar{ElementType::f64, 0, 0.1});
  const auto bench = device->open(scalars.workload());
  expect_right_verdict(bench->load(device->compile(scalars.unit()), plan)->verify());
}

/// The kernel reads the map with what emulates TMA in kernels' headers.
TEST(HostPlan, TensorMapsDescribeTheirBuffer) {
  const auto device = make_host_device(test_cache());
  KernelCase maps{.text = R"(
    #include "device/bulk_copy.cuh"
    extern "C" __global__ void kernel(const int* in, int* out, int n,
                                      const __grid_constant__ TensorMap map) {
      __shared__ __align__(128) int box[16];
      __shared__ CopyBarrier barrier;
      const SharedAddress filled = shared_address(&barrier);
      for (int y = 0; y < 8; y += 4) {
        for (int x = 0; x < 8; x += 4) {
          init(filled);
          expect(filled, sizeof box);
          copy_box(shared_address(box), map, x, y, filled);
          wait_for(filled, 0);
          for (int i = 0; i < 16; ++i) out[(y + i / 4) * 8 + x + i % 4] = box[i];
        }
      }
    })",
                  .expected = "i % 8 < 7 && i / 8 < 6 ? in[i] : 0"};
  LaunchPlan plan = maps.plan();
  plan.launches[0].arguments.push_back(TensorMap{0, {7, 6}, {32}, {4, 4}, 0});
  const auto bench = device->open(maps.workload());
  expect_right_verdict(bench->load(device->compile(maps.unit()), plan)->verify());
  plan.launches[0].arguments.back() = TensorMap{0, {2, 2, 2, 2}, {8, 16, 32}, {2, 2, 2, 2}, 0};
  EXPECT_THROW(bench->load(device->compile(maps.unit()), plan), KernelFailure);
}

TEST(HostPlan, ConstantMemoryHoldsTheBufferOfEachCall) {
  const auto device = make_host_device(test_cache());
  // Named like a function of the C library, which must not be found in its place.
  const KernelCase constant{.text = R"(
    __constant__ int stdin[64];
    extern "C" __global__ void kernel(const int*, int* out, int n) {
      for (int i = 0; i < n; ++i) out[i] = stdin[i];
    })"};
  const auto bench = device->open(constant.workload());
  const CompiledKernel kernel = device->compile(constant.unit());
  ASSERT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  LaunchPlan plan = constant.plan();
  EXPECT_EQ(bench->load(kernel, plan)->verify().outcome, Outcome::wrong);
  plan.constants = {{0, "stdin"}};
  expect_right_verdict(bench->load(kernel, plan)->verify(2));
  plan.constants = {{0, "other"}};
  EXPECT_THROW(bench->load(kernel, plan), KernelFailure);
}

TEST(HostPlan, TheReferenceReadsConstantMemoryWhereItHasAny) {
  const auto device = make_host_device(test_cache());
  const KernelCase copy{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      for (int i = 0; i < n; ++i) out[i] = in[i];
    })"};
  for (const char* text : {"__constant__ int table[64];\n", "#define table ((const int*)0)\n"}) {
    Workload workload = copy.workload();
    workload.reference_source.text = text + std::string(R"(
          extern "C" __global__ void reference(const int* in, int* out, int n) {
            for (int i = 0; i < n; ++i) out[i] = (table ? table : in)[i];
          })");
    workload.reference.constants = {{0, "table", true}};
    const auto bench = device->open(workload);
    expect_right_verdict(bench->load(device->compile(copy.unit()), copy.plan())->verify());
  }
}

TEST(HostPlan, AConstantShorterThanItsBufferIsRefused) {
  const auto device = make_host_device(test_cache());
  const KernelCase constant{.text = R"(
    __constant__ int table[63];
    extern "C" __global__ void kernel(const int*, int* out, int n) {
      for (int i = 0; i < n; ++i) out[i] = table[i % 63];
    })"};
  const auto bench = device->open(constant.workload());
  LaunchPlan plan = constant.plan();
  plan.constants = {{0, "table"}};
  EXPECT_REFUSAL(KernelFailure, bench->load(device->compile(constant.unit()), plan),
                 "table has 252 bytes, and the argument 256");
}

}  // namespace
}  // namespace autotune
