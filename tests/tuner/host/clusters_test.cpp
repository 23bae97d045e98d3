// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks on the host device, by CUDA's own functions and by device/cluster*.cuh.
#include "tests/support/matchers.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/host/translation.hpp"

namespace autotune {
namespace {

std::string kernel_of(const std::string& body) {
  return "#include \"device/cluster.cuh\"\n#include \"device/cluster_send.cuh\"\n"
         "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
         "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         body + "}\n";
}

/// 16 blocks of 16 threads, in clusters of 4.
KernelCase clusters_of_4(const std::string& body, const std::string& expected) {
  return {.text = kernel_of(body),
          .expected = expected,
          .n = 16 * 16,
          .grid = {16},
          .block = {16},
          .cluster = {4}};
}

std::string barrier_of_cuda() { return "__cluster_barrier_arrive(); __cluster_barrier_wait();\n"; }

/// All blocks of the cluster add up what each has in `tile`.
std::string sum_of_cluster(const std::string& tile, const std::string& barrier) {
  return tile + "tile[threadIdx.x] = in[i];\n" + barrier + R"(
    int sum = 0;
    for (unsigned rank = 0; rank < __clusterSizeInBlocks(); ++rank) {
      const void* there = __cluster_map_shared_rank(tile, rank);
      sum += static_cast<const int*>(there)[15 - threadIdx.x];
    }
    out[i] = sum;
  )" + barrier +
         "tile[threadIdx.x] = -1;\n";
}

constexpr const char* kSumOfCluster =
    "[&] { int s = 0; for (int b = 0; b < 4; ++b) s += in[i / 64 * 64 + b * 16 + 15 - i % 16]; "
    "return s; }()";

TEST(HostClusters, BlocksReadTheSharedMemoryOfOthers) {
  expect_right(
      clusters_of_4(sum_of_cluster("__shared__ int tile[16];", barrier_of_cuda()), kSumOfCluster));
  KernelCase dynamic = clusters_of_4(
      sum_of_cluster("extern __shared__ int tile[];", barrier_of_cuda()), kSumOfCluster);
  dynamic.dynamic_shared_bytes = 64;
  expect_right(dynamic);
}

TEST(HostClusters, AMissingBarrierIsWrong) {
  const KernelCase missing =
      clusters_of_4(sum_of_cluster("__shared__ int tile[16];", "__syncthreads();"), kSumOfCluster);
  for (const auto order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    EXPECT_EQ(verdict_of(missing, {.order = order}).outcome, Outcome::wrong);
  }
}

TEST(HostClusters, BlocksHaveBarriersAndWarpsOfTheirOwn) {
  expect_right({.text = kernel_of(R"(
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 3 + cluster_rank(); ++round) {
      tile[threadIdx.x] = in[i] + round;
      __syncthreads();
      sum = tile[63 - threadIdx.x] - round;
      sum = __shfl_xor_sync(0xffffffffu, sum, 31);
      __syncthreads();
    }
    out[i] = sum;)"),
                .expected = "in[i / 64 * 64 + 63 - (i % 64 ^ 31)]",
                .n = 512,
                .grid = {8},
                .block = {64},
                .cluster = {4}});
}

TEST(HostClusters, RanksCountTheBlocksOfAClusterWithXFastest) {
  expect_right({.text = R"(
    #include "device/cluster.cuh"
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ uint3 place;
      place = {blockIdx.x, blockIdx.y, blockIdx.z};
      cluster_barrier();
      bool right = __clusterSizeInBlocks() == 8;
      for (int rank = 0; rank < 8; ++rank) {
        const uint3 there = *in_block(&place, rank);
        right = right && there.x == blockIdx.x / 2 * 2 + rank % 2 &&
                there.y == blockIdx.y / 2 * 2 + rank / 2 % 2 &&
                there.z == blockIdx.z / 2 * 2 + rank / 4;
      }
      const uint3 mine = *in_block(&place, cluster_rank());
      right = right && mine.x == blockIdx.x && mine.y == blockIdx.y && mine.z == blockIdx.z;
      cluster_barrier();
      const int i = blockIdx.x + 4 * (blockIdx.y + 6 * blockIdx.z);
      out[i] = right ? in[i] : 12345;
    })",
                .n = 4 * 6 * 2,
                .grid = {4, 6, 2},
                .cluster = {2, 2, 2}});
}

