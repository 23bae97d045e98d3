// SPDX-License-Identifier: Apache-2.0
// <cooperative_groups.h> on the host: the grid of a cooperative launch, blocks and tiles of a warp.
#pragma once

namespace cooperative_groups {

struct thread_block {
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return autotune_host::thread(); }
  static unsigned size() { return autotune_host::threads(); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  static dim3 dim_threads() { return group_dim(); }
};
inline thread_block this_thread_block() { return {}; }

/// The launcher runs the blocks of a cooperative launch as one cluster.
struct grid_group {
  static bool is_valid() { return num_blocks() == autotune_host::blocks_of_cluster(); }
#ifdef AUTOTUNE_COOPERATIVE
  static void sync() {
    if (!is_valid()) {
      __builtin_printf("grid.sync() needs a cooperative launch: write cooperative = true\n");
      __builtin_trap();
    }
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
#endif
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_threads() { return num_blocks() * autotune_host::threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * autotune_host::threads() + autotune_host::thread();
  }
  static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
  static dim3 dim_blocks() { return group_dim(); }
  static dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
};
inline grid_group this_grid() { return {}; }

template <unsigned Size, class Parent = void>
struct thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the host device has tiles of at most 32 threads");

  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) {}

  static unsigned thread_rank() { return autotune_host::thread() % Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_rank() { return autotune_host::thread() / Size; }
  static unsigned meta_group_size() { return (autotune_host::threads() + Size - 1) / Size; }
  static void sync() { __syncwarp(lanes()); }
  template <class T>
  static T shfl(T value, int source) {
    return __shfl_sync(lanes(), value, source, Size);
  }
  template <class T>
  static T shfl_down(T value, unsigned delta) {
    return __shfl_down_sync(lanes(), value, delta, Size);
  }
  template <class T>
  static T shfl_up(T value, unsigned delta) {
    return __shfl_up_sync(lanes(), value, delta, Size);
  }
  template <class T>
  static T shfl_xor(T value, int other) {
    return __shfl_xor_sync(lanes(), value, other, Size);
  }
  static int any(int vote) { return __any_sync(lanes(), vote); }
  static int all(int vote) { return __all_sync(lanes(), vote); }
  static unsigned ballot(int vote) { return __ballot_sync(lanes(), vote) >> first(); }

 private:
  static unsigned first() { return autotune_host::thread() % 32 / Size * Size; }
  static unsigned lanes() { return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first(); }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

/// A block, or a tile whose size is known when the kernel runs.
struct thread_group {
  thread_group(const thread_block&) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>&) : tile(Size) {}
  explicit thread_group(unsigned size) : tile(size) {}

  unsigned size() const { return tile == 0 ? thread_block::size() : tile; }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return autotune_host::thread() % size(); }
  void sync() const {
    if (tile == 0) return __syncthreads();
    const unsigned first = autotune_host::thread() % 32 / tile * tile;
    __syncwarp((tile == 32 ? ~0u : (1u << tile) - 1) << first);
  }

  unsigned tile = 0;  // 0: the block
};
inline thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(size);
}

template <class Group>
void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

/// The same on every thread of a tile.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation) {
  for (unsigned other = 1; other < group.size(); other *= 2) {
    value = operation(value, group.shfl_xor(value, static_cast<int>(other)));
  }
  return value;
}

}  // namespace cooperative_groups
