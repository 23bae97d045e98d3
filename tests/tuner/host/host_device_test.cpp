// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

constexpr const char* kCopy =
    "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = in[i];\n}\n";

Verdict verdict_of(const KernelCase& kernel_case, HostOptions options = {}, int runs = 1) {
  const auto device = make_host_device(test_cache(), options);
  const CompiledKernel kernel = device->compile(kernel_case.unit());
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  const auto bench = device->open(kernel_case.workload());
  return bench->load(kernel, kernel_case.plan())->verify(runs);
}

void expect_right(const KernelCase& kernel_case) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    const Verdict verdict = verdict_of(kernel_case, {.order = order});
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  }
}

Outcome refusal_of(const KernelCase& kernel_case, std::string* message) {
  try {
    const Verdict verdict = verdict_of(kernel_case);
    *message = verdict.message;
    return verdict.outcome;
  } catch (const KernelFailure& failure) {
    *message = failure.what();
    return failure.outcome();
  }
}

TEST(HostDevice, KnowsItself) {
  const auto device = make_host_device(test_cache());
  EXPECT_EQ(device->info().kind, DeviceKind::host);
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_TRUE(device->info().id.empty());
  EXPECT_GE(device->info().multiprocessors, 1);
  EXPECT_FALSE(device->info().environment.empty());
}

TEST(HostDevice, RunsEveryThreadOfEveryBlock) {
  expect_right({.text = kCopy, .n = 1000, .grid = {8}, .block = {128}});
  expect_right({.text = kCopy, .n = 1000, .grid = {1000}, .block = {1}});
}

TEST(HostDevice, FindsKernelsByTheirCppNames) {
  expect_right({.text = "namespace ns { template <class T, int block>\n"
                        "__global__ void copy(const T* in, T* out, int n) {\n"
                        "  const int i = blockIdx.x * block + threadIdx.x;\n"
                        "  if (i < n) out[i] = in[i];\n} }\n",
                .n = 100,
                .grid = {4},
                .block = {32},
                .entry = "ns::copy<int, 32>"});
}

TEST(HostDevice, NumbersThreadsAndBlocksInThreeDimensions) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const int x = blockIdx.x * blockDim.x + threadIdx.x, nx = gridDim.x * blockDim.x;
      const int y = blockIdx.y * blockDim.y + threadIdx.y, ny = gridDim.y * blockDim.y;
      const int z = blockIdx.z * blockDim.z + threadIdx.z;
      const int i = x + nx * (y + ny * z);
      out[i] = in[i];
    })",
                .n = 6 * 20 * 42,
                .grid = {2, 4, 6},
                .block = {3, 5, 7}});
}

TEST(HostDevice, BarriersLetThreadsExchangeThroughSharedMemory) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ int tile[256];
      for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] + round;
        __syncthreads();
        if (round == 2) out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
        __syncthreads();
      }
    })",
                .expected = "in[i / 256 * 256 + 255 - i % 256] + 2",
                .n = 1024,
                .grid = {4},
                .block = {256}});
}

TEST(HostDevice, AMissingBarrierIsWrongInSomeOrder) {
  const KernelCase missing{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ int tile[64];
      tile[threadIdx.x] = in[threadIdx.x];
      out[threadIdx.x] = tile[63 - threadIdx.x];
    })",
                           .expected = "in[63 - i]",
                           .n = 64,
                           .block = {64}};
  EXPECT_EQ(verdict_of(missing, {.order = ThreadOrder::forward}).outcome, Outcome::wrong);
}

TEST(HostDevice, DynamicSharedMemoryIsThere) {
  expect_right({.text = R"(
    template <class T> __device__ T* half(T* all) { return all + 64; }
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      extern __shared__ __align__(16) int tile[];
      int* second = half(tile);
      second[threadIdx.x] = in[threadIdx.x];
      __syncthreads();
      out[threadIdx.x] = second[63 - threadIdx.x];
    })",
                .expected = "in[63 - i]",
                .block = {64},
                .dynamic_shared_bytes = 128 * 4});
}

