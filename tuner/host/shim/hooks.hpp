// SPDX-License-Identifier: Apache-2.0
// What a kernel that was compiled for the host asks of the launcher. Seen by both: the shim text
// begins with this file.
#pragma once

namespace autotune_host {

/// Filled in by the launcher once a module is loaded. Waits return when every thread has come.
struct Hooks {
  /// Runs body(context, 0 … threads-1) as one block; false when it deadlocked at a barrier.
  bool (*run_block)(unsigned threads, void (*body)(void* context, unsigned thread), void* context);
  void (*wait_block)();
  void (*wait_warp)(unsigned lanes);
  /// Eight bytes a thread of the block, by which threads exchange values.
  unsigned long long* (*slots)();
  /// The block's dynamic shared memory.
  void* (*dynamic_shared)();
  // Copies of the calling thread that happen no earlier than its wait; `zeros` follow the bytes.
  void (*copy)(void* to, const void* from, unsigned bytes, unsigned zeros);
  void (*commit_copies)();
  void (*wait_copies)(unsigned groups_left);
  void (*drop_copies)();
};

/// The sizes of a launch.
struct Extent {
  unsigned x, y, z;
};

/// What a module exports for each kernel: runs blocks first … last-1, numbered with x fastest;
/// returns the number of the block that deadlocked, or `last`.
using RunBlocks = unsigned long long (*)(void** arguments, Extent grid, Extent block,
                                         unsigned long long first, unsigned long long last);

}  // namespace autotune_host
