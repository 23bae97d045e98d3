// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/workload_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>

#include "tuner/blas/options.hpp"
#include "tuner/blas/warn_once.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {

std::string workload_line(const CallShape& s, std::uint64_t calls) {
  return format(R"({{"call":"{}","layout":"{}","m":{},"n":{},"k":{},"batch":{},)"
                R"("types":["{}","{}","{}","{}"],"compute_type":{},"math_mode":{},"scale":"{}",)"
                R"("lda":{},"ldb":{},"ldc":{},"ldd":{},"stride_a":{},"stride_b":{},"stride_c":{},)"
                R"("stride_d":{},"column_major":{},"obstacle":"{}","epilogue":{},"alignment":{},)"
                R"("calls":{}}})",
                name_of(s.function), layout_of(s), s.m, s.n, s.k, s.batch, type_name(s.a_type),
                type_name(s.b_type), type_name(s.c_type), type_name(s.d_type), s.compute_type,
                s.math_mode, name_of(s.scale), s.lda, s.ldb, s.ldc, s.ldd, s.stride_a, s.stride_b,
                s.stride_c, s.stride_d, s.obstacle != Outcome::order,
                s.obstacle == Outcome::served ? "" : name_of(s.obstacle), s.epilogue, s.alignment,
                calls);
}

namespace {

/// Whether a file ends within a line, as a full disk leaves it.
bool is_cut(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    return false;
  }
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  char last = '\n';
  if (descriptor >= 0 && pread(descriptor, &last, 1, status.st_size - 1) < 0) last = '\n';
  if (descriptor >= 0) close(descriptor);
  return last != '\n';
}

}  // namespace

bool append_text(const std::string& file, const std::string& added) {
  const std::string text = (!added.empty() && is_cut(file) ? "\n" : "") + added;
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  std::string_view rest = text;
  while (descriptor >= 0 && !rest.empty()) {
    const ssize_t written = write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool is_written = descriptor >= 0 && rest.empty();
  if (!is_written) {
    warn_once(Topic::files, format("{}: cannot be written: {}", file, std::strerror(errno)));
  }
  if (descriptor >= 0) close(descriptor);
  return is_written;
}

void record_calls(CallEntry& entry) {
  static std::mutex& recording = *new std::mutex;
  const std::lock_guard lock(recording);
  const std::uint64_t all = entry.calls(), before = entry.recorded;
  if (all == before) return;
  if (append_text(options().record, workload_line(entry.shape, all - before) + '\n')) {
    entry.recorded = all;
  }
}

}  // namespace autotune::blas
