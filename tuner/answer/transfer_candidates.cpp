// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/experience.hpp"

#include <algorithm>

#include "db/rows.hpp"

namespace autotune {

Covers::Covers(const db::PastTimes& times, const std::vector<bool>& same_device) {
  const auto counts = [&](const db::PastProblem& problem) {
    return !problem.cover.empty() && same_device[problem.device];
  };
  const bool has_own = std::ranges::any_of(times.problems, [&](const db::PastProblem& problem) {
    return counts(problem) && problem.own_settings;
  });
  for (const db::PastProblem& problem : times.problems) {
    if (!counts(problem) || (has_own && !problem.own_settings)) continue;
    const std::vector<std::int64_t>& own = problem.sizes;
    pins_.emplace(own, problem.cover);
    Box& box = boxes_.try_emplace(problem.cover, Box{own, own}).first->second;
    for (std::size_t i = 0; i < own.size(); ++i) {
      box.low[i] = std::min(box.low[i], own[i]);
      box.high[i] = std::max(box.high[i], own[i]);
    }
  }
}

bool Covers::spans(const std::string& cover, std::span<const std::int64_t> sizes) const {
  const auto found = boxes_.find(cover);
  if (found == boxes_.end()) return false;
  const Box& box = found->second;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < box.low[i] || sizes[i] > box.high[i]) return false;
  }
  return true;
}

std::string_view Covers::by_bits(std::span<const std::int64_t> sizes) const {
  const auto made_at = [](std::string_view name) { return name.substr(name.rfind(' ') + 1); };
  std::string_view latest;
  for (const auto& [name, box] : boxes_) {
    if (!name.starts_with(db::kBitsNote) || !spans(name, sizes)) continue;
    if (latest.empty() || made_at(latest) < made_at(name)) latest = name;
  }
  return latest;
}

bool Covers::forbids(std::span<const std::int64_t> sizes, bool is_pinned) const {
  const std::string_view bits = by_bits(sizes);
  if (bits.empty() || !is_pinned) return !bits.empty();
  const auto pin = pins_.find({sizes.begin(), sizes.end()});
  return pin != pins_.end() && pin->second != bits;
}

namespace {

constexpr std::size_t kMostProblems = 256;  // the nearest
constexpr std::size_t kFirst = 8;     // candidates to expand when none but the default is valid
constexpr double kOneChange = 0.6;    // added to the distance of a neighbour's error
constexpr double kNear = 1;           // in doublings: problems within it tell what lost there
constexpr std::size_t kNearest = 16;  // of these
constexpr int kSteps = 3;
constexpr int kModelSteps = 12;  // from the default configuration

double typical_of(std::span<const TransferCandidate> all) {
  std::vector<KnownError> errors;
  errors.reserve(all.size());
  for (const TransferCandidate& each : all) {
    if (each.known) errors.push_back(*each.known);
  }
  return typical_error(errors);
}

}  // namespace

TransferCandidates::TransferCandidates(const SizedTarget& sized, const KnownTimes& known,
                                       std::span<const std::int64_t> sizes)
    : sized_(sized),
      known_(known),
      sizes_(sizes),
      key_(key_of(sized.target, sizes)),
      near_(nearest(known, key_, true, kMostProblems)),
      is_valid_(sized.program.sized_validity(), sizes),
      failed_(known.failed_at(key_)),
      predictions_(known.models().at(sizes)) {}

std::vector<TransferCandidate> TransferCandidates::of_cover(const Covers& covers) {
  std::vector<TransferCandidate> all;
  seen_.assign(known_.count(), false);
  const std::string_view bits = covers.by_bits(key_);
  for (const KnownProblem& known : known_.problems()) {
    const std::string& cover = known.problem->cover;
    if (!known.is_here || !known.pinned || !covers.spans(cover, key_)) continue;
    if (!bits.empty() && cover != bits) continue;
    covered_.push_back({&known, db::size_distance(known.problem->sizes, key_)});
  }
  std::ranges::sort(covered_, {}, &NearProblem::distance);
  for (const NearProblem& near : covered_) {
    if (const auto one = from(near, *near.known->pinned)) all.push_back(*one);
  }
  std::vector<TransferCandidate> valid;
  rate(all, typical_of(all), valid);
  return valid;
}

std::vector<TransferCandidate> TransferCandidates::valid_ones() {
  const std::vector<TransferCandidate> all = good_ones();
  const double typical = typical_of(all);
  std::vector<TransferCandidate> valid;
  rate(all, typical, valid);
  // Where no good configuration is valid, neighbours of invalid ones may be.
  if (std::ranges::all_of(valid, &TransferCandidate::is_standard)) {
    for (const TransferCandidate& each : std::span(all).first(std::min(all.size(), kFirst))) {
      add_neighbours(each, typical, valid);
    }
  }
  if (known_.models().has_model()) descend(valid, typical, kSteps);
  return valid;
}

std::optional<Levels> TransferCandidates::valid_default() {
  for (const Levels& each : sized_.program.defaults(sizes_)) {
    if (may_answer(each)) return each;
  }
  return std::nullopt;
}

std::vector<TransferCandidate> TransferCandidates::of_model() {
  std::vector<TransferCandidate> valid;
  const std::optional<Levels> standard = valid_default();
  if (!known_.models().has_model() || !standard) return valid;
  seen_.assign(known_.count(), false);
  neighbours_.clear();
  TransferCandidate one{&*neighbours_.insert(*standard).first, nullptr, nullptr, {}};
  one.is_standard = true;
  if (!predict(one, 0, 1)) return valid;
  valid.push_back(one);
  descend(valid, 0, kModelSteps);
  return valid;
}

