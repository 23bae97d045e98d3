// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/search_health_report.hpp"

#include <algorithm>

#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// A wrong result is an error in the kernel, not a limit of it.
const char* failure_advice(const SearchHealth& health) {
  return health.main_failure && health.main_failure->outcome == name_of(Outcome::wrong)
             ? "correct the kernel, or rule these configurations out by a constraint"
             : "a constraint in the manifest that rules them out saves these evaluations";
}

/// `compile_error: ptxas error: …`.
std::string main_failure_text(const Reason& reason) {
  const std::string why = first_error(reason.example);
  return why.empty() ? reason.outcome : format("{}: {}", reason.outcome, why);
}

/// `40 of 128 (31 %), 38 of them compile_error: …`.
std::string failures_text(const SearchHealth& health) {
  std::string text =
      format("{} of {} ({:.0f} %)", health.failed, health.tried, 100 * health.failed_share());
  if (!health.main_failure) return text;
  return text + format(", {} of them {}", health.main_failure->count(),
                       main_failure_text(*health.main_failure));
}

std::string ranking_text(const SearchHealth& health) {
  if (!health.rank_correlation) return "";
  std::string text = format(
      "ranking     {:.2f}, the rank correlation of predicted and measured times of {} "
      "configurations\n",
      *health.rank_correlation, health.ranked);
  if (!health.is_misled()) return text;
  return text + format(
                    "  below {}: the model misleads the search; state more under `model` "
                    "(docs/guide.md), or compare with --strategy random\n",
                    SearchHealth::kMisleading);
}

std::size_t next_budget(const SearchHealth& health) {
  return std::min(2 * static_cast<std::size_t>(health.tried), health.space);
}

std::string progress_text(const SearchHealth& health) {
  if (!health.last_gain) return "";
  std::string text = format("progress    the last quarter of {} evaluations gained {:.1f} %\n",
                            health.tried, 100 * *health.last_gain);
  if (!health.still_improves()) return text;
  return text + format("  still improving at the end: try --budget {}\n", next_budget(health));
}

}  // namespace

std::string health_text(const SearchHealth& health) {
  if (health.tried == 0) return "";
  std::string text = ranking_text(health) + format("failures    {}\n", failures_text(health));
  if (health.fails_often()) text += format("  {}\n", failure_advice(health));
  return text + progress_text(health);
}

std::string lost_text(const SearchHealth& health) {
  std::string text;
  if (health.fails_often()) {
    text += format("  failures: {}; {}\n", failures_text(health), failure_advice(health));
  }
  if (health.still_improves()) {
    text += format(
        "  still improving at the end, by {:.1f} % in the last quarter of {} "
        "evaluations: try --budget {}\n",
        100 * *health.last_gain, health.tried, next_budget(health));
  }
  return text;
}

Json json_of(const SearchHealth& health) {
  Json main = nullptr;
  if (health.main_failure) {
    main = {{"outcome", health.main_failure->outcome},
            {"reason", first_error(health.main_failure->example)},
            {"count", health.main_failure->count()}};
  }
  return {{"tried", health.tried},
          {"ranked", health.ranked},
          {"rank_correlation", health.rank_correlation ? Json(*health.rank_correlation) : Json()},
          {"misled", health.is_misled()},
          {"failed", health.failed},
          {"main_failure", main},
          {"last_quarter_gain", health.last_gain ? Json(*health.last_gain) : Json()},
          {"still_improves", health.still_improves()}};
}

}  // namespace autotune::cli
