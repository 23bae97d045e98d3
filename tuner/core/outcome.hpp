// SPDX-License-Identifier: Apache-2.0
// How a trial ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace autotune {

/// `pruned`: not run or stopped early, because resources, the model or a screen excluded it.
/// `invalid`: over a limit of the device. `killed`: its process was killed from outside whenever it
/// was asked again; that says nothing about the configuration, and is never stored. The others
/// failed when built, run or verified.
enum class Outcome : std::uint8_t {
  ok,
  pruned,
  invalid,
  compile_error,
  launch_error,
  wrong,
  nondeterministic,
  timeout,
  crash,
  killed,
};

inline constexpr int kOutcomes = 10;

/// `ok`, `pruned`, `compile_error`, …: as stored in the database.
std::string_view name_of(Outcome outcome);
std::optional<Outcome> outcome(std::string_view name);

}  // namespace autotune
