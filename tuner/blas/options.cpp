// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tuner/blas/warn_once.hpp"
#include "tuner/text/environment.hpp"

namespace autotune::blas {
namespace {

/// The variable's value. If it is none of these, the first of them.
std::string chosen(const char* name, std::initializer_list<std::string_view> offered,
                   std::string& remark) {
  const std::string value = environment_variable(name);
  const std::string first(*offered.begin());
  if (value.empty() || std::ranges::find(offered, value) != offered.end()) {
    return value.empty() ? first : value;
  }
  remark += (remark.empty() ? "" : "; ") + std::string(name) + " is neither " + first + " nor " +
            std::string(offered.begin()[1]) + ", and counts as " + first;
  return first;
}

/// From the environment of a program with this name. The tuner's own programs time the real cuBLAS:
/// they get serve=false and no files.
Options read_options(std::string_view program) {
  const bool is_tuner = program == "autotune" || program == "autotune-worker";
  if (is_tuner) return {.serve = false, .record = {}, .report = {}, .library = {}};
  std::string remark;
  chosen("AUTOTUNE_EARN", {"1", "0"}, remark);
  return {.serve = chosen("AUTOTUNE_BLAS_SERVE", {"1", "0"}, remark) != "0",
          .wait = chosen("AUTOTUNE_BLAS_WAIT", {"0", "1"}, remark) == "1",
          .earn = may_earn(),
          .only_fp32 = chosen("AUTOTUNE_BLAS_UNITS", {"any", "fp32"}, remark) == "fp32",
          .record = environment_variable("AUTOTUNE_BLAS_RECORD"),
          .report = environment_variable("AUTOTUNE_BLAS_REPORT"),
          .is_command = environment_variable("AUTOTUNE_BLAS_COMMAND") == std::to_string(getpid()),
          .library = environment_variable("AUTOTUNE_BLAS_LIBRARY"),
          .remark = std::move(remark)};
}

}  // namespace

const Options& options() {
  static const Options& read =
      *new Options(read_options(program_invocation_short_name));  // used until the process ends
  if (!read.remark.empty()) warn_once(Topic::variables, read.remark);
  return read;
}

}  // namespace autotune::blas
