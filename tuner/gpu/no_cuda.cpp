// SPDX-License-Identifier: Apache-2.0
// The folder's functions in a build without the CUDA toolkit.
#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/gpu/toolkit.hpp"

namespace autotune {
namespace {

constexpr const char* kReason =
    "this autotune was built without the CUDA toolkit: install CUDA 12.8 or later and build again, "
    "or use --device host";

}  // namespace

std::vector<DeviceInfo> cuda_devices() { return {}; }
std::vector<DeviceInfo> cuda_devices_without_compiler() { return {}; }

std::unique_ptr<CallTimer> make_call_timer(int) { throw Error(kReason); }

Toolkit toolkit() { return {}; }

std::unique_ptr<Device> make_cuda_device(int, std::shared_ptr<BuildCache>, OpenBaseline,
                                         std::shared_ptr<CompilerRunner>, CountCalls) {
  throw Error(kReason);
}

std::unique_ptr<Device> make_model_device(DeviceInfo, std::shared_ptr<BuildCache>,
                                          std::shared_ptr<CompilerRunner>) {
  throw Error(kReason);
}

Build compile_with_nvrtc(const CompileTask&, std::optional<std::chrono::duration<double>>) {
  throw Error(kReason);
}

void stop_nvrtc() noexcept {}

struct PreparedKernel::Loaded {};
PreparedKernel::PreparedKernel(int, std::string_view, LaunchPlan, std::vector<BufferSpec>,
                               EarlyStart early)
    : early_(early) {
  throw Error(kReason);
}
PreparedKernel::~PreparedKernel() = default;
void PreparedKernel::launch(std::span<void* const>, std::span<const Scalar>, void*,
                            std::string_view, std::size_t) {}

OnDevice::OnDevice(int) { throw Error(kReason); }
OnDevice::OnDevice(int, std::nothrow_t) noexcept {}
OnDevice::~OnDevice() = default;

RelaxedCapture::RelaxedCapture() : before_(0) {}
RelaxedCapture::~RelaxedCapture() = default;
bool is_captured(void*) { return false; }
bool is_capture_broken(void*) { return false; }

}  // namespace autotune
