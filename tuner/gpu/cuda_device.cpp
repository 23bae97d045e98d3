// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cuda_device.hpp"

#include <mutex>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_workbench.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/nvml_energy.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/text/format.hpp"

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

}  // namespace autotune
