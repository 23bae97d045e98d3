// SPDX-License-Identifier: Apache-2.0
// What CUDA promises a kernel, kept on the CPU: threads, barriers, warps, atomics, vector types,
// asynchronous copies.
#include "tests/support/matchers.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

TEST(CudaOnHost, NumbersThreadsAndBlocksInThreeDimensions) {
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

TEST(CudaOnHost, BarriersLetThreadsExchangeThroughSharedMemory) {
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

TEST(CudaOnHost, AMissingBarrierIsWrongInSomeOrder) {
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

TEST(CudaOnHost, DynamicSharedMemoryIsThere) {
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

TEST(CudaOnHost, WhatIsWrittenOutsideOfDynamicSharedMemoryIsFound) {
  const auto message = [](const std::string& index, std::int64_t bytes) -> std::string {
    try {
      return verdict_of({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      extern __shared__ int tile[];
      tile[)" + index + R"(] = in[threadIdx.x];
      __syncthreads();
      out[threadIdx.x] = in[threadIdx.x];
    })",
                         .expected = "in[i]",
                         .n = 64,
                         .block = {64},
                         .dynamic_shared_bytes = bytes},
                        {})
          .message;
    } catch (const KernelFailure& failure) {
      return failure.what();
    }
  };
  EXPECT_EQ(message("threadIdx.x", 256), "");
  EXPECT_THAT(message("threadIdx.x", 128), HasSubstr("behind the 128 bytes of its dynamic shared "
                                                     "memory, at byte 128: correct dynamic_sh"));
  EXPECT_THAT(message("threadIdx.x", 0), HasSubstr("behind the 0 bytes"));
  EXPECT_THAT(message("(int)threadIdx.x - 1", 256), HasSubstr("before the 256 bytes"));
}

TEST(CudaOnHost, DynamicSharedMemoryMayBeDeclaredOutsideOfFunctions) {
  const std::string text = R"(
    // extern __shared__ int tile[];
    extern __shared__ int tile[];
    extern __shared__ __align__(16) unsigned char bytes[];
    namespace rows {
    extern __shared__ int tile[][2];
    template <class T> __device__ T& left(int i) { return reinterpret_cast<T&>(tile[i][0]); }
    }
    extern __shared__ int tile[];
    __device__ void put(int i, int value) { tile[i] = value; }
    template <class T> __device__ T twice(const T* all, int i) { return 2 * all[i]; }
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      put(threadIdx.x, in[i]);
      __syncthreads();
      const int other = blockDim.x - 1 - threadIdx.x;
      const bool same = rows::left<int>(other / 2) == tile[other / 2 * 2] &&
                        reinterpret_cast<int*>(bytes)[other] == tile[other];
      out[i] = same ? twice(tile, other) : 12345;
      __syncthreads();
      tile[threadIdx.x] = -1;
    })";
  for (const Dim3& cluster : {Dim3{}, Dim3{2}}) {
    expect_right({.text = text,
                  .expected = "2 * in[i / 64 * 64 + 63 - i % 64]",
                  .n = 16 * 64,
                  .grid = {16},
                  .block = {64},
                  .dynamic_shared_bytes = 64 * 4,
                  .cluster = cluster});
  }
  expect_right(
      {.text = text, .expected = "2 * in[i]", .n = 50, .grid = {50}, .dynamic_shared_bytes = 4});
}

TEST(CudaOnHost, WordsMayBeReadAsAnotherType) {
  expect_right({.text = R"(
    __device__ int difference(const int* in) {
      int words[4] = {};
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<float*>(words + i) = *reinterpret_cast<const float*>(in + i);
      }
      return words[3] - words[0];
    }
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      out[threadIdx.x] = difference(in + threadIdx.x / 4 * 4);
    })",
                .expected = "in[i / 4 * 4 + 3] - in[i / 4 * 4]",
                .n = 64,
                .block = {64}});
}

TEST(CudaOnHost, ADoubleIsTwoWords) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const int i = threadIdx.x;
      const double x = __hiloint2double(in[i], -in[i]);
      out[i] = __double2hiint(x) + 2 * __double2loint(x);
    })",
                .expected = "-in[i]",
                .n = 64,
                .block = {64}});
}

TEST(CudaOnHost, NullNeedsNoHeader) {
  for (const std::string header : {"", "#include <cstddef>\n#include <stdio.h>\n"}) {
    expect_right({.text = header + R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const int* from = threadIdx.x < n ? in : NULL;
      if (from != NULL) out[threadIdx.x] = from[threadIdx.x];
    })",
                  .n = 32,
                  .block = {32}});
  }
}

