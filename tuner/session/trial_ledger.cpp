// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_ledger.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tuner/core/value.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

SessionRows begin_session(db::TunedStore* store, const Target& target, const Device& device,
                          const TuningRequest& request) {
  if (!store) return {};
  db::SessionRow session;
  session.started_at = db::now_text();
  session.tool_version = request.tool_version;
  session.environment = device.info().environment;
  session.command = request.command;
  session.strategy = request.strategy;
  session.seed = static_cast<std::int64_t>(request.seed);
  session.budget = request.budget_text;
  session.partial = request.partial;
  session.space = target.space_fingerprint;
  return {store->begin_session(session), store->add_device(device_row(device.info())),
          store->add_kernel(kernel_row(target))};
}

namespace {

constexpr std::size_t kMostWaiting = 64;
constexpr std::chrono::seconds kLongestWait{1};

}  // namespace

Recorder::Recorder(db::TunedStore* store, std::string session, db::ProblemKey key, double flops,
                   bool decides)
    : store_(store),
      session_(std::move(session)),
      key_(std::move(key)),
      flops_(flops),
      decides_(decides) {}

std::vector<Trial> Recorder::earlier_trials() const {
  if (!store_) return {};
  std::map<std::string, std::size_t> places;
  std::vector<Trial> trials;
  for (const db::TrialRow& row : store_->history(key_)) {
    const bool failed = row.outcome != "ok" && row.outcome != "pruned";
    if (row.stage != "search" && !failed) continue;
    const auto [place, is_new] = places.try_emplace(row.configuration, trials.size());
    if (is_new) trials.emplace_back();
    trials[place->second] = trial_of(row);
  }
  return trials;
}

std::optional<db::BestRow> Recorder::earlier_best() const {
  if (!store_) return std::nullopt;
  auto best = store_->best(key_);
  return best && best->decided ? best : std::nullopt;
}

std::string Recorder::space_of(const db::BestRow& best) const {
  const auto session = store_ ? store_->session(best.session) : std::nullopt;
  return session ? session->space : "";
}

std::vector<db::Quarantined> Recorder::quarantined() const {
  return store_ ? store_->quarantined(key_) : std::vector<db::Quarantined>{};
}

void Recorder::record(const Trial& trial, bool is_default, Stage stage) {
  if (!store_) return;
  db::TrialRow row = trial_row(trial, flops_);
  row.session = session_;
  row.key = key_;
  row.stage = stage == Stage::playoff ? "playoff" : "search";
  row.is_default = is_default;
  row.created_at = db::now_text();
  if (waiting_.empty()) first_waits_since_ = std::chrono::steady_clock::now();
  waiting_.push_back(std::move(row));
  const auto waited = std::chrono::steady_clock::now() - first_waits_since_;
  if (waiting_.size() >= kMostWaiting || waited >= kLongestWait) flush();
}

void Recorder::flush() {
  if (waiting_.empty()) return;
  store_->append(waiting_);
  waiting_.clear();
}

void Recorder::decide(const ProblemDecision& decision, const std::string& binary_key,
                      const std::string& policy) {
  if (!store_) return;
  flush();
  if (!decides_) return;
  db::DecisionRow row = row_of(decision, flops_, binary_key);
  row.session = session_;
  row.key = key_;
  if (!policy.empty()) row.key.policy = policy;
  row.created_at = db::now_text();
  store_->add_decision(row);
}

namespace {

Trial quarantined_trial(const db::Quarantined& one) {
  Trial trial;
  trial.outcome = outcome(one.outcome).value_or(Outcome::crash);
  trial.message = "quarantined: " + one.reason;
  return trial;
}

}  // namespace

TrialLedger::TrialLedger(const ParameterSpace& space, std::size_t default_index,
                         std::span<const double> predicted, Recorder& recorder, bool retune)
    : space_(space), default_index_(default_index), predicted_(predicted), recorder_(recorder) {
  read_earlier(retune);
}

