// SPDX-License-Identifier: Apache-2.0
// Sources that a program writes: `generate` of a manifest.
#pragma once

#include <string>

namespace autotune::cli {

/// Runs the generator of this target, if its manifest has one, and writes what it prints to the
/// manifest's source where that differs. Throws Error if the program fails, prints nothing, or runs
/// longer than a minute, in which case it is killed with all that it started.
void refresh_generated_source(const std::string& target);

}  // namespace autotune::cli
