// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/recorder.hpp"

#include <map>
#include <utility>

#include "tuner/records/records.hpp"

namespace autotune {
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

void Recorder::dispatch(const Configuration& configuration) {
  if (!store_) return;
  flush();
  store_->dispatch({session_, key_, to_text(configuration), db::process_text(), db::now_text()});
}

void Recorder::record(const Trial& trial, bool is_default) { append(trial, is_default, "search"); }

void Recorder::record_playoff(const Trial& trial, bool is_default) {
  append(trial, is_default, "playoff");
}

void Recorder::append(const Trial& trial, bool is_default, const char* stage) {
  if (!store_) return;
  db::TrialRow row = trial_row(trial, flops_);
  row.session = session_;
  row.key = key_;
  row.stage = stage;
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

}  // namespace autotune