TEST(HostClusters, BlocksSendToTheSharedMemoryOfOthersWhichCounts) {
  expect_right({.text = kernel_of(R"(
    __shared__ __align__(16) int whole[64];
    __shared__ __align__(16) float real[64];
    __shared__ __align__(8) CopyBarrier both;
    const SharedAddress barrier = shared_address(&both);
    if (threadIdx.x == 0) {
      init(barrier, 1);
      expect(barrier, sizeof whole + sizeof real);
      publish_barriers();
    }
    cluster_barrier();  // all blocks have begun
    const int next = (cluster_rank() + 1) % 4;
    const int words[] = {in[i], 1, 2, 3};
    const float numbers[] = {4, 5, 6, 7};
    const SharedAddress counted = address_in_block(barrier, next);
    send_four(address_in_block(shared_address(whole + 4 * threadIdx.x), next), words, counted);
    send_four(address_in_block(shared_address(real + 4 * threadIdx.x), next), numbers, counted);
    wait_for(barrier, 0);
    int sum = 0;
    for (int k = 1; k < 4; ++k) sum += whole[4 * threadIdx.x + k];
    for (int k = 0; k < 4; ++k) sum += int(real[4 * threadIdx.x + k]);
    out[i] = whole[4 * threadIdx.x] + sum;)"),
                .expected = "in[i / 64 * 64 + (i + 48) % 64] + 28",
                .n = 128,
                .grid = {8},
                .block = {16},
                .cluster = {4}});
}

/// A block passes the first half of the barrier and goes on, while others are before it.
TEST(HostClusters, TheHalvesOfTheBarrierStandApart) {
  expect_right(clusters_of_4(R"(
    __shared__ int tile[16];
    int sum = 0;
    for (int round = 0; round < 5; ++round) {
      tile[threadIdx.x] = in[i] + round;
      __cluster_barrier_arrive();
      if (cluster_rank() == round % 4) __syncthreads();
      __cluster_barrier_wait();
      sum += *in_block(tile + threadIdx.x, (cluster_rank() + 1) % 4) - round;
      cluster_barrier();
    }
    out[i] = sum / 5;)",
                             "in[i / 64 * 64 + (i + 16) % 64]"));
}

TEST(HostClusters, ThreadsThatHaveEndedAreNotWaitedFor) {
  expect_right(clusters_of_4(R"(
    out[i] = in[i];
    if (cluster_rank() == 1 || threadIdx.x < 3) return;
    if (cluster_rank() == 2) {
      __cluster_barrier_arrive();
      return;
    }
    cluster_barrier();
    cluster_barrier();)",
                             "in[i]"));
}

TEST(HostClusters, AThreadMayAwaitWhatAnotherBlockStores) {
  const std::string spin = R"(
    __shared__ int flag;
    flag = 0;
    cluster_barrier();
    if (cluster_rank() == 0) {
      int* there = const_cast<int*>(in_block(&flag, 1));
      *there = in[i];
    } else {
      while (flag == 0) __syncwarp(1u << threadIdx.x % 32);
    }
    out[i] = flag == 0 ? in[i] : flag;
    cluster_barrier();)";
  expect_right({.text = kernel_of(spin),
                .expected = "in[i / 2 * 2]",
                .n = 8,
                .grid = {8},
                .block = {1},
                .cluster = {2}});
}

TEST(HostClusters, TheBarrierOpensWhileThreadsThatHaveArrivedSpin) {
  expect_right({.text = kernel_of(R"(
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    cluster_barrier();
    __cluster_barrier_arrive();
    if (cluster_rank() == 0) {
      while (flag == 0) __syncwarp(1u << threadIdx.x % 32);
    }
    __cluster_barrier_wait();
    if (threadIdx.x == 0) *const_cast<int*>(in_block(&flag, 0)) = 1;
    out[i] = in[i];
    cluster_barrier();)"),
                .n = 128,
                .grid = {4},
                .block = {32},
                .cluster = {2}});
}

