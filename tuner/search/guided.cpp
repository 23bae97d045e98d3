// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <algorithm>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/expected_improvement.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/ready.hpp"
#include "tuner/search/start.hpp"
#include "tuner/search/surrogate.hpp"

namespace autotune {
namespace {

constexpr std::size_t kFirst = 6;     // configurations before a surrogate is asked
constexpr std::size_t kFewest = 2;    // valid ones of them
constexpr std::size_t kPrefetch = 2;  // batches that are prepared ahead
constexpr double kStep = 0.03;        // Kernel::step of the second surrogate
constexpr double kRedraw = 1.08;      // growth after which large spaces are sampled anew

class Search {
 public:
  Search(Evaluator& evaluator, std::uint64_t seed)
      : evaluator_(evaluator),
        space_(evaluator.space()),
        random_(seed),
        coordinates_(space_),
        batch_(static_cast<std::size_t>(std::max(1, evaluator.batch()))),
        log_predicted_(log_predictions(evaluator.predicted())),
        points_(0, static_cast<Eigen::Index>(coordinates_.dimensions())),
        ready_(evaluator) {}

  void run() {
    for (const Evaluation& answer : evaluator_.known()) take(answer);
    if (!start()) return;
    redraw();
    surrogates_.emplace_back(candidates_, batch_, 0);
    surrogates_.emplace_back(candidates_, batch_, kStep);
    while (!exhausted() && evaluator_.remaining() > 0 && ask(propose())) redraw();
  }

 private:
  bool exhausted() const { return observations_.size() == space_.size(); }

  void take(const Evaluation& answer) {
    if (observations_.contains(answer.index)) return;
    observations_.add(answer);
    const Eigen::Index place = points_.rows();
    points_.conservativeResize(place + 1, Eigen::NoChange);
    points_.row(place) = coordinates_.points({&answer.index, 1}).row(0);
    if (!log_predicted_.empty()) {
      predicted_.conservativeResize(place + 1);
      predicted_[place] = static_cast<double>(log_predicted_[answer.index]);
    }
    if (const auto row = candidates_.row_of(answer.index)) candidates_.asked[*row] = 1;
  }

  /// False when the budget ended.
  bool ask(std::span<const std::size_t> indices) {
    const std::vector<Evaluation> answers = evaluator_.evaluate(indices);
    for (const Evaluation& answer : answers) take(answer);
    return answers.size() == indices.size();
  }

  /// Until there is something to fit a model to. Where everything fails so far, goes on in the
  /// emptiest places.
  bool start() {
    std::size_t started = observations_.valid() < kFirst ? 0 : kFirst;  // a run that goes on
    while (!exhausted() && (started < kFirst || observations_.valid() < kFewest)) {
      const std::vector<std::size_t> first =
          first_configurations(space_, coordinates_, log_predicted_,
                               started == 0 ? kFirst : std::max<std::size_t>(1, batch_ / 2),
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
    candidates_ = draw_candidates(space_, coordinates_, log_predicted_, observations_, random_);
    candidates_.drawing = drawing;
    drawn_best_ = observations_.best();
    drawn_size_ = static_cast<double>(observations_.size());
  }

  /// Surrogates take turns; what one proposes, both suppose to come out as expected. A batch is
  /// either of what is compiled already, as long as that promises enough, or waits for the compiler
  /// anyhow and then takes the best.
  std::vector<std::size_t> propose() {
    const std::size_t count =
        std::min({batch_, evaluator_.remaining(), space_.size() - observations_.size()});
    std::vector<std::size_t> chosen;
    std::vector<Opinion> opinions(surrogates_.size());
    std::vector<char> taken = candidates_.asked;
    Eigen::ArrayXf scores;
    bool compiles = false;
    ready_.forget_missing();
    while (chosen.size() < count) {
      const std::size_t turn = turn_++ % surrogates_.size();
      if (opinions[turn].mean.size() == 0) {
        opinions[turn] = surrogates_[turn].update(observations_, points_, predicted_);
        for (const std::size_t index : chosen) {
          surrogates_[turn].suppose(coordinates_.points({&index, 1}).row(0));
        }
      }
      scores = expected_improvements(opinions[turn], surrogates_[turn].variances(), taken);
      Eigen::Index row = 0;
      if (scores.maxCoeff(&row) < 0) break;  // every candidate was taken
      if (!compiles) {
        const auto ready = ready_.best(scores, candidates_.indices);
        if (!ready && !chosen.empty()) break;
        compiles = !ready;
        row = ready.value_or(row);
      }
      taken[static_cast<std::size_t>(row)] = 1;
      chosen.push_back(candidates_.indices[static_cast<std::size_t>(row)]);
      if (chosen.size() == count) break;
      for (std::size_t other = 0; other < surrogates_.size(); ++other) {
        if (opinions[other].mean.size() > 0) {
          surrogates_[other].suppose(candidates_.points.row(row));
        }
      }
    }
    if (chosen.empty())
      chosen = spread_out(space_, coordinates_, 1, observations_.indices(), random_);
    prefetch(scores, taken);
    if (compiles) ready_.put_first(chosen);  // measured while the others are compiled
    return chosen;
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
    if (opinion.success.size() > 0) scores = (scores < 0).select(scores, scores * opinion.success);
    return scores;
  }

  /// The next best by `scores` have a good chance to be asked for next.
  void prefetch(const Eigen::ArrayXf& scores, const std::vector<char>& taken) {
    std::vector<std::pair<float, std::size_t>> next;  // -score, row
    for (std::size_t row = 0; row < taken.size(); ++row) {
      const float score = scores[static_cast<Eigen::Index>(row)];
      if (!taken[row] && score > 0) next.emplace_back(-score, row);
    }
    const auto count = std::min(kPrefetch * batch_, next.size());
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count), next.end());
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < count; ++i) indices.push_back(candidates_.indices[next[i].second]);
    evaluator_.prefetch(indices);
  }

  Evaluator& evaluator_;
  const ParameterSpace& space_;
  RandomSource random_;
  LevelCoordinates coordinates_;
  std::size_t batch_;
  ExpectedImprovement improvement_;
  Observations observations_;
  std::vector<float> log_predicted_;  // one an index
  Points points_;                     // one row an observation
  Eigen::VectorXd predicted_;         // one an observation
  Candidates candidates_;
  std::vector<Surrogate> surrogates_;
  ReadyMemory ready_;
  std::size_t turn_ = 0;
  double drawn_best_ = 0;
  double drawn_size_ = 0;
};

}  // namespace

void GuidedSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  if (!evaluator.space().empty()) Search(evaluator, seed).run();
}

}  // namespace autotune
