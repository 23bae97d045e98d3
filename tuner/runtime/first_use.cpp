// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/first_use.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kFewest = 8, kMost = 32;  // configurations in a race

/// As many configurations as two rounds of compiling on all cores make.
std::size_t entrant_count() {
  return std::clamp<std::size_t>(std::size_t{2} * std::thread::hardware_concurrency(), kFewest,
                                 kMost);
}

/// Whether this source was never measured at these sizes on this device.
bool is_untuned(const LookupAnswer& answer) {
  if (answer.provenance == "pinned") return false;  // by a person, or a cover
  return answer.origin != db::Origin::exact || answer.provenance == "predicted" ||
         (answer.library_is_expected && !answer.baseline.empty()) ||
         answer.validity == db::Validity::source_drifted;
}

db::BaselineFigures figures_of(const RacedLibrary& library) {
  const db::Times times = times_of(library.time);
  return {library.plugin, library.candidate, times.median_ns,
          times.low_ns,   times.high_ns,     library.wins};
}

/// Without session and key.
db::DecisionRow row_of(const RaceResult& result, double flops) {
  db::DecisionRow row;
  row.provenance = "first use";
  row.configuration = result.configuration;
  static_cast<db::Times&>(row) = times_of(result.time);
  if (flops > 0 && result.time.median > 0) row.gflops = flops / result.time.median / 1e9;
  row.noise_floor = result.noise_floor;
  row.verified = true;
  row.binary_key = result.binary_key;
  row.created_at = db::now_text();
  if (result.library) row.baseline = figures_of(*result.library);
  return row;
}

}  // namespace

void FirstUse::settle(TargetLookup& lookup, std::span<const std::int64_t> sizes) {
  if (!is_untuned(lookup.find(sizes))) return;
  const std::lock_guard lock(mutex_);
  if (!settled_.emplace(sizes.begin(), sizes.end()).second) return;
  race_and_store(lookup, sizes, Deadline::in(options_.seconds));
}

void FirstUse::race_and_store(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                              const Deadline& deadline) {
  const Problem problem = lookup.problem_for(sizes);
  const auto warn = [&](bool& is_known, const std::string& sentence) {
    if (!std::exchange(is_known, true)) lookup.warn(sentence);
  };
  try {
    const Race raced = race_for(lookup, sizes, deadline);
    std::vector<std::string> failed;
    for (const Trial& one : raced.failed) failed.push_back(to_text(one.configuration));
    if (!failed.empty()) lookup.keep_failures(sizes, std::move(failed));
    std::optional<db::DecisionRow> row;
    if (raced.result) {
      row = row_of(*raced.result, work_of(lookup.target(), problem, lookup.device()).flops);
      lookup.keep_found(sizes, *row);
    }
    try {
      db::SessionRow session;
      session.command = "autotune_prepare()";
      session.strategy = "first use";
      session.budget = format("{} ms", std::lround(options_.seconds * 1e3));
      if (row || !raced.failed.empty()) {
        store_found(options_.database, lookup, problem, std::move(session), row, raced.failed);
      }
    } catch (const std::exception& error) {
      warn(store_failed_, format("what is found at first use is not stored: {}", error.what()));
    }
    if (!row) {
      throw Error(
          format("no configuration was compiled, right and timed within {} ms, {} failed; raise "
                 "autotune_options.first_use_ms, or tune these sizes",
                 std::lround(options_.seconds * 1e3), raced.failed.size()));
    }
  } catch (const std::exception& error) {
    warn(race_failed_,
         format("{} {}: its first use is answered without a race: {}", lookup.target().name,
                problem_text(lookup.target(), problem), error.what()));
  }
}

/// Throws Error if the race cannot take place.
Race FirstUse::race_for(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                        const Deadline& deadline) {
  std::erase_if(compilations_, [](const auto& one) { return one->have_ended(); });
  if (!device_) device_ = options_.open_device();
  const RaceEntrants entrants{lookup.likely(sizes, entrant_count()),
                              options_.libraries(lookup.target().name)};
  Race raced = race(device_, lookup.target(), lookup.problem_for(sizes), options_.policy, entrants,
                    deadline);
  compilations_.push_back(std::move(raced.compilations));
  return raced;
}

void store_found(const std::optional<std::filesystem::path>& database, const TargetLookup& lookup,
                 const Problem& problem, db::SessionRow session, std::optional<db::DecisionRow> row,
                 std::span<const Trial> failed) {
  if (!database) throw Error("there is no home folder: name a database");
  db::TunedStore store(*database, db::Mode::read_write,
                       std::chrono::steady_clock::now() + kLongestWait);
  session.started_at = db::now_text();
  session.environment = lookup.device().environment;
  session.space = lookup.target().space_fingerprint;
  const std::string id = store.begin_session(session);
  const db::ProblemKey key = {store.add_device(device_row(lookup.device())),
                              store.add_kernel(kernel_row(lookup.target())), problem.text(),
                              lookup.policy()};
  std::vector<db::TrialRow> trials;
  for (const Trial& one : failed) {
    db::TrialRow& trial = trials.emplace_back(trial_row(one, 0));
    trial.session = id;
    trial.key = key;
    trial.created_at = session.started_at;
  }
  store.append(trials);
  if (!row) return;
  row->session = id;
  row->key = key;
  store.add_decision(*row);
}

}  // namespace autotune
