// SPDX-License-Identifier: Apache-2.0
// The result of a tuning run as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "db/rows.hpp"
#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune::cli {

/// Configurations that this run tried.
int tried(const ProblemReport& report);

/// Two lines for each problem: its figures, then the configuration.
std::string text_of(const Target& target, const DeviceInfo& device, const ProblemReport& report);

/// The document of `--json`; docs/cli.md describes it.
Json json_of(const Target& target, const DeviceInfo& device, const std::string& database,
             const TuningReport& report);

/// A stored baseline, which must have a time: `8.900 us [8.890, 8.910], 0.971x the best, faster:
/// cublas cublasSgemm`.
std::string baseline_text(const db::BestRow& best);
/// null without a time.
Json baseline_json(const db::BaselineFigures& baseline);

/// `{"BM": 64, "PREFETCH": "register"}`.
Json json_of(const NamedValues& values);

/// null if there is none.
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace autotune::cli
