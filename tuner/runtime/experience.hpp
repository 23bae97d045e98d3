// SPDX-License-Identifier: Apache-2.0
// Chooses a configuration for untuned sizes from what is known at tuned ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/runtime/covers.hpp"
#include "tuner/runtime/past_models.hpp"
#include "tuner/runtime/sized_target.hpp"
#include "tuner/runtime/transfer_choice.hpp"

namespace autotune {

/// Not thread-safe.
class Experience {
 public:
  /// What `sized` refers to must outlive it.
  Experience(const SizedTarget& sized, db::PastTimes times);

  struct Choice {
    db::PastTime known;     // the configuration, and its time at the problem where it was found
    double default_ns = 0;  // of the default configuration there; 0: unknown
    double distance = 0;    // to that problem: root mean square of log2 of the sizes' ratios
    bool same_device = true;
    bool is_standard = false;     // the default configuration
    double expected_seconds = 0;  // 0: the target has no cost model
    bool is_covered = false;      // chosen from a cover of these sizes
    std::string baseline;         // plugin of the vendor's library, if expected to be faster
    double baseline_seconds = 0;  // expected
  };

  /// Between the sizes of a cover: the valid configuration of that cover with the least expected
  /// time. Elsewhere: the valid configuration with the least expected time among good ones of the
  /// nearest problems and, in a few steps, those one change away from the best. Without a cost
  /// model, the fastest of the nearest problem. nullopt if none is valid.
  std::optional<Choice> choose(std::span<const std::int64_t> sizes);

  /// The expected time of this configuration. 0 if it is not valid for these sizes, or without a
  /// cost model.
  double expected_seconds(const std::string& configuration, std::span<const std::int64_t> sizes);

  /// The `count` valid configurations with the least expected times. In the later half, each
  /// differs from all before it in more than one parameter, as long as there are such.
  std::vector<std::string> likely(std::span<const std::int64_t> sizes, std::size_t count);

  static constexpr std::size_t kMostCandidates = 300;

 private:
  struct Past;
  struct Candidate;

  void learn_errors();
  std::vector<Candidate> of_cover(std::span<const Past> near, std::span<const std::int64_t> sizes);
  bool is_here(const db::PastProblem& problem) const;
  std::span<const std::int64_t> sizes_of(const db::PastProblem& problem) const;
  std::vector<Past> nearest(std::span<const std::int64_t> sizes) const;
  std::vector<Candidate> valid_ones(std::span<const Past> near,
                                    std::span<const std::int64_t> sizes);
  std::vector<Candidate> candidates(std::span<const Past> near);
  static double typical_of(std::span<const Candidate> all);
  std::vector<Candidate> rated(std::span<const Candidate> all, std::span<const std::int64_t> sizes,
                               double typical) const;
  std::vector<Candidate> neighbours(const Candidate& one, std::set<Levels>& seen) const;
  void descend(std::vector<Candidate>& valid, std::set<Levels>& seen,
               std::span<const std::int64_t> sizes, double typical) const;
  void weigh_baseline(Choice& choice, std::span<const std::int64_t> sizes,
                      std::span<const Past> near) const;

  const SizedTarget sized_;
  const db::PastTimes times_;
  PastModels models_;
  const Covers covers_;
};

}  // namespace autotune
