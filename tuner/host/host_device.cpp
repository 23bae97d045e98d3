// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/host_workbench.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

class HostDevice : public Device {
 public:
  HostDevice(std::shared_ptr<BuildCache> cache, const HostOptions& options)
      : options_(options),
        compiler_(std::move(cache), options.compile_limit_seconds, options.optimization),
        info_(cpu_info()) {
    info_.environment = compiler_.version();
  }

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_.compile(unit); }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }

  std::unique_ptr<Workbench> open(const Workload& workload) override {
    CompiledKernel reference;
    if (workload.expected_file.empty()) reference = compile(workload.reference_source);
    if (reference.outcome != Outcome::ok) {
      throw Error(format("{}: the reference kernel does not compile: {}", workload.problem,
                         first_error(reference.log)));
    }
    if (!launcher_) launcher_.emplace(options_.threads, options_.order);
    return std::make_unique<HostWorkbench>(workload, reference, info_, *launcher_);
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
