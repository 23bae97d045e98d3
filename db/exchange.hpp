// SPDX-License-Identifier: Apache-2.0
// Export, import and merge. What is exchanged are the facts; the best rows are derived again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace autotune::db {

/// Every fact as one JSON object a line, in canonical order (by table, then by text): two stores
/// with the same facts give the same bytes, so the file can be reviewed and diffed. Returns how
/// many rows were damaged and are left out.
std::int64_t export_json_lines(const TunedStore& store, std::ostream& out);

/// Only the best rows that `filter` takes, with what they refer to: for shipping. Provenance
/// `measured` becomes `imported`, since the trials that would prove it stay behind.
void export_best_json_lines(const TunedStore& store, const TunedFilter& filter, std::ostream& out);

/// A C++ header with the best rows as constants, for a program that has neither SQLite nor a
/// file: `autotune_tuned::kRows`, in the order of tuned().
void export_header(const TunedStore& store, const TunedFilter& filter, std::ostream& out);

/// What came in. Rows that were there already are left as they are and not counted.
struct ImportReport {
  std::int64_t added = 0;
  std::int64_t present = 0;
  std::vector<std::string> refused;  // rows that are damaged or whose references are missing
};

/// Adds the facts of a JSON-lines text. A line that is no fact is refused with its number; the
/// others come in, in one transaction. A text without any fact is refused as a whole, in one
/// sentence. `name` is for messages.
ImportReport import_json_lines(TunedStore& store, std::istream& in, const std::string& name);

/// Adds the facts of another database: a set union. Commutative, associative and idempotent, as
/// every id is the hash of its row. Damaged rows are refused one by one.
ImportReport merge(TunedStore& store, const TunedStore& other);

}  // namespace autotune::db
