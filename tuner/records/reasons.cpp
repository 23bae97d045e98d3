// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/reasons.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace autotune {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// The end of a number at `at`: `12`, `-0.5`, `4.5e-3` or `0xc000`; `at` itself if there is none.
std::size_t end_of_figure(std::string_view text, std::size_t at) {
  const std::size_t first = at + (text[at] == '-');
  std::size_t end = end_of_digits(text, first);
  if (end == first) return at;
  if (text.substr(first).starts_with("0x")) {
    return std::min(text.find_first_not_of("0123456789abcdefABCDEF", first + 2), text.size());
  }
  const auto take_if_digits = [&](std::size_t from) {
    const std::size_t after = end_of_digits(text, from);
    if (after > from) end = after;
  };
  if (text.substr(end).starts_with('.')) take_if_digits(end + 1);
  if (text.substr(end).starts_with("e-") || text.substr(end).starts_with("e+")) {
    take_if_digits(end + 2);
  }
  return end;
}

/// The message without its numbers: `12 KiB over` and `48 KiB over` are one reason.
std::string without_figures(std::string_view text) {
  std::string pattern;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_figure(text, i);
    pattern += end > i ? '#' : text[i];
    i = std::max(end, i + 1);
  }
  return pattern;
}

}  // namespace

std::vector<Reason> reasons_of(std::span<const Ending> endings) {
  std::map<std::string, Reason> by_pattern;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    const Ending& ending = endings[i];
    if (ending.outcome == "ok") continue;
    Reason& reason = by_pattern[std::string(ending.outcome) + without_figures(ending.message)];
    reason.outcome = ending.outcome;
    if (reason.trials.empty()) reason.example = ending.message;
    reason.trials.push_back(i);
  }
  std::vector<Reason> reasons;
  for (const auto& [pattern, reason] : by_pattern) reasons.push_back(reason);
  std::ranges::stable_sort(reasons, std::greater(), &Reason::count);
  return reasons;
}

std::vector<Reason> reasons_of(const std::vector<db::TrialRow>& trials) {
  std::vector<Ending> endings;
  for (const db::TrialRow& trial : trials) endings.push_back({trial.outcome, trial.message});
  return reasons_of(endings);
}

std::string_view meaning_of(std::string_view message) {
  if (message == "screened") return "far slower than the best so far";
  if (message == "outrun") return "slower than the best so far; timing stopped early";
  return message;
}

}  // namespace autotune
