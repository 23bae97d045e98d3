// SPDX-License-Identifier: Apache-2.0
// The options of the preloaded library, from the environment. `autotune run` sets them.
#pragma once

#include <string>
#include <string_view>

namespace autotune::blas {

struct Options {
  bool serve = true;       // AUTOTUNE_BLAS_SERVE=0: everything is passed on
  bool wait = false;       // AUTOTUNE_BLAS_WAIT=1: the first call of a shape waits for its kernel
  bool earn = false;       // calls may be timed
  bool only_fp32 = false;  // AUTOTUNE_BLAS_UNITS=fp32: no f32 product on tensor cores
  std::string record;      // AUTOTUNE_BLAS_RECORD: a file to which the workload is added
  std::string report;      // AUTOTUNE_BLAS_REPORT: a file to which the report is added, or `stderr`
  bool is_command = false;  // AUTOTUNE_BLAS_COMMAND: its process is the one of `autotune run`
  std::string library;      // AUTOTUNE_BLAS_LIBRARY: libautotune, if it is not beside this library
  std::string remark = {};  // names variables with a value that is not offered

  /// Whether calls are counted.
  bool counts() const { return !record.empty() || !report.empty(); }
};

/// Those of this process, read at the first call. Valid until the process ends.
const Options& options();

}  // namespace autotune::blas
