// SPDX-License-Identifier: Apache-2.0
// What the launcher of a job, such as mpirun, torchrun or srun, told this process.
#pragma once

#include <string>

namespace autotune {

/// The number of this process among the ranks of its job; empty: no launcher has numbered it.
std::string launched_rank();

/// Whether the job has several ranks. If the launcher has numbered this process and tells no count,
/// it has.
bool has_other_ranks();

/// Whether calls of programs may be timed: AUTOTUNE_EARN is not 0, and this process is no rank of
/// several. Rivals in one job must not be chosen by each rank for itself.
bool may_earn();

}  // namespace autotune
