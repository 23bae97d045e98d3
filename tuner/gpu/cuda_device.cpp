// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cuda_device.hpp"

#include <cuda_runtime_api.h>

#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_workbench.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/nvml_energy.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

class CudaDevice : public Device {
 public:
  CudaDevice(int ordinal, DeviceInfo info, std::shared_ptr<BuildCache> cache,
             OpenBaseline open_baseline, std::shared_ptr<CompilerRunner> runner,
             CountCalls count_calls)
      : ordinal_(ordinal),
        info_(std::move(info)),
        compiler_(info_.compute_capability, std::move(cache), std::move(runner)),
        open_baseline_(std::move(open_baseline)),
        count_calls_(std::move(count_calls)) {}

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override {
    require_architecture(info_);
    return compiler_.compile(unit);
  }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }
  void stop_compiling() override { compiler_.stop(); }
  std::string no_energy() override try {
    const NvmlEnergy board(info_.name, pci_address(ordinal_));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    require_architecture(info_);
    return make_cuda_workbench(context(), workload);
  }
  std::optional<int> active_blocks(const CompiledKernel& kernel, const Launch& launch) override {
    context()->use();
    return resident(LoadedCubin(*kernel.binary), launch);
  }

 private:
  const std::shared_ptr<const CudaContext>& context() {
    const std::lock_guard lock(mutex_);
    if (!context_) {
      context_ =
          std::make_shared<CudaContext>(ordinal_, info_, compiler_, open_baseline_, count_calls_);
    }
    return context_;
  }

  int ordinal_;
  DeviceInfo info_;
  CubinCompiler compiler_;
  OpenBaseline open_baseline_;
  CountCalls count_calls_;
  std::mutex mutex_;  // guards the making of context_
  std::shared_ptr<const CudaContext> context_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int ordinal, std::shared_ptr<BuildCache> cache,
                                         OpenBaseline open_baseline,
                                         std::shared_ptr<CompilerRunner> runner,
                                         CountCalls count_calls) {
  auto devices = cuda_devices();
  if (ordinal < 0 || ordinal >= static_cast<int>(devices.size())) {
    throw Error(devices.empty()
                    ? std::string("there is no CUDA GPU with a working driver here: try "
                                  "--device host, or --device model:NAME")
                    : format("there is no GPU cuda:{}: there are cuda:0 to cuda:{}", ordinal,
                             devices.size() - 1));
  }
  return std::make_unique<CudaDevice>(
      ordinal, std::move(devices[static_cast<std::size_t>(ordinal)]), std::move(cache),
      std::move(open_baseline), std::move(runner), std::move(count_calls));
}

// The GPUs of this machine, as the driver and Linux describe them.

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
  const std::string address = lowered(pci_address(ordinal));  // as sysfs has it
  const std::string folder = "/sys/bus/pci/devices/" + address + "/";
  const std::string vendor = first_word_of(folder + "vendor");
  const std::string device = first_word_of(folder + "device");
  if (!vendor.starts_with("0x") || !device.starts_with("0x")) return "";
  return vendor.substr(2) + ":" + device.substr(2);
}

/// `driver 580.82, CUDA 13.0`.
std::string driver_text() {
  int version = 0;
  cudaDriverGetVersion(&version);
  std::string driver = first_word_of("/sys/module/nvidia/version");
  if (driver.empty()) driver = "of unknown version";
  return format("driver {}, CUDA {}.{}", driver, version / 1000, version % 1000 / 10);
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

std::vector<DeviceInfo> described(const std::function<std::string()>& environment) {
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

}  // namespace

std::vector<DeviceInfo> cuda_devices() {
  return described([] { return format("{}, NVRTC {}", driver_text(), nvrtc_version()); });
}

std::vector<DeviceInfo> cuda_devices_without_compiler() { return described(driver_text); }

}  // namespace autotune
