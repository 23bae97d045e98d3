// SPDX-License-Identifier: Apache-2.0
// Export of some facts, for another process that tunes with them. The text is that of
// export_json_lines(), but not sorted; import_json_lines() reads it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "db/store.hpp"

namespace autotune::db {

/// How far each table of facts is filled.
using FactsEnd = std::vector<std::int64_t>;
FactsEnd facts_end(const TunedStore& store);

/// Writes the facts that were stored after `end`, and moves `end` behind them. Damaged rows are
/// left out.
void export_facts_after(const TunedStore& store, FactsEnd& end, std::ostream& out);

/// Writes the trials, decisions and pins of these problems, the rows that they refer to, and the
/// calibration of their devices. Retracted and damaged rows are left out.
void export_facts_of(const TunedStore& store, std::span<const ProblemKey> keys, std::ostream& out);

}  // namespace autotune::db
