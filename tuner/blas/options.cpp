// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace autotune::blas {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Options read_options(std::string_view program) {
  const bool is_tuner = program == "autotune" || program == "autotune-worker";
  if (is_tuner) return {.serve = false, .record = {}, .report = {}, .library = {}};
  return {.serve = variable("AUTOTUNE_BLAS_SERVE") != "0",
          .wait = variable("AUTOTUNE_BLAS_WAIT") == "1",
          .only_fp32 = variable("AUTOTUNE_BLAS_UNITS") == "fp32",
          .record = variable("AUTOTUNE_BLAS_RECORD"),
          .report = variable("AUTOTUNE_BLAS_REPORT"),
          .is_command = variable("AUTOTUNE_BLAS_COMMAND") == std::to_string(getpid()),
          .library = variable("AUTOTUNE_BLAS_LIBRARY")};
}

const Options& options() {
  static const Options& read =
      *new Options(read_options(program_invocation_short_name));  // used until the process ends
  return read;
}

}  // namespace autotune::blas
