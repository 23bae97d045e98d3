// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/experience.hpp"

#include <algorithm>
#include <cmath>

#include "db/problem_text.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostBaselines = 64;
constexpr double kOtherOnes = 1.5;  // added to the distance of a baseline's time

std::size_t differences(const Levels& a, const Levels& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

/// Whether the same sizes are 1. Of a vector, a library computes the product in another way.
bool are_ones_the_same(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::ranges::equal(a, b, [](auto x, auto y) { return (x == 1) == (y == 1); });
}

}  // namespace

Experience::Experience(const SizedTarget& sized, db::PastTimes times)
    : sized_(sized),
      known_(sized, std::move(times)),
      covers_(known_.times(), known_.models().same_device()) {
  sized_.program.sized_validity().prepare();
}

std::optional<Experience::Choice> Experience::choose(std::span<const std::int64_t> sizes) const {
  TransferCandidates candidates(sized_, known_, sizes);
  std::vector<TransferCandidate> valid = candidates.of_cover(covers_);
  const bool is_covered = !valid.empty();
  if (!is_covered) valid = candidates.valid_ones();
  const auto best = std::ranges::min_element(valid, {}, &TransferCandidate::expected);
  if (best == valid.end()) return std::nullopt;
  const KnownProblem& from = *best->from->known;
  Choice choice;
  choice.is_standard = best->is_standard;
  choice.expected_seconds = known_.models().has_model() ? std::exp(best->expected) : 0;
  choice.distance = db::size_distance(from.problem->sizes, sizes);
  choice.same_device = from.is_here;
  choice.default_ns = from.problem->standard.ns;
  if (best->time) {
    choice.known = *best->time;
  } else {
    choice.known = {to_text(configuration_of(sized_.target.parameters, *best->levels)), 0,
                    "predicted", from.problem->good.front().validity};
  }
  choice.is_covered = is_covered;
  if (!is_covered) weigh_baseline(choice, candidates, sizes);
  return choice;
}

double Experience::expected_seconds(const std::string& configuration,
                                    std::span<const std::int64_t> sizes) const {
  const std::optional<Levels> levels = levels_in(sized_.target, configuration);
  if (!levels || !known_.models().has_model()) return 0;
  const auto one = TransferCandidates(sized_, known_, sizes).one(*levels);
  return one ? std::exp(one->expected) : 0;
}

std::vector<std::string> Experience::likely(std::span<const std::int64_t> sizes,
                                            std::size_t count) const {
  TransferCandidates candidates(sized_, known_, sizes);
  std::vector<TransferCandidate> valid = candidates.valid_ones();
  std::ranges::stable_sort(valid, {}, &TransferCandidate::expected);
  std::vector<const Levels*> chosen;
  const auto choose_up_to = [&](std::size_t most, auto&& is_wanted) {
    for (const TransferCandidate& each : valid) {
      const bool is_new = std::ranges::find(chosen, each.levels) == chosen.end();
      if (chosen.size() < most && is_new && is_wanted(*each.levels)) chosen.push_back(each.levels);
    }
  };
  const auto any = [](const Levels&) { return true; };
  choose_up_to((count + 1) / 2, any);
  choose_up_to(count, [&](const Levels& levels) {
    return std::ranges::none_of(
        chosen, [&](const Levels* other) { return differences(levels, *other) <= 1; });
  });
  choose_up_to(count, any);
  std::vector<std::string> texts;
  for (const Levels* levels : chosen) {
    texts.push_back(to_text(configuration_of(sized_.target.parameters, *levels)));
  }
  return texts;
}

/// Sets the baseline if it is expected to be faster. Its times are from other sizes, and with a
/// model also from other GPUs of the architecture. Without a model, our time is assumed to be that
/// of the nearest problem.
void Experience::weigh_baseline(Choice& choice, TransferCandidates& candidates,
                                std::span<const std::int64_t> sizes) const {
  const bool has_model = known_.models().has_model();
  std::vector<BaselineTime> times;
  for (const auto& [known, distance] : candidates.near()) {
    if (times.size() == kMostBaselines) break;
    const db::PastProblem& problem = *known->problem;
    if (problem.baseline_ns <= 0 || (!has_model && !known->is_here)) continue;
    const double winner = std::log(problem.good.front().ns * 1e-9);
    const double reference = has_model ? known->ideal : winner;
    if (!std::isfinite(reference)) continue;
    if (times.empty()) choice.baseline = problem.baseline;
    const double unlike = are_ones_the_same(problem.sizes, sizes) ? 0 : kOtherOnes;
    times.push_back({reference, std::log(problem.baseline_ns * 1e-9), distance + unlike});
  }
  if (times.empty()) return;
  const double reference = has_model ? candidates.ideal() : times.front().reference;
  const double library = own_choice_time(*expected_baseline_time(times, reference));
  const double ours = has_model ? std::log(choice.expected_seconds) : reference;
  if (prefers_baseline(ours, library, times.front().distance)) {
    choice.baseline_seconds = std::exp(library);
  } else {
    choice.baseline.clear();
  }
}

bool Experience::failed(const std::optional<Levels>& levels,
                        std::span<const std::int64_t> sizes) const {
  return levels && std::ranges::count(known_.failed_at(sizes), *levels) > 0;
}

std::vector<Configuration> Experience::failed_at(std::span<const std::int64_t> sizes) const {
  std::vector<Configuration> all;
  for (const Levels& levels : known_.failed_at(sizes)) {
    all.push_back(configuration_of(sized_.target.parameters, levels));
  }
  return all;
}

}  // namespace autotune
