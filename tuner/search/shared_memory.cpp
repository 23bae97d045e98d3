// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/shared_memory.hpp"

#include <Eigen/Cholesky>
#include <charconv>
#include <cmath>
#include <vector>

namespace autotune {
namespace {

constexpr std::size_t kFewestKnown = 8;  // configurations with known bytes
constexpr double kRidge = 1e-3;
constexpr double kLeastDeviation = 1e-3;  // of the logarithm

/// The positive number after `words`, decimal or with 0x; nullopt if there is none.
std::optional<double> number_after(std::string_view text, std::string_view words) {
  const std::size_t place = text.find(words);
  if (place == std::string_view::npos) return std::nullopt;
  text.remove_prefix(place + words.size());
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc() || number <= 0) return std::nullopt;
  return static_cast<double>(number);
}

/// Places of observations with known bytes; empty if one above the limit works.
std::vector<Eigen::Index> known_places(const Observations& observations, double log_limit) {
  std::vector<Eigen::Index> known;
  for (std::size_t place = 0; place < observations.size(); ++place) {
    const auto log_bytes = observations.log_shared_bytes(place);
    if (!log_bytes) continue;
    if (observations.log_seconds(place) && *log_bytes > log_limit) return {};
    known.push_back(static_cast<Eigen::Index>(place));
  }
  return known;
}

}  // namespace

std::optional<Refusal> refusal_of(std::string_view reason) {
  const auto bytes = number_after(reason, "too much shared data (");
  const auto limit = number_after(reason, " bytes, ");
  if (!bytes || !limit || *bytes <= *limit) return std::nullopt;
  return Refusal{*bytes, *limit};
}

Eigen::ArrayXf accepted_shared_memory(const Observations& observations,
                                      const Eigen::MatrixXd& features,
                                      const Eigen::MatrixXf& candidate_features) {
  const auto log_limit = observations.log_shared_limit();
  if (!log_limit) return {};
  const std::vector<Eigen::Index> known = known_places(observations, *log_limit);
  if (known.size() < kFewestKnown) return {};
  const auto count = static_cast<Eigen::Index>(known.size());
  Eigen::MatrixXd inputs(count, features.cols());
  Eigen::VectorXd logs(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index place = known[static_cast<std::size_t>(i)];
    inputs.row(i) = features.row(place);
    logs[i] = *observations.log_shared_bytes(static_cast<std::size_t>(place));
  }
  Eigen::MatrixXd normal = inputs.transpose() * inputs;
  normal.diagonal().array() += kRidge;
  const Eigen::LLT<Eigen::MatrixXd> factor(normal);
  const Eigen::VectorXd weights = factor.solve(inputs.transpose() * logs);
  // Leave-one-out errors.
  const Eigen::MatrixXd whitened = factor.matrixL().solve(inputs.transpose());
  const Eigen::ArrayXd leverage = whitened.colwise().squaredNorm().transpose();
  const Eigen::ArrayXd errors = (logs - inputs * weights).array() / (1 - leverage).max(1e-3);
  const double deviation = std::sqrt(errors.square().mean()) + kLeastDeviation;
  // The logistic function with this slope is closest to the normal distribution function.
  const auto slope = static_cast<float>(1.702 / deviation);
  const Eigen::ArrayXf expected = (candidate_features * weights.cast<float>()).array();
  return 1 / (1 + (slope * (expected - static_cast<float>(*log_limit))).min(80).exp());
}

}  // namespace autotune
