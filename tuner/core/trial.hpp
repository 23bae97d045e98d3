// SPDX-License-Identifier: Apache-2.0
// A trial: one configuration and its result.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// The message of a trial that was timed while other programs disturbed the device: it is not
/// corrected, and may be faster than that.
inline constexpr std::string_view kDisturbed = "timed while other programs were running";

struct Trial {
  Configuration configuration;
  Outcome outcome = Outcome::ok;
  std::string message;                     // the reason, if not ok; or kDisturbed
  std::optional<Measurement> measurement;  // if ok; if screened, a lower bound
  std::optional<double> predicted_seconds;
  // Resources of the configuration's heaviest kernel, from the binary; -1: unknown.
  int registers = -1;
  std::int64_t shared_bytes = -1;
  std::int64_t local_bytes = -1;
  double occupancy = -1;  // theoretical, 0..1
  double compile_seconds = 0;
  std::string binary_key;  // CompiledKernel::key
  bool verified = false;
  bool of_machine = false;  // the machine failed, not the configuration: the trial is not stored

  /// Makes it a failure.
  void fail(Outcome how, const std::string& why) {
    outcome = how;
    message = why;
    measurement.reset();
    verified = false;
    of_machine = how == Outcome::killed;
  }
};

}  // namespace autotune
