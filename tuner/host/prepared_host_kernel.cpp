// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/prepared_host_kernel.hpp"

#include <algorithm>
#include <utility>

#include "tuner/host/bound_plan.hpp"

namespace autotune {
namespace {

LaunchPlan with_scalars(LaunchPlan plan, std::span<const Scalar> scalars) {
  for (Launch& launch : plan.launches) {
    for_each_scalar(launch, [&](Scalar& scalar) {
      const auto given = std::ranges::find(scalars, scalar.name, &Scalar::name);
      if (!scalar.name.empty() && given != scalars.end()) scalar = *given;
    });
  }
  return plan;
}

}  // namespace

PreparedHostKernel::PreparedHostKernel(const DeviceInfo& info, const std::string& shared_object,
                                       LaunchPlan plan, std::vector<BufferSpec> buffers,
                                       std::shared_ptr<HostThreads> threads)
    : threads_(std::move(threads)),
      module_(shared_object),
      plan_(std::move(plan)),
      buffers_(std::move(buffers)),
      memory_(threads_->launcher.threads()) {
  for (const Launch& launch : plan_.launches) check_launch(launch, info);
  const std::lock_guard lock(threads_->mutex);
  workspace_ = allocated_workspace(memory_, plan_);
}

void PreparedHostKernel::launch(std::span<void* const> addresses, std::span<const Scalar> scalars,
                                std::string_view constant) {
  const std::lock_guard lock(threads_->mutex);
  std::vector<HostMemory> memory;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(buffers_[i].bytes());
    memory.push_back({{static_cast<std::byte*>(addresses[i]), bytes}, buffers_[i].type});
  }
  std::ranges::copy(memory_of(workspace_), std::back_inserter(memory));
  const LaunchPlan plan = with_scalars(with_constant(plan_, constant), scalars);
  HostPlan(plan, module_, memory).run(threads_->launcher);
}

}  // namespace autotune
