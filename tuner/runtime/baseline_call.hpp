// SPDX-License-Identifier: Apache-2.0
// A vendor's library that was measured to be faster, called in place of a kernel.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/baseline.hpp"

namespace autotune {

/// Where libautotune looks for baseline plugins: the folders of $AUTOTUNE_PLUGIN_PATH, those of the
/// program, and lib/autotune/plugins where the library itself is installed.
std::vector<std::filesystem::path> runtime_plugin_folders();

/// One way of one library for one problem. Plugins are called by one thread at a time: calls of all
/// objects wait for each other. Unlike in the tool, a plugin works in this process.
class BaselineCall {
 public:
  /// `name` as it is stored: `cublas cublasLt 0 (…)`, a plugin's file without `.so` and what it
  /// calls this way. For the current GPU. Throws Error when there is no such plugin, it cannot be
  /// loaded or opened, or it does not offer this way any more.
  BaselineCall(std::string_view name, const std::string& target, const Workload& workload,
               std::span<const std::filesystem::path> folders);
  ~BaselineCall();

  /// As Baseline::launch(). Throws KernelFailure.
  void launch(std::span<void* const> addresses, std::span<const Scalar> scalars, void* stream);

 private:
  std::unique_ptr<Baseline> baseline_;
  std::size_t number_ = 0;
};

}  // namespace autotune
