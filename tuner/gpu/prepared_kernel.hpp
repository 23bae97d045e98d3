// SPDX-License-Identifier: Apache-2.0
// A compiled configuration, loaded on a GPU and launched on the caller's stream and memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Thread-safe. A kernel with workspace must not run on two streams at a time.
class PreparedKernel {
 public:
  /// Loads the cubin on the GPU `ordinal`; allocates and fills the workspace. `buffers` are the
  /// workload's. Throws KernelFailure (launch_error) if the driver refuses the cubin, Error if
  /// memory is short.
  PreparedKernel(int ordinal, std::string_view cubin, LaunchPlan plan,
                 std::vector<BufferSpec> buffers, EarlyStart early = EarlyStart::captured);
  ~PreparedKernel();

  /// `addresses` are device memory, one for each buffer of the workload. `scalars` replace those of
  /// the same names. `stream` is a cudaStream_t of that GPU; it may be captured, and the call does
  /// not synchronize. `constant` names the buffer whose contents are unchanged since the last
  /// complete call, always the same one; empty: none. `workspace` is the number of the workspace
  /// that is used; those up to it are allocated. Throws KernelFailure, and Error if memory is
  /// short.
  void launch(std::span<void* const> addresses, std::span<const Scalar> scalars, void* stream,
              std::string_view constant = {}, std::size_t workspace = 0);

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
  [[maybe_unused]] int ordinal_ = 0;
  [[maybe_unused]] EarlyStart early_;  // not in a build without CUDA
};

}  // namespace autotune