TEST(HostDevice, ShufflesMoveValuesWithinAWarp) {
  expect_right(
      {.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      int sum = in[threadIdx.x];
      for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
      sum = __shfl_sync(0xffffffffu, sum, 0);
      int same = in[threadIdx.x];
      for (int d = 16; d > 0; d /= 2) same += __shfl_xor_sync(0xffffffffu, same, d);
      const int before = __shfl_up_sync(0xffffffffu, (int)threadIdx.x, 1, 8);
      const int right = threadIdx.x % 8 == 0 ? threadIdx.x : threadIdx.x - 1;
      out[threadIdx.x] = sum == same && before == right ? sum : 12345;
    })",
       .expected =
           "[&] { int s = 0; for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) s += in[j]; "
           "return s; }()",
       .n = 96,
       .block = {96}});
}

TEST(HostDevice, VotesAndCountsSeeEveryThread) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
      const bool any = __any_sync(0xffffffffu, threadIdx.x == 3);
      const int count = __syncthreads_count(threadIdx.x < 10);
      const bool right = (threadIdx.x < 32 ? odd == 0xaaaaaaaau : odd == 0xaau) &&
                         any == (threadIdx.x < 32) && count == 10 && __popc(odd) >= 4;
      __syncwarp();
      out[threadIdx.x] = right ? in[threadIdx.x] : 12345;
    })",
                .n = 40,
                .block = {40}});
}

/// A block that is no whole number of warps: lanes beyond it exist for nobody.
TEST(HostDevice, CollectivesWorkInWarpsThatAreNotFull) {
  const std::string text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const unsigned all = 0xffffffffu, lane = threadIdx.x % 32, first = threadIdx.x - lane;
      const unsigned lanes = blockDim.x - first < 32 ? blockDim.x - first : 32;
      const int mine = in[threadIdx.x];
      int sum = mine;
      for (int d = 16; d > 0; d /= 2) {
        const int other = __shfl_down_sync(all, sum, d);
        sum += lane + d < lanes ? other : 0;
      }
      sum = __shfl_sync(all, sum, 0);
      const int up = __shfl_up_sync(all, mine, 1), right_up = lane > 0 ? in[threadIdx.x - 1] : mine;
      const int beyond = __shfl_sync(all, mine, 31), turned = __shfl_xor_sync(all, mine, 16);
      const bool right_turned = (lane ^ 16) >= lanes || turned == in[first + (lane ^ 16)];
      __syncwarp();
      const unsigned existing = all >> (32 - lanes);
      const bool votes = __ballot_sync(all, 1) == existing && __all_sync(all, 1) &&
                         !__any_sync(all, 0) && __activemask() == existing;
      const bool right = up == right_up && right_turned && votes && (lanes == 32 || beyond == mine);
      out[threadIdx.x] = right ? sum : 12345;
    })";
  for (const std::int64_t threads : {1, 3, 16, 31, 33, 48}) {
    SCOPED_TRACE(threads);
    expect_right({.text = text,
                  .expected = "[&] { int s = 0; for (int j = i / 32 * 32; j < n && j / 32 == i / "
                              "32; ++j) s += in[j]; return s; }()",
                  .n = threads,
                  .block = {threads}});
  }
}

TEST(HostDevice, NoLaneWaitsForOnesThatHaveEndedOrAreNotNamed) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const int i = threadIdx.x;
      if (i >= n) return;
      int sum = in[i];
      if (i < 8) {
        for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffu, sum, d);
        __syncwarp(0xffu);
      } else {
        for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffff00u, sum, d, 8);
      }
      const unsigned here = __ballot_sync(0xffffffffu, 1);
      out[i] = here == 0xffffu ? sum : 12345;
    })",
                .expected = "[&] { int s = 0; for (int j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) s += "
                            "in[j]; return s; }()",
                .n = 16,
                .block = {32}});
}

