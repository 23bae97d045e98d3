// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/playoff.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>

#include "tuner/measure/batch.hpp"

namespace autotune {
namespace {

/// The finalists with their times, one per block: times[b] of two finalists are paired.
class Contest {
 public:
  Contest(std::vector<Finalist> finalists, const Policy& policy, double clock_hz,
          const OutOfTime& out_of_time)
      : finalists_(std::move(finalists)),
        policy_(policy),
        clock_hz_(clock_hz),
        out_of_time_(out_of_time),
        times_(finalists_.size()),
        under_load_(finalists_.size()),
        throttled_(finalists_.size()),
        was_throttled_(finalists_.size()),
        failures_(finalists_.size()) {
    // Timed twice in every block: the A/A pair.
    const auto by_rank = [](const Finalist& finalist) {
      return std::pair(finalist.is_baseline, finalist.seconds);
    };
    twin_ = std::ranges::min_element(finalists_, {}, by_rank) - finalists_.begin();
  }

  std::span<Finalist> finalists() { return finalists_; }
  /// One for each round under load, if there was any, else for each block.
  const std::vector<double>& times(std::size_t i) const {
    return was_loaded() ? under_load_[i] : times_[i];
  }
  bool alive(std::size_t i) const { return !failures_[i]; }
  bool has_time_for(double seconds) const { return spent_ <= seconds && !is_out_of_time(); }
  /// Whether a deadline ends the blocks before there are enough for an interval.
  bool is_cut_off() const { return spent_ > policy_.uncut_seconds && is_out_of_time(); }

  std::vector<std::size_t> living() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < finalists_.size(); ++i) {
      if (alive(i)) indices.push_back(i);
    }
    return indices;
  }

  /// Those that have not failed and have times().
  std::vector<std::size_t> compared() const {
    std::vector<std::size_t> indices = living();
    std::erase_if(indices, [&](std::size_t i) { return times(i).empty(); });
    return indices;
  }

  /// Configurations that have not failed, without baselines.
  std::vector<std::size_t> possible_winners() const {
    std::vector<std::size_t> indices = compared();
    std::erase_if(indices, [&](std::size_t i) { return finalists_[i].is_baseline; });
    return indices;
  }

  bool was_throttled(std::size_t i) const { return throttled_[i]; }
  /// Whether one that has not failed was timed under load.
  bool was_loaded() const {
    return std::ranges::any_of(living(), [&](std::size_t i) { return !under_load_[i].empty(); });
  }

  /// Times one batch of each finalist that has not failed, and a second one of the fastest, in a
  /// new random order.
  void run_block(std::mt19937_64& random) {
    const std::size_t twin_entry = finalists_.size();
    std::vector<std::size_t> order = living();
    if (alive(twin_)) order.push_back(twin_entry);
    shuffle(order, random);
    for (const std::size_t entry : order) {
      if (entry == twin_entry) {
        take(twin_, policy_.l2, policy_.context, twin_times_);
      } else {
        take(entry, policy_.l2, policy_.context, times_[entry]);
      }
    }
  }

  /// Times these under load, each by itself. In blocks they run at the clock that the power of all
  /// allows; in a program, one of them has the clock of its own.
  void run_under_load(std::vector<std::size_t> indices, std::mt19937_64& random) {
    for (int round = 0; round < policy_.load_rounds; ++round) {
      if (is_out_of_time()) return;
      shuffle(indices, random);
      for (const std::size_t i : indices) load(i);
    }
  }

  /// Times each finalist in the L2 state that is not the policy's, if the device supports it.
  std::vector<std::optional<Measurement>> run_other_l2() {
    const L2State other = policy_.l2 == L2State::hot ? L2State::cold : L2State::hot;
    std::vector<std::vector<double>> times(finalists_.size());
    const double limit = spent_ + policy_.playoff_seconds / 2;
    for (int block = 0; block < policy_.other_l2_blocks && has_time_for(limit); ++block) {
      for (const std::size_t i : living()) {
        if (take(i, other, policy_.context, times[i]) != other)
          return std::vector<std::optional<Measurement>>(finalists_.size());
      }
    }
    return summarized(times);
  }

  /// Times each finalist in another context.
  std::vector<std::optional<Measurement>> run_in(CallContext context) {
    std::vector<std::vector<double>> times(finalists_.size());
    const double limit = spent_ + policy_.playoff_seconds / 4;
    for (int block = 0; block < policy_.other_context_blocks && has_time_for(limit); ++block) {
      for (const std::size_t i : living()) take(i, policy_.l2, context, times[i]);
    }
    return summarized(times);
  }

  double noise_floor() const {
    if (!alive(twin_) || twin_times_.empty()) return 0;
    const Ratio ratio = paired_ratio(twin_times_, times_[twin_]);
    return std::max(std::abs(ratio.median - 1), (ratio.high - ratio.low) / 2);
  }

  Ratio ratio(std::size_t i, std::size_t to) const {
    if (under_load_[i].empty() || under_load_[to].empty())
      return paired_ratio(times_[i], times_[to]);
    return paired_ratio(under_load_[i], under_load_[to]);
  }

