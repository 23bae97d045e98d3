// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/expected_improvement.hpp"
#include "tuner/search/neighbours.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/ready.hpp"
#include "tuner/search/start.hpp"
#include "tuner/search/success.hpp"
#include "tuner/search/surrogate.hpp"
#include "tuner/search/turns.hpp"

namespace autotune {
namespace {

constexpr std::size_t kFirst = 6;  // configurations before a surrogate is asked
constexpr std::size_t kMostFirst = 16;
constexpr std::size_t kFewest = 2;  // valid ones of them
constexpr std::size_t kLocal = 3;   // of the fastest have their neighbours proposed
constexpr std::size_t kParts = 8;   // of a batch, measured and replaced one at a time
constexpr double kStep = 0.03;      // Kernel::step of the second surrogate
constexpr double kRedraw = 1.08;    // growth after which large spaces are sampled anew

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
        neighbours_(space_) {}

  void run() {
    for (const Evaluation& answer : evaluator_.known()) take(answer);
    if (!start()) return;
    redraw();
    surrogates_.emplace_back(candidates_, batch_, 0);
    surrogates_.emplace_back(candidates_, batch_, kStep);
    while (!exhausted() && evaluator_.remaining() > 0) {
      while (under_way_.size() < ahead_ && propose()) {
      }
      const std::size_t count = std::min(part_, under_way_.size());
      const std::vector<Evaluation> answers = evaluator_.evaluate_some(under_way_, count);
      for (const Evaluation& answer : answers) {
        take(answer);
        std::erase(under_way_, answer.index);
      }
      if (answers.size() < count) return;
      redraw();
    }
  }

 private:
  bool exhausted() const { return observations_.size() == space_.size(); }

  void take(const Evaluation& answer) {
    if (observations_.contains(answer.index)) return;
    observations_.add(answer);
    turns_.observe(observations_.size(), observations_.best());
    const Eigen::Index place = points_.rows();
    points_.conservativeResize(place + 1, Eigen::NoChange);
    points_.row(place) = coordinates_.points({&answer.index, 1}).row(0);
    if (!prior_.log_predicted.empty()) {
      predicted_.conservativeResize(place + 1);
      predicted_[place] = static_cast<double>(prior_.log_predicted[answer.index]);
    }
    if (const auto row = candidates_.row_of(answer.index)) candidates_.asked[*row] = 1;
  }

  /// False when the budget ended.
  bool ask(std::span<const std::size_t> indices) {
    const std::vector<Evaluation> answers = evaluator_.evaluate(indices);
    for (const Evaluation& answer : answers) take(answer);
    return answers.size() == indices.size();
  }

  /// A batch is as many compilers. What a surrogate of six proposes for the others is no better
  /// than what is spread out; the cost model's favourites are.
  std::size_t first_count() const {
    return prior_.log_predicted.empty() ? std::clamp(batch_, kFirst, kMostFirst) : kFirst;
  }

  /// Until there is something to fit a model to. Where everything fails so far, goes on in the
  /// emptiest places.
  bool start() {
    const std::size_t own =
        observations_.valid() - std::min(observations_.valid(), evaluator_.suggested());
    const std::size_t wanted = first_count();
    std::size_t started = own < kFirst ? 0 : wanted;  // a run that goes on
    while (!exhausted() && (started < wanted || observations_.valid() < kFewest)) {
      const std::vector<std::size_t> first =
          first_configurations(space_, coordinates_, prior_.log_predicted,
                               started == 0 ? wanted : std::max<std::size_t>(1, batch_ / 2),
                               observations_.indices(), random_);
      if (!ask(first)) return false;
      started += first.size();
    }
    return true;
  }

  /// Small spaces are drawn once.
  void redraw() {
    const bool improved = observations_.best() < drawn_best_;
    const bool grown = static_cast<double>(observations_.size()) >= kRedraw * drawn_size_;
    if (candidates_.drawing > 0 && (space_.size() <= kMostCandidates || (!improved && !grown))) {
      return;
    }
    const int drawing = candidates_.drawing + 1;
    // Of its own, so that a run whose path differs a little draws the same.
    RandomSource random(seed_ + static_cast<std::uint64_t>(drawing));
    candidates_ = draw_candidates(space_, coordinates_, prior_, observations_, random);
    candidates_.drawing = drawing;
    drawn_best_ = observations_.best();
    drawn_size_ = static_cast<double>(observations_.size());
  }