void TrialLedger::read_earlier(bool retune) {
  for (const db::Quarantined& one : recorder_.quarantined()) {
    if (const auto index = space_.find(parse_named_values(one.configuration))) {
      quarantine_[*index] = one;
    }
  }
  if (retune) return;
  for (Trial& trial : recorder_.earlier_trials()) {
    // A crash or a timeout may have been bad luck, and bits that differed once need not be equal
    // any more: such a configuration is tried once more.
    if (trial.outcome == Outcome::crash || trial.outcome == Outcome::timeout ||
        trial.outcome == Outcome::nondeterministic) {
      continue;
    }
    const auto index = space_.find(trial.configuration);
    if (!index) continue;
    earlier_[*index] = std::move(trial);
    earlier_order_.push_back(*index);
  }
  forget_open_bounds();
}

/// The time of a pruned trial is a lower bound. It says enough beside a faster trial of this space.
/// The trial that it was compared with may be of another space (`--fix`), or be refuted by now.
void TrialLedger::forget_open_bounds() {
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& [index, trial] : earlier_) {
    const bool is_timed = trial.outcome == Outcome::ok && trial.measurement;
    if (is_timed) fastest = std::min(fastest, trial.measurement->median);
  }
  std::erase_if(earlier_, [fastest](const auto& one) {
    const Trial& trial = one.second;
    if (trial.outcome != Outcome::pruned) return false;
    return !trial.measurement || trial.measurement->median <= fastest;
  });
}

bool TrialLedger::knows(std::size_t index) const {
  return trials_.contains(index) || earlier_.contains(index) || quarantine_.contains(index);
}

bool TrialLedger::take_over(std::size_t index) {
  if (const auto earlier = earlier_.find(index); earlier != earlier_.end()) {
    ++taken_over_;
    enter(index, earlier->second);
  } else if (const auto one = quarantine_.find(index); one != quarantine_.end()) {
    ++quarantined_;
    enter(index, quarantined_trial(one->second));
  } else {
    return false;
  }
  announce(index);
  return true;
}

void TrialLedger::take_over_all() {
  for (const std::size_t index : earlier_order_) {
    if (earlier_.contains(index) && !trials_.contains(index)) take_over(index);
  }
}

void TrialLedger::add(std::size_t index, Trial trial) {
  if (trial.message == kDisturbed) ++disturbed_;
  const Trial& entered = enter(index, std::move(trial));
  if (!entered.of_machine) recorder_.record(entered, index == default_index_);
  announce(index);
}

const Trial& TrialLedger::enter(std::size_t index, Trial trial) {
  trial.configuration = space_.at(index);
  if (!predicted_.empty()) trial.predicted_seconds = predicted_[index];
  return trials_[index] = std::move(trial);
}

void TrialLedger::announce(std::size_t index) {
  if (is_timed(index)) lead_with(index);
  evaluations_.push_back(evaluation(index));
  if (on_trial_) on_trial_(index);
}

bool TrialLedger::is_timed(std::size_t index) const {
  const auto found = trials_.find(index);
  return found != trials_.end() && found->second.outcome == Outcome::ok &&
         found->second.measurement;
}

bool TrialLedger::is_within(double margin, std::size_t index) const {
  return is_timed(index) && trials_.at(index).measurement->median <= best_seconds_ * (1 + margin);
}

/// Unless the fastest so far is as fast.
void TrialLedger::lead_with(std::size_t index) {
  const double seconds = trials_.at(index).measurement->median;
  if (fastest_ && seconds >= best_seconds_) return;
  fastest_ = index;
  best_seconds_ = seconds;
}

void TrialLedger::refute(std::size_t index, Outcome outcome, const std::string& why) {
  Trial& trial = trials_.at(index);
  trial.fail(outcome, why);
  if (!trial.of_machine) recorder_.record(trial, index == default_index_);
  fastest_.reset();
  best_seconds_ = 0;
  for (const auto& [other, one] : trials_) {
    if (is_timed(other)) lead_with(other);
  }
}

Evaluation TrialLedger::evaluation(std::size_t index) const {
  const Trial& trial = trials_.at(index);
  Evaluation evaluation{index, trial.outcome};
  evaluation.reason = first_error(trial.message);
  evaluation.resources = {trial.registers, trial.shared_bytes, trial.local_bytes, trial.occupancy};
  evaluation.compile_seconds = trial.compile_seconds;
  if (trial.measurement) evaluation.seconds = trial.measurement->median;
  return evaluation;
}

