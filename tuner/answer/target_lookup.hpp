// SPDX-License-Identifier: Apache-2.0
// Looks up configurations of one target with fixed settings on one device.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/lookup_source.hpp"
#include "tuner/answer/experience.hpp"
#include "tuner/answer/lookup_answer.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {

/// How long the reads of one call of a program wait for other processes' locks, altogether.
inline constexpr std::chrono::seconds kLongestWait{1};

/// These layers, whose reads wait until kLongestWait from now.
std::vector<db::Layer> waiting_briefly(std::vector<db::Layer> layers);

/// The plugin whose library computes a workload of the target of this name; empty if none does.
/// With `has_free_sizes`, also where free sizes are away from their defaults.
using Libraries =
    std::function<std::string(const std::string& target, const Workload&, bool has_free_sizes)>;

class TargetLookup {
 public:
  /// Settings missing in `settings` take the target's default. Throws UsageError for an unknown
  /// setting, Error if a constraint has an unknown name. An unreadable database is a warning.
  /// `libraries` is asked once for each value of `has_free_sizes`, where no stored time tells.
  TargetLookup(Target target, const NamedValues& settings, DeviceInfo device, std::string policy,
               std::vector<db::Layer> layers, Libraries libraries = {});
  /// The lock answers in place of databases. Throws Error if it was made for another version of the
  /// target. A lock of another environment is a warning.
  TargetLookup(Target target, const NamedValues& settings, DeviceInfo device, std::string policy,
               std::shared_ptr<const Lock> lock, Libraries libraries = {});

  const Target& target() const { return target_; }
  const DeviceInfo& device() const { return device_; }
  const std::string& policy() const { return policy_; }
  /// nullptr: databases answer.
  const Lock* lock() const { return locked_ ? &locked_->lock() : nullptr; }
  /// What was wrong with the databases when they were last read, then the sentences of warn(), one
  /// a line. Valid as long as this object.
  const std::string& warnings() const { return *warnings_.load(std::memory_order_acquire); }
  void warn(const std::string& sentence);

  // Everywhere, free sizes may follow the others: kDefaultSize, and sizes that are left out, have
  // their default.

  /// Throws UsageError for a wrong count of sizes, a size below 1, and a problem that the target
  /// refuses; Error if no configuration is valid. For tuned sizes it neither locks nor allocates.
  /// Where free sizes are away from their defaults, what answers at the defaults does, if it is
  /// valid. Expected times choose between it and a library that reads free sizes where lines are
  /// less aligned.
  LookupAnswer find(std::span<const std::int64_t> sizes);
  /// find() as sentences for a person.
  std::string explain(std::span<const std::int64_t> sizes);

  /// Valid configurations for these sizes, the least expected time first. Only the default
  /// configuration if nothing is known. Throws as find().
  std::vector<std::string> likely(std::span<const std::int64_t> sizes, std::size_t count);
  /// Makes what this program found the answer for these sizes, unless a database has an exact one.
  /// Without a time of the library, it may answer by expectation, as beside such a row. What is
  /// found away from the defaults of free sizes is the answer for all that are, where it is valid
  /// and lines are as aligned.
  void keep_found(std::span<const std::int64_t> sizes, const db::DecisionRow& found);

  /// Never answers these configurations for these sizes again.
  void keep_failures(std::span<const std::int64_t> sizes, std::vector<std::string> configurations);

  /// Pins a configuration until refresh(). An empty text removes the pin. Throws Error if the
  /// configuration is not valid for these sizes, or if a lock has another answer. A pin without
  /// free sizes is the answer for all of them for which it is valid.
  void pin(std::span<const std::int64_t> sizes, std::string_view configuration);
  /// Reads the databases again. Rows of a database that cannot be read stay. In that case pins stay
  /// too, and db::StoreError has the reason. A lock is not read again.
  void refresh();

  /// The plugin whose library computes this problem; else empty.
  std::string library(std::span<const std::int64_t> sizes);

  Problem problem_for(std::span<const std::int64_t> sizes) const {
    return sized_.problem_for(sizes);
  }
  /// The target's default configuration, or one like it that is valid and did not fail for these
  /// sizes. Throws Error if there is none.
  std::string default_for(std::span<const std::int64_t> sizes);

