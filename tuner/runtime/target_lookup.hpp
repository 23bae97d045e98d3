// SPDX-License-Identifier: Apache-2.0
// One target with fixed settings on one device: which configuration for which sizes.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/lookup_source.hpp"
#include "tuner/core/target.hpp"
#include "tuner/runtime/transfer_choice.hpp"

namespace autotune {

struct LookupAnswer {
  std::string_view configuration;  // valid as long as the TargetLookup
  std::string_view provenance;
  db::Origin origin = db::Origin::default_configuration;
  db::Validity validity = db::Validity::exact;
  double median_ns = 0;
  double default_ns = 0;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
  /// The vendor's library and what it chose, where that was measured to be faster for these sizes
  /// on this device: `cublas cublasSgemm`.
  std::string_view baseline = {};
  double baseline_ns = 0;
};

class TargetLookup {
 public:
  /// `settings` chooses; those not in it take the target's default. Throws UsageError for an
  /// unknown setting; a database that cannot be read is a warning.
  TargetLookup(Target target, const NamedValues& settings, DeviceInfo device, std::string policy,
               std::vector<db::Layer> layers);

  const Target& target() const { return target_; }
  const DeviceInfo& device() const { return device_; }
  /// What was wrong with the databases when it was made.
  const std::string& warnings() const { return warnings_; }

  /// Throws UsageError for a wrong count of sizes or one below 1, Error when no configuration is
  /// valid. For tuned sizes it neither locks nor allocates.
  LookupAnswer find(std::span<const std::int64_t> sizes);
  /// find() as sentences for a person.
  std::string explain(std::span<const std::int64_t> sizes);

  /// Until refresh(); an empty text takes it back. Throws Error when it is not legal here.
  void pin(std::span<const std::int64_t> sizes, std::string_view configuration);
  void refresh();

  Problem problem_for(std::span<const std::int64_t> sizes) const;
  /// The target's default as it is legal for these sizes. Throws Error when nothing is.
  std::string default_for(const Problem& problem) const;

 private:
  static constexpr std::size_t kMostRemembered = 4096;
  using Sizes = std::vector<std::int64_t>;

  db::LookupTable read_table(std::string* warnings) const;
  LookupAnswer transfer(std::span<const std::int64_t> sizes);
  std::optional<LookupAnswer> transfer_from(std::span<const std::int64_t> sizes,
                                            const Problem& problem, bool same_device);
  std::optional<std::size_t> choose(std::span<const db::LookupTable::Near> legal,
                                    const Problem& problem);
  const ModelBias& bias_of(const db::LookupRow& row);
  std::string_view interned(const std::string& text);

  const Target target_;
  const NamedValues settings_;
  const DeviceInfo device_;
  const std::string policy_;
  const std::vector<db::Layer> layers_;
  std::string warnings_;
  db::LookupHolder tables_;

  std::mutex mutex_;  // of what follows: sizes that were not tuned
  std::map<Sizes, LookupAnswer> remembered_;
  std::unordered_map<const db::LookupRow*, ModelBias> biases_;  // rows stay where they are
  std::set<std::string, std::less<>> texts_;
  std::map<Sizes, std::string_view> pins_;
  std::atomic<bool> has_pins_{false};
};

/// The device of this name, or the one that the databases hold most of for the target, as far as
/// their rows tell; nullopt when they hold none.
std::optional<DeviceInfo> device_of_layers(std::span<const db::Layer> layers,
                                           const std::string& target, const std::string& name);

}  // namespace autotune
