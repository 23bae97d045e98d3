// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/prepared_kernel.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <variant>

#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/gpu/problem_buffers.hpp"
#include "tuner/gpu/stream_capture.hpp"

namespace autotune {
namespace {

/// The plan with these values in place of its scalars of the same names.
LaunchPlan with_scalars(LaunchPlan plan, std::span<const Scalar> scalars) {
  for (Launch& launch : plan.launches) {
    for (Argument& argument : launch.arguments) {
      auto* const own = std::get_if<Scalar>(&argument);
      if (!own || own->name.empty()) continue;
      const auto given = std::ranges::find(scalars, own->name, &Scalar::name);
      if (given != scalars.end()) *own = *given;
    }
  }
  return plan;
}

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

  std::mutex mutex;  // of the binding to the addresses and scalars of the last launch
  std::vector<std::byte*> addresses;
  std::vector<Scalar> scalars;
  std::optional<BoundPlan> bound;
};

PreparedKernel::PreparedKernel(int ordinal, std::string_view cubin, LaunchPlan plan,
                               std::vector<BufferSpec> buffers) {
  const OnDevice on_device(ordinal);
  loaded_ = std::make_unique<Loaded>(cubin, std::move(plan), std::move(buffers));
}

PreparedKernel::~PreparedKernel() = default;

void PreparedKernel::launch(std::span<void* const> addresses, std::span<const Scalar> scalars,
                            void* stream) {
  std::vector<std::byte*> all;
  all.reserve(loaded_->buffers.size());
  for (void* address : addresses) all.push_back(static_cast<std::byte*>(address));
  for (const ZonedBuffer& buffer : loaded_->workspace) all.push_back(buffer.start());
  const std::lock_guard lock(loaded_->mutex);
  const bool same =
      loaded_->bound && loaded_->addresses == all && std::ranges::equal(loaded_->scalars, scalars);
  if (!same) {
    const RelaxedCapture relaxed;  // finding a kernel may load it
    loaded_->bound.reset();
    loaded_->bound.emplace(loaded_->cubin, with_scalars(loaded_->plan, scalars), all,
                           loaded_->buffers);
    loaded_->addresses = std::move(all);
    loaded_->scalars.assign(scalars.begin(), scalars.end());
  }
  loaded_->bound->launch(static_cast<cudaStream_t>(stream));
}

}  // namespace autotune
