// SPDX-License-Identifier: Apache-2.0
// Whether processes are still there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace autotune {

/// A zombie is not.
inline bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

/// Whether it ends within ten seconds.
inline bool is_gone(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    if (!is_alive(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace autotune
