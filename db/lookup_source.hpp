// SPDX-License-Identifier: Apache-2.0
// Reads the rows of a lookup table from one or more databases, and closes them.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace autotune::db
