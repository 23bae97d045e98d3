// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/energy_choice.hpp"

#include <algorithm>
#include <limits>

namespace autotune {
namespace {

constexpr std::size_t kFewest = 2;  // measured whatever the time

/// What is to be least; infinite where the energy is not known.
double figure_of(const Policy& policy, const std::optional<Energy>& energy,
                 const FinalistResult& result) {
  if (!energy) return std::numeric_limits<double>::infinity();
  return policy.objective == Objective::energy ? energy->joules
                                               : energy->joules * result.measurement.median;
}

/// The stored best, else the default.
std::optional<std::size_t> holder_of(const std::vector<Finalist>& entries,
                                     const std::vector<double>& figures) {
  std::optional<std::size_t> holder;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (figures[i] == std::numeric_limits<double>::infinity()) continue;
    if (entries[i].is_stored) return i;
    if (entries[i].is_default) holder = i;
  }
  return holder;
}

double largest_resolution(const Energies& energies) {
  double largest = 0;
  for (const auto& energy : energies) {
    if (energy) largest = std::max(largest, energy->resolution);
  }
  return largest;
}

}  // namespace

std::optional<Energies> measured_energies(const Policy& policy, Finalists& finalists,
                                          const PlayoffResult& result, const Deadline& deadline) {
  Energies energies(finalists.all().size());
  if (policy.objective == Objective::time) return energies;
  std::size_t measured = 0;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    if (result.finalists[i].outcome != Outcome::ok) continue;
    if (measured++ >= kFewest && deadline.has_passed()) break;
    const LoadedFinalist& one = finalists.all()[i];
    try {
      energies[i] = one.candidate->energy(policy.energy_seconds, policy.l2);
    } catch (const KernelFailure& failure) {
      finalists.refute(one.index, {failure.outcome(), failure.what()});
      return std::nullopt;
    }
  }
  return energies;
}

void decide_by_energy(const Policy& policy, const Finalists& finalists, const Energies& energies,
                      PlayoffResult& result) {
  if (policy.objective == Objective::time || !result.winner) return;
  std::vector<double> figures;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    figures.push_back(figure_of(policy, energies[i], result.finalists[i]));
  }
  const auto least = std::ranges::min_element(figures);
  if (least == figures.end() || *least == std::numeric_limits<double>::infinity()) return;
  const double hidden = 2 * largest_resolution(energies);
  const auto holder = holder_of(finalists.entries(), figures);
  const double replacing = std::max(policy.replace_margin, hidden);
  const bool stays = holder && figures[*holder] <= *least * (1 + replacing);
  result.winner = stays ? *holder : static_cast<std::size_t>(least - figures.begin());
  result.tie_margin = tie_margin(policy, hidden);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    result.finalists[i].tied = figures[i] <= *least * (1 + result.tie_margin);
  }
}

std::vector<Tuned> pareto_front(std::vector<Tuned> all) {
  std::ranges::sort(all, {}, [](const Tuned& one) {
    return std::pair(one.measurement.median, one.energy->joules);
  });
  std::vector<Tuned> front;
  for (Tuned& one : all) {
    const bool better = front.empty() || one.energy->joules < front.back().energy->joules;
    if (better) front.push_back(std::move(one));
  }
  return front;
}

}  // namespace autotune