TEST(HostDevice, AtomicsAddUpAcrossBlocks) {
  expect_right({.text = R"(
    __device__ int arrived;
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ float sum;
      if (threadIdx.x == 0) sum = 0;
      __syncthreads();
      atomicAdd(&sum, 1);
      __syncthreads();
      const int old = atomicAdd(&arrived, 1);
      atomicMax(&out[blockIdx.x], old < 0 ? 99 : -1000);
      __syncthreads();
      if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x] + static_cast<int>(sum);
    })",
                .expected = "in[i] + 64",
                .n = 100,
                .grid = {100},
                .block = {64}});
}

TEST(HostDevice, VectorTypesAndHintsCompile) {
  expect_right({.text = R"(
    template <int kWide> __device__ __forceinline__ float4 load(const float* __restrict__ p) {
      return __ldg(reinterpret_cast<const float4*>(p) + kWide);
    }
    extern "C" __global__ void __launch_bounds__(16, 2)
    kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
      constexpr int UNROLLED = 4;
      float4 v = load<0>(in + 4 * threadIdx.x);
      float values[4] = {v.x, v.y, v.z, v.w};
      #pragma unroll
      for (int i = 0; i < 4; ++i) values[i] = fminf(fmaxf(values[i], -100.0f), 100.0f);
      #pragma unroll UNROLLED
      for (int i = 0; i < 4; ++i) values[i] = fmaf(values[i], 2.0f, 0.0f * rsqrtf(4.0f));
      const float2 low = make_float2(values[0], values[1]);
      *reinterpret_cast<float4*>(out + 4 * threadIdx.x) =
          make_float4(low.x, low.y, values[2], max(values[3], min(values[3], 1.0f)));
    })",
                .expected = "2 * in[i]",
                .n = 64,
                .block = {16},
                .type = ElementType::f32});
}

constexpr const char* kPipeline = R"(
  #include "device/async_copy.cuh"
  extern "C" __global__ void kernel(const int* in, int* out, int n) {
    __shared__ __align__(16) int tile[2][4 * 16];
    for (int stage = 0; stage < 2; ++stage) {
      copy_async<16>(&tile[stage][4 * threadIdx.x], in + 64 * stage + 4 * threadIdx.x, stage == 0);
      commit_copies();
    }
    WAIT
    __syncthreads();
    for (int i = threadIdx.x; i < 128; i += blockDim.x) out[i] = tile[i / 64][63 - i % 64];
  })";

std::string pipeline(const std::string& wait) {
  std::string text = kPipeline;
  return text.replace(text.find("WAIT"), 4, wait);
}

TEST(HostDevice, AsynchronousCopiesAreThereAfterTheWait) {
  expect_right({.text = pipeline("wait_copies<0>();"),
                .expected = "i < 64 ? in[63 - i] : 0",
                .n = 128,
                .block = {16}});
}

TEST(HostDevice, AsynchronousCopiesAreNotThereBeforeTheWait) {
  for (const char* wait : {"", "wait_copies<1>();"}) {
    const Verdict verdict = verdict_of({.text = "__device__ int once;\n" + pipeline(wait),
                                        .expected = "i < 64 ? in[63 - i] + 0 : 1",
                                        .n = 128,
                                        .block = {16}});
    EXPECT_EQ(verdict.outcome, Outcome::wrong) << wait;
  }
}

TEST(HostDevice, AKernelMayHaveTheNameOfALibraryFunction) {
  KernelCase pipe{.text =
                      "extern \"C\" __global__ void pipe(const int* in, int* out, int n) {\n"
                      "  for (int i = 0; i < n; ++i) out[i] = in[i];\n}\n"};
  const auto device = make_host_device(test_cache());
  SourceUnit unit = pipe.unit();
  unit.entries = {"pipe"};
  const CompiledKernel kernel = device->compile(unit);
  ASSERT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  const auto bench = device->open(pipe.workload());
  EXPECT_EQ(bench->load(kernel, pipe.plan("pipe", {}, {}, 0))->verify().outcome, Outcome::ok);
}

