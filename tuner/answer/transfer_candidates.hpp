// SPDX-License-Identifier: Apache-2.0
// Configurations for one untuned problem, with their expected times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/answer/lead_errors.hpp"
#include "tuner/answer/transfer_choice.hpp"
#include "tuner/core/sized_validity.hpp"

namespace autotune {

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

}  // namespace autotune
