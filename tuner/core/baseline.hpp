// SPDX-License-Identifier: Apache-2.0
// Baselines: vendors' libraries that the playoff times beside the finalists.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Identifies a library: the plugin's file, and the plugin's name for the target.
struct BaselineSource {
  std::filesystem::path plugin;
  std::string target;
  friend auto operator<=>(const BaselineSource&, const BaselineSource&) = default;
};

/// A library opened on the buffers of one problem, on the current device.
class Baseline {
 public:
  virtual ~Baseline() = default;
  /// The names of its candidates: the ways to compute the problem. May be empty.
  virtual std::vector<std::string> names() const = 0;
  /// Enqueues one call on a stream of the device. `addresses` replace the buffers that it was
  /// opened on, `scalars` the workload's. May be captured in a graph. Throws KernelFailure.
  virtual void launch(std::size_t number, std::span<void* const> addresses,
                      std::span<const Scalar> scalars, void* stream) = 0;
};

/// Opens a library in this process. `addresses` are those of the workload's buffers; null if each
/// launch brings its own. Throws Error.
using OpenBaseline = std::function<std::unique_ptr<Baseline>(const BaselineSource&, const Workload&,
                                                             std::span<void* const> addresses)>;

}  // namespace autotune
