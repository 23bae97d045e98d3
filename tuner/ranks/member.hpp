// SPDX-License-Identifier: Apache-2.0
// A rank with a device: tunes the problems that rank 0 gives it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/ranks/transport.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// What a rank tunes with.
class MemberJob {
 public:
  virtual ~MemberJob() = default;
  virtual const Target& target() const = 0;
  virtual Device& device() = 0;
  virtual const TuningRequest& request() const = 0;
  /// What tells its device from others of this host; empty if ranks may share it.
  virtual std::string device_text() const = 0;
  /// Compile threads while the host's other ranks have no work.
  virtual int most_threads() const { return request().compile_threads; }
};

struct MemberOptions {
  /// Rank 0 is lost if it is not heard of for so many seconds.
  double deadline = 30;
  /// Opens the device. Called once, in a thread of its own. Throws Error.
  std::function<std::unique_ptr<MemberJob>()> prepare;
  std::function<bool()> stop_requested;
  /// Ends the process at once, because rank 0 is lost (false) or the run is over (true) while the
  /// device is still at work. If it is empty, the work is waited for.
  std::function<void(bool is_over)> abandon;
};

/// How the run of a rank ended.
struct MemberEnd {
  bool lead_lost = false;
  EndOfRun end;  // what rank 0 said, unless it is lost
};

/// Serves rank 0 until it ends the run, or is lost. `transport` is used by the calling thread only.
MemberEnd run_member(Transport& transport, const MemberOptions& options);

}  // namespace autotune
