// SPDX-License-Identifier: Apache-2.0
// What a rank tunes with: the target of the command line, and its own device.
#pragma once

#include <memory>

#include "tuner/cli/arguments.hpp"
#include "tuner/ranks/member.hpp"

namespace autotune {

/// Throws UsageError or Error.
std::unique_ptr<MemberJob> open_own_job(cli::Arguments arguments, int rank, int local_rank,
                                        int local_size);

}  // namespace autotune
