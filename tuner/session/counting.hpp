// SPDX-License-Identifier: Apache-2.0
// Hardware counters of the finalists of a stored result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "db/rows.hpp"
#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// Counts one call of the best configuration, of the default and of those that tie, with a plugin's
/// counters/1, and stores the figures. No time of `device` counts afterwards. A configuration that
/// fails is left out with a warning. Throws Error if nothing can be counted.
void count_finalists(db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                     Device& device, const std::filesystem::path& plugin,
                     const std::function<void(const std::string&)>& warn);

}  // namespace autotune
