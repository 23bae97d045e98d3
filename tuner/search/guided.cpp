// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "tuner/model/cost_model.hpp"
#include "tuner/search/candidates.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/surrogate.hpp"

namespace autotune {
namespace {

constexpr std::size_t kFirst = 6;  // valid configurations before the first fit
constexpr std::size_t kMostFirst = 16;
constexpr std::size_t kFewest = 2;          // valid ones before the first fit with a cost model
constexpr std::size_t kManyFail = 4;        // one of so many configurations of the start
constexpr std::size_t kWhereManyFail = 18;  // valid configurations before the first fit there
constexpr std::size_t kMostTries = 30;      // configurations of the start, to have these
constexpr std::size_t kLocal = 3;           // fastest configurations whose neighbours are proposed
constexpr std::size_t kParts = 8;  // per batch; one part is measured and replaced at a time
constexpr double kStep = 0.03;     // Kernel::step of the second surrogate
constexpr double kRedraw = 1.08;   // growth of observations before large spaces are resampled
constexpr double kRanks = 0.4;     // rank correlation of a cost model that is followed
constexpr std::size_t kEnd = 5;    // the last of so many parts of a search is its end

class Search {
 public:
  Search(Evaluator& evaluator, std::uint64_t seed)
      : evaluator_(evaluator),
        space_(evaluator.space()),
        seed_(seed),
        random_(seed),
        coordinates_(space_, Products::included),
        batch_(static_cast<std::size_t>(std::max(1, evaluator.batch()))),
        part_(std::max<std::size_t>(1, batch_ / kParts)),
        ahead_(batch_ > 1 ? batch_ + part_ : 1),
        prior_(prior_of(space_, evaluator.predicted())),
        points_(0, static_cast<Eigen::Index>(coordinates_.dimensions())),
        success_(candidates_, coordinates_.parameters()),
        ready_(evaluator),
        neighbours_(space_),
        surroundings_(space_, candidates_, neighbours_) {}

  void run() {
    for (const Evaluation& answer : evaluator_.known()) take(answer);
    if (!start()) return;
    redraw();
    surrogates_.emplace_back(candidates_, batch_, 0);
    surrogates_.emplace_back(candidates_, batch_, kStep);
    while (!exhausted() && evaluator_.remaining() > 0) {
      while (in_flight_.size() < ahead_ && propose()) {
      }
      if (!take_some()) return;
      redraw();
    }
  }

  /// What follows `started` configurations of a start. Its first do not keep away from what is
  /// known already: the farthest points from one are the edges.
  std::vector<std::size_t> first_after(std::size_t started) {
    const std::vector<float>& predicted = prior_.log_predicted;
    std::vector<std::size_t> taken;
    if (started > 0) taken = observations_.indices();
    const std::size_t count = started == 0 ? first_count() : std::max<std::size_t>(1, batch_ / 2);
    if (!predicted.empty()) {
      return first_configurations(space_, coordinates_, predicted, count, taken, random_);
    }
    return started == 0 ? telling_configurations(space_, coordinates_, count, random_)
                        : best_candidates(space_, coordinates_, count, taken, random_);
  }

 private:
  bool exhausted() const { return observations_.size() == space_.size(); }

  /// Whether the search is in its last fifth, if it uses its whole budget.
  bool ending() const {
    const std::size_t left = evaluator_.remaining();
    return left * kEnd < left + observations_.size();
  }

  void take(const Evaluation& answer) {
    if (observations_.contains(answer.index)) return;
    observations_.add(answer);
    turns_.observe(observations_.size(), observations_.best());
    const Eigen::Index place = points_.rows();
    points_.conservativeResize(place + 1, Eigen::NoChange);
    points_.row(place) = coordinates_.points({&answer.index, 1}).row(0);
    if (prior_.has_trend()) {
      trend_.conservativeResize(place + 1);
      trend_[place] = static_cast<double>(prior_.trend(answer.index));
    }
    if (const auto row = candidates_.row_of(answer.index)) candidates_.asked[*row] = 1;
  }

  /// Takes the results of a part of what is in flight; false when the budget ended.
  bool take_some() {
    const std::size_t count = std::min(part_, in_flight_.size());
    const std::vector<Evaluation> answers = evaluator_.evaluate_some(in_flight_, count);
    for (const Evaluation& answer : answers) {
      take(answer);
      std::erase(in_flight_, answer.index);
    }
    return answers.size() == count;
  }

