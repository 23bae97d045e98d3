// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/outcome.hpp"

#include <array>

namespace autotune {
namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "ok",    "pruned",           "invalid", "compile_error", "launch_error",
    "wrong", "nondeterministic", "timeout", "crash",         "killed"};

}  // namespace

std::string_view name_of(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome(std::string_view name) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    if (kOutcomeNames[i] == name) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

}  // namespace autotune
