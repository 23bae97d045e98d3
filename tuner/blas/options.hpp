// SPDX-License-Identifier: Apache-2.0
// The options of the preloaded library, from the environment. `autotune run` sets them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace autotune::blas {

// Detects a process that was forked after the first call of cuBLAS. It has copies of locks and
// counts, but not the thread, and CUDA does not work in it.

/// From now on, is_forked() is true in children of this process.
void notice_forks();
bool is_forked() noexcept;

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

// Warnings in programs that are not ours: one line on stderr.

enum class Topic { library, versions, database, not_tuned, kernel, files, variables };
inline constexpr std::size_t kTopics = 7;

/// Writes `autotune: ` and the first line of `sentence`, once for each topic in a process.
void warn_once(Topic topic, std::string_view sentence);

/// For the end of the process, where what is interrupted is no fault.
void end_warnings();

}  // namespace autotune::blas