TEST(HostClusters, ALaunchWithoutClustersHasClustersOfOneBlock) {
  const std::string body = R"(
    __shared__ int tile[32];
    tile[threadIdx.x] = in[i];
    cluster_barrier();
    const bool right = cluster_rank() == 0 && __clusterSizeInBlocks() == 1 &&
                       in_block(tile, 0) == tile && in_block(tile, 1) == nullptr;
    out[i] = right ? tile[blockDim.x - 1 - threadIdx.x] : 12345;)";
  expect_right({.text = kernel_of(body),
                .expected = "in[i / 32 * 32 + 31 - i % 32]",
                .n = 64,
                .grid = {2},
                .block = {32}});
  expect_right({.text = kernel_of(body), .n = 64, .grid = {64}});
}

KernelCase meeting(Dim3 grid) {
  return {.text = R"(
    #include <cooperative_groups.h>
    __device__ int parts[64];
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      const auto grid = cooperative_groups::this_grid();
      const int i = grid.thread_rank();
      __shared__ int mine[16];
      mine[threadIdx.x] = in[i];
      __syncthreads();
      if (threadIdx.x == 0) parts[grid.block_rank()] = mine[15];
      grid.sync();
      out[i] = parts[grid.num_blocks() - 1 - grid.block_rank()];
    })",
          .expected = "in[n - 1 - i / 16 * 16]",
          .n = 16 * grid.count(),
          .grid = grid,
          .block = {16},
          .cooperative = true};
}

TEST(HostClusters, BlocksOfACooperativeLaunchWaitForEachOther) {
  expect_right(meeting({2, 3, 2}));
  expect_right(meeting({1}));
  KernelCase other = meeting({2, 3, 2});
  std::string message;
  other.cluster = {2, 1, 1};
  EXPECT_EQ(refusal_of(other, &message), Outcome::launch_error);
  EXPECT_THAT(message, testing::HasSubstr("a cooperative launch with clusters"));
  other.cluster = {};
  other.block = {1024};
  EXPECT_EQ(refusal_of(other, &message), Outcome::invalid);
  EXPECT_THAT(message, testing::HasSubstr("its 12 blocks must be resident at once: the device "
                                          "holds 8 of them"));
}

TEST(HostClusters, WhatIsNoSharedMemoryOfTheClusterHasNoAddressInABlock) {
  expect_right(clusters_of_4(R"(
    __shared__ int tile[16];
    extern __shared__ int more[];
    const bool right = in_block(tile, 4) == nullptr && in_block(in, cluster_rank() ^ 1) == nullptr &&
                       in_block(more, cluster_rank() ^ 1) == nullptr;
    out[i] = right ? in[i] : 12345;)",
                             "in[i]"));
}

