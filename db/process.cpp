// SPDX-License-Identifier: Apache-2.0
// Which process a process_text() names.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include "db/store.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// `pid:[4026531836]`: where process ids are counted. Containers may share the name of their host.
std::string id_namespace() {
  std::error_code unknown;
  const std::string text = std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
  return text.empty() ? "unknown" : text;
}

/// Field 22 of /proc/PID/stat: the start time in clock ticks since boot. Empty if there is no such
/// process. A zombie counts as ended.
std::string start_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t after_name = text.rfind(')');
  if (after_name == std::string::npos) return "";
  std::istringstream fields(text.substr(after_name + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) {
    if (i == 3 && (field == "Z" || field == "X")) return "";
  }
  return field;
}

/// A process_text() in parts.
struct Process {
  explicit Process(std::string_view text) {
    std::istringstream fields{std::string(text)};
    fields >> host >> ids >> pid >> start;
  }
  bool is_near() const { return host == host_name() && ids == id_namespace(); }
  bool lives() const { return !start.empty() && start_of(pid) == start; }

  std::string host, ids, pid, start;
};

}  // namespace

std::string process_text() {
  const std::string pid = std::to_string(getpid());
  return format("{} {} {} {}", host_name(), id_namespace(), pid, start_of(pid));
}

pid_t live_process_near(std::string_view process) {
  const Process found(process);
  return found.is_near() && found.lives() ? std::atoi(found.pid.c_str()) : 0;
}

}  // namespace autotune::db