namespace {

constexpr double kFarthest = 1;          // NearEntry::distance: a factor of two in every size
constexpr double kRunnerUpMargin = 0.1;  // behind the fastest trial of the same problem

/// The fast configurations of one problem of another device, the fastest first.
struct DeviceRanking {
  std::string device;
  std::vector<std::string> configurations;
};

/// Sizes and settings of a problem as texts.
std::pair<std::string, std::string> parts_of(const Target& target, const Problem& problem) {
  const auto middle = problem.values.begin() + static_cast<std::ptrdiff_t>(target.sizes.size());
  return {to_text({problem.values.begin(), middle}), to_text({middle, problem.values.end()})};
}

/// The latest trial of a configuration counts.
std::vector<std::pair<double, std::string>> timed(std::span<const db::TrialRow> trials) {
  std::map<std::string, double> latest;
  for (const db::TrialRow& trial : trials) {
    latest.erase(trial.configuration);
    if (trial.outcome == "ok" && trial.median_ns) latest[trial.configuration] = *trial.median_ns;
  }
  std::vector<std::pair<double, std::string>> all;
  for (const auto& [configuration, ns] : latest) all.emplace_back(ns, configuration);
  std::ranges::sort(all);
  return all;
}

DeviceRanking ranking_of(const db::TunedStore& store, const db::TunedEntry& entry) {
  DeviceRanking ranking{entry.device.name, {entry.best.configuration}};
  const auto trials = timed(store.standing(entry.best.key));
  for (const auto& [ns, configuration] : trials) {
    if (ns > trials.front().first * (1 + kRunnerUpMargin)) break;
    if (ranking.configurations.size() == kMostFoundElsewhere) break;
    if (configuration != entry.best.configuration) ranking.configurations.push_back(configuration);
  }
  return ranking;
}

/// Tuned on other devices, the nearest problems first.
std::vector<db::NearEntry> near_entries(const db::TunedStore& store, const Target& target,
                                        const Problem& problem, const db::ProblemKey& here,
                                        DeviceKind kind) {
  const auto [sizes, settings] = parts_of(target, problem);
  std::vector<db::NearEntry> near =
      store.nearest({.target = target.name, .policy = here.policy}, sizes);
  std::erase_if(near, [&, &settings = settings](const db::NearEntry& one) {
    const db::TunedEntry& entry = one.entry;
    return one.distance > kFarthest || entry.device.id == here.device ||
           entry.device.kind != name_of(kind) || entry.best.settings != settings;
  });
  std::ranges::stable_sort(near, {}, &db::NearEntry::distance);
  return near;
}

}  // namespace

std::vector<db::ProblemKey> problems_elsewhere(const db::TunedStore& store, const Target& target,
                                               const Problem& problem, const db::ProblemKey& here,
                                               DeviceKind kind) {
  std::vector<db::ProblemKey> keys;
  for (const db::NearEntry& one : near_entries(store, target, problem, here, kind)) {
    keys.push_back(one.entry.best.key);
  }
  return keys;
}

std::vector<FoundElsewhere> found_elsewhere(const db::TunedStore& store, const Target& target,
                                            const Problem& problem, const db::ProblemKey& here,
                                            DeviceKind kind, const ParameterSpace& space) {
  std::vector<DeviceRanking> all;
  for (const db::NearEntry& one : near_entries(store, target, problem, here, kind)) {
    all.push_back(ranking_of(store, one.entry));
  }
  std::vector<FoundElsewhere> found;
  std::set<std::size_t> taken;
  for (std::size_t rank = 0; rank < kMostFoundElsewhere; ++rank) {
    for (const DeviceRanking& ranking : all) {
      if (rank >= ranking.configurations.size()) continue;
      const auto index = space.find(parse_named_values(ranking.configurations[rank]));
      if (!index || found.size() == kMostFoundElsewhere || !taken.insert(*index).second) continue;
      found.push_back({*index, ranking.device});
    }
  }
  return found;
}

}  // namespace autotune
