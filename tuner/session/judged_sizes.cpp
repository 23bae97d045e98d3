// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_judge.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

constexpr int kTries = 12;  // for one size of the judge's own

/// The value of a size between two bounds, in a unit that becomes coarser with each try.
std::int64_t drawn_size(std::mt19937_64& random, double low, double high, int attempt) {
  const double share = static_cast<double>(random() >> 11U) * 0x1p-53;
  const double value = std::exp(std::log(low) + share * (std::log(high) - std::log(low)));
  const std::int64_t unit = std::int64_t{1} << std::min(attempt, 10);
  return std::max<std::int64_t>(1, std::llround(value / static_cast<double>(unit))) * unit;
}

/// Whether a default of the target, and of what it is compared with, is valid.
bool takes(const Target& target, const Problem& problem, const DeviceInfo& device) {
  if (target.against && !takes(*target.against, problem, device)) return false;
  const TargetProgram program(target, problem, device);
  return program.refusal().empty() && program.first_valid_default();
}

/// The names that its launches and workspace depend on.
std::set<std::string> names_used_by(const Target& target) {
  std::set<std::string> names;
  const auto add = [&](const Expression& each) {
    for (const std::string& name : each.names()) names.insert(name);
  };
  const auto add_all = [&](const auto& all) { std::ranges::for_each(all, add); };
  for (const KernelSpec& each : target.kernels) {
    for (const auto* const all : {&each.grid, &each.block, &each.cluster, &each.entry_values}) {
      add_all(*all);
    }
    for (const auto* const one : {&each.when, &each.dynamic_shared_bytes, &each.repeat}) {
      if (*one) add(**one);
    }
    for (const PassedArgument& passed : each.arguments) add(passed.value);
  }
  for (const ArgumentSpec& each : target.workspace) {
    if (each.length) add(*each.length);
  }
  for (const TensorMapSpec& each : target.tensor_maps) {
    add_all(each.dims);
    add_all(each.strides);
  }
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for (const DefineSpec& each : target.defines) {
      if (each.is_macro || names.contains(each.name)) add(each.value);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> unknown_sizes(const Target& candidate) {
  std::vector<std::string> unknown;
  if (candidate.bake_sizes) return unknown;
  const std::set<std::string> names = names_used_by(candidate);
  for (std::size_t i = needed_sizes(candidate); i < candidate.sizes.size(); ++i) {
    if (!names.contains(candidate.sizes[i])) unknown.push_back(candidate.sizes[i]);
  }
  for (const FreeSize& each : candidate.free_sizes) {
    if (!names.contains(each.name)) unknown.push_back(each.name);
  }
  return unknown;
}

EdgeProblems judged_edges(const Target& candidate, const Problem& problem,
                          const DeviceInfo& device) {
  const std::vector<std::string> unknown = unknown_sizes(candidate);
  const auto is_unknown = [&](const NamedValue& each) {
    return std::ranges::find(unknown, each.name) != unknown.end();
  };
  EdgeProblems edges = edge_problems(*candidate.against, problem, device);
  for (std::vector<Problem>* const kind : {&edges.usual, &edges.longer}) {
    std::vector<Problem> taken;
    for (Problem& edge : *kind) {
      std::erase_if(edge.free, is_unknown);
      for (NamedValue& each : edge.values) {
        if (is_unknown(each)) each.value = *find_value(problem.values, each.name);
      }
      const bool is_new = std::ranges::find(taken, edge) == taken.end();
      if (is_new && takes(candidate, edge, device)) taken.push_back(std::move(edge));
    }
    *kind = std::move(taken);
  }
  return edges;
}

std::vector<Problem> own_problems(const Target& target, const Problem& problem,
                                  const DeviceInfo& device, int count, std::uint64_t seed) {
  std::vector<Problem> own;
  const std::optional<Problem> edge =
      edge_problem(target.against ? *target.against : target, problem);
  if (!edge) return own;
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      Problem drawn = problem;
      for (std::size_t k = 0; k < needed_sizes(target); ++k) {
        const auto size = std::ranges::find(drawn.values, target.sizes[k], &NamedValue::name);
        if (size_rule(target, k).fixed) continue;
        const auto given = static_cast<double>(size->value.integer());
        const auto least = static_cast<double>(find_value(edge->values, size->name)->integer());
        const bool is_small = 2 * i >= count;  // less than a warp, or a single row
        const std::int64_t value =
            drawn_size(random, is_small ? 1 : std::min(given, least) / 2 + 1,
                       is_small ? least / 16 + 1 : std::max(given, least), attempt);
        size->value = size_from(target, k, value);
      }
      const bool is_new =
          drawn != problem && drawn != *edge && std::ranges::find(own, drawn) == own.end();
      if (!is_new || !takes(target, drawn, device)) continue;
      own.push_back(std::move(drawn));
      break;
    }
  }
  return own;
}

}  // namespace autotune
