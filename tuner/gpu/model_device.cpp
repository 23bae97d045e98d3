// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/model_device.hpp"

#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

class ModelDevice : public Device {
 public:
  ModelDevice(DeviceInfo info, std::shared_ptr<BuildCache> cache,
              std::shared_ptr<CompilerRunner> runner)
      : info_(std::move(info)),
        compiler_(info_.compute_capability, std::move(cache), std::move(runner)) {}

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_.compile(unit); }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }
  void stop_compiling() override { compiler_.stop(); }
  bool runs() const override { return false; }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    throw Error(format("{}: {} is a model and runs nothing; use --device auto to measure",
                       workload.problem, info_.name));
  }

 private:
  DeviceInfo info_;
  CubinCompiler compiler_;
};

}  // namespace

std::unique_ptr<Device> make_model_device(DeviceInfo info, std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner) {
  require_architecture(info);
  info.environment = format("NVRTC {}", nvrtc_version());
  return std::make_unique<ModelDevice>(std::move(info), std::move(cache), std::move(runner));
}

}  // namespace autotune