TEST(CudaOnHost, FunnelShiftsTurnOrStopAtAWord) {
  expect_right({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const unsigned low = 0x01234567u, high = 0x89abcdefu, far = 32 + threadIdx.x / 8;
      const bool right = __funnelshift_lc(low, high, 8) == 0xabcdef01u &&
                         __funnelshift_rc(low, high, 8) == 0xef012345u &&
                         __funnelshift_lc(low, high, far) == low &&
                         __funnelshift_rc(low, high, far) == high &&
                         __funnelshift_r(low, high, 40) == 0xef012345u;
      out[threadIdx.x] = right ? in[threadIdx.x] : 12345;
    })",
                .n = 32,
                .block = {32}});
}

TEST(CudaOnHost, ShufflesMoveValuesWithinAWarp) {
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

TEST(CudaOnHost, VotesAndCountsSeeEveryThread) {
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
TEST(CudaOnHost, CollectivesWorkInWarpsThatAreNotFull) {
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

TEST(CudaOnHost, NoLaneWaitsForOnesThatHaveEndedOrAreNotNamed) {
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

TEST(CudaOnHost, AtomicsAddUpAcrossBlocks) {
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

TEST(CudaOnHost, VectorTypesAndHintsCompile) {
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
      #define COUNT 2
      #pragma unroll COUNT
      for (int i = 0; i < 4; ++i) values[i] += 0.0f;
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

TEST(CudaOnHost, AsynchronousCopiesAreThereAfterTheWait) {
  expect_right({.text = pipeline("wait_copies<0>();"),
                .expected = "i < 64 ? in[63 - i] : 0",
                .n = 128,
                .block = {16}});
}

TEST(CudaOnHost, AsynchronousCopiesAreNotThereBeforeTheWait) {
  for (const char* wait : {"", "wait_copies<1>();"}) {
    const Verdict verdict = verdict_of({.text = "__device__ int once;\n" + pipeline(wait),
                                        .expected = "i < 64 ? in[63 - i] + 0 : 1",
                                        .n = 128,
                                        .block = {16}});
    EXPECT_EQ(verdict.outcome, Outcome::wrong) << wait;
  }
}

TEST(CudaOnHost, AKernelMayHaveTheNameOfALibraryFunction) {
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

/// As on GPUs from compute capability 7.0 on.
TEST(CudaOnHost, ABarrierOfTheBlockDoesNotWaitForThreadsThatHaveEnded) {
  expect_right({.text = R"(
    __device__ bool sees(const int* tile, int threads, int value) {
      __syncthreads();
      const bool right = tile[0] == value && __syncthreads_count(1) == threads &&
                         __syncthreads_and(1) && !__syncthreads_or(0);
      __syncthreads();
      return right;
    }
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ int tile[1];
      const int i = blockIdx.x * 64 + threadIdx.x;
      const int threads = n - blockIdx.x * 64 < 64 ? n - blockIdx.x * 64 : 64;
      if (i >= n) return;
      int right = 0;
      for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) tile[0] = round;
        right += sees(tile, threads, round);
      }
      if (threadIdx.x % 2) {  // the barrier opens for the others when these end
        out[i] = right == 3 ? in[i] : 12345;
        return;
      }
      __syncthreads();
      out[i] = right == 3 && __syncthreads_count(1) == (threads + 1) / 2 ? in[i] : 12345;
    })",
                .n = 64 + 37,
                .grid = {2},
                .block = {64}});
}

TEST(CudaOnHost, BarriersThatWaitForEachOtherAreADeadlock) {
  std::string message;
  EXPECT_EQ(refusal_of({.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (threadIdx.x == 15) return;
      if (threadIdx.x < 3) __syncthreads();
      else __syncwarp();
      out[threadIdx.x] = in[threadIdx.x];
    })",
                        .n = 16,
                        .grid = {1, 1, 1},
                        .block = {16}},
                       &message),
            Outcome::crash);
  EXPECT_THAT(message, HasSubstr("deadlock at a barrier in block (0, 0, 0)"));
  EXPECT_THAT(message, HasSubstr("of 16 threads 3 wait at __syncthreads, 12 at a warp's barrier, "
                                 "and 1 have ended"));
}

TEST(CudaOnHost, ADeadlockLeavesTheDeviceUsable) {
  const auto device = make_host_device(test_cache());
  const KernelCase bad{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (threadIdx.x % 2) __syncthreads();
      else __syncwarp();
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

}  // namespace
}  // namespace autotune
