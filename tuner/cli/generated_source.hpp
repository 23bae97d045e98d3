// SPDX-License-Identifier: Apache-2.0
// Generated sources: `generate` of a manifest.
#pragma once

#include <string>

namespace autotune::cli {

/// Runs the generator of this target, if its manifest has one. Writes its output to the manifest's
/// source if they differ. Throws Error if the program fails, prints nothing, or runs longer than a
/// minute; then it is killed with everything that it started.
void refresh_generated_source(const std::string& target);

}  // namespace autotune::cli