TEST(HostClusters, AKernelMayDeclareItsCluster) {
  KernelCase declared =
      clusters_of_4(sum_of_cluster("__shared__ int tile[16];", barrier_of_cuda()), kSumOfCluster);
  const std::string place = "void kernel(";
  declared.text.replace(declared.text.find(place), place.size(),
                        "__launch_bounds__(16) void __cluster_dims__(CLUSTER) kernel(");
  declared.text.insert(0, "#define CLUSTER 2 * 2, 1, 1\n");
  expect_right(declared);
  declared.cluster = {};
  expect_right(declared);

  std::string message;
  declared.cluster = {2};
  EXPECT_EQ(refusal_of(declared, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("__cluster_dims__ says 4 x 1 x 1"));
  declared.cluster = {};
  declared.grid = {6};
  EXPECT_EQ(refusal_of(declared, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("is not a multiple of the cluster of 4 x 1 x 1"));
}

TEST(HostClusters, AClusterThatTheGridCannotHaveIsRefused) {
  const auto refusal = [](Dim3 grid, Dim3 cluster) {
    std::string message;
    EXPECT_EQ(refusal_of({.text = kCopy, .grid = grid, .cluster = cluster}, &message),
              Outcome::launch_error);
    return message;
  };
  EXPECT_THAT(refusal({6}, {4}), HasSubstr("a grid of 6 x 1 x 1 blocks is not a multiple of the "
                                           "cluster of 4 x 1 x 1"));
  EXPECT_THAT(refusal({16}, {16}), HasSubstr("a cluster of 16 x 1 x 1 blocks; at most 8"));
  EXPECT_THAT(refusal({4}, {1, 2}), HasSubstr("a cluster of 1 x 2 x 1 blocks"));
  EXPECT_THAT(refusal({4}, {0}), HasSubstr("a cluster of 0 x 1 x 1 blocks"));
}

TEST(HostClusters, ABarrierThatABlockPassesByIsADeadlock) {
  std::string message;
  EXPECT_EQ(refusal_of(clusters_of_4(R"(
    if (blockIdx.x == 6 && threadIdx.x < 5) __syncthreads();
    cluster_barrier();
    out[i] = in[i];)",
                                     "in[i]"),
                       &message),
            Outcome::crash);
  EXPECT_THAT(message, HasSubstr("deadlock at a barrier in block (6, 0, 0): of 16 threads 5 wait "
                                 "at __syncthreads, 0 at a warp's barrier, 11 at the cluster's, "
                                 "and 0 have ended"));
}

TEST(HostClusters, HalvesOfTheBarrierInTheWrongOrderAreADeadlock) {
  for (const char* wrong :
       {"__cluster_barrier_wait();", "__cluster_barrier_arrive(); __cluster_barrier_arrive();"}) {
    std::string message;
    EXPECT_EQ(refusal_of(clusters_of_4(wrong, "in[i]"), &message), Outcome::crash);
    EXPECT_THAT(message, HasSubstr("16 at the cluster's")) << wrong;
  }
}

TEST(HostClusters, TheLargestClusterFits) {
  expect_right({.text = kernel_of(R"(
    __shared__ int tile[1024];
    tile[threadIdx.x] = in[i];
    cluster_barrier();
    out[i] = *in_block(tile + threadIdx.x, 7 - cluster_rank());
    cluster_barrier();)"),
                .expected = "in[i / 8192 * 8192 + (7 - i / 1024 % 8) * 1024 + i % 1024]",
                .n = 16 * 1024,
                .grid = {16},
                .block = {1024},
                .cluster = {8}});
}

using testing::Pair;

TEST(ClusterDims, StandAnywhereBeforeTheNameOfAKernel) {
  for (const char* text :
       {"extern \"C\" __global__ void __cluster_dims__(2, 1, 1) scale(float* x) {}",
        "__global__ __cluster_dims__(2, 1, 1) void scale(float* x);",
        "template <int kWide>\n__cluster_dims__ (2, 1, 1) __global__ void\n"
        "__launch_bounds__(kWide * (2 + 2)) scale(float*);",
        "__global__ void __cluster_dims__(2, 1, 1)  // two blocks (a pair)\n scale() {}"}) {
    EXPECT_THAT(cluster_dims(text), ElementsAre(Pair("scale", "(2, 1, 1)"))) << text;
  }
}

TEST(ClusterDims, AreThoseOfEachKernel) {
  EXPECT_THAT(cluster_dims("__global__ void first() {}\n"
                           "__global__ void __cluster_dims__(N / (2), 2) second() { f(1); }\n"
                           "// __cluster_dims__(7)\n"
                           "__global__ void __cluster_dims__(4) third(); void fourth();\n"),
              ElementsAre(Pair("second", "(N / (2), 2)"), Pair("third", "(4)")));
}

TEST(ClusterDims, AreUnknownWhereTheirKernelIs) {
  for (const char* text :
       {"#define CLUSTERED __cluster_dims__(2)\n__global__ void CLUSTERED scale() {}",
        "__global__ void __cluster_dims__(2) scale() {}\n#ifdef __cluster_dims__\n#endif\nint f();",
        "__global__ void __cluster_dims__(2) scale();\n__global__ void __cluster_dims__(4) "
        "scale();",
        "__cluster_dims__(2", "__cluster_dims__", "int __cluster_dims__(2); void f();"}) {
    EXPECT_THAT(cluster_dims(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace autotune
