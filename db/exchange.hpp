// SPDX-License-Identifier: Apache-2.0
// Export, import and merge of facts. The best rows are derived again.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace autotune::db {

// Export of some facts, for another process that tunes with them. The text is that of
// export_json_lines(), but not sorted; import_json_lines() reads it.

/// How far each table of facts is filled.
using FactsEnd = std::vector<std::int64_t>;
FactsEnd facts_end(const TunedStore& store);

/// Writes the facts that were stored after `end`, and moves `end` behind them. Damaged rows are
/// left out.
void export_facts_after(const TunedStore& store, FactsEnd& end, std::ostream& out);

/// Writes the trials, decisions and pins of these problems, the rows that they refer to, and the
/// calibration of their devices. Retracted and damaged rows are left out.
void export_facts_of(const TunedStore& store, std::span<const ProblemKey> keys, std::ostream& out);

/// Writes every fact as one JSON object a line, in canonical order (by table, then by text). Two
/// stores with the same facts give the same bytes, so the file can be reviewed and diffed. Returns
/// the number of damaged rows, which are left out.
std::int64_t export_json_lines(const TunedStore& store, std::ostream& out);

/// Writes a C++ header with these results as constants, `autotune_tuned::kRows`. For programs
/// without SQLite.
void export_header(std::span<const TunedEntry> entries, std::ostream& out);

/// What targets, sizes and sources of earlier versions are called now.
class NewNames {
 public:
  virtual ~NewNames() = default;
  /// Whether facts of this kernel read otherwise now.
  virtual bool concern(const KernelRow& kernel) = 0;
  /// The kernel and the problem of such a fact, and its configuration, as they read now. Returns
  /// false, and changes nothing, where they are none of today's.
  virtual bool renew(KernelRow& kernel, std::string& problem, std::string& configuration) = 0;
};

/// The result of an import. Rows that already exist do not change and are not counted.
struct ImportReport {
  std::int64_t added = 0;
  std::int64_t present = 0;
  std::int64_t renewed = 0;          // of these, by NewNames
  std::vector<std::string> refused;  // damaged rows, and rows with missing references
};

/// Adds the facts of a JSON-lines text in one transaction. A line that is not a fact is refused
/// with its number. A text without any fact is refused as a whole, in one sentence. `name` is for
/// messages. Facts that `names` concern are stored as they read now.
ImportReport import_json_lines(TunedStore& store, std::istream& in, const std::string& name,
                               NewNames* names = nullptr);

/// Adds the facts of another database: a set union. It is commutative, associative and idempotent,
/// because every id is the hash of its row. Damaged rows are refused one by one.
ImportReport merge(TunedStore& store, const TunedStore& other, NewNames* names = nullptr);

/// Replaces the facts that `names` concern by what an import stores for them, in one transaction.
/// Facts that are damaged or cannot be read stay, and are refused.
ImportReport convert(TunedStore& store, NewNames& names);

}  // namespace autotune::db