  /// The first batch keeps all compilers busy. A surrogate fitted to a few observations proposes
  /// nothing better than spread-out configurations. The cost model does, so with one the start is
  /// small.
  std::size_t first_count() const {
    return prior_.is_model() ? kFirst : std::clamp(batch_, kFirst, kMostFirst);
  }

  /// Valid configurations that a start of `started` ones needs. Where many fail, the valid ones lie
  /// apart, and a surrogate that was fitted to a few of them proposes more of the same.
  std::size_t needed(std::size_t started) const {
    if (prior_.is_model() || started >= kMostTries) return kFewest;
    const std::size_t failed = observations_.size() - observations_.valid();
    return failed * kManyFail >= observations_.size() ? kWhereManyFail : kFirst;
  }

  /// Evaluates the first configurations until as many as needed are valid; false when the budget
  /// ended. The others stay in flight, as one may take longer to compile than all others together.
  bool start() {
    const std::size_t known = observations_.valid();
    if (known >= kFirst + evaluator_.suggested()) return true;  // a resumed run
    std::size_t started = 0;
    const auto needs_more = [&] { return observations_.valid() - known < needed(started); };
    while (!exhausted() && needs_more()) {
      in_flight_ = first_after(started);
      started += in_flight_.size();
      evaluator_.prefetch(in_flight_);
      while (!in_flight_.empty() && needs_more()) {
        if (!take_some()) return false;
      }
    }
    return true;
  }

  /// Draws the candidates of small spaces once, and those of large spaces and late searches again
  /// as the search proceeds.
  void redraw() {
    const bool improved = observations_.best() < drawn_best_;
    const bool grown = static_cast<double>(observations_.size()) >= kRedraw * drawn_size_;
    const bool all_are = space_.size() <= kMostCandidates && observations_.size() < kLate;
    if (candidates_.drawing > 0 && (all_are || (!improved && !grown))) return;
    const int drawing = candidates_.drawing + 1;
    // A separate source, so that the sample depends only on the seed and the number of the draw.
    RandomSource random(seed_ + static_cast<std::uint64_t>(drawing));
    candidates_ = draw_candidates(space_, coordinates_, prior_, observations_, random);
    candidates_.drawing = drawing;
    drawn_best_ = observations_.best();
    drawn_size_ = static_cast<double>(observations_.size());
  }

  /// Puts one part in flight and starts to compile it; false when there is nothing to add.
  bool propose() {
    const std::size_t planned = observations_.size() + in_flight_.size();
    const std::size_t affordable =
        evaluator_.remaining() - std::min(evaluator_.remaining(), in_flight_.size());
    const std::size_t count = std::min({part_, affordable, space_.size() - planned});
    if (count == 0) return false;
    const std::size_t before = in_flight_.size();
    Part part{std::vector<Opinion>(surrogates_.size()), candidates_.asked};
    for (const std::size_t index : in_flight_) {
      if (const auto row = candidates_.row_of(index)) part.taken[*row] = 1;
    }
    ready_.forget_missing();
    while (!candidates_.indices.empty() && in_flight_.size() < before + count) {
      const std::optional<std::size_t> row = next_row(part, in_flight_.size() > before);
      if (!row) break;
      part.taken[*row] = 1;
      in_flight_.push_back(candidates_.indices[*row]);
    }
    if (in_flight_.size() == before) {
      std::vector<std::size_t> used = observations_.indices();
      used.insert(used.end(), in_flight_.begin(), in_flight_.end());
      const auto other = best_candidates(space_, coordinates_, 1, used, random_);
      in_flight_.insert(in_flight_.end(), other.begin(), other.end());
    }
    evaluator_.prefetch(std::span(in_flight_).subspan(before));
    return in_flight_.size() > before;
  }

  /// The proposals that are made together. Either all are ready, or the part waits for the
  /// compiler.
  struct Part {
    std::vector<Opinion> opinions;  // one per surrogate, empty until needed
    std::vector<char> taken;        // one per candidate; 1: evaluated or in flight
    bool compiles = false;          // true if a proposal is not ready
  };

