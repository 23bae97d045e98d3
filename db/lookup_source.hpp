// SPDX-License-Identifier: Apache-2.0
// Reads the rows of a lookup table from one or more databases, and closes them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "db/lookup.hpp"
#include "db/rows.hpp"
#include "db/store.hpp"

namespace autotune::db {

/// Selects rows: one target with given settings, on one device or on others of its architecture.
struct LookupRequest {
  std::string target;
  std::string fingerprint;  // of the current kernel
  DeviceRow device;
  std::string environment;  // as in SessionRow; empty: do not compare
  std::string size_names;   // `M N K`
  std::string settings;     // `dtype=f32`, in the target's order
  std::set<std::string, std::less<>>
      alike;               // settings whose times are the same, where these have none
  std::string plain = {};  // of these, the one whose pins count before results of `settings`
  /// Rows of a chain stand in for those of another context (` context=between`) that are missing.
  std::string policy = "l2=hot launch=graph";
};

/// Whether rows with these settings answer, and pins among them; false in `own` for alike settings.
struct SettingsMatch {
  bool fits = false, own = false, pins = false;
};
SettingsMatch match_settings(const LookupRequest& request, std::string_view settings);

bool is_same_device(const DeviceRow& a, const DeviceRow& b);
/// Two GPUs of one compute capability.
bool is_same_architecture(const DeviceRow& a, const DeviceRow& b);

/// The request's policy, and that of a chain, whose rows are used where the first has none.
std::vector<std::string> policies_of(const LookupRequest& request);

/// A database and its mode. Uppermost first: user, site, shipped.
struct Layer {
  std::filesystem::path path;
  Mode mode = Mode::read_only;
  bool expected = false;  // a warning says if the file is missing
  WaitUntil wait_until = {};

  bool is_there() const;
  /// Throws StoreError, also where a table is missing that some readers do not need: they would
  /// answer, and others not.
  TunedStore open() const;
};

/// The result of reading a layer.
enum class LayerState : std::uint8_t { read, missing, unreadable };

struct LookupRows {
  std::vector<LookupRow> rows;
  std::vector<LayerState> layers;  // one per layer
  /// One sentence for each layer that could not be read completely. A missing file has none unless
  /// it is expected.
  std::vector<std::string> warnings;
};

/// Does not throw if a layer is unreadable: that layer has no rows. About 1 us per row.
LookupRows read_lookup_rows(std::span<const Layer> layers, const LookupRequest& request);

// What look-ups read of a layer: best rows that are as they were stored, what failed, and how well
// a result fits the request. Included by db/*.cpp only.

/// Rows of one device and one kernel.
struct Part {
  const DeviceRow& device;
  const KernelRow& kernel;
  bool same_device = false;
  bool source_drifted = false;

  /// On the request's device, with its source.
  bool is_exact() const { return same_device && !source_drifted; }
};

/// What the ids of a layer mean for a request.
class LayerParts {
 public:
  LayerParts(const TunedStore& store, const LookupRequest& request);

  const std::vector<DeviceRow>& devices() const { return devices_; }
  /// Of the devices of the architecture, with each source of the target.
  std::vector<Part> all() const;
  Validity validity(const Part& part, std::string_view session);

 private:
  void read_environments();

  Connection& connection_;
  const LookupRequest& request_;
  std::vector<DeviceRow> devices_;
  std::vector<KernelRow> kernels_;
  /// By session; read for the first session that is asked about.
  std::optional<std::map<std::string, std::string, std::less<>>> environments_;
  std::string last_session_;
  bool same_environment_ = true;  // in the last session
};

/// A best row as look-ups need it.
struct StoredBest {
  BestView view;
  std::string_view session, source;
  std::string_view since;  // the time of what speaks for it, as Refutations::refute() takes it
  bool decided = false;

  bool is_answer() const { return db::is_answer(decided, view.provenance); }
};

inline StoredBest stored(const BestRow& row) {
  return {view_of(row), row.session, row.source,
          row.provenance == "pinned" ? row.session_started_at : row.created_at, row.decided};
}

/// The columns of StoredBest. `+` makes SQLite read in the order of the table, because the index
/// that starts with the policy lacks the other columns.
inline constexpr const char* kSelectBest =
    "SELECT problem, configuration, provenance, default_configuration, median_ns, default_ns, crc, "
    "session, baseline, baseline_candidate, baseline_ns, baseline_wins, source, created_at, "
    "session_started_at, decided FROM best WHERE device = ? AND kernel = ? AND +policy = ?";

/// How many rows cannot be used.
struct UnusableRows {
  std::int64_t damaged = 0, ahead = 0;  // dated after latest_time()
};

/// Calls `use` with each row of a policy, or with what it stands for: see usable().
template <class Use>
UnusableRows each_best(Connection& connection, const Part& part, const std::string& policy,
                       Use&& use) {
  UnusableRows unusable;
  std::int64_t read = 0;
  const std::string latest = latest_time();
  Query query = connection.query(kSelectBest);
  query.bind(part.device.id, part.kernel.id, policy);
  for (; query.step(); ++read) {
    StoredBest best{{query.view(0), policy, query.view(1), query.view(2), query.view(3),
                     query.number(4, -1), query.number(5, -1), query.view(8)},
                    query.view(7),
                    query.view(12),
                    {},
                    query.integer(15) != 0};
    if (!best.view.baseline.empty()) {
      best.view.candidate = query.view(9);
      best.view.baseline_ns = query.number(10, -1);
      best.view.baseline_wins = query.integer(11) != 0;
    }
    best.since = query.view(best.view.provenance == "pinned" ? 14 : 13);
    if (best_crc(best.view) != query.integer(6) || !has_possible_times(best.view)) {
      ++unusable.damaged;
    } else if (query.view(13) <= latest) {
      use(best);
    } else {
      ++unusable.ahead;
      const ProblemKey key{part.device.id, part.kernel.id, query.text(0), policy};
      if (const auto earlier = derive(connection, key, latest)) use(stored(*earlier));
    }
  }
  unusable.damaged +=
      std::abs(indexed_rows(connection, part.device.id, part.kernel.id, policy) - read);
  return unusable;
}

/// What failed on the request's device with its source, by layer. A layer that cannot be read has
/// none, and a warning if it is there.
class LayerFailures {
 public:
  LayerFailures(std::span<const Layer> layers, const LookupRequest& request);

  static constexpr std::size_t kNoLayer = static_cast<std::size_t>(-1);
  /// Whether another layer than that of the result refutes it. The best rows of a layer are
  /// derived with its own failures.
  bool refute(std::size_t layer, const Part& part, const StoredBest& best) const;
  bool refute(std::size_t layer, const Part& part, std::string_view problem,
              std::string_view policy, std::string_view configuration,
              std::string_view since) const;
  /// Of all layers.
  const std::vector<Refutations>& all() const { return layers_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
  std::vector<Refutations> layers_;
};

}  // namespace autotune::db
