// SPDX-License-Identifier: Apache-2.0
// Stored values of hardware counters.
#pragma once

#include <string>
#include <vector>

#include "db/rows.hpp"

namespace autotune::db {

class TunedStore;

/// The counters of one call: a fact.
struct CounterRow {
  std::string id;
  ProblemKey key;
  std::string configuration;
  std::string figures;      // `instructions=4096 dram_read_bytes=131072 …`
  std::string environment;  // `driver 580.82, CUDA 13.0`
  std::string created_at;
  friend bool operator==(const CounterRow&, const CounterRow&) = default;
};

/// Throws StoreError.
void add_counters(TunedStore& store, const CounterRow& row);

/// The latest of each configuration of a problem, sorted by configuration. Throws StoreError.
std::vector<CounterRow> counters_of(const TunedStore& store, const ProblemKey& key);

}  // namespace autotune::db