  /// The next proposal. `begun`: the part already has one. nullopt when every candidate is taken,
  /// or when all proposals of the part are ready and no other ready one is good enough.
  std::optional<std::size_t> next_row(Part& part, bool begun) {
    if (is_led_astray() && (spreads_ = !spreads_)) {
      part.compiles = true;
      return spread_row(part.taken);
    }
    const Proposer proposer = turns_.next(ending());
    if (proposer == Proposer::random) {
      part.compiles = true;
      return random_row(part.taken);
    }
    if (proposer == Proposer::around) {
      const Eigen::ArrayXf& success = success_.update(observations_, points_);
      if (const auto near = surroundings_.best_row(observations_, surrogates_[1].kernel(),
                                                   known_points(), success, part.taken)) {
        part.compiles = true;
        return near;
      }
    }
    const Eigen::ArrayXf scores = scores_of(proposer == Proposer::smooth ? 0 : 1, part);
    Eigen::Index row = 0;
    if (scores.maxCoeff(&row) < 0) return std::nullopt;
    if (proposer == Proposer::local) {
      if (const auto near = best_near_the_fastest(scores)) {
        part.compiles = true;
        return near;
      }
    }
    if (!part.compiles) {
      const auto ready = ready_.best(scores, candidates_.indices);
      if (!ready && begun) return std::nullopt;
      part.compiles = !ready;
      row = ready.value_or(row);
    }
    return static_cast<std::size_t>(row);
  }

  /// The acquisition function at every candidate: expected improvement times probability of
  /// success; -1 for taken candidates. In-flight configurations count as observed at their
  /// predicted mean.
  Eigen::ArrayXf scores_of(std::size_t which, Part& part) {
    Surrogate& surrogate = surrogates_[which];
    Opinion& opinion = part.opinions[which];
    if (opinion.mean.size() == 0) {
      opinion = surrogate.update(observations_, points_, trend_);
    }
    left_to_gain_[which] = left_to_gain(opinion, surrogate.variances(), part.taken);
    evaluator_.expect(std::max(left_to_gain_[0], left_to_gain_[1]));
    surrogate.suppose(in_flight_, coordinates_.points(in_flight_));
    const Eigen::ArrayXf scores = expected_improvements(opinion, surrogate.variances(), part.taken);
    const Eigen::ArrayXf& success = success_.update(observations_, points_);
    return success.size() == 0 ? scores : (scores < 0).select(scores, scores * success);
  }

  /// The largest gain over the incumbent that any candidate may bring, at one standard deviation
  /// below its mean. A share of the incumbent's time.
  static double left_to_gain(const Opinion& opinion, const Eigen::ArrayXf& variances,
                             const std::vector<char>& taken) {
    float most = 0;
    for (Eigen::Index row = 0; row < opinion.mean.size(); ++row) {
      if (taken[static_cast<std::size_t>(row)]) continue;
      const float lowest = opinion.mean[row] - std::sqrt(std::max(variances[row], 0.0F));
      most = std::max(most, opinion.best - lowest);
    }
    return 1 - std::exp(-static_cast<double>(most * opinion.deviation));
  }

  /// The neighbour of the fastest few with the highest score; nullopt when all are taken.
  std::optional<std::size_t> best_near_the_fastest(const Eigen::ArrayXf& scores) const {
    std::vector<std::size_t> places = observations_.fastest();
    places.resize(std::min(places.size(), kLocal));
    std::optional<std::size_t> best;
    float highest = -1;
    for (const std::size_t place : places) {
      for (const std::size_t index : neighbours_.of(observations_.indices()[place])) {
        const auto row = candidates_.row_of(index);
        if (!row || scores[static_cast<Eigen::Index>(*row)] <= highest) continue;
        best = row;
        highest = scores[static_cast<Eigen::Index>(*row)];
      }
    }
    return best;
  }

  /// The points of all observations and of what is in flight.
  Points known_points() const {
    Points known(points_.rows() + static_cast<Eigen::Index>(in_flight_.size()), points_.cols());
    known << points_, coordinates_.points(in_flight_);
    return known;
  }

  /// A uniformly random candidate, because any ranking would lead back to the surrogates' region.
  /// Skips candidates that are expected to fail, because such a failure teaches nothing.
  std::optional<std::size_t> random_row(const std::vector<char>& taken) {
    success_.update(observations_, points_);
    std::vector<std::size_t> free;
    for (std::size_t row = 0; row < taken.size(); ++row) {
      if (!taken[row] && !success_.expects_failure(row)) free.push_back(row);
    }
    if (free.empty()) return std::nullopt;
    return free[random_.below(free.size())];
  }

