// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/cpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <thread>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// The value of the first line `key : value`; empty when there is none.
std::string value_in(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || trimmed(line.substr(0, colon)) != key) continue;
    return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

std::string model_name() {
  for (const char* key : {"model name", "Model", "cpu model", "uarch"}) {
    if (std::string name = value_in("/proc/cpuinfo", key); !name.empty()) return name;
  }
  return "CPU";
}

std::int64_t last_cache_bytes() {
  std::int64_t largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    largest = std::max<std::int64_t>(largest, sysconf(level));
  }
  return largest;
}

}  // namespace

DeviceInfo cpu_info() {
  DeviceInfo info;
  info.name = model_name();
  info.kind = DeviceKind::host;
  info.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  info.threads_per_multiprocessor = info.max_threads_per_block;
  info.blocks_per_multiprocessor = 1;
  info.registers_per_multiprocessor = 0;
  // Shared memory is ordinary memory here. As much as on the largest GPU, so that the same
  // configurations are valid.
  info.shared_bytes_per_block = info.shared_bytes_per_multiprocessor = 256 << 10;
  info.l2_bytes = last_cache_bytes();
  info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return info;
}

std::string cpu_fingerprint() {
  std::string flags = value_in("/proc/cpuinfo", "flags");
  if (flags.empty()) flags = value_in("/proc/cpuinfo", "Features");
  return model_name() + '\n' + flags;
}

std::int64_t available_memory_bytes() {
  return std::atoll(value_in("/proc/meminfo", "MemAvailable").c_str()) * 1024;
}

}  // namespace autotune