std::optional<TransferCandidate> TransferCandidates::one(const Levels& levels) {
  const std::vector<TransferCandidate> all = good_ones();
  const auto is_it = [&](const TransferCandidate& each) { return *each.levels == levels; };
  const auto found = std::ranges::find_if(all, is_it);
  TransferCandidate one =
      found == all.end() ? TransferCandidate{&levels, nullptr, nullptr, {}} : *found;
  if (!may_answer(levels) || !predict(one, typical_of(all), 1)) return std::nullopt;
  return one;
}

/// Good configurations of the nearest problems, each once, with its error at the nearest of them.
std::vector<TransferCandidate> TransferCandidates::good_ones() {
  std::vector<TransferCandidate> all;
  all.reserve(kMost + near_.size());
  seen_.assign(known_.count(), false);
  for (const NearProblem& near : near_) {
    for (const KnownTime& time : near.known->good) {
      if (all.size() == kMost) break;
      if (const auto one = from(near, time)) all.push_back(*one);
    }
  }
  for (const NearProblem& near : near_) {
    if (!near.known->standard) continue;
    if (auto one = from(near, *near.known->standard)) {
      one->is_standard = true;
      all.push_back(*one);
    }
  }
  return all;
}

/// nullopt if it is not a configuration of the target, or was seen already.
std::optional<TransferCandidate> TransferCandidates::from(const NearProblem& near,
                                                          const KnownTime& time) {
  if (time.levels == nullptr || seen_[time.number]) return std::nullopt;
  seen_[time.number] = true;
  std::optional<KnownError> known;
  if (time.error) known = {*time.error, near.distance};
  return TransferCandidate{time.levels, &near, time.time, known};
}

/// Adds the valid ones.
void TransferCandidates::rate(std::span<const TransferCandidate> all, double typical,
                              std::vector<TransferCandidate>& valid) {
  std::size_t rank = 1;
  for (TransferCandidate each : all) {
    if (!may_answer(*each.levels) || !predict(each, typical, rank)) continue;
    ++rank;
    valid.push_back(each);
  }
}

/// Sets the expected time. False if the model has none. Without a model, the rank stands for time.
bool TransferCandidates::predict(TransferCandidate& one, double typical, std::size_t rank) {
  one.expected = static_cast<double>(rank);
  if (!known_.models().has_model()) return true;
  const std::optional<double> time = predictions_.time(*one.levels);
  if (!time) return false;
  one.known = known_of(one);
  one.expected = expected_time(*time, one.known, typical);
  return true;
}

/// Its error at the nearest problem where it was timed, whether it was good there or lost.
std::optional<KnownError> TransferCandidates::known_of(const TransferCandidate& one) const {
  std::string text;
  for (const NearProblem& near : std::span(near_).first(std::min(near_.size(), kNearest))) {
    const db::PastProblem& there = *near.known->problem;
    if (near.distance > kNear || (one.known && one.known->distance <= near.distance)) break;
    if (there.slower.empty()) continue;
    if (text.empty()) text = to_text(configuration_of(sized_.target.parameters, *one.levels));
    const db::PastTime* const timed = there.timed(text);
    if (timed == nullptr) continue;
    if (const auto error = known_.models().at(there).error(*one.levels, *timed)) {
      return KnownError{*error, near.distance};
    }
  }
  return one.known;
}

/// A few steps of a search by the model: adds the neighbours of the best.
void TransferCandidates::descend(std::vector<TransferCandidate>& valid, double typical, int steps) {
  std::vector<const Levels*> expanded;
  for (int step = 0; step < steps && !valid.empty(); ++step) {
    const TransferCandidate best =
        *std::ranges::min_element(valid, {}, &TransferCandidate::expected);
    if (std::ranges::find(expanded, best.levels) != expanded.end()) return;
    expanded.push_back(best.levels);
    add_neighbours(best, typical, valid);
  }
}

/// Adds valid configurations that differ from `one` in one parameter, without those already seen.
void TransferCandidates::add_neighbours(const TransferCandidate& one, double typical,
                                        std::vector<TransferCandidate>& valid) {
  TransferCandidate changed{nullptr, one.from, nullptr, one.known};
  if (changed.known) changed.known->distance += kOneChange;
  Levels levels = *one.levels;
  std::size_t rank = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::uint16_t own = levels[i];
    for (std::size_t level = 0; level < sized_.target.parameters[i].values.size(); ++level) {
      levels[i] = static_cast<std::uint16_t>(level);
      if (level == own || !may_answer(levels)) continue;
      changed.levels = kept_if_new(levels);
      if (changed.levels == nullptr || !predict(changed, typical, rank)) continue;
      ++rank;
      valid.push_back(changed);
    }
    levels[i] = own;
  }
}

bool TransferCandidates::may_answer(const Levels& levels) {
  return is_valid_(levels) && std::ranges::find(failed_, levels) == failed_.end();
}

/// nullptr if it was seen already.
const Levels* TransferCandidates::kept_if_new(const Levels& levels) {
  const auto number = known_.number_of(levels);
  if (number && seen_[*number]) return nullptr;
  const auto [kept, is_new] = neighbours_.insert(levels);
  return is_new ? &*kept : nullptr;
}

}  // namespace autotune
