// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/confinement.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

// Landlock's own numbers and structures: C libraries have no functions for it, and older headers
// lack what newer kernels offer.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

struct Ruleset {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

constexpr std::uint64_t kExecute = 1, kReadFile = 4, kReadFolder = 8;
constexpr std::uint64_t kReads = kExecute | kReadFile | kReadFolder;

int version() {
  static const long found = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return static_cast<int>(std::max(found, 0L));
}

/// All that this version of Landlock can refuse.
Ruleset everything() {
  Ruleset rules;
  const int files = version() >= 5 ? 16 : version() >= 3 ? 15 : version() >= 2 ? 14 : 13;
  rules.files = (std::uint64_t{1} << files) - 1;
  if (version() >= 4) rules.network = 3;  // bind and connect
  if (version() >= 6) rules.scoped = 3;   // abstract sockets and signals
  return rules;
}

void allow(int ruleset, const std::filesystem::path& path, std::uint64_t what) {
  const int opened = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (opened < 0) return;  // it is not there
  const PathRule rule{what, opened};
  syscall(kAddRule, ruleset, kPathBeneath, &rule, 0);
  close(opened);
}

}  // namespace

std::string confinement_here() {
  if (version() < 1) return "";
  return version() >= 6 ? "files, TCP, signals" : version() >= 4 ? "files, TCP" : "files";
}

void confine(std::span<const std::filesystem::path> readable) {
  if (version() < 1) return;
  const Ruleset rules = everything();
  const std::size_t size = version() >= 6 ? sizeof rules : version() >= 4 ? 16 : 8;
  const auto ruleset = static_cast<int>(syscall(kCreateRuleset, &rules, size, 0));
  if (ruleset < 0) {
    throw Error(format("the worker cannot be confined: {}", std::strerror(errno)));
  }
  for (const char* const folder :
       {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/ld.so.cache", "/opt", "/sys", "/proc"}) {
    allow(ruleset, folder, kReads);
  }
  constexpr std::uint64_t kWriteFile = 2;
  allow(ruleset, "/dev/null", kReadFile | kWriteFile);
  for (const std::filesystem::path& folder : readable) allow(ruleset, folder, kReads);
  const bool done =
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(kRestrictSelf, ruleset, 0) == 0;
  const int why = errno;
  close(ruleset);
  if (!done) throw Error(format("the worker cannot be confined: {}", std::strerror(why)));
}

}  // namespace autotune
