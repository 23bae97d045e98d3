// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "tuner/search/expected_improvement.hpp"
#include "tuner/search/neighbours.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/start.hpp"
#include "tuner/search/surrogate.hpp"

namespace autotune {
namespace {
double envd(const char* n, double d) { const char* s = std::getenv(n); return s ? std::atof(s) : d; }

constexpr std::size_t kMostExact = 20000;  // up to this size every configuration is a candidate

class Search {
 public:
  Search(Evaluator& evaluator, std::uint64_t seed)
      : evaluator_(evaluator),
        space_(evaluator.space()),
        random_(seed),
        coordinates_(space_),
        batch_(static_cast<std::size_t>(std::max(1, evaluator.batch()))) {}

  void run() {
    if (space_.empty()) return;
    for (const Evaluation& answer : evaluator_.known()) take(answer);
    if (!start()) return;
    draw_candidates();
    surrogates_.emplace_back(candidates_, batch_, envd("P_STEP0", 0));
    surrogates_.emplace_back(candidates_, batch_, envd("P_STEP1", 0.03));
    while (observations_.size() < space_.size()) {
      if (!ask(propose())) return;
    }
  }

 private:
  void take(const Evaluation& answer) {
    if (observations_.contains(answer.index)) return;
    observations_.add(answer);
    const Points point = coordinates_.points({&answer.index, 1});
    points_.conservativeResize(points_.rows() + 1, point.cols());
    points_.bottomRows(1) = point;
    if (!log_predicted_.empty()) {
      predicted_.conservativeResize(predicted_.size() + 1);
      predicted_[predicted_.size() - 1] = static_cast<double>(log_predicted_[answer.index]);
    }
  }

  bool ask(std::span<const std::size_t> indices) {
    const std::vector<Evaluation> answers = evaluator_.evaluate(indices);
    for (const Evaluation& answer : answers) take(answer);
    return answers.size() == indices.size();
  }

  bool start() {
    const auto count = static_cast<std::size_t>(envd("P_START", 6));
    // Two valid points at least: with fewer there is nothing to fit.
    while (observations_.size() < space_.size() &&
           (observations_.size() < count || observations_.valid() < 2)) {
      const std::size_t more = std::max<std::size_t>(
          1, count - std::min(count, observations_.size()));
      if (!ask(spread_out(space_, coordinates_, std::min(more, std::max(batch_, count)), observations_.indices(), random_)))
        return false;
    }
    return true;
  }

  void draw_candidates() {
    candidates_.indices.resize(space_.size());
    std::iota(candidates_.indices.begin(), candidates_.indices.end(), std::size_t{0});
    candidates_.points = coordinates_.all_points();
  }

  std::vector<std::size_t> propose() {
    std::vector<std::size_t> chosen;
    std::vector<Opinion> opinions(surrogates_.size());
    std::vector<char> asked(candidates_.indices.size(), 0);
    for (std::size_t row = 0; row < asked.size(); ++row) {
      asked[row] = observations_.contains(candidates_.indices[row]) ? 1 : 0;
    }
    const std::size_t count = std::min({batch_, evaluator_.remaining(), space_.size() - observations_.size()});
    while (chosen.size() < std::max<std::size_t>(1, count)) {
      const std::size_t turn = turn_++ % surrogates_.size();
      Surrogate& surrogate = surrogates_[turn];
      if (opinions[turn].mean.size() == 0) {
        opinions[turn] = surrogate.update(observations_, points_, predicted_, false);
        for (std::size_t index : chosen) surrogate.suppose(coordinates_.points({&index, 1}).row(0));
      }
      const Opinion& opinion = opinions[turn];
      const Eigen::ArrayXf deviations = surrogate.variances().max(1e-10F).sqrt();
      float best = -1;
      std::size_t best_row = 0;
      for (std::size_t row = 0; row < asked.size(); ++row) {
        if (asked[row]) continue;
        const auto i = static_cast<Eigen::Index>(row);
        float score = deviations[i] * improvement_.h((static_cast<float>(opinion.best) - opinion.mean[i]) / deviations[i]);
        if (opinion.success.size() > 0) score *= opinion.success[i];
        if (score > best) best = score, best_row = row;
      }
      asked[best_row] = 1;
      chosen.push_back(candidates_.indices[best_row]);
      if (chosen.size() < count) {
        for (std::size_t s = 0; s < surrogates_.size(); ++s) {
          if (opinions[s].mean.size() > 0) surrogates_[s].suppose(candidates_.points.row(static_cast<Eigen::Index>(best_row)));
        }
      }
    }
    return chosen;
  }

  Evaluator& evaluator_;
  const ParameterSpace& space_;
  RandomSource random_;
  LevelCoordinates coordinates_;
  std::size_t batch_;
  ExpectedImprovement improvement_;
  Observations observations_;
  Points points_;
  Eigen::VectorXd predicted_;
  std::vector<float> log_predicted_;
  Candidates candidates_;
  std::vector<Surrogate> surrogates_;
  std::size_t turn_ = 0;
};

}  // namespace

void GuidedSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  Search(evaluator, seed).run();
}

}  // namespace autotune
