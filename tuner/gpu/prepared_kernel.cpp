// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/prepared_kernel.hpp"

#include <mutex>
#include <optional>

#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/problem_buffers.hpp"

namespace autotune {
namespace {

/// Makes a GPU the thread's for a while: the program's own choice comes back.
class OnDevice {
 public:
  explicit OnDevice(int ordinal) {
    check_cuda(cudaGetDevice(&before_), "ask for the current GPU");
    check_cuda(cudaSetDevice(ordinal), "use this GPU");
  }
  ~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace

struct PreparedKernel::Loaded {
  Loaded(std::string_view binary, LaunchPlan launches, std::vector<BufferSpec> specs)
      : cubin(binary), plan(std::move(launches)), buffers(std::move(specs)) {
    if (plan.workspace.empty()) return;
    const Stream stream = make_stream();
    for (const BufferSpec& spec : plan.workspace) {
      buffers.push_back(spec);
      fill_workspace(stream.get(), spec, workspace.emplace_back(stream.get(), spec.bytes()));
    }
    check_cuda(cudaStreamSynchronize(stream.get()), "set memory");
  }

  LoadedCubin cubin;
  LaunchPlan plan;
  std::vector<BufferSpec> buffers;  // the workload's, then the workspace
  std::vector<ZonedBuffer> workspace;

  std::mutex mutex;  // of the binding to the addresses of the last launch
  std::vector<std::byte*> addresses;
  std::optional<BoundPlan> bound;
};

PreparedKernel::PreparedKernel(int ordinal, std::string_view cubin, LaunchPlan plan,
                               std::vector<BufferSpec> buffers) {
  const OnDevice on_device(ordinal);
  loaded_ = std::make_unique<Loaded>(cubin, std::move(plan), std::move(buffers));
}

PreparedKernel::~PreparedKernel() = default;

void PreparedKernel::launch(std::span<void* const> addresses, void* stream) {
  std::vector<std::byte*> all;
  all.reserve(loaded_->buffers.size());
  for (void* address : addresses) all.push_back(static_cast<std::byte*>(address));
  for (const ZonedBuffer& buffer : loaded_->workspace) all.push_back(buffer.start());
  const std::lock_guard lock(loaded_->mutex);
  if (!loaded_->bound || loaded_->addresses != all) {
    loaded_->bound.reset();
    loaded_->bound.emplace(loaded_->cubin, loaded_->plan, all, loaded_->buffers);
    loaded_->addresses = std::move(all);
  }
  loaded_->bound->launch(static_cast<cudaStream_t>(stream));
}

}  // namespace autotune
