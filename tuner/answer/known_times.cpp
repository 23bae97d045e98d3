// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/known_times.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::optional<Levels> levels_in(const Target& target, std::string_view configuration) try {
  return levels_of(target.parameters, parse_named_values(configuration));
} catch (const Error&) {
  return std::nullopt;
}

bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept try {
  return program.is_valid(levels, sizes);
} catch (...) {
  return false;
}

std::vector<std::int64_t> SizedTarget::class_of(std::span<const std::int64_t> sizes) const {
  std::vector<std::int64_t> shared(key(sizes).begin(), key(sizes).end());
  if (is_away(sizes)) shared.push_back(line_alignment(sizes));
  return shared;
}

std::span<const std::int64_t> SizedTarget::without_defaults(
    std::span<const std::int64_t> sizes) const {
  while (sizes.size() > target.sizes.size() && sizes.back() == kDefaultSize) {
    sizes = sizes.first(sizes.size() - 1);
  }
  return sizes;
}

std::vector<std::int64_t> SizedTarget::away_from_defaults(
    std::span<const std::int64_t> sizes) const {
  std::vector<std::int64_t> away(sizes.begin(), sizes.end());
  const std::size_t first = target.sizes.size();
  if (away.size() <= first) return away;
  const std::vector<std::int64_t> defaults = program.free_values(key(sizes));
  for (std::size_t i = first; i < away.size(); ++i) {
    if (away[i] == defaults[i - first]) away[i] = kDefaultSize;
  }
  away.resize(without_defaults(away).size());
  return away;
}

int SizedTarget::line_alignment(std::span<const std::int64_t> sizes) const {
  int alignment = kAligned;
  for (const std::int64_t length : program.free_values(sizes)) {
    alignment = std::min(alignment, std::countr_zero(static_cast<std::uint64_t>(length)));
  }
  return alignment;
}

bool SizedTarget::is_valid(const std::optional<Levels>& levels,
                           std::span<const std::int64_t> sizes) const noexcept {
  return levels && autotune::is_valid(program, *levels, sizes);
}

void SizedTarget::check(std::span<const std::int64_t> sizes) const {
  const std::size_t count = target.sizes.size(), all = count + target.free_sizes.size();
  if (sizes.size() < count || sizes.size() > all) {
    const std::size_t fewest = needed_sizes(target);
    throw UsageError(format("{} has {}{} size{}, not {}", target.name, fewest,
                            all > fewest ? format(" to {}", all) : "", all == 1 ? "" : "s",
                            sizes.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (sizes[i] < 1 || sizes[i] > 2147483647) {
      throw UsageError(format("{}: the size {}={} is not from 1 to 2147483647", target.name,
                              target.sizes[i], sizes[i]));
    }
    check_size(target, i, sizes[i]);
  }
  for (std::size_t i = count; i < sizes.size(); ++i) {
    if (sizes[i] < 0 && sizes[i] != kDefaultSize) {
      throw UsageError(format("{}: the size {}={} is below 0; {} means its default", target.name,
                              target.free_sizes[i - count].name, sizes[i], kDefaultSize));
    }
  }
  if (!has_rules(target)) return;
  if (const std::string refusal = program.refusal(sizes); !refusal.empty()) {
    throw UsageError(refusal);
  }
}

Problem SizedTarget::problem_for(std::span<const std::int64_t> sizes) const {
  check(sizes);
  return problem_with(away_from_defaults(sizes));
}

Problem SizedTarget::problem_with(std::span<const std::int64_t> sizes) const {
  Problem problem = smallest;
  const std::size_t count = target.sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i < count) problem.values[i].value = sizes[i];
    if (i >= count && sizes[i] != kDefaultSize) {
      problem.free.push_back({target.free_sizes[i - count].name, sizes[i]});
    }
  }
  return problem;
}

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

std::size_t LevelsHash::operator()(const Levels& levels) const noexcept {
  const auto bytes = std::as_bytes(std::span(levels));
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Most problems share their configurations, so each text is parsed once.
class KnownTimes::Reader {
 public:
  Reader(const SizedTarget& sized, KnownTimes& all) : sized_(sized), all_(all) {}

  KnownProblem problem(const db::PastProblem& past) {
    PredictionsAt predictions = all_.models_.at(past);
    KnownProblem known;
    known.problem = &past;
    known.is_here = all_.models_.same_device()[past.device];
    for (const db::PastTime& time : past.good) {
      if (known.good.size() < kOfEach) known.good.push_back(this->time(time, predictions));
    }
    if (past.standard.ns > 0) known.standard = time(past.standard, predictions);
    if (!past.cover.empty()) known.pinned = time(past.pinned, predictions);
    if (past.baseline_ns > 0) {
      known.ideal = predictions.ideal();
      known.alignment = sized_.line_alignment(past.sizes);
    }
    return known;
  }

 private:
  using Number = decltype(KnownTimes::numbers_)::value_type;

  KnownTime time(const db::PastTime& time, PredictionsAt& predictions) {
    const Number* const number = this->number(time.configuration);
    if (number == nullptr) return {&time, nullptr, 0, {}};
    return {&time, &number->first, number->second, predictions.error(number->first, time)};
  }

  /// nullptr if it is not a configuration of the target.
  const Number* number(std::string_view text) {
    const auto [found, is_new] = of_texts_.try_emplace(text, nullptr);
    if (!is_new) return found->second;
    if (auto levels = levels_in(sized_.target, text)) {
      found->second = &*all_.numbers_.try_emplace(std::move(*levels), all_.numbers_.size()).first;
    }
    return found->second;
  }

  const SizedTarget& sized_;
  KnownTimes& all_;
  std::unordered_map<std::string_view, const Number*> of_texts_;
};

KnownTimes::KnownTimes(const SizedTarget& sized, db::PastTimes times)
    : times_(std::move(times)), models_(sized, times_) {
  Reader reader(sized, *this);
  problems_.reserve(times_.problems.size());
  for (const db::PastProblem& past : times_.problems) problems_.push_back(reader.problem(past));
  for (const db::FailedThere& there : times_.failed) {
    std::vector<Levels>& failed = failed_[there.sizes];
    for (const std::string& configuration : there.configurations) {
      if (auto levels = levels_in(sized.target, configuration))
        failed.push_back(*std::move(levels));
    }
  }
}

std::optional<std::size_t> KnownTimes::number_of(const Levels& levels) const {
  const auto found = numbers_.find(levels);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::span<const Levels> KnownTimes::failed_at(std::span<const std::int64_t> sizes) const {
  if (failed_.empty()) return {};
  const auto found = failed_.find({sizes.begin(), sizes.end()});
  return found == failed_.end() ? std::span<const Levels>() : found->second;
}

}  // namespace autotune
