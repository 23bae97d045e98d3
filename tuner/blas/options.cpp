// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "tuner/text/environment.hpp"

namespace autotune::blas {
namespace {

std::atomic<bool> forked{false};

}  // namespace

void notice_forks() {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

bool is_forked() noexcept { return forked.load(std::memory_order_relaxed); }

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

namespace {

std::atomic<bool> have_ended{false};

}  // namespace

void end_warnings() { have_ended = true; }

void warn_once(Topic topic, std::string_view sentence) {
  if (have_ended) return;
  static std::array<std::atomic<bool>, kTopics> warned{};
  if (warned[static_cast<std::size_t>(topic)].exchange(true)) return;
  const std::string_view line = sentence.substr(0, sentence.find('\n'));
  const std::string text = "autotune: " + std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace autotune::blas