  /// Whether more is in flight than is known, and the cost model, which chose what is known, does
  /// not rank it. The surrogates would propose neighbours of these few only.
  bool is_led_astray() const {
    if (batch_ == 1 || !prior_.is_model() || observations_.size() >= batch_) {
      return false;
    }
    std::vector<double> expected, measured;
    for (std::size_t place = 0; place < observations_.size(); ++place) {
      if (!observations_.log_seconds(place)) continue;
      expected.push_back(trend_[static_cast<Eigen::Index>(place)]);
      measured.push_back(*observations_.log_seconds(place));
    }
    return spearman(expected, measured) < kRanks;
  }

  /// The farthest of a few random candidates from all that is known or in flight.
  std::optional<std::size_t> spread_row(const std::vector<char>& taken) {
    constexpr int kFew = 8;
    const Points known = known_points();
    std::optional<std::size_t> best;
    float farthest = -1;
    for (int i = 0; i < kFew; ++i) {
      const auto row = random_row(taken);
      if (!row) return best;
      const auto point = candidates_.points.row(static_cast<Eigen::Index>(*row));
      const float distance = (known.rowwise() - point).rowwise().squaredNorm().minCoeff();
      if (distance <= farthest) continue;
      farthest = distance;
      best = row;
    }
    return best;
  }

  /// One per candidate; -1 for taken ones.
  Eigen::ArrayXf expected_improvements(const Opinion& opinion, const Eigen::ArrayXf& variances,
                                       const std::vector<char>& taken) const {
    Eigen::ArrayXf scores(opinion.mean.size());
    for (Eigen::Index row = 0; row < scores.size(); ++row) {
      if (taken[static_cast<std::size_t>(row)]) {
        scores[row] = -1;
        continue;
      }
      const float deviation = std::sqrt(std::max(variances[row], 1e-10F));
      scores[row] = deviation * improvement_.h((opinion.best - opinion.mean[row]) / deviation);
    }
    return scores;
  }

  Evaluator& evaluator_;
  const ParameterSpace& space_;
  std::uint64_t seed_;
  RandomSource random_;
  LevelCoordinates coordinates_;
  std::size_t batch_;
  std::size_t part_;
  std::size_t ahead_;  // target number in flight; 1 without batches
  ExpectedImprovement improvement_;
  Observations observations_;
  Prior prior_;
  Points points_;          // one row per observation
  Eigen::VectorXd trend_;  // one per observation, or empty
  Candidates candidates_;
  SuccessModel success_;
  std::vector<Surrogate> surrogates_;
  std::array<double, 2> left_to_gain_ = {1, 1};  // latest bound of each surrogate
  ReadyMemory ready_;
  Neighbours neighbours_;
  Surroundings surroundings_;
  Turns turns_;
  std::vector<std::size_t> in_flight_;  // proposed without a result yet, in order
  bool spreads_ = false;                // every other proposal, while the search is led astray
  double drawn_best_ = 0;
  double drawn_size_ = 0;
};

}  // namespace

void GuidedSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  if (!evaluator.space().empty()) Search(evaluator, seed).run();
}

std::vector<std::size_t> GuidedSearch::first(Evaluator& evaluator, std::uint64_t seed) {
  if (evaluator.space().empty()) return {};
  return Search(evaluator, seed).first_after(0);
}

namespace {

using enum Proposer;
constexpr std::array kFresh = {smooth, stepped, smooth, local};
constexpr std::array kStale = {smooth, random, local, stepped, around, random, local, around};

}  // namespace

void Turns::observe(std::size_t observations, double fastest) {
  // The mark moves only at a gain, so a small step along a plateau does not restart the count.
  if (fastest < mark_ - kGain) {
    mark_ = fastest;
    marked_at_ = observations;
  }
  waited_ = observations - marked_at_;
}

Proposer Turns::next(bool ending) {
  const Proposer proposer = next_of_round();
  return ending && proposer == random ? around : proposer;
}

Proposer Turns::next_of_round() {
  if (waited_ >= kPatience) return kStale[stale_turn_++ % kStale.size()];
  return kFresh[fresh_turn_++ % kFresh.size()];
}

}  // namespace autotune
