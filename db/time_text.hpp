// SPDX-License-Identifier: Apache-2.0
// Times of day as text, as facts store them.
#pragma once

#include <chrono>
#include <string>

namespace autotune::db {

/// UTC, `2026-03-01T12:00:00.000000Z`; sorts by time.
std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace autotune::db