TEST(HostDevice, ABarrierThatSomeThreadsPassByIsADeadlock) {
  std::string message;
  EXPECT_EQ(refusal_of({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (threadIdx.x < 3) __syncthreads();
      out[threadIdx.x] = in[threadIdx.x];
    })",
                        .n = 16,
                        .grid = {1, 1, 1},
                        .block = {16}},
                       &message),
            Outcome::crash);
  EXPECT_THAT(message, HasSubstr("deadlock at a barrier in block (0, 0, 0)"));
  EXPECT_THAT(message, HasSubstr("of 16 threads 3 wait at __syncthreads"));
}

TEST(HostDevice, ADeadlockLeavesTheDeviceUsable) {
  const auto device = make_host_device(test_cache());
  const KernelCase bad{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (threadIdx.x % 2) __syncthreads();
    })",
                       .grid = {50},
                       .block = {64}};
  const KernelCase good{.text = kCopy, .grid = {1}, .block = {64}};
  const auto bench = device->open(good.workload());
  const CompiledKernel stuck = device->compile(bad.unit()), fine = device->compile(good.unit());
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(bench->load(stuck, bad.plan())->verify(), KernelFailure);
    EXPECT_EQ(bench->load(fine, good.plan())->verify().outcome, Outcome::ok);
  }
}

