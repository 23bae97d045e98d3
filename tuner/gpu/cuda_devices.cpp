// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, as the driver and Linux describe them.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include "tuner/gpu/cuda_device.hpp"
#include "tuner/gpu/nvml_energy.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::string pci_address(int ordinal) {
  char bus[32] = "";
  return cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal) == cudaSuccess ? bus : "";
}

namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  cudaDeviceGetAttribute(&value, which, ordinal);
  return value;
}

std::string first_word_of(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// `10de:2335`, from what Linux shows of the PCI bus; empty where it shows nothing.
std::string pci_id(int ordinal) {
  std::string address = pci_address(ordinal);  // sysfs uses lower case
  std::ranges::transform(address, address.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  const std::string folder = "/sys/bus/pci/devices/" + address + "/";
  const std::string vendor = first_word_of(folder + "vendor");
  const std::string device = first_word_of(folder + "device");
  if (!vendor.starts_with("0x") || !device.starts_with("0x")) return "";
  return vendor.substr(2) + ":" + device.substr(2);
}

std::string environment() {
  int version = 0;
  cudaDriverGetVersion(&version);
  std::string driver = first_word_of("/sys/module/nvidia/version");
  if (driver.empty()) driver = "of unknown version";
  return format("driver {}, CUDA {}.{}, NVRTC {}", driver, version / 1000, version % 1000 / 10,
                nvrtc_version());
}

DeviceInfo describe(int ordinal, const std::string& surroundings) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, ordinal);
  const auto hertz = [&](cudaDeviceAttr which) { return attribute(which, ordinal) * 1e3; };
  DeviceInfo info;
  info.name = properties.name;
  info.kind = DeviceKind::cuda;
  info.id = pci_id(ordinal);
  info.environment = surroundings;
  info.compute_capability = properties.major * 10 + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.warp_size = properties.warpSize;
  info.max_threads_per_block = properties.maxThreadsPerBlock;
  info.max_block = {properties.maxThreadsDim[0], properties.maxThreadsDim[1],
                    properties.maxThreadsDim[2]};
  info.max_grid = {properties.maxGridSize[0], properties.maxGridSize[1], properties.maxGridSize[2]};
  info.shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  info.shared_bytes_per_multiprocessor =
      static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  info.registers_per_multiprocessor = properties.regsPerMultiprocessor;
  info.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  info.blocks_per_multiprocessor = properties.maxBlocksPerMultiProcessor;
  info.l2_bytes = properties.l2CacheSize;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.clock_hz = hertz(cudaDevAttrClockRate);
  // Double data rate.
  info.memory_bytes_per_second =
      2 * hertz(cudaDevAttrMemoryClockRate) * properties.memoryBusWidth / 8;
  return info;
}

}  // namespace

std::vector<DeviceInfo> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // no driver or no GPU: the list is empty
    return {};
  }
  const std::string surroundings = count > 0 ? environment() : "";
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    devices.push_back(describe(ordinal, surroundings));
  }
  return devices;
}

}  // namespace autotune
