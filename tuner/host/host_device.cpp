// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <optional>
#include <utility>

#include "tuner/host/compile_program.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/host_workbench.hpp"

namespace autotune {
namespace {

constexpr double kCompileSeconds = 60;

class HostDevice : public Device {
 public:
  HostDevice(std::shared_ptr<BuildCache> cache, const HostOptions& options)
      : options_(options),
        compiler_(std::move(cache),
                  options.runner ? options.runner : programs_of_this_process(kCompileSeconds),
                  options.optimization),
        info_(cpu_info()) {
    info_.environment = compiler_.version();
  }

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_.compile(unit); }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }
  void stop_compiling() override { compiler_.stop(); }

  std::unique_ptr<Workbench> open(const Workload& workload) override {
    auto reference = workload.reference_binary;
    if (!reference && workload.runs_kernels()) {
      reference = reference_binary(workload, compile(workload.reference_source));
    }
    if (!launcher_) launcher_.emplace(options_.threads, options_.order);
    return std::make_unique<HostWorkbench>(workload, reference.get(), info_, *launcher_);
  }

 private:
  const HostOptions options_;
  HostCompiler compiler_;
  DeviceInfo info_;
  std::optional<Launcher> launcher_;  // from the first open() on: compiling needs no threads
};

}  // namespace

std::unique_ptr<Device> make_host_device(std::shared_ptr<BuildCache> cache,
                                         const HostOptions& options) {
  return std::make_unique<HostDevice>(std::move(cache), options);
}

}  // namespace autotune