TEST(HostDevice, WrongResultsAreNamed) {
  std::string message;
  const auto with = [](const std::string& body) {
    return KernelCase{.text =
                          "extern \"C\" __global__ void kernel(const float* in, float* out, "
                          "int n) {" +
                          body + "}",
                      .n = 16,
                      .type = ElementType::f32};
  };
  const std::string copy = "for (int i = 0; i < n; ++i) out[i] = in[i];";
  EXPECT_EQ(refusal_of(with(copy), &message), Outcome::ok) << message;
  EXPECT_EQ(refusal_of(with(""), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("nan, expected"));
  EXPECT_EQ(refusal_of(with(copy + "out[7] = 0.0f / (in[7] - in[7]);"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("out[7] is"));
  EXPECT_EQ(refusal_of(with(copy + "out[n] = 1;"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("wrote out[16]"));
  EXPECT_EQ(refusal_of(with(copy + "const_cast<float*>(in)[2] = 50;"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("in[2]"));
}

TEST(HostDevice, ResultsThatChangeFromRunToRunAreNondeterministic) {
  const KernelCase counts{.text = R"(
    __device__ int runs;
    extern "C" __global__ void kernel(const float* in, float* out, int n) {
      for (int i = 0; i < n; ++i) out[i] = 0.1f * in[i] * (1 + runs * 1.2e-7f);
      runs ^= 1;
    })",
                          .expected = "0.1f * in[i]",
                          .n = 16,
                          .type = ElementType::f32};
  EXPECT_EQ(verdict_of(counts, {}, 1).outcome, Outcome::ok);
  const Verdict verdict = verdict_of(counts, {}, 2);
  EXPECT_EQ(verdict.outcome, Outcome::nondeterministic) << verdict.message;
}

TEST(HostDevice, LongIntegersAreExactToTheLastBit) {
  for (const std::string off : {"0", "1"}) {
    const KernelCase large{.text = R"(
      extern "C" __global__ void kernel(const long long* in, long long* out, int n) {
        const int i = threadIdx.x;
        out[i] = in[i] + (1ll << 60) + (i == 5 ? )" +
                                   off + R"( : 0);
      })",
                           .expected = "in[i] + (1ll << 60)",
                           .block = {64},
                           .type = ElementType::i64};
    std::string message;
    EXPECT_EQ(refusal_of(large, &message), off == "0" ? Outcome::ok : Outcome::wrong) << message;
    if (off == "1") {
      EXPECT_THAT(message, HasSubstr("out[5] is 11529215046068469"));
    }
  }
}

TEST(HostDevice, ManyElementsAreFilledAndComparedByAllThreads) {
  const std::int64_t n = 300000;
  KernelCase copy{.text = kCopy, .n = n, .grid = {n / 100}, .block = {100}};
  EXPECT_EQ(verdict_of(copy, {.threads = 3}, 2).outcome, Outcome::ok);
  copy.text.replace(copy.text.find("in[i];"), 6, "in[i] + (i > 70000 && i % 1000 == 7);");
  const Verdict verdict = verdict_of(copy, {.threads = 3});
  EXPECT_THAT(verdict.message, HasSubstr("out[70007] is"));
  EXPECT_THAT(verdict.message, HasSubstr("230 of 300000 elements are wrong"));
  copy.text.insert(copy.text.find("if (i"), "if (i == 250000) const_cast<int*>(in)[i] = 99; ");
  EXPECT_THAT(verdict_of(copy, {.threads = 3}).message,
              HasSubstr("the input in was changed: in[250000] was"));
}

TEST(HostDevice, AKernelThatStopsWorkingAfterManyCallsIsFoundOut) {
  const KernelCase lazy{.text = R"(
    __device__ int calls;
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (++calls > 50) return;
      for (int i = 0; i < n; ++i) out[i] = in[i];
    })"};
  const auto device = make_host_device(test_cache());
  const auto bench = device->open(lazy.workload());
  const auto candidate = bench->load(device->compile(lazy.unit()), lazy.plan());
  EXPECT_EQ(candidate->verify().outcome, Outcome::ok);
  EXPECT_EQ(candidate->recheck().outcome, Outcome::ok);
  candidate->time(100, L2State::hot);
  const Verdict verdict = candidate->recheck();
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("64 of 64 elements are wrong"));
}

TEST(HostDevice, WhatNeitherKernelWritesIsSaidSo) {
  const KernelCase borders{.text = R"(
    extern "C" __global__ void kernel(const float* in, float* out, int n) {
      for (int i = 1; i < n; ++i) out[i] = in[i];
    })",
                           .type = ElementType::f32};
  const auto device = make_host_device(test_cache());
  Workload workload = borders.workload();
  std::string& reference = workload.reference_source.text;
  reference.replace(reference.find("int i = 0"), 9, "int i = 1");
  const auto bench = device->open(workload);
  const Verdict verdict = bench->load(device->compile(borders.unit()), borders.plan())->verify();
  EXPECT_THAT(verdict.message, HasSubstr("out[0] is written neither by the kernel nor by the "
                                         "reference (make out an inout"));
}

TEST(HostDevice, ACompilerErrorNamesTheLine) {
  const auto device = make_host_device(test_cache());
  KernelCase bad{.text =
                     "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                     "  out[0] = undefined_name;\n}\n"};
  const CompiledKernel kernel = device->compile(bad.unit());
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_FALSE(kernel.binary);
  EXPECT_THAT(kernel.log, HasSubstr("case.cu:2"));
  EXPECT_THAT(kernel.log, HasSubstr("undefined_name"));
}

TEST(HostDevice, AMissingEntryIsACompilerError) {
  const auto device = make_host_device(test_cache());
  KernelCase other{.text = "extern \"C\" __global__ void another(int* out) { out[0] = 1; }\n"};
  const CompiledKernel kernel = device->compile(other.unit());
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, HasSubstr("kernel"));
}

TEST(HostDevice, TheSecondCompileIsCached) {
  const auto cache = test_cache();
  const auto device = make_host_device(cache);
  const KernelCase copy{.text = kCopy};
  const CompiledKernel first = device->compile(copy.unit());
  const CompiledKernel second = make_host_device(cache)->compile(copy.unit());
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(*first.binary, *second.binary);
}

TEST(HostDevice, SeveralKernelsAreLoadedAtATime) {
  const auto device = make_host_device(test_cache());
  KernelCase right{.text = kCopy, .block = {64}}, wrong = right;
  wrong.text.replace(wrong.text.find("in[i];"), 6, "7;");
  const auto bench = device->open(right.workload());
  const auto a = bench->load(device->compile(right.unit()), right.plan());
  const auto b = bench->load(device->compile(wrong.unit()), wrong.plan());
  EXPECT_EQ(a->verify().outcome, Outcome::ok);
  EXPECT_EQ(b->verify().outcome, Outcome::wrong);
}

TEST(HostDevice, WhatOneKernelSpoilsTheNextFindsRestored) {
  const auto device = make_host_device(test_cache());
  KernelCase right{.text = kCopy, .block = {64}}, spoils = right;
  spoils.text.insert(spoils.text.find("if (i"), "out[n] = const_cast<int*>(in)[3] = 77; ");
  const auto bench = device->open(right.workload());
  const auto a = bench->load(device->compile(spoils.unit()), right.plan());
  const auto b = bench->load(device->compile(right.unit()), right.plan());
  EXPECT_EQ(a->verify().outcome, Outcome::wrong);
  EXPECT_EQ(b->verify().outcome, Outcome::ok);
}

TEST(HostDevice, StaticSharedMemoryIsCounted) {
  const auto device = make_host_device(test_cache());
  KernelCase shared{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ int tile[256];
      tile[threadIdx.x] = in[threadIdx.x];
      __syncthreads();
      out[threadIdx.x] = tile[n - threadIdx.x];
    })"};
  const CompiledKernel kernel = device->compile(shared.unit());
  ASSERT_EQ(kernel.resources.size(), 1u);
  EXPECT_EQ(kernel.resources[0].shared_bytes, 1024);
  EXPECT_EQ(kernel.resources[0].registers, -1);
}