  /// Adds a part to what is under way and has it compiled; false when there is nothing to add.
  bool propose() {
    const std::size_t planned = observations_.size() + under_way_.size();
    const std::size_t affordable =
        evaluator_.remaining() - std::min(evaluator_.remaining(), under_way_.size());
    const std::size_t count = std::min({part_, affordable, space_.size() - planned});
    if (count == 0) return false;
    const std::size_t before = under_way_.size();
    Part part{std::vector<Opinion>(surrogates_.size()), candidates_.asked};
    for (const std::size_t index : under_way_) {
      if (const auto row = candidates_.row_of(index)) part.taken[*row] = 1;
    }
    ready_.forget_missing();
    while (!candidates_.indices.empty() && under_way_.size() < before + count) {
      const std::optional<std::size_t> row = next_row(part, under_way_.size() > before);
      if (!row) break;
      part.taken[*row] = 1;
      under_way_.push_back(candidates_.indices[*row]);
    }
    if (under_way_.size() == before) {
      std::vector<std::size_t> used = observations_.indices();
      used.insert(used.end(), under_way_.begin(), under_way_.end());
      const auto other = spread_out(space_, coordinates_, 1, used, random_);
      under_way_.insert(under_way_.end(), other.begin(), other.end());
    }
    evaluator_.prefetch(std::span(under_way_).subspan(before));
    return under_way_.size() > before;
  }

  /// What is proposed at a time. It waits for the compiler as a whole, or not at all.
  struct Part {
    std::vector<Opinion> opinions;  // one a surrogate, once asked for
    std::vector<char> taken;        // one a candidate
    bool compiles = false;
  };

  /// nullopt when every candidate is taken, or when what is left would have to be compiled for a
  /// part that need not wait (`begun`).
  std::optional<std::size_t> next_row(Part& part, bool begun) {
    const Proposer proposer = turns_.next();
    if (proposer == Proposer::random) {
      part.compiles = true;
      return random_row(part.taken);
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

  /// What is under way is supposed to come out as expected.
  Eigen::ArrayXf scores_of(std::size_t which, Part& part) {
    Surrogate& surrogate = surrogates_[which];
    Opinion& opinion = part.opinions[which];
    if (opinion.mean.size() == 0) {
      opinion = surrogate.update(observations_, points_, predicted_);
    }
    left_to_gain_[which] = left_to_gain(opinion, surrogate.variances(), part.taken);
    evaluator_.expect(std::max(left_to_gain_[0], left_to_gain_[1]));
    surrogate.suppose(under_way_, coordinates_.points(under_way_));
    const Eigen::ArrayXf scores = expected_improvements(opinion, surrogate.variances(), part.taken);
    const Eigen::ArrayXf& success = success_.update(observations_, points_);
    return success.size() == 0 ? scores : (scores < 0).select(scores, scores * success);
  }

  /// By what share the best time may fall at the candidate that promises most, taken one standard
  /// deviation below its mean.
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

  /// The row of the highest score one change away from the fastest few; nullopt when all are taken.
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

  /// Not by any ranking, which would lead back to where the surrogates are. But what is known to be
  /// refused teaches nothing.
  std::optional<std::size_t> random_row(const std::vector<char>& taken) {
    std::vector<std::size_t> free;
    for (std::size_t row = 0; row < taken.size(); ++row) {
      if (!taken[row] && !success_.expects_refusal(row)) free.push_back(row);
    }
    if (free.empty()) return std::nullopt;
    return free[random_.below(free.size())];
  }

  /// -1 for what is taken already.
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
  std::size_t ahead_;  // to be under way: with nothing to be had from batches, none waits
  ExpectedImprovement improvement_;
  Observations observations_;
  Prior prior_;
  Points points_;              // one row an observation
  Eigen::VectorXd predicted_;  // one an observation
  Candidates candidates_;
  SuccessModel success_;
  std::vector<Surrogate> surrogates_;
  std::array<double, 2> left_to_gain_ = {1, 1};  // as each surrogate saw it last
  ReadyMemory ready_;
  Neighbours neighbours_;
  Turns turns_;
  std::vector<std::size_t> under_way_;  // proposed and not yet answered, in order
  double drawn_best_ = 0;
  double drawn_size_ = 0;
};

}  // namespace

void GuidedSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  if (!evaluator.space().empty()) Search(evaluator, seed).run();
}

}  // namespace autotune
