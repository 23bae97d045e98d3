// SPDX-License-Identifier: Apache-2.0
// What hardware counters say of one call.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace autotune {

/// One figure: `dram_read_bytes`, `bytes`, 134217728.
struct Counter {
  std::string name, unit;
  double value = 0;
  friend bool operator==(const Counter&, const Counter&) = default;
};

using Counters = std::vector<Counter>;

/// Has a plugin count a call, which it may make several times. `call` makes it and waits for it.
/// Throws Error with the plugin's reason, and what `call` threw.
using CountCalls =
    std::function<Counters(const std::filesystem::path& plugin, const std::function<void()>& call)>;

struct DeviceInfo;
class Candidate;

/// A Candidate whose device has hardware counters.
class Countable {
 public:
  virtual ~Countable() = default;
  /// What the plugin counts of one call, which runs several times. Times of this process are not to
  /// be trusted afterwards. Throws KernelFailure, and Error with the plugin's reason.
  virtual Counters counters(const std::filesystem::path& plugin) = 0;
};

/// Throws as above; Error if the candidate is not Countable.
Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin);

/// Throws Error if nothing can be counted on the device.
void require_counters(const DeviceInfo& info);

}  // namespace autotune
