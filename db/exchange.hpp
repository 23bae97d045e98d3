// SPDX-License-Identifier: Apache-2.0
// Export, import and merge of facts. The best rows are derived again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace autotune::db {

/// Writes every fact as one JSON object a line, in canonical order (by table, then by text). Two
/// stores with the same facts give the same bytes, so the file can be reviewed and diffed. Returns
/// the number of damaged rows, which are left out.
std::int64_t export_json_lines(const TunedStore& store, std::ostream& out);

/// Writes a C++ header with these results as constants, `autotune_tuned::kRows`. For programs
/// without SQLite.
void export_header(std::span<const TunedEntry> entries, std::ostream& out);

/// The result of an import. Rows that already exist do not change and are not counted.
struct ImportReport {
  std::int64_t added = 0;
  std::int64_t present = 0;
  std::vector<std::string> refused;  // damaged rows, and rows with missing references
};

/// Adds the facts of a JSON-lines text in one transaction. A line that is not a fact is refused
/// with its number. A text without any fact is refused as a whole, in one sentence. `name` is for
/// messages.
ImportReport import_json_lines(TunedStore& store, std::istream& in, const std::string& name);

/// Adds the facts of another database: a set union. It is commutative, associative and idempotent,
/// because every id is the hash of its row. Damaged rows are refused one by one.
ImportReport merge(TunedStore& store, const TunedStore& other);

}  // namespace autotune::db
