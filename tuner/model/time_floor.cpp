// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/time_floor.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// Of a core, in bytes: two loads and a store of 64 bytes; of no CPU is the clock higher.
constexpr double kHostBytesPerCycle = 192, kHostClock = 6e9;
/// Of a multiprocessor: 64 bytes from L2 and 64 to it.
constexpr double kGpuBytesPerCycle = 128;

}  // namespace

double least_bytes(const TargetProgram& program) {
  double all = 0, outputs = 0;
  for (const BufferSpec& buffer : program.buffers()) {
    const auto bytes = static_cast<double>(buffer.bytes());
    if (buffer.role != Role::workspace && buffer.role != Role::checked) all += bytes;
    if (buffer.role == Role::output) outputs += bytes;
  }
  const double stated = program.work().bytes;
  return stated > 0 ? std::min(stated, all) : outputs;
}

double time_floor(const TargetProgram& program, const DeviceInfo& device) {
  const bool is_host = device.kind == DeviceKind::host;
  const double clock = is_host ? kHostClock : device.clock_hz;
  if (clock <= 0) return 0;
  const double bytes_per_cycle =
      device.multiprocessors * (is_host ? kHostBytesPerCycle : kGpuBytesPerCycle);
  return std::max(1.0, least_bytes(program) / bytes_per_cycle) / clock;
}

}  // namespace autotune
