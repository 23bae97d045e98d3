// SPDX-License-Identifier: Apache-2.0
// Chooses a configuration for untuned sizes from what is known at tuned ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/past_times.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/answer/lead_errors.hpp"
#include "tuner/answer/sized_target.hpp"
#include "tuner/answer/transfer_candidates.hpp"

namespace autotune {

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
