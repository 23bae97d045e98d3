// SPDX-License-Identifier: Apache-2.0
// How the launcher enters a kernel: sets the built-in variables and runs a range of clusters.
#pragma once

/// Its instances bring the types of a kernel's parameters into the module's table of symbols.
template <int number, class Kernel>
void autotune_parameters() {}

namespace autotune_host {

/// Sets blockIdx one by one: g++ takes the address of a variable that it stores as a vector.
/// Kernels would then read blockIdx again after each of their stores.
inline void set_block(unsigned x, unsigned y, unsigned z) {
  blockIdx.x = x;
  asm volatile("");
  blockIdx.y = y;
  asm volatile("");
  blockIdx.z = z;
}

/// Of a kernel's `__cluster_dims__`.
inline Extent cluster_of(unsigned x = 1, unsigned y = 1, unsigned z = 1) { return {x, y, z}; }

template <auto kernel>
struct Entry;

template <class... Types, void (*kernel)(Types...)>
struct Entry<kernel> {
  template <class First, class... Rest>
  struct Split {
    template <class... Bound>
    static inline __attribute__((always_inline)) void call(void** arguments, Bound&... bound) {
      if constexpr (sizeof...(Rest) == 0) {
        kernel(bound..., *static_cast<First*>(*arguments));
      } else {
        Split<Rest...>::call(arguments + 1, bound..., *static_cast<First*>(*arguments));
      }
    }
  };

  static inline void call(void** arguments) {
    if constexpr (sizeof...(Types) == 0) {
      kernel();
    } else {
      Split<Types...>::call(arguments);
    }
  }

  // The bytes of each parameter, terminated by 0.
  static constexpr int parameter_bytes[] = {static_cast<int>(sizeof(Types))..., 0};

  /// blockIdx is that of the cluster's first block before.
  static void enter(unsigned rank) {
    const uint3 size = autotune_cluster_dim;
    autotune_cluster_rank = rank;
    set_dynamic_arrays();
    set_block(blockIdx.x + rank % size.x, blockIdx.y + rank / size.x % size.y,
              blockIdx.z + rank / size.x / size.y);
  }

  static void body(void* context, unsigned thread) {
    threadIdx.x = thread % blockDim.x;
    threadIdx.y = thread / blockDim.x % blockDim.y;
    threadIdx.z = thread / blockDim.x / blockDim.y;
    call(static_cast<void**>(context));
  }

  static unsigned long long run(void** arguments, Extent grid, Extent block, Extent cluster,
                                unsigned long long first, unsigned long long last) {
    gridDim = {grid.x, grid.y, grid.z};
    blockDim = {block.x, block.y, block.z};
    threadIdx = {0, 0, 0};
    autotune_cluster_dim = {cluster.x, cluster.y, cluster.z};
    autotune_cluster_rank = 0;
    autotune_alone = threads() == 1 && blocks_of_cluster() == 1;
    if (autotune_alone) set_dynamic_arrays();
    const unsigned columns = grid.x / cluster.x, rows = grid.y / cluster.y;  // of clusters
    const ClusterWork work{threads(), &enter, &body, arguments};
    for (unsigned long long i = first; i < last; ++i) {
      set_block(static_cast<unsigned>(i % columns) * cluster.x,
                static_cast<unsigned>(i / columns % rows) * cluster.y,
                static_cast<unsigned>(i / columns / rows) * cluster.z);
      if (autotune_alone) {
        call(arguments);
        if (autotune_copies) autotune_hooks.drop_copies();
        autotune_copies = false;
      } else if (!autotune_hooks.run_cluster(work)) {
        return i;
      }
    }
    return last;
  }
};

}  // namespace autotune_host
