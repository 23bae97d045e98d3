// SPDX-License-Identifier: Apache-2.0
// What the configurations tried at a problem take, over the fastest of them.
#pragma once

#include <map>
#include <string>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"

namespace autotune::cli {

/// What `--within` allows, as a ratio: 1.05 for `5` or `5%`. Throws UsageError.
double limit_of(const Arguments& arguments);

/// By configuration; infinity for one that fails, or is only known to take longer than something
/// within `limit` (1.05: 5 % slower than the fastest). The search's times: those of one problem are
/// comparable by the anchor. Empty without trials.
std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit);

}  // namespace autotune::cli
