// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/cover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace autotune {
namespace {

/// `limit` and all larger finite ratios, ascending.
std::vector<double> limits_from(std::span<const std::vector<double>> ratios, double limit) {
  std::vector<double> limits{limit};
  for (const std::vector<double>& row : ratios) {
    for (const double ratio : row) {
      if (ratio > limit && std::isfinite(ratio)) limits.push_back(ratio);
    }
  }
  std::ranges::sort(limits);
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  return limits;
}

TradeOff judged(std::span<const std::vector<double>> ratios, std::vector<std::size_t> chosen) {
  TradeOff result{std::move(chosen), 1, 1};
  const std::vector<double> least = least_ratios(ratios, result.chosen);
  double logs = 0;
  for (const double ratio : least) {
    result.worst = std::max(result.worst, ratio);
    logs += std::log(ratio);
  }
  result.mean = std::exp(logs / static_cast<double>(std::max<std::size_t>(least.size(), 1)));
  return result;
}

}  // namespace

std::vector<double> least_ratios(std::span<const std::vector<double>> ratios,
                                 std::span<const std::size_t> chosen) {
  const std::size_t problems = ratios.empty() ? 0 : ratios.front().size();
  std::vector<double> least(problems, std::numeric_limits<double>::infinity());
  for (const std::size_t candidate : chosen) {
    for (std::size_t p = 0; p < problems; ++p) {
      least[p] = std::min(least[p], ratios[candidate][p]);
    }
  }
  return least;
}

std::vector<TradeOff> trade_off(std::span<const std::vector<double>> ratios, double limit) {
  const std::vector<double> limits = limits_from(ratios, limit);
  const auto cover_at = [&](std::size_t i) { return smallest_cover(ratios, limits[i]); };
  std::vector<TradeOff> curve;
  Cover cover = cover_at(0);
  if (!cover.uncovered.empty() || cover.chosen.empty()) return curve;
  curve.push_back(judged(ratios, cover.chosen));
  std::size_t at = 0;
  while (cover.chosen.size() > 1) {
    // Bisects for the smallest limit that fewer configurations meet.
    std::size_t low = at + 1, high = limits.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const bool is_fewer = cover_at(middle).chosen.size() < cover.chosen.size();
      (is_fewer ? high : low) = is_fewer ? middle : middle + 1;
    }
    if (low == limits.size()) break;  // one alone fails somewhere
    at = low;
    cover = cover_at(at);
    curve.push_back(judged(ratios, cover.chosen));
  }
  std::ranges::reverse(curve);
  return curve;
}

namespace {

constexpr int kMostSteps = 1'000'000;  // of branch and bound: below a second

using Choice = std::vector<std::size_t>;

class Coverer {
 public:
  Coverer(std::span<const std::vector<double>> ratios, double limit)
      : ratios_(ratios), problems_(ratios.empty() ? 0 : ratios.front().size()), limit_(limit) {
    servers_.resize(problems_);
    for (std::size_t c = 0; c < ratios.size(); ++c) {
      for (std::size_t p = 0; p < problems_; ++p) {
        if (serves(c, p)) servers_[p].push_back(c);
      }
    }
  }

  Cover cover() {
    Cover result;
    open_.assign(problems_, 1);
    for (std::size_t p = 0; p < problems_; ++p) {
      if (!servers_[p].empty()) continue;
      result.uncovered.push_back(p);
      open_[p] = 0;
    }
    best_ = greedy(open_);
    branch(open_);
    std::sort(best_.begin(), best_.end());
    result.chosen = best_;
    result.is_least = steps_ < kMostSteps;
    return result;
  }

 private:
  using Open = std::vector<char>;  // 1: no chosen candidate serves this problem yet

  bool serves(std::size_t candidate, std::size_t problem) const {
    return ratios_[candidate][problem] <= limit_;
  }

  void close(Open& open, std::size_t candidate) const {
    for (std::size_t p = 0; p < problems_; ++p) {
      if (serves(candidate, p)) open[p] = 0;
    }
  }

  /// The candidate that newly serves the most problems; ties: the fastest, then the first.
  std::size_t most_useful(const Open& open) const {
    std::optional<std::tuple<std::size_t, double, std::size_t>> best;
    for (std::size_t c = 0; c < ratios_.size(); ++c) {
      std::size_t left = 0;
      double sum = 0;
      for (std::size_t p = 0; p < problems_; ++p) {
        const bool gains = open[p] && serves(c, p);
        left += open[p] && !gains;
        if (gains) sum += ratios_[c][p];
      }
      const std::tuple candidate{left, sum, c};
      if (!best || candidate < *best) best = candidate;
    }
    return std::get<2>(*best);
  }

  Choice greedy(Open open) const {
    Choice choice;
    while (std::ranges::count(open, 1) > 0) {
      choice.push_back(most_useful(open));
      close(open, choice.back());
    }
    return choice;
  }

  /// Branches on the open problem with the fewest servers: one of them has to be chosen.
  void branch(const Open& open) {
    std::optional<std::size_t> hardest;
    for (std::size_t p = 0; p < problems_; ++p) {
      if (!open[p]) continue;
      if (!hardest || servers_[p].size() < servers_[*hardest].size()) hardest = p;
    }
    if (!hardest) {
      best_ = path_;
      return;
    }
    for (const std::size_t candidate : servers_[*hardest]) {
      if (path_.size() + 1 >= best_.size() || ++steps_ >= kMostSteps) return;
      Open rest = open;
      close(rest, candidate);
      path_.push_back(candidate);
      branch(rest);
      path_.pop_back();
    }
  }

  std::span<const std::vector<double>> ratios_;
  std::size_t problems_;
  double limit_;
  std::vector<Choice> servers_;  // of each problem
  Open open_;
  Choice best_, path_;
  int steps_ = 0;
};

}  // namespace

Cover smallest_cover(std::span<const std::vector<double>> ratios, double limit) {
  return Coverer(ratios, limit).cover();
}

}  // namespace autotune
