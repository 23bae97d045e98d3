// SPDX-License-Identifier: Apache-2.0
// How far expectations of our lead over the vendor's library are off, learnt where both were timed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tuner/answer/known_times.hpp"
#include "tuner/answer/transfer_choice.hpp"

namespace autotune {

/// A tuned problem, with its distance from the requested sizes.
struct NearProblem {
  const KnownProblem* known;
  double distance;
};

/// The nearest beyond a radius, the nearest first. Those of another device than asked for count as
/// further away.
std::vector<NearProblem> nearest(const KnownTimes& known, std::span<const std::int64_t> sizes,
                                 bool is_here, std::size_t most, double radius = -1);

/// Computed when it is first asked. Thread-safe. `known` must outlive it.
class LeadErrors {
 public:
  explicit LeadErrors(const KnownTimes& known);

  /// The times of the library at these problems. Times of problems whose other sizes are 1 count as
  /// further away, and so do times of another line_alignment(), if expectations are then closer to
  /// what was measured. Without a model, those of this device only, relative to the winner's time.
  std::vector<BaselineTime> library_times(std::span<const NearProblem> near,
                                          std::span<const std::int64_t> sizes, int alignment) const;

  /// What must be added to the logarithm of our expected time so that the sum is below the
  /// library's only where ours is faster, with this confidence. `distance` is that to the nearest
  /// problem where the library was timed, `seconds` its expected time, `alignment`
  /// line_alignment(). Infinity if too little is known.
  ///
  /// It is a quantile of past errors, by Student's t: each problem in turn counts as not tuned,
  /// together with all problems within at least `distance` of it, and what is expected there from
  /// the others is compared with what was measured. Errors of short and of long calls are apart;
  /// where one of them has too few, those of aligned lines and of others are.
  double margin(double distance, double seconds, int alignment, double confidence) const;

  static constexpr std::size_t kFewest = 20;  // times of the library

 private:
  struct LeadError {
    double error;
    bool is_short, is_aligned;
  };
  struct Errors {  // of one radius
    std::once_flag computed;
    std::vector<LeadError> all;
  };
  static constexpr std::array<double, 4> kRadii{0.35, 0.7, 1.4, 2.8};

  std::vector<BaselineTime> library_times(std::span<const NearProblem> near,
                                          std::span<const std::int64_t> sizes, int alignment,
                                          double other_alignment) const;
  double closest_alignment() const;
  double reference_of(const KnownProblem& one) const;
  void compute(double radius, Errors& errors) const;

  const KnownTimes& known_;
  std::vector<const KnownProblem*> timed_;  // where both were timed; every few, if there are many
  const std::unique_ptr<std::once_flag> is_alignment_decided_;
  mutable double other_alignment_ = 0;
  const std::unique_ptr<std::array<Errors, kRadii.size()>> errors_;
};

}  // namespace autotune
