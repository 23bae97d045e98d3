// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/first_units.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "tuner/search/first_requests.hpp"
#include "tuner/session/edge_check.hpp"
#include "tuner/session/gates.hpp"

namespace autotune {
namespace {

/// Requests that are compiled ahead, for each compile thread.
constexpr std::size_t kMostPerThread = 2;

/// Throws what the strategy throws, or the manifest's expressions.
std::vector<SourceUnit> units(const Target& target, const Problem& problem,
                              const PreparedProblem& prepared, Device& device,
                              const TuningRequest& request, int batch) {
  const ParameterSpace& space = prepared.space;
  const std::size_t by_default = default_index(target, space);
  std::vector<std::size_t> indices =
      first_requests(*make_strategy(request.strategy), space, prepared.corrected, by_default, batch,
                     search_seed(problem, request));
  indices.resize(std::min(indices.size(), kMostPerThread * static_cast<std::size_t>(batch)));
  indices.insert(indices.begin(), by_default);

  const TargetProgram program(target, problem, device.info());
  std::vector<SourceUnit> all;
  for (const std::size_t index : indices) {
    const Levels levels = space.levels(index);
    const bool is_ruled_out =
        breaks_declared_limit(program.plan(levels), program.estimates(levels), device.info())
            .has_value();
    if (!is_ruled_out) all.push_back(program.source_unit(levels));
  }
  const EdgeCheck edge(target, problem, device);
  if (auto unit = edge.unit(space.at(by_default))) all.push_back(*std::move(unit));
  return all;
}

}  // namespace

std::vector<SourceUnit> first_units(const Target& target, const Problem& problem,
                                    const PreparedProblem& prepared, Device& device,
                                    const TuningRequest& request, int batch) {
  try {
    if (prepared.space.empty()) return {};
    return units(target, problem, prepared, device, request, batch);
  } catch (const std::exception&) {  // the search itself will say so
    return {};
  }
}

}  // namespace autotune
