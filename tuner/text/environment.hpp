// SPDX-License-Identifier: Apache-2.0
// The environment: its variables, and the place in a job that a launcher, such as mpirun, gave.
#pragma once

#include <cstdlib>
#include <string>

namespace autotune {

/// Empty if it is not set. Also empty in a program that runs with more rights than its user
/// (setuid): the user chose the variables, and they name what is compiled, loaded and written.
inline std::string environment_variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

/// The number of this process among the ranks of its job; empty: no launcher has numbered it.
std::string launched_rank();

/// Whether the job has several ranks. If the launcher has numbered this process and tells no count,
/// it has.
bool has_other_ranks();

/// Whether calls of programs may be timed: AUTOTUNE_EARN is not 0, and this process is no rank of
/// several. Rivals in one job must not be chosen by each rank for itself.
bool may_earn();

}  // namespace autotune
