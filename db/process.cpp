// SPDX-License-Identifier: Apache-2.0
#include "db/process.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "db/store.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
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

}  // namespace

std::string process_text() {
  const std::string pid = std::to_string(getpid());
  return format("{} {} {}", host_name(), pid, start_of(pid));
}

bool process_lives(std::string_view process) {
  std::istringstream fields{std::string(process)};
  std::string host, pid, start;
  fields >> host >> pid >> start;
  if (host != host_name()) return true;
  return !start.empty() && start_of(pid) == start;
}

}  // namespace autotune::db
