// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace autotune::blas {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The tuner times cuBLAS: it must be the real one.
bool is_tuner() {
  const std::string_view program = program_invocation_short_name;
  return program == "autotune" || program == "autotune-worker";
}

Options read_options() {
  if (is_tuner()) return {.serve = false, .record = {}, .report = {}, .library = {}};
  return {.serve = variable("AUTOTUNE_BLAS_SERVE") != "0",
          .wait = variable("AUTOTUNE_BLAS_WAIT") == "1",
          .only_fp32 = variable("AUTOTUNE_BLAS_UNITS") == "fp32",
          .record = variable("AUTOTUNE_BLAS_RECORD"),
          .report = variable("AUTOTUNE_BLAS_REPORT"),
          .library = variable("AUTOTUNE_BLAS_LIBRARY")};
}

}  // namespace

const Options& options() {
  static const Options& read = *new Options(read_options());  // used until the process ends
  return read;
}

}  // namespace autotune::blas
