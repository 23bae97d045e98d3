// SPDX-License-Identifier: Apache-2.0
// Reads what a lookup table needs out of one or more databases, which are closed again.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "db/lookup.hpp"
#include "db/rows.hpp"
#include "db/store.hpp"

namespace autotune::db {

/// Which rows: one target with the same settings on one device, or on others of its architecture.
struct LookupRequest {
  std::string target;
  std::string fingerprint;  // of the kernel as it is now
  DeviceRow device;
  std::string environment;  // as in SessionRow; empty: not compared
  std::string size_names;   // `M N K`
  std::string settings;     // `dtype=f32`, in the target's order
  std::string policy = "l2=hot launch=graph";
};

/// A database, and how it is opened. Uppermost first: user, site, shipped.
struct Layer {
  std::filesystem::path path;
  Mode mode = Mode::read_only;
};

/// What came of a layer.
enum class LayerState : std::uint8_t { read, missing, unreadable };

struct LookupRows {
  std::vector<LookupRow> rows;
  std::vector<LayerState> layers;  // one a layer
  /// One sentence for each layer that could not be read, or not as a whole; a missing file is none.
  std::vector<std::string> warnings;
};

/// Never throws for what is wrong with a layer: that layer is a miss. About 1 us a row.
LookupRows read_lookup_rows(std::span<const Layer> layers, const LookupRequest& request);

}  // namespace autotune::db
