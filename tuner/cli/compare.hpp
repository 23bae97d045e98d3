// SPDX-License-Identifier: Apache-2.0
// Times of the configurations tried at a problem, relative to the fastest.
#pragma once

#include <map>
#include <string>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"

namespace autotune::cli {

/// `--within` as a ratio: 1.05 for `5` or `5%`. Throws UsageError.
double limit_of(const Arguments& arguments);

/// Ratios by configuration, of the search's times, which the anchor makes comparable. Infinity for
/// a configuration that fails, or whose lower bound is within `limit` (1.05: 5 % slower than the
/// fastest). Empty without trials.
std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit);

}  // namespace autotune::cli