 private:
  static constexpr std::size_t kMostRemembered = 4096;
  using Sizes = std::vector<std::int64_t>;
  /// Also compares with a span, so that a remembered answer is found without an allocation.
  struct SizesLess {
    using is_transparent = void;
    bool operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const {
      return std::ranges::lexicographical_compare(a, b);
    }
  };

  TargetLookup(Target target, const NamedValues& settings, DeviceInfo device, std::string policy,
               Libraries libraries, std::vector<db::Layer> layers);

  db::LookupRows read_rows(std::span<const db::Layer> layers, const db::PastTimes& past) const;
  void drop_invalid(db::LookupRows& read) const;
  bool keep_lost_layers(db::LookupRows& read) const;
  /// Replaces the rows that were read before, but for what a choice by bits forbids: learn() first.
  void take(db::LookupRows read);
  void learn(db::PastTimes past);
  NamedValues settings() const;
  db::LookupRequest request() const;
  db::PastTimes read_past(std::span<const db::Layer> layers) const;

  LookupAnswer locked(std::span<const std::int64_t> sizes);
  LookupAnswer fallback(std::span<const std::int64_t> sizes);
  std::optional<LookupAnswer> pinned(std::span<const std::int64_t> sizes) const;
  std::optional<LookupAnswer> settled(std::span<const std::int64_t> key) const;
  LookupAnswer transfer(std::span<const std::int64_t> sizes);
  LookupAnswer remember(std::span<const std::int64_t> sizes, const LookupAnswer& answer);
  void weigh_library(LookupAnswer& answer, std::span<const std::int64_t> sizes);
  void weigh_away(LookupAnswer& answer, std::span<const std::int64_t> sizes);
  const std::string& offered_library(bool is_away);
  std::optional<LookupAnswer> found(std::span<const std::int64_t> sizes) const;
  std::optional<LookupAnswer> stored(std::span<const std::int64_t> sizes) const;
  std::optional<LookupAnswer> chosen(std::span<const std::int64_t> sizes);
  std::string known_default(std::span<const std::int64_t> sizes) const;
  const std::string& interned(const std::string& text);

  const Target target_;
  const DeviceInfo device_;
  const std::string policy_;
  const std::vector<db::Layer> layers_;
  const Libraries libraries_;
  const Problem smallest_;       // every size as small as may be, and the settings
  const TargetProgram program_;  // with given sizes
  const SizedTarget sized_{target_, smallest_, device_, program_};
  std::optional<LockedAnswers> locked_;  // in place of databases
  db::LookupHolder tables_;
  std::atomic<const std::string*> warnings_{nullptr};  // of texts_

  std::mutex mutex_;  // for everything below: sizes that were not tuned
  std::vector<db::LayerState> layer_states_;
  std::map<bool, std::string> offered_library_;  // as asked, away from default free sizes or not
  std::map<Sizes, LookupAnswer, SizesLess> remembered_;
  std::map<Sizes, LookupAnswer, SizesLess> found_;  // by class_of()
  std::vector<db::FailedThere> failed_here_;        // in this process
  std::unique_ptr<Experience> experience_;
  std::set<std::string, std::less<>> texts_;
  std::map<Sizes, std::string_view, SizesLess> pins_;
  std::atomic<bool> has_pins_{false};
};

// Which device a program means: a GPU of this machine, or the one that the databases are about.

/// The device called `name` or, if that is empty, the one with the most rows for the target. Reads
/// the uppermost database that has any, and describes the device as far as its rows do. nullopt if
/// there are none. Appends a sentence to `remarks` for each missing or unreadable database.
std::optional<DeviceInfo> device_of_layers(std::span<const db::Layer> layers,
                                           const std::string& target, const std::string& name,
                                           std::vector<std::string>& remarks);

/// The ordinal of the GPU that a name and an ordinal mean. An empty name means every GPU. Ordinal 0
/// stands for the first of the name. nullopt if no GPU has the name, or if there is none at all.
/// Throws Error if there is no GPU `ordinal`, or if it has another name.
std::optional<int> chosen_gpu(std::span<const DeviceInfo> gpus, const std::string& name,
                              int ordinal);

}  // namespace autotune