TEST(HostDevice, WhatAHostCannotLaunchIsRefused) {
  std::string message;
  const KernelCase good{.text = kCopy};
  KernelCase bad = good;
  bad.block = {1025};
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("1025 x 1 x 1 threads"));
  bad = good;
  bad.grid = {0};
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  bad = good;
  bad.dynamic_shared_bytes = 1 << 20;
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("1.000 MiB of dynamic shared memory"));

  const auto device = make_host_device(test_cache());
  LaunchPlan clustered = good.plan();
  clustered.launches[0].cluster = {2};
  const auto bench = device->open(good.workload());
  EXPECT_THROW(bench->load(device->compile(good.unit()), clustered), KernelFailure);
}

TEST(HostDevice, TimesALaunch) {
  const KernelCase copy{.text = kCopy, .n = 1 << 16, .grid = {256}, .block = {256}};
  const auto device = make_host_device(test_cache());
  const auto bench = device->open(copy.workload());
  const auto candidate = bench->load(device->compile(copy.unit()), copy.plan());
  const double hot = candidate->time(20, L2State::hot).seconds;
  EXPECT_GT(hot, 1e-6);
  EXPECT_LT(hot, 0.1);
  EXPECT_GT(candidate->time(2, L2State::cold).seconds, 0);
  EXPECT_LT(bench->launch_floor(), hot + 1e-3);
}

TEST(HostDevice, AReferenceThatFailsIsAnErrorOfTheProblem) {
  const auto device = make_host_device(test_cache());
  Workload workload = KernelCase{.text = kCopy}.workload();
  workload.reference_source.text = "nonsense";
  EXPECT_THROW(device->open(workload), Error);
}

TEST(HostDevice, WhatDoesNotFitIntoMemoryIsAnError) {
  const auto device = make_host_device(test_cache());
  try {
    device->open(KernelCase{.text = kCopy, .n = std::int64_t{1} << 42}.workload());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("are free"));
  }
}

}  // namespace
}  // namespace autotune