  /// Adds the times of the blocks. Of one that failed in any phase, only the failure is left.
  void conclude(std::size_t i, FinalistResult& result) const {
    if (!alive(i)) {
      result = failed_finalist(failures_[i]->outcome(), failures_[i]->what());
      return;
    }
    result.measurement = summarize(times_[i]);
    result.measurement.throttled = throttled_[i];
  }

 private:
  bool is_out_of_time() const { return out_of_time_ && out_of_time_(); }

  static void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  }

  std::vector<std::optional<Measurement>> summarized(
      const std::vector<std::vector<double>>& times) const {
    std::vector<std::optional<Measurement>> measurements(finalists_.size());
    for (const std::size_t i : living()) {
      if (!times[i].empty()) measurements[i] = summarize(times[i]);
    }
    return measurements;
  }

  /// Returns the L2 state that the batch ran in.
  L2State take(std::size_t i, L2State l2, CallContext context, std::vector<double>& to) {
    if (!alive(i)) return l2;  // the other half of the pair failed in this block
    try {
      const int launches = launches_for(finalists_[i].seconds, policy_);
      InContext timer(*finalists_[i].timer, context);
      const SteadyBatch batch =
          time_steadily(timer, launches, l2, policy_, clock_hz_, was_throttled_[i]);
      spent_ += batch.spent;
      throttled_[i] = throttled_[i] || batch.throttled;
      was_throttled_[i] = batch.throttled;
      to.push_back(batch.seconds);
      return batch.l2;
    } catch (const KernelFailure& failure) {
      failures_[i] = failure;
      return l2;
    }
  }

  void load(std::size_t i) {
    if (!alive(i)) return;
    try {
      const int launches = launches_for(finalists_[i].seconds, policy_);
      InContext timer(*finalists_[i].timer, policy_.context);
      under_load_[i].push_back(time_under_load(timer, launches, policy_.l2, policy_));
    } catch (const KernelFailure& failure) {
      failures_[i] = failure;
    }
  }

  std::vector<Finalist> finalists_;
  const Policy& policy_;
  double clock_hz_;
  const OutOfTime& out_of_time_;
  std::size_t twin_ = 0;
  std::vector<std::vector<double>> times_;
  std::vector<double> twin_times_;
  std::vector<std::vector<double>> under_load_;  // one for each round
  std::vector<bool> throttled_, was_throttled_;  // in any batch, in the last
  std::vector<std::optional<KernelFailure>> failures_;
  double spent_ = 0;
};

/// The possible winners, fastest first: by the median over blocks (rounds under load) of the log
/// time minus the block's mean, so that a disturbance of a whole block cancels.
std::vector<std::size_t> ranked(const Contest& contest) {
  const std::vector<std::size_t> compared = contest.compared();
  const std::size_t blocks = contest.times(compared.front()).size();
  std::vector<double> block_means(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const std::size_t i : compared) block_means[b] += std::log(contest.times(i)[b]);
    block_means[b] /= static_cast<double>(compared.size());
  }
  const auto figure = [&](std::size_t i) {
    std::vector<double> logs(blocks);
    for (std::size_t b = 0; b < blocks; ++b)
      logs[b] = std::log(contest.times(i)[b]) - block_means[b];
    return median(logs);
  };
  std::vector<std::size_t> winners = contest.possible_winners();
  std::ranges::stable_sort(winners, {}, figure);
  return winners;
}

std::size_t fastest(const Contest& contest) { return ranked(contest).front(); }

/// Whether each ratio to the fastest is known to within half the tie margin.
bool is_settled(const Contest& contest, const Policy& policy) {
  const std::size_t best = fastest(contest);
  return std::ranges::all_of(contest.living(), [&](std::size_t i) {
    const Ratio ratio = contest.ratio(i, best);
    return (ratio.high - ratio.low) / 2 < policy.tie_margin / 2;
  });
}

int run_blocks(Contest& contest, const Policy& policy, std::mt19937_64& random,
               const Reallocate& reallocate) {
  for (int block = 0; block < policy.most_blocks; ++block) {
    const bool has_interval = block >= kFewestForInterval;
    if (has_interval && !contest.has_time_for(policy.playoff_seconds)) return block;
    if (!has_interval && block >= 2 && contest.is_cut_off()) return block;
    if (block >= policy.fewest_blocks && is_settled(contest, policy)) return block;
    if (block == (policy.fewest_blocks + 1) / 2 && reallocate) reallocate(contest.finalists());
    contest.run_block(random);
    if (contest.possible_winners().empty()) return block + 1;
  }
  return policy.most_blocks;
}

/// Times the fastest under load, if a low clock decides which is the fastest.
void run_under_load(Contest& contest, const Policy& policy, std::mt19937_64& random) {
  std::vector<std::size_t> likely = ranked(contest);
  const std::size_t best = likely.front();
  if (!contest.was_throttled(best)) return;
  std::erase_if(likely, [&](std::size_t i) {
    return contest.ratio(i, best).median > 1 + policy.throttled_margin;
  });
  likely.resize(std::min(likely.size(), policy.most_loaded));
  contest.run_under_load(std::move(likely), random);
}

