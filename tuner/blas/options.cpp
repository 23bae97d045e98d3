// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <unistd.h>

#include <cerrno>

#include "tuner/text/environment.hpp"

namespace autotune::blas {

Options read_options(std::string_view program) {
  const bool is_tuner = program == "autotune" || program == "autotune-worker";
  if (is_tuner) return {.serve = false, .record = {}, .report = {}, .library = {}};
  return {.serve = environment_variable("AUTOTUNE_BLAS_SERVE") != "0",
          .wait = environment_variable("AUTOTUNE_BLAS_WAIT") == "1",
          .earn = may_earn(),
          .only_fp32 = environment_variable("AUTOTUNE_BLAS_UNITS") == "fp32",
          .record = environment_variable("AUTOTUNE_BLAS_RECORD"),
          .report = environment_variable("AUTOTUNE_BLAS_REPORT"),
          .is_command = environment_variable("AUTOTUNE_BLAS_COMMAND") == std::to_string(getpid()),
          .library = environment_variable("AUTOTUNE_BLAS_LIBRARY")};
}

const Options& options() {
  static const Options& read =
      *new Options(read_options(program_invocation_short_name));  // used until the process ends
  return read;
}

}  // namespace autotune::blas
