// SPDX-License-Identifier: Apache-2.0
// Kernels launched on a program's own memory, as the runtime library does it.
#include "tuner/gpu/on_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {
namespace {

class PreparedKernelTest : public Gpu {};

TEST_F(PreparedKernelTest, WorkspaceIsFilledAsTheManifestSays) {
  constexpr std::int64_t kLength = 1 << 20;
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, const int* counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = counters[i] == 0 ? 1.0f : -1.0f;
})"));
  LaunchPlan plan;
  plan.workspace = {{"counters", ElementType::i32, kLength, Role::workspace, Fill::zero, 0, {}}};
  Launch launch;
  launch.entry = "kernel";
  launch.grid.x = kLength / 256;
  launch.block.x = 256;
  launch.arguments = {BufferRef{0}, BufferRef{1}};
  plan.launches = {launch};
  {
    const DeviceMemory dirt(64 << 20);  // what the workspace is likely to be allocated from
    ASSERT_EQ(cudaMemset(dirt.get(), 0xFF, 64 << 20), cudaSuccess);
  }
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, kLength, Role::output, Fill::random, 0, {}}});
  const DeviceMemory out(kLength * std::int64_t{sizeof(float)});
  void* const addresses[] = {out.get()};
  prepared.launch(addresses, {}, nullptr);
  std::vector<float> got(kLength);
  ASSERT_EQ(cudaMemcpy(got.data(), out.get(), kLength * sizeof(float), cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(got, std::vector<float>(kLength, 1.0f));
}

/// Microseconds of a node, the least of 30 launches of a graph.
double node_microseconds(cudaGraphExec_t graph, int nodes) {
  const Stream stream = make_stream();
  const Event begin = make_event(), end = make_event();
  float least = 1e9F;
  for (int i = 0; i < 30; ++i) {
    float milliseconds = 0;
    cudaEventRecord(begin.get(), stream.get());
    cudaGraphLaunch(graph, stream.get());
    cudaEventRecord(end.get(), stream.get());
    cudaEventSynchronize(end.get());
    cudaEventElapsedTime(&milliseconds, begin.get(), end.get());
    least = std::min(least, milliseconds);
  }
  return least * 1e3 / nodes;
}

/// In a process of its own: what slows the graphs down lasts until it ends.
TEST_F(PreparedKernelTest, WorkspacesDoNotSlowDownTheGraphsOfTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto slowed = [this] {
    const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, const int* a, const int* b) { out[0] = a[0]; })"));
    LaunchPlan plan;
    plan.workspace = {{"a", ElementType::i32, 1 << 20, Role::workspace, Fill::zero, 0, {}},
                      {"b", ElementType::i32, 1 << 20, Role::workspace, Fill::random, 0, {}}};
    Launch launch;
    launch.entry = "kernel";
    launch.arguments = {BufferRef{0}, BufferRef{1}, BufferRef{2}};
    plan.launches = {launch};
    const std::vector<BufferSpec> buffers = {
        {"out", ElementType::f32, 1, Role::output, Fill::random, 0, {}}};
    const DeviceMemory out(sizeof(float));
    void* const addresses[] = {out.get()};
    PreparedKernel first(0, *kernel.binary, plan, buffers);
    const Stream stream = make_stream();
    constexpr int kNodes = 400;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < kNodes; ++i) first.launch(addresses, {}, stream.get());
    cudaStreamEndCapture(stream.get(), &captured);
    cudaGraphInstantiate(&graph, captured, 0);
    const double before = node_microseconds(graph, kNodes);
    std::vector<std::unique_ptr<PreparedKernel>> others;
    for (int i = 0; i < 40; ++i) {
      others.push_back(std::make_unique<PreparedKernel>(0, *kernel.binary, plan, buffers));
      others.back()->launch(addresses, {}, stream.get());
    }
    const double after = node_microseconds(graph, kNodes);
    std::fprintf(stderr, "%.3f us before, %.3f after", before, after);
    return before < 0.1 || after > 1.08 * before;
  };
  EXPECT_EXIT(std::_Exit(slowed() ? 1 : 0), testing::ExitedWithCode(0), "us before");
}

