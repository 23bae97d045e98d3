// SPDX-License-Identifier: Apache-2.0
// What makes a file of an older schema of a new one.
#pragma once

namespace autotune::db {

/// Takes out what schema 9 added.
inline constexpr const char* kWithoutTheNinth =
    "DROP INDEX trial_failed; DROP INDEX pin_problem; ALTER TABLE decision DROP COLUMN repeats; "
    "ALTER TABLE best DROP COLUMN repeats;";

}  // namespace autotune::db
