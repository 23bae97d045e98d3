// SPDX-License-Identifier: Apache-2.0
// The default strategy: the cost model proposes first, Gaussian processes take over.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/candidates.hpp"
#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

// The first configurations of a search, and those within two changes of its fastest.

/// A ridge regression of log times on the parameters' values. Times above kFast times the best are
/// clipped there and have little weight, so the effects are those among fast configurations. In
/// some spaces a small change often multiplies the time. A surrogate of all times then expects
/// nothing of a configuration that it has not seen, even next to the fastest.
class ValueEffects {
 public:
  /// At least one observation must be valid. `space` must outlive it.
  ValueEffects(const ParameterSpace& space, const Observations& observations);

  /// The expected log seconds of a configuration.
  double log_seconds(std::size_t index) const;

  static constexpr double kFast = 1.3;            // times the best
  static constexpr std::size_t kFewestFast = 12;  // fastest configurations that are never clipped
  static constexpr double kWeightOfSlow = 0.1;
  static constexpr double kPenalty = 1;  // of the squared effects

 private:
  /// The places of a configuration's values in `effects_`.
  std::vector<Eigen::Index> effects_of(std::size_t index) const;

  const ParameterSpace& space_;
  std::vector<std::size_t> first_;  // one per parameter: the place of its first value
  Eigen::VectorXd effects_;         // one per value of each parameter, in log seconds
  double mean_ = 0;                 // log seconds
};

/// Proposals within two changes of the fastest configuration.
class Surroundings {
 public:
  /// All must outlive it.
  Surroundings(const ParameterSpace& space, const Candidates& candidates,
               const Neighbours& neighbours)
      : space_(space), candidates_(candidates), neighbours_(neighbours) {}

  /// The candidate with the shortest expected time per success. ValueEffects expects the time.
  /// `success` is the probability, one per candidate or empty. `taken` has one flag per candidate.
  /// A candidate whose correlation with one of the `known` points is above 0.97 is left out: it
  /// differs in parameters without effect only. At least one observation must be valid. nullopt
  /// when none is left.
  std::optional<std::size_t> best_row(const Observations& observations, const Kernel& kernel,
                                      const Points& known, const Eigen::ArrayXf& success,
                                      const std::vector<char>& taken);

 private:
  const ParameterSpace& space_;
  const Candidates& candidates_;
  const Neighbours& neighbours_;
  std::optional<std::size_t> centre_;  // the fastest configuration, when `around_` was listed
  std::vector<std::size_t> around_;
};

/// `count` configurations, each the farthest of eight random ones from those `taken` and from the
/// earlier ones (Mitchell, "Spectrally Optimal Sampling for Distribution Ray Tracing", SIGGRAPH
/// 1991: best candidates). They lie apart, but not all at the edges, where most configurations
/// fail. Returns fewer if the space has no more.
std::vector<std::size_t> best_candidates(const ParameterSpace& space,
                                         const LevelCoordinates& coordinates, std::size_t count,
                                         std::span<const std::size_t> taken, RandomSource& random);

/// The first configurations of a search without a cost model: `count` from which a Gaussian process
/// would learn most about the times of others whose sizes are all powers of two. Each leaves the
/// least variance over 200 of these, given the earlier ones (Cohn, Ghahramani and Jordan, "Active
/// Learning with Statistical Models", JAIR 1996). Of any sizes where few are powers of two.
std::vector<std::size_t> telling_configurations(const ParameterSpace& space,
                                                const LevelCoordinates& coordinates,
                                                std::size_t count, RandomSource& random);

/// The first configurations of a search with a cost model (`log_predicted` of log_predictions(),
/// one per index). Two thirds come from the top of its ranking: the best, and others far from it.
/// The rest are spread out over its faster half, in case the model is wrong: greedy maximin over
/// 1000 random ones. All keep away from those `taken`. Returns fewer if the space has no more.
std::vector<std::size_t> first_configurations(const ParameterSpace& space,
                                              const LevelCoordinates& coordinates,
                                              std::span<const float> log_predicted,
                                              std::size_t count, std::span<const std::size_t> taken,
                                              RandomSource& random);

/// Starts with configurations that the cost model ranks high and that lie far apart; without a
/// model, far apart only. Then two Gaussian processes take turns. Each proposes the configuration
/// with the largest expected improvement. Neighbours of the fastest come in between, and random
/// configurations if nothing improves. docs/search.md explains each step, with figures.
class GuidedSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
  std::vector<std::size_t> first(Evaluator& evaluator, std::uint64_t seed) override;
};

// Which method proposes the next configuration of a guided search.

enum class Proposer {
  smooth,   // Gaussian process without a step
  stepped,  // Gaussian process with a step for any change of a value
  local,    // neighbours of the fastest few, ranked by the stepped process
  random,   // any configuration
  around,   // within two changes of the fastest, ranked by ValueEffects
};

/// Takes turns: smooth, stepped, smooth, local. While the search is stale, a quarter of the
/// proposals are random, a quarter local and a quarter `around`, because a surrogate on a plateau
/// proposes more of the plateau. At the end of a search, `around` takes the place of random,
/// because no proposals are left to follow a random one up.
class Turns {
 public:
  /// Call after each observation. `fastest` is in log seconds. The search is stale after kPatience
  /// observations without a gain of kGain.
  void observe(std::size_t observations, double fastest);
  /// `ending`: few evaluations are left.
  Proposer next(bool ending = false);

  static constexpr std::size_t kPatience = 10;
  static constexpr double kGain = 0.02;  // of log seconds, since the last gain

 private:
  Proposer next_of_round();

  double mark_ = std::numeric_limits<double>::infinity();
  std::size_t marked_at_ = 0;
  std::size_t waited_ = 0;  // observations since the last gain
  std::size_t fresh_turn_ = 0;
  std::size_t stale_turn_ = 0;
};

}  // namespace autotune