/// In the other L2 state and the other contexts.
void run_elsewhere(Contest& contest, const Policy& policy, std::span<FinalistResult> results) {
  auto other_l2 = contest.run_other_l2();
  for (std::size_t i = 0; i < other_l2.size(); ++i) results[i].other_l2 = std::move(other_l2[i]);
  for (const CallContext context : other_contexts(policy)) {
    const auto times = contest.run_in(context);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i]) results[i].other_contexts[context] = *times[i];
    }
  }
}

std::optional<std::size_t> find_living(Contest& contest, bool Finalist::*flag) {
  for (const std::size_t i : contest.living()) {
    if (contest.finalists()[i].*flag) return i;
  }
  return std::nullopt;
}

bool seems_faster(const Ratio& ratio, const Policy& policy) {
  return ratio.median < 1 - policy.replace_margin;
}

bool is_clearly_faster(const Ratio& ratio, const Policy& policy) {
  return seems_faster(ratio, policy) && is_clearly_below_one(ratio);
}

/// The winner: the fastest, unless what programs get or the default is within the margin.
void choose_winner(Contest& contest, const Policy& policy, PlayoffResult& result) {
  const std::size_t best = fastest(contest);
  const auto by_default = find_living(contest, &Finalist::is_default);
  auto holder = find_living(contest, &Finalist::is_given);
  const bool is_worse =
      holder && by_default && is_clearly_faster(contest.ratio(*by_default, *holder), policy);
  if (!holder || is_worse) {
    result.replaced = holder.has_value();
    holder = by_default;
  }
  result.winner = best;
  if (!holder) return;
  const Ratio to_holder = contest.ratio(best, *holder);
  const bool gives_way = is_clearly_faster(to_holder, policy);
  result.replaced = result.replaced || gives_way;
  result.is_open = seems_faster(to_holder, policy) && to_holder.samples < kFewestForInterval;
  if (!gives_way) result.winner = holder;
}

/// Fills in the ratios and ties of the finalists that have not failed.
void compare(Contest& contest, const Policy& policy, PlayoffResult& result) {
  const std::size_t best = fastest(contest);
  const auto by_default = find_living(contest, &Finalist::is_default);
  result.tie_margin = tie_margin(policy, result.noise_floor);
  result.ties = 0;
  for (const std::size_t i : contest.living()) {
    FinalistResult& one = result.finalists[i];
    if (by_default) one.to_default = contest.ratio(i, *by_default);
    one.to_winner = contest.ratio(i, *result.winner);
    one.tied = !contest.finalists()[i].is_baseline &&
               contest.ratio(i, best).median <= 1 + result.tie_margin;
    result.ties += one.tied ? 1 : 0;
  }
}

}  // namespace

std::vector<std::size_t> choose_finalists(std::span<const Measurement> searched,
                                          const Policy& policy) {
  std::vector<std::size_t> order(searched.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return searched[i].median; });
  if (order.empty()) return order;
  const double least = searched[order.front()].median;
  const bool throttled = searched[order.front()].throttled;
  const double correction = std::ranges::max(searched, {}, &Measurement::correction).correction;
  const double margin = std::max((1 + policy.finalist_margin) / (1 - correction) - 1,
                                 throttled ? policy.throttled_margin : 0);
  const int number =
      throttled || correction > 0 ? policy.most_throttled_finalists : policy.most_finalists;
  // Fewer finalists on a slow device, so that the time suffices for the blocks of an interval.
  const double batch = least * launches_for(least, policy);
  const double affordable = policy.playoff_seconds / kFewestForInterval / batch;
  const auto most = static_cast<std::size_t>(std::clamp(affordable, 2.0, 1.0 * number));
  std::size_t count = 0;
  while (count < std::min(order.size(), most) &&
         searched[order[count]].median <= least * (1 + margin)) {
    ++count;
  }
  order.resize(count);
  return order;
}

double tie_margin(const Policy& policy, double noise_floor) {
  return std::max(policy.tie_margin, noise_floor);
}

PlayoffResult play_off(std::vector<Finalist> finalists, const Policy& policy, std::uint64_t seed,
                       const Reallocate& reallocate, double clock_hz,
                       const OutOfTime& out_of_time) {
  assert(!finalists.empty());
  Contest contest(std::move(finalists), policy, clock_hz, out_of_time);
  PlayoffResult result;
  std::mt19937_64 random(seed);
  result.blocks = run_blocks(contest, policy, random, reallocate);
  result.finalists.resize(contest.finalists().size());
  if (!contest.possible_winners().empty()) run_under_load(contest, policy, random);
  if (!contest.possible_winners().empty()) run_elsewhere(contest, policy, result.finalists);
  // Only now is it known who failed nowhere.
  for (std::size_t i = 0; i < result.finalists.size(); ++i) {
    contest.conclude(i, result.finalists[i]);
  }
  if (contest.possible_winners().empty()) return result;
  result.noise_floor = contest.noise_floor();
  choose_winner(contest, policy, result);
  compare(contest, policy, result);
  return result;
}

}  // namespace autotune
