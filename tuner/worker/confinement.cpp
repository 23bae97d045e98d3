// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/confinement.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

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

constexpr std::uint64_t kExecute = 1, kWriteFile = 2, kReadFile = 4, kReadFolder = 8,
                        kTruncate = 1 << 14, kControlDevice = 1 << 15;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kControlDevice;
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

/// Of a file, what files allow: a rule with more is refused as a whole.
void allow(int ruleset, const fs::path& path, std::uint64_t what) {
  if (path.empty()) return;
  const int opened = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (opened < 0) return;  // it is not there
  struct stat found {};
  const bool is_folder = fstat(opened, &found) == 0 && S_ISDIR(found.st_mode);
  const PathRule rule{is_folder ? what : what & kOfFiles, opened};
  syscall(kAddRule, ruleset, kPathBeneath, &rule, 0);
  close(opened);
}

/// What a driver of a GPU opens for writing: /dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm,
/// /dev/nvidia-caps/; /dev/dxg under Windows. CUDA also names its threads, in files of this process
/// below /proc, and fails if it cannot.
void allow_gpus(int ruleset, std::uint64_t possible) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("nvidia") && name != "dxg") continue;
    allow(ruleset, entry.path(), (kReads | kWriteFile | kControlDevice) & possible);
  }
  const char* const threads = "/proc/self/task";
  allow(ruleset, threads, (kReads | kWriteFile | kTruncate) & possible);
  // A rule belongs to an inode, which /proc makes anew unless somebody holds it. Stays open.
  [[maybe_unused]] const int held = open(threads, O_PATH);
}

}  // namespace

std::string confinement_here() {
  if (version() < 1) return "";
  return version() >= 6 ? "files, TCP, signals" : version() >= 4 ? "files, TCP" : "files";
}

std::string missing_confinement() {
  if (version() < 1) {
    return "the kernel's process was not confined: this system has no Landlock";
  }
  if (version() >= 6) return "";
  return format("the kernel's process was confined in {} only: this system has Landlock {} of 6",
                confinement_here(), version());
}

void confine(std::span<const fs::path> readable, bool uses_gpu,
             std::span<const fs::path> writable) {
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
  allow(ruleset, "/dev/null", kReadFile | kWriteFile);
  for (const char* const device : {"/dev/urandom", "/dev/zero"}) allow(ruleset, device, kReadFile);
  if (uses_gpu) allow_gpus(ruleset, rules.files);
  const std::string libraries = environment_variable("LD_LIBRARY_PATH");
  for (const std::string_view folder : split(libraries, ':')) allow(ruleset, folder, kReads);
  for (const fs::path& folder : readable) allow(ruleset, folder, kReads);
  for (const fs::path& folder : writable) allow(ruleset, folder, rules.files);
  const bool done =
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(kRestrictSelf, ruleset, 0) == 0;
  const int why = errno;
  close(ruleset);
  if (!done) throw Error(format("the worker cannot be confined: {}", std::strerror(why)));
}

}  // namespace autotune
