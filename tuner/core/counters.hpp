// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one call.
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

/// Lets a plugin count one call. `call` makes the call and waits for it; the plugin may run it
/// several times. Throws Error with the plugin's reason, or what `call` threw.
using CountCalls =
    std::function<Counters(const std::filesystem::path& plugin, const std::function<void()>& call)>;

struct DeviceInfo;
class Candidate;

/// A Candidate whose device has hardware counters.
class Countable {
 public:
  virtual ~Countable() = default;
  /// The plugin's counters of one call, which runs several times. Afterwards, times measured by
  /// this process are unreliable. Throws KernelFailure, and Error with the plugin's reason.
  virtual Counters counters(const std::filesystem::path& plugin) = 0;
};

/// Throws as above; Error if the candidate is not Countable.
Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin);

/// Throws Error if nothing can be counted on the device.
void require_counters(const DeviceInfo& info);

}  // namespace autotune
