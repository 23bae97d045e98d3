// SPDX-License-Identifier: Apache-2.0
// Times single calls on a stream of a program, by events beside them.
#pragma once

#include <memory>
#include <optional>

namespace autotune {

/// Not thread-safe. One call at a time: begin(), the call, end(), then seconds() until it tells.
/// The functions throw where CUDA fails.
class CallTimer {
 public:
  CallTimer() = default;
  virtual ~CallTimer() = default;
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  /// False while the stream is being captured, or may be.
  virtual bool may_time(void* stream) = 0;
  virtual void begin(void* stream) = 0;
  /// False if the stream had no work ahead of the call, so that its time would be the host's.
  virtual bool end(void* stream) = 0;
  /// nullopt until the call has ended. Does not wait.
  virtual std::optional<double> seconds() = 0;
};

/// On this GPU. Throws Error.
std::unique_ptr<CallTimer> make_call_timer(int ordinal);

}  // namespace autotune
