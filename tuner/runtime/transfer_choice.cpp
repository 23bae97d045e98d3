// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/transfer_choice.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/model/cost_model.hpp"

namespace autotune {
namespace {

/// Added to the logarithm of a score for each doubling of the sizes on the way from a winner.
constexpr double kDistancePenalty = 0.2;

/// The number that a configuration has in the product of all parameters; nullopt where it names
/// what the target has not.
std::optional<std::uint64_t> rank_of(const Target& target, const Configuration& configuration) {
  std::uint64_t rank = 0;
  for (const Parameter& parameter : target.parameters) {
    const Value* const value = find_value(configuration, parameter.name);
    if (!value) return std::nullopt;
    const auto level = std::ranges::find(parameter.values, *value);
    if (level == parameter.values.end()) return std::nullopt;
    rank = rank * parameter.values.size() +
           static_cast<std::uint64_t>(level - parameter.values.begin());
  }
  return rank;
}

/// The model's logarithm of each configuration's time for one problem.
std::vector<double> predicted(const Target& target, const Problem& problem,
                              const std::vector<Configuration>& configurations,
                              const DeviceInfo& device) {
  std::vector<std::uint64_t> ranks;
  for (const Configuration& configuration : configurations) {
    const auto rank = rank_of(target, configuration);
    if (!rank) throw Error("a stored configuration is none of the target");
    ranks.push_back(*rank);
  }
  const ParameterSpace few(target.parameters, ranks);
  const CostModel model(target, problem, few, device);
  std::vector<double> logs;
  for (const Configuration& configuration : configurations) {
    logs.push_back(std::log(model.estimate(few.find(configuration).value()).seconds));
  }
  return logs;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

ModelBias model_bias(const Target& target, const Problem& problem, std::string_view configuration,
                     double median_ns, double default_ns, const DeviceInfo& device) {
  const std::vector<double> logs = predicted(
      target, problem, {parse_named_values(configuration), target.default_configuration}, device);
  ModelBias bias;
  bias.winner = std::log(median_ns * 1e-9) - logs[0];
  if (default_ns > 0) bias.standard = std::log(default_ns * 1e-9) - logs[1];
  return bias;
}

std::optional<std::size_t> choose_winner(const Target& target, const Problem& problem,
                                         std::span<const NearWinner> winners,
                                         const DeviceInfo& device) {
  std::vector<Configuration> configurations;
  for (const NearWinner& one : winners) {
    configurations.push_back(parse_named_values(one.configuration));
  }
  configurations.push_back(target.default_configuration);
  const std::vector<double> here = predicted(target, problem, configurations, device);
  std::vector<double> scores, off, off_at_default;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    const NearWinner& one = winners[i];
    scores.push_back(here[i] + one.bias.winner + kDistancePenalty * one.distance);
    off.push_back(one.bias.winner);
    if (one.bias.standard) off_at_default.push_back(*one.bias.standard);
  }
  const auto least = std::ranges::min_element(scores);
  const bool judged = !off_at_default.empty();  // else nobody knows what the default takes
  const double standard = here.back() + mean(off_at_default);
  if (least == scores.end() || (judged && *least + deviation(off) >= standard)) return std::nullopt;
  return static_cast<std::size_t>(least - scores.begin());
}

}  // namespace autotune
