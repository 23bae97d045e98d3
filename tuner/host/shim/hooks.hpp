// SPDX-License-Identifier: Apache-2.0
// The functions of the launcher that kernels compiled for the host call. The launcher includes this
// file, and the shim text begins with it.
#pragma once

namespace autotune_host {

/// What a cluster runs: in each block enter(rank), then body(context, 0 … threads-1).
struct ClusterWork {
  unsigned threads;
  void (*enter)(unsigned rank);
  void (*body)(void* context, unsigned thread);
  void* context;
};

/// What a compiler says of an access that -fsanitize=object-size has found.
struct StrayAccess {
  const char* file;
  unsigned line, column;
  const struct {
    unsigned short kind, info;
    char name[1];  // of the elements: "'float'"
  } * type;
  unsigned char log_alignment, kind;  // kind 1: a store
};

/// The launcher sets these after it has loaded a module. A wait returns when every thread of the
/// block (warp, cluster) that has not ended has arrived.
struct Hooks {
  /// False after a deadlock at a barrier.
  bool (*run_cluster)(const ClusterWork& work);
  void (*wait_block)();
  void (*wait_warp)(unsigned lanes);
  void (*arrive_cluster)();
  void (*wait_cluster)();
  /// The address of a shared variable in the block `rank` of the cluster. It holds in the calling
  /// block only. nullptr if it is not shared memory, or there is no such block.
  void* (*in_block)(const void* shared, unsigned rank);
  /// Eight bytes for each thread of the block, to exchange values.
  unsigned long long* (*slots)();
  /// The block's dynamic shared memory.
  void* (*dynamic_shared)();
  // Asynchronous copies of the calling thread. They run in its wait; `zeros` zero bytes follow.
  void (*copy)(void* to, const void* from, unsigned bytes, unsigned zeros);
  void (*commit_copies)();
  void (*wait_copies)(unsigned groups_left);
  void (*drop_copies)();
  /// An access outside of an array. It returns only if `alone`: a fibre never continues.
  void (*stray)(const StrayAccess& access, const void* at, bool alone);
};

/// What a texture object (cudaTextureObject_t) points to.
struct Texture {
  const void* texels;
  long long width, height;  // height 0: one dimension
  bool linear;              // filtered
  int address;              // 0 clamp, 1 border, 2 wrap, 3 mirror
  bool normalized;          // coordinates from 0 to 1
};

/// What kernels use as a TMA descriptor: at most 3 dimensions, innermost first. As large as a
/// CUtensorMap.
struct alignas(64) TensorMap {
  char* bytes;
  long long dims[3], strides[2];  // elements; bytes
  int box[3], swizzle_bytes, element_bytes;
  char unused[128 - 68];
};
static_assert(sizeof(TensorMap) == 128);

/// The sizes of a launch.
struct Extent {
  unsigned x, y, z;
};

/// The function that a module exports for each kernel. It runs clusters first … last-1, numbered
/// with x fastest. Returns the number of the cluster that deadlocked, or `last`.
using RunClusters = unsigned long long (*)(void** arguments, Extent grid, Extent block,
                                           Extent cluster, unsigned long long first,
                                           unsigned long long last);

}  // namespace autotune_host
