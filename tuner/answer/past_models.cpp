// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/past_models.hpp"

#include <cmath>
#include <limits>

#include "tuner/core/error.hpp"
#include "tuner/core/measurement.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

constexpr double kStartSeconds = 3e-6;  // of any call, in what it ideally takes

std::optional<SizedCostModel> model_of(const SizedTarget& sized, const DeviceInfo& device) try {
  return SizedCostModel(sized.target, sized.smallest, device);
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

PredictionsAt::PredictionsAt(const SizedCostModel* model, const Levels& default_levels,
                             std::span<const std::int64_t> sizes)
    : default_levels_(default_levels) {
  if (model != nullptr) model_ = model->at(sizes);
}

std::optional<double> PredictionsAt::time(std::span<const std::uint16_t> levels) try {
  if (!model_) return std::nullopt;
  const double seconds = model_->estimate(levels).seconds;
  return is_time(seconds) ? std::optional(std::log(seconds)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

std::optional<double> PredictionsAt::error(std::span<const std::uint16_t> levels,
                                           const db::PastTime& measured) {
  if (measured.ns <= 0 || measured.provenance == "predicted") return std::nullopt;
  const std::optional<double> predicted = time(levels);
  if (!predicted) return std::nullopt;
  return std::log(measured.ns * 1e-9) - *predicted;
}

double PredictionsAt::ideal() try {
  if (!model_) return std::numeric_limits<double>::infinity();
  return std::log(kStartSeconds + model_->ideal_seconds(default_levels_));
} catch (const Error&) {
  return std::numeric_limits<double>::infinity();
}

PastModels::PastModels(const SizedTarget& sized, const db::PastTimes& times)
    : here_(model_of(sized, sized.device)) {
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

PredictionsAt PastModels::at(std::span<const std::int64_t> sizes) const { return at(here_, sizes); }

PredictionsAt PastModels::at(const db::PastProblem& problem) const {
  return at(models_[problem.device], problem.sizes);
}

PredictionsAt PastModels::at(const std::optional<SizedCostModel>& model,
                             std::span<const std::int64_t> sizes) const {
  return {model ? &*model : nullptr, default_levels_, sizes};
}

}  // namespace autotune
