// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/baselines.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Of one library, beside its default.
constexpr std::size_t kMostOthers = 2;
constexpr int kMostLaunches = 10, kBatches = 3;
constexpr double kBatchSeconds = 1e-3;

/// The least of a few batches: enough to tell which are worth a place in the playoff.
double quick_seconds(Candidate& candidate) {
  double least = candidate.time(1, L2State::hot).seconds;
  const double affordable = kBatchSeconds / std::max(least, 1e-9);
  const auto launches = static_cast<int>(std::clamp(affordable, 1.0, 1.0 * kMostLaunches));
  for (int i = 0; i < kBatches; ++i) {
    least = std::min(least, candidate.time(launches, L2State::hot).seconds);
  }
  return least;
}

std::optional<BaselineCandidate> baseline_of(Workbench& bench, const BaselineSource& source,
                                             std::size_t number, const std::string& name) try {
  BaselineCandidate baseline{source, number, name, bench.load_baseline(source, number), 0};
  if (baseline.candidate->verify().outcome != Outcome::ok) return std::nullopt;
  baseline.seconds = quick_seconds(*baseline.candidate);
  return baseline;
} catch (const KernelFailure&) {
  return std::nullopt;
}

/// The library's default and the fastest others.
std::vector<BaselineCandidate> baselines_of(Workbench& bench, const BaselineSource& source) {
  std::vector<BaselineCandidate> found;
  const std::vector<std::string> names = bench.baselines(source);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (auto one = baseline_of(bench, source, i, names[i])) found.push_back(*std::move(one));
  }
  if (found.empty()) return found;
  const auto others = found.begin() + (found.front().number == 0 ? 1 : 0);
  std::sort(others, found.end(),
            [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const auto kept = static_cast<std::size_t>(others - found.begin()) + kMostOthers;
  if (found.size() > kept) found.erase(found.begin() + static_cast<long>(kept), found.end());
  return found;
}

}  // namespace

void reload(BaselineCandidate& baseline, Workbench& bench) {
  baseline.candidate = reloaded([&]() -> std::unique_ptr<Candidate> {
    try {
      return bench.load_baseline(baseline.source, baseline.number);
    } catch (const Error& error) {
      throw KernelFailure(Outcome::launch_error, error.what());
    }
  });
}

std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn) {
  std::vector<BaselineCandidate> all;
  for (const BaselineSource& source : sources) {
    std::string reason;
    try {
      for (BaselineCandidate& baseline : baselines_of(bench, source))
        all.push_back(std::move(baseline));
    } catch (const Error& error) {
      reason = error.what();
    } catch (const KernelFailure& failure) {
      reason = failure.what();
    }
    if (!reason.empty() && warn) {
      warn(format("baseline {} is left out: {}", source.plugin.stem().string(), reason));
    }
  }
  return all;
}

void Baselines::find(Workbench& bench, const std::function<void(const std::string&)>& warn) {
  if (are_found()) return;
  found_ = find_baselines(bench, sources_, warn);
  for (BaselineCandidate& one : *found_) one.candidate.reset();
}

std::vector<BaselineCandidate>& Baselines::loaded(Workbench& bench) {
  if (!found_) found_.emplace();
  for (BaselineCandidate& one : *found_) {
    if (!one.candidate) reload(one, bench);
  }
  return *found_;
}

}  // namespace autotune
