// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/experience.hpp"

#include <algorithm>
#include <cmath>

#include "db/rows.hpp"

namespace autotune {
namespace {

std::size_t differences(const Levels& a, const Levels& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

/// The nearest problem where a library was timed; nullptr: none was.
const NearProblem* timed_in(std::span<const NearProblem> near) {
  const auto is_timed = [](const NearProblem& one) { return one.known->problem->baseline_ns > 0; };
  const auto found = std::ranges::find_if(near, is_timed);
  return found == near.end() ? nullptr : &*found;
}

}  // namespace

Experience::Experience(const SizedTarget& sized, db::PastTimes times, Offered offered)
    : sized_(sized),
      known_(sized, std::move(times)),
      offered_(std::move(offered)),
      covers_(known_.times(), known_.models().same_device()) {
  sized_.program.sized_validity().prepare();
}

std::optional<Experience::Choice> Experience::choose(std::span<const std::int64_t> sizes) const {
  TransferCandidates candidates(sized_, known_, sizes);
  std::vector<TransferCandidate> valid = candidates.of_cover(covers_);
  const bool is_covered = !valid.empty();
  if (!is_covered) valid = candidates.valid_ones();
  if (valid.empty()) valid = candidates.of_model();
  const auto best = std::ranges::min_element(valid, {}, &TransferCandidate::expected);
  if (best == valid.end()) return std::nullopt;
  Choice choice;
  choice.is_standard = best->is_standard;
  choice.expected_seconds = known_.models().has_model() ? std::exp(best->expected) : 0;
  choice.known = {to_text(configuration_of(sized_.target.parameters, *best->levels)), 0,
                  "predicted", db::Validity::exact};
  if (best->from) {
    const KnownProblem& from = *best->from->known;
    choice.is_model_only = false;
    choice.distance = db::size_distance(from.problem->sizes, key_of(sized_.target, sizes));
    choice.same_device = from.is_here;
    choice.default_ns = from.problem->standard.ns;
    choice.known.validity = from.problem->good.front().validity;
  }
  if (best->time) choice.known = *best->time;
  choice.is_covered = is_covered;
  return choice;
}

/// Its times are from other sizes, and with a model also from other GPUs of the architecture.
/// Without a model, our time is assumed to be that of the nearest problem.
std::optional<Experience::Library> Experience::library_for(std::span<const std::int64_t> sizes,
                                                           double ours, double confidence) const {
  TransferCandidates candidates(sized_, known_, sizes);
  const NearProblem* const nearest = timed_in(candidates.near());
  Library library{nearest ? nearest->known->problem->baseline : ""};
  if (library.plugin.empty() && offered_) library.plugin = offered_();
  if (library.plugin.empty()) return std::nullopt;
  const bool has_model = known_.models().has_model();
  const int alignment = sized_.line_alignment(sizes);
  const std::vector<BaselineTime> times =
      errors_.library_times(candidates.near(), sizes, alignment);
  double reference = candidates.ideal();
  if (!has_model && !times.empty()) {
    reference = ours > 0 ? std::log(ours) : times.front().reference;
  }
  const auto expected = expected_baseline_time(times, reference);
  if (!expected || !std::isfinite(*expected)) return library;
  library.seconds = std::exp(*expected);
  if (ours == 0 && has_model) return library;
  const double own = has_model ? std::log(ours) : reference;
  const double margin = errors_.margin(nearest->distance, library.seconds, alignment, confidence);
  library.answers = own + margin >= *expected;
  return library;
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
