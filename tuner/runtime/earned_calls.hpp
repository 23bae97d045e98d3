// SPDX-License-Identifier: Apache-2.0
// A program's calls of one problem, some of which are timed on its own streams: what runs them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "tuner/gpu/call_timer.hpp"
#include "tuner/measure/earning.hpp"

namespace autotune {

/// Thread-safe. A call is timed only while no other thread makes one, and counts only if no call of
/// this process that takes part used another stream meanwhile.
class EarnedCalls {
 public:
  /// The first call makes the timer. `decided` is called once, by the thread whose call decides.
  EarnedCalls(Earning earning, std::function<std::unique_ptr<CallTimer>()> make_timer,
              std::function<void(const Earning&)> decided);

  /// What runs the next call, on this stream. If it is timed, end() must follow the call.
  Earning::Turn begin(void* stream) noexcept;
  /// `has_run`: the call was made, and by what begin() said.
  void end(void* stream, bool has_run) noexcept;

  Way serves() const noexcept { return serves_.load(std::memory_order_relaxed); }

 private:
  enum class Phase : std::uint8_t { none, begun, ended };

  void poll();
  void take(std::optional<double> seconds);

  std::atomic<Way> serves_;
  std::atomic<bool> is_decided_{false};
  std::atomic<bool> is_disturbed_{false};  // the timed call, by another one
  std::mutex mutex_;                       // for what follows
  Earning earning_;
  const std::function<std::unique_ptr<CallTimer>()> make_timer_;
  std::unique_ptr<CallTimer> timer_;
  const std::function<void(const Earning&)> decided_;
  Phase phase_ = Phase::none;
  std::uint64_t changes_ = 0;  // of streams, when the timed call began
};

}  // namespace autotune
