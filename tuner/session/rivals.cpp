// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/rivals.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
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

std::optional<Rival> rival_of(Workbench& bench, const BaselineSource& source, std::size_t number,
                              const std::string& name) try {
  Rival rival{source, number, name, bench.load_baseline(source, number), 0};
  if (rival.candidate->verify().outcome != Outcome::ok) return std::nullopt;
  rival.seconds = quick_seconds(*rival.candidate);
  return rival;
} catch (const KernelFailure&) {
  return std::nullopt;
}

std::vector<Rival> rivals_of(Workbench& bench, const BaselineSource& source) {
  std::vector<Rival> rivals;
  const std::vector<std::string> names = bench.baselines(source);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (auto rival = rival_of(bench, source, i, names[i])) rivals.push_back(*std::move(rival));
  }
  if (rivals.empty()) return rivals;
  const auto others = rivals.begin() + (rivals.front().number == 0 ? 1 : 0);
  std::sort(others, rivals.end(),
            [](const Rival& a, const Rival& b) { return a.seconds < b.seconds; });
  const auto kept = static_cast<std::size_t>(others - rivals.begin()) + kMostOthers;
  if (rivals.size() > kept) rivals.erase(rivals.begin() + static_cast<long>(kept), rivals.end());
  return rivals;
}

/// In place of a candidate that could not be loaded again.
class Gone final : public Candidate {
 public:
  explicit Gone(KernelFailure failure) : failure_(std::move(failure)) {}
  Verdict verify(int, double) override { throw failure_; }
  TimedBatch time(int, L2State) override { throw failure_; }

 private:
  KernelFailure failure_;
};

}  // namespace

void reload(Rival& rival, Workbench& bench) {
  try {
    rival.candidate = bench.load_baseline(rival.source, rival.number);
  } catch (const KernelFailure& failure) {
    rival.candidate = std::make_unique<Gone>(failure);
  } catch (const Error& error) {
    rival.candidate = std::make_unique<Gone>(KernelFailure(Outcome::launch_error, error.what()));
  }
}

std::vector<Rival> find_rivals(Workbench& bench, std::span<const BaselineSource> sources,
                               const std::function<void(const std::string&)>& warn) {
  std::vector<Rival> all;
  for (const BaselineSource& source : sources) {
    std::string reason;
    try {
      for (Rival& rival : rivals_of(bench, source)) all.push_back(std::move(rival));
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

}  // namespace autotune
