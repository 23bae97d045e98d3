// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/past_models.hpp"

#include <cmath>
#include <limits>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

constexpr double kStartSeconds = 3e-6;  // of any call, in what it ideally takes

std::optional<SizedCostModel> model_of(const SizedTarget& sized, const DeviceInfo& device) try {
  return SizedCostModel(sized.target, sized.ones, device);
} catch (const Error&) {
  return std::nullopt;
}

std::optional<double> prediction(const std::optional<SizedCostModel>& model, const Levels& levels,
                                 std::span<const std::int64_t> sizes) try {
  if (!model) return std::nullopt;
  const double seconds = model->estimate(levels, sizes).seconds;
  return seconds > 0 && std::isfinite(seconds) ? std::optional(std::log(seconds)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

PastModels::PastModels(const SizedTarget& sized, const db::PastTimes& times)
    : sized_(sized), here_(model_of(sized, sized.device)) {
  const auto standard = levels_of(sized.target.parameters, sized.target.default_configuration);
  if (!standard) here_.reset();
  if (standard) default_levels_ = *standard;
  const db::DeviceRow here = device_row(sized.device);
  for (const db::DeviceRow& row : times.devices) {
    const bool same = db::is_same_device(row, here);
    same_device_.push_back(same);
    models_.push_back(model_of(sized, same ? sized.device : device_of(row)));
  }
}

std::optional<double> PastModels::predicted(const Levels& levels,
                                            std::span<const std::int64_t> sizes) const {
  return prediction(here_, levels, sizes);
}

std::optional<double> PastModels::error(const db::PastProblem& problem, const db::PastTime& time) {
  if (time.ns <= 0 || time.provenance == "predicted") return std::nullopt;
  const auto [found, is_new] = errors_.try_emplace(&time);
  if (!is_new) return found->second;
  const std::optional<Levels>& levels = levels_of_text(time.configuration);
  if (!levels) return std::nullopt;
  const auto model = prediction(models_[problem.device], *levels, sizes_of(problem));
  if (model) found->second = std::log(time.ns * 1e-9) - *model;
  return found->second;
}

double PastModels::ideal(std::span<const std::int64_t> sizes) const { return ideal(here_, sizes); }

double PastModels::ideal(const db::PastProblem& problem) const {
  return ideal(models_[problem.device], sizes_of(problem));
}

double PastModels::ideal(const std::optional<SizedCostModel>& model,
                         std::span<const std::int64_t> sizes) const try {
  if (!model) return std::numeric_limits<double>::infinity();
  return std::log(kStartSeconds + model->ideal_seconds(default_levels_, sizes));
} catch (const Error&) {
  return std::numeric_limits<double>::infinity();
}

const std::optional<Levels>& PastModels::levels_of_text(const std::string& configuration) {
  const auto [found, is_new] = levels_.try_emplace(configuration);
  if (is_new) found->second = levels_in(sized_.target, configuration);
  return found->second;
}

std::span<const std::int64_t> PastModels::sizes_of(const db::PastProblem& problem) const {
  return std::span(problem.sizes).first(sized_.target.sizes.size());
}

}  // namespace autotune