TEST_F(PreparedKernelTest, ScalarsOfTheCallerTakeThePlaceOfThoseOfTheirNames) {
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, float alpha, int n, double beta) {
  out[threadIdx.x] = alpha * threadIdx.x + n + float(beta);
})"));
  LaunchPlan plan;
  Launch launch;
  launch.entry = "kernel";
  launch.block.x = 4;
  launch.arguments = {BufferRef{0}, Scalar{ElementType::f32, 0, 1, "alpha"},
                      Scalar{ElementType::i32, 100, 0}, Scalar{ElementType::f64, 0, 0, "beta"}};
  plan.launches = {launch};
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, 4, Role::output, Fill::random, 0, {}}});
  const DeviceMemory out(4 * sizeof(float));
  void* const addresses[] = {out.get()};
  const auto launched = [&](std::vector<Scalar> scalars) {
    prepared.launch(addresses, scalars, nullptr);
    std::vector<float> got(4);
    EXPECT_EQ(cudaMemcpy(got.data(), out.get(), 4 * sizeof(float), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return got;
  };
  EXPECT_EQ(launched({}), (std::vector<float>{100, 101, 102, 103}));
  const Scalar alpha{ElementType::f32, 0, 10, "alpha"}, beta{ElementType::f64, 0, -100, "beta"};
  EXPECT_EQ(launched({alpha, beta}), (std::vector<float>{0, 10, 20, 30}));
  EXPECT_EQ(launched({beta}), (std::vector<float>{0, 1, 2, 3}));
}

/// With each launch other addresses, then again those before: what is passed follows.
TEST_F(PreparedKernelTest, AddressesMayChangeFromCallToCall) {
  const CompiledKernel kernel = compiled(unit_of(R"(
__constant__ float factor[1];
extern "C" __global__ void kernel(float* out, const float* in) {
  out[threadIdx.x] = factor[0] * in[threadIdx.x];
})"));
  LaunchPlan plan;
  Launch launch;
  launch.entry = "kernel";
  launch.block.x = 4;
  launch.arguments = {BufferRef{0}, BufferRef{1}};
  plan.launches = {launch};
  plan.constants = {{2, "factor", false}};
  const auto buffer = [](const char* name, std::int64_t length, Role role) {
    return BufferSpec{name, ElementType::f32, length, role, Fill::random, 0, {}};
  };
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {buffer("out", 4, Role::output), buffer("in", 4, Role::input),
                           buffer("factor", 1, Role::input)});
  const auto filled = [](std::vector<float> values) {
    DeviceMemory memory(static_cast<std::int64_t>(values.size() * sizeof(float)));
    EXPECT_EQ(cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(float),
                         cudaMemcpyHostToDevice),
              cudaSuccess);
    return memory;
  };
  const DeviceMemory one = filled({1, 2, 3, 4}), two = filled({5, 6, 7, 8});
  const DeviceMemory thrice = filled({3}), negative = filled({-1});
  const DeviceMemory outs[] = {filled({0, 0, 0, 0}), filled({0, 0, 0, 0})};
  const auto launched = [&](int out, const DeviceMemory& in, const DeviceMemory& factor) {
    void* const addresses[] = {outs[out].get(), in.get(), factor.get()};
    prepared.launch(addresses, {}, nullptr);
    std::vector<float> got(4);
    EXPECT_EQ(cudaMemcpy(got.data(), outs[out].get(), 4 * sizeof(float), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return got;
  };
  EXPECT_EQ(launched(0, one, thrice), (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(launched(1, two, thrice), (std::vector<float>{15, 18, 21, 24}));
  EXPECT_EQ(launched(1, two, negative), (std::vector<float>{-5, -6, -7, -8}));
  EXPECT_EQ(launched(0, one, thrice), (std::vector<float>{3, 6, 9, 12}));
}

TEST_F(PreparedKernelTest, OneBufferAfterTheOtherMayBeConstant) {
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void copy_a(float* out, const float* a) { out[0] = a[0]; }
extern "C" __global__ void copy_b(float* out, const float* b) { out[1] = b[0]; })",
                                                 {"copy_a", "copy_b"}));
  Launch first, second;
  first.entry = "copy_a";
  first.arguments = {BufferRef{0}, BufferRef{1}};
  first.with_constant = {{"a", {0, 1, 1}}};
  second.entry = "copy_b";
  second.arguments = {BufferRef{0}, BufferRef{2}};
  second.with_constant = {{"b", {0, 1, 1}}};
  LaunchPlan plan;
  plan.launches = {first, second};
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, 2, Role::output, Fill::random, 0, {}},
                           {"a", ElementType::f32, 1, Role::input, Fill::random, 0, {}},
                           {"b", ElementType::f32, 1, Role::input, Fill::random, 0, {}}});
  const DeviceMemory out(2 * sizeof(float)), a(sizeof(float)), b(sizeof(float));
  void* const addresses[] = {out.get(), a.get(), b.get()};
  const auto launched = [&](float in_a, float in_b, const char* constant) {
    EXPECT_EQ(cudaMemcpy(a.get(), &in_a, sizeof in_a, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(b.get(), &in_b, sizeof in_b, cudaMemcpyHostToDevice), cudaSuccess);
    prepared.launch(addresses, {}, nullptr, constant);
    std::vector<float> got(2);
    EXPECT_EQ(cudaMemcpy(got.data(), out.get(), 2 * sizeof(float), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return got;
  };
  EXPECT_EQ(launched(1, 2, ""), (std::vector<float>{1, 2}));
  EXPECT_EQ(launched(3, 4, "a"), (std::vector<float>{1, 4}));
  EXPECT_EQ(launched(5, 6, "b"), (std::vector<float>{5, 4}));
  EXPECT_EQ(launched(7, 8, ""), (std::vector<float>{7, 8}));
}

/// out = what the first kernel copies from b into the workspace.
TEST_F(PreparedKernelTest, EachWorkspaceKeepsWhatWasMadeInIt) {
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void pack(const float* b, float* packed) { packed[0] = b[0]; }
extern "C" __global__ void use(float* out, const float* packed) { out[0] = packed[0]; })",
                                                 {"pack", "use"}));
  Launch first, second;
  first.entry = "pack";
  first.arguments = {BufferRef{1}, BufferRef{2}};
  first.with_constant = {{"b", {0, 1, 1}}};
  second.entry = "use";
  second.arguments = {BufferRef{0}, BufferRef{2}};
  LaunchPlan plan;
  plan.launches = {first, second};
  plan.workspace = {{"packed", ElementType::f32, 1, Role::workspace, Fill::zero, 0, {}}};
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, 1, Role::output, Fill::random, 0, {}},
                           {"b", ElementType::f32, 1, Role::input, Fill::random, 0, {}}});
  const DeviceMemory out(sizeof(float)), one(sizeof(float)), two(sizeof(float));
  const float values[] = {1, 2};
  ASSERT_EQ(cudaMemcpy(one.get(), values, sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(two.get(), values + 1, sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  const auto launched = [&](const DeviceMemory& b, const char* constant, std::size_t workspace) {
    void* const addresses[] = {out.get(), b.get()};
    prepared.launch(addresses, {}, nullptr, constant, workspace);
    float got = 0;
    EXPECT_EQ(cudaMemcpy(&got, out.get(), sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
    return got;
  };
  EXPECT_EQ(launched(one, "", 0), 1);
  EXPECT_EQ(launched(two, "", 1), 2);
  EXPECT_EQ(launched(one, "b", 0), 1);
  EXPECT_EQ(launched(two, "b", 1), 2);
}

/// A copy of 8 x 8 elements that the copy engine reads.
TEST_F(PreparedKernelTest, TensorMapsMoveWithTheirBuffer) {
  if (device().info().compute_capability < 90) GTEST_SKIP() << "there is no TMA here";
  const CompiledKernel kernel = compiled(unit_of(R"(
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void kernel(float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned shared_tile = __cvta_generic_to_shared(tile);
  const unsigned shared_barrier = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_barrier));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_tile), "l"(&map), "r"(0), "r"(0),
                 "r"(shared_barrier) : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n\t.reg .pred done;\n"
      "wait:\n\t"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n\t"
      "@!done bra wait;\n\t}" ::"r"(shared_barrier) : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
})"));
  LaunchPlan plan;
  Launch launch;
  launch.entry = "kernel";
  launch.block.x = 64;
  launch.arguments = {BufferRef{0}, TensorMap{1, {8, 8}, {32}, {8, 8}, 0}};
  plan.launches = {launch};
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, 64, Role::output, Fill::random, 0, {}},
                           {"in", ElementType::f32, 64, Role::input, Fill::random, 0, {}}});
  const DeviceMemory out(64 * sizeof(float)), ins[] = {DeviceMemory(256), DeviceMemory(256)};
  for (const float value : {1.0F, 2.0F}) {
    const std::vector<float> values(64, value);
    ASSERT_EQ(cudaMemcpy(ins[value > 1].get(), values.data(), 256, cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  for (const int which : {0, 1, 1, 0}) {
    void* const addresses[] = {out.get(), ins[which].get()};
    prepared.launch(addresses, {}, nullptr);
    std::vector<float> got(64);
    ASSERT_EQ(cudaMemcpy(got.data(), out.get(), 256, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(got, std::vector<float>(64, which == 0 ? 1.0F : 2.0F));
  }
}

}  // namespace
}  // namespace autotune
