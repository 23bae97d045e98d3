// SPDX-License-Identifier: Apache-2.0
// A vendor's library as a competitor.
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

/// Which library: a plugin's file, and the target by the name that the plugin knows.
struct BaselineSource {
  std::filesystem::path plugin;
  std::string target;
  friend auto operator<=>(const BaselineSource&, const BaselineSource&) = default;
};

/// A library opened on the buffers of one problem, on the current device.
class Baseline {
 public:
  virtual ~Baseline() = default;
  /// The ways in which it can do the problem, by the names of what it chose; may be none.
  virtual std::vector<std::string> names() const = 0;
  /// Enqueues one call on a stream of the device, with these addresses in place of the buffers it
  /// was opened on, and these scalars in place of the workload's. May be captured in a graph.
  /// Throws KernelFailure.
  virtual void launch(std::size_t number, std::span<void* const> addresses,
                      std::span<const Scalar> scalars, void* stream) = 0;
};

/// Opens a library in this process, `addresses` being where the workload's buffers lie; null where
/// each launch brings its own. Throws Error.
using OpenBaseline = std::function<std::unique_ptr<Baseline>(const BaselineSource&, const Workload&,
                                                             std::span<void* const> addresses)>;

}  // namespace autotune
