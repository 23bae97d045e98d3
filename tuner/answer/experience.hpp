// SPDX-License-Identifier: Apache-2.0
// Chooses a configuration for untuned sizes from what is known at tuned ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/core/sized_validity.hpp"

namespace autotune {

// Configurations for one untuned problem, with their expected times.

class Covers {
 public:
  /// `same_device` has a value for each of `times.devices`; covers of other devices are left out.
  Covers(const db::PastTimes& times, const std::vector<bool>& same_device);

  /// Whether every size lies between the least and the greatest of the cover's problems. False for
  /// an unknown cover.
  bool spans(const std::string& cover, std::span<const std::int64_t> sizes) const;
  /// The name of the latest choice by bits that spans these sizes; empty: none. Only its
  /// configurations have these bits, so nothing else that is stored answers there.
  std::string_view by_bits(std::span<const std::int64_t> sizes) const;
  /// Whether such a choice forbids what is stored of these sizes. It allows its own pins.
  bool forbids(std::span<const std::int64_t> sizes, bool is_pinned) const;

 private:
  struct Box {
    std::vector<std::int64_t> low, high;
  };
  std::map<std::string, Box> boxes_;                       // by the cover's name
  std::map<std::vector<std::int64_t>, std::string> pins_;  // the cover, by sizes
};

struct TransferCandidate {
  const Levels* levels;
  const NearProblem* from;   // the nearest problem where it was good; nullptr: none
  const db::PastTime* time;  // its time there; nullptr if it is only a neighbour of such a one
  std::optional<KnownError> known = {};
  bool is_standard = false;  // the default configuration
  double expected = 0;       // logarithm of seconds
};

/// The candidates for the sizes of one question. Not thread-safe.
class TransferCandidates {
 public:
  /// The arguments must outlive it.
  TransferCandidates(const SizedTarget& sized, const KnownTimes& known,
                     std::span<const std::int64_t> sizes);

  /// The nearest first.
  std::span<const NearProblem> near() const { return near_; }
  /// What a call ideally takes, as PredictionsAt::ideal().
  double ideal() { return predictions_.ideal(); }

  /// Valid configurations of the covers that span these sizes, each once.
  std::vector<TransferCandidate> of_cover(const Covers& covers);
  /// Valid configurations among those that were good at near problems, and neighbours of the best.
  /// Pointers in it are valid as long as this object.
  std::vector<TransferCandidate> valid_ones();
  /// The default configuration, if it is valid, and those that a search by the model finds from
  /// there. Empty without a model.
  std::vector<TransferCandidate> of_model();
  /// This configuration, if it is valid.
  std::optional<TransferCandidate> one(const Levels& levels);

  static constexpr std::size_t kMost = 450;

 private:
  std::vector<TransferCandidate> good_ones();
  std::optional<TransferCandidate> from(const NearProblem& near, const KnownTime& time);
  void rate(std::span<const TransferCandidate> all, double typical,
            std::vector<TransferCandidate>& valid);
  void add_neighbours(const TransferCandidate& one, double typical,
                      std::vector<TransferCandidate>& valid);
  bool predict(TransferCandidate& one, double typical, std::size_t rank);
  std::optional<KnownError> known_of(const TransferCandidate& one) const;
  void descend(std::vector<TransferCandidate>& valid, double typical, int steps);
  const Levels* kept_if_new(const Levels& levels);
  /// It is valid for these sizes, and has not failed for them.
  bool may_answer(const Levels& levels);
  /// The first default of the manifest that may be an answer.
  std::optional<Levels> valid_default();

  const SizedTarget& sized_;
  const KnownTimes& known_;
  std::span<const std::int64_t> sizes_;
  std::span<const std::int64_t> key_;
  std::vector<NearProblem> near_, covered_;
  ValidityAt is_valid_;
  const std::span<const Levels> failed_;
  PredictionsAt predictions_;
  std::vector<bool> seen_;                             // by number
  std::unordered_set<Levels, LevelsHash> neighbours_;  // the valid ones that have no number
};

/// Thread-safe.
class Experience {
 public:
  /// The plugin of the vendor's library that computes the target's problems; empty: none. Asked
  /// where the times do not tell.
  using Offered = std::function<std::string()>;

  /// What `sized` refers to must outlive it.
  Experience(const SizedTarget& sized, db::PastTimes times, Offered offered = {});

  struct Library {
    std::string plugin;
    double seconds = 0;   // expected; 0: unknown
    bool answers = true;  // ours is not known to be faster
  };

  struct Choice {
    /// The configuration, with its time and its validity at the problem where it was found.
    db::PastTime known;
    double default_ns = 0;  // of the default configuration there; 0: unknown
    double distance = 0;    // to that problem: root mean square of log2 of the sizes' ratios
    bool same_device = true;
    bool is_standard = false;     // the default configuration
    bool is_model_only = true;    // nothing is known of near problems
    double expected_seconds = 0;  // 0: the target has no cost model
    bool is_covered = false;      // chosen from a cover of these sizes
  };

  /// Ours answers in place of the vendor's library where it is faster with this confidence.
  static constexpr double kConfidence = 0.99;

  /// Between the sizes of a cover: the valid configuration of that cover with the least expected
  /// time. Elsewhere: the valid configuration with the least expected time among good ones of the
  /// nearest problems and, in a few steps, those one change away from the best. Without a cost
  /// model, the fastest of the nearest problem. If no problem is tuned, the default configuration,
  /// or a better one by the cost model. nullopt if none is valid.
  std::optional<Choice> choose(std::span<const std::int64_t> sizes) const;

  /// The vendor's library; nullopt if none computes the problem. It answers unless our time is
  /// known to be less with this confidence: without evidence, the library answers. `ours`: in
  /// seconds; 0: unknown.
  std::optional<Library> library_for(std::span<const std::int64_t> sizes, double ours,
                                     double confidence = kConfidence) const;

  /// The expected time of this configuration. 0 if it is not valid for these sizes, or without a
  /// cost model.
  double expected_seconds(const std::string& configuration,
                          std::span<const std::int64_t> sizes) const;

  /// The choice by bits, if there is one, and what it forbids of these sizes: see Covers.
  const Covers& covers() const { return covers_; }

  /// Whether this configuration failed for exactly these sizes on the target's device.
  bool failed(const std::optional<Levels>& levels, std::span<const std::int64_t> sizes) const;
  std::vector<Configuration> failed_at(std::span<const std::int64_t> sizes) const;

  /// The `count` valid configurations with the least expected times. In the later half, each
  /// differs from all before it in more than one parameter, as long as there are such.
  std::vector<std::string> likely(std::span<const std::int64_t> sizes, std::size_t count) const;

 private:
  const SizedTarget sized_;
  const KnownTimes known_;
  const LeadErrors errors_{known_};
  const Offered offered_;
  const Covers covers_;
};

}  // namespace autotune
