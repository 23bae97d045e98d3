// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/on_device.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>

#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"

namespace autotune {
namespace {

/// The named scalars of a plan, each once, with the plan's values.
std::vector<Scalar> named_scalars(const LaunchPlan& plan) {
  std::vector<Scalar> named;
  for (const Launch& launch : plan.launches) {
    for_each_scalar(launch, [&](const Scalar& scalar) {
      const bool known = std::ranges::find(named, scalar.name, &Scalar::name) != named.end();
      if (!scalar.name.empty() && !known) named.push_back(scalar);
    });
  }
  return named;
}

}  // namespace

struct PreparedKernel::Loaded {
  /// A plan, bound to the addresses and scalars of its last launch.
  struct BoundCall {
    std::vector<void*> addresses;
    std::vector<Scalar> scalars;  // by name; at first those of the plan
    std::string constant;         // the buffer whose work the plan leaves out
    std::optional<BoundPlan> plan;
  };

  Loaded(std::string_view binary, LaunchPlan launches, std::vector<BufferSpec> specs)
      : cubin(binary),
        plan(std::move(launches)),
        own_scalars(named_scalars(plan)),
        buffers(std::move(specs)) {
    buffers.insert(buffers.end(), plan.workspace.begin(), plan.workspace.end());
    add_workspace();
  }

  LoadedCubin cubin;
  LaunchPlan plan;
  std::vector<Scalar> own_scalars;
  std::vector<BufferSpec> buffers;  // the workload's, then the workspace

  /// A workspace, with the calls that use it.
  struct Workspace {
    std::vector<DeviceMemory> memory;
    BoundCall whole, with_constant;
  };

  void add_workspace();
  void bind(BoundCall& call, const LaunchPlan& wanted, std::span<void* const> given,
            const Workspace& workspace) const;
  static void move(BoundCall& call, std::span<void* const> given);
  void set(BoundCall& call, std::span<const Scalar> given) const;

  std::mutex mutex;  // of what follows
  std::deque<Workspace> workspaces;
};

PreparedKernel::PreparedKernel(int ordinal, std::string_view cubin, LaunchPlan plan,
                               std::vector<BufferSpec> buffers, EarlyStart early)
    : ordinal_(ordinal), early_(early) {
  const OnDevice on_device(ordinal);
  loaded_ = std::make_unique<Loaded>(cubin, std::move(plan), std::move(buffers));
}

PreparedKernel::~PreparedKernel() {
  const OnDevice on_device(ordinal_, std::nothrow);
  loaded_.reset();
}

void PreparedKernel::Loaded::add_workspace() {
  Workspace added;
  if (!plan.workspace.empty()) {
    const RelaxedCapture relaxed;
    for (const BufferSpec& spec : plan.workspace) added.memory.push_back(allocated_workspace(spec));
  }
  workspaces.push_back(std::move(added));
}

void PreparedKernel::Loaded::bind(BoundCall& call, const LaunchPlan& wanted,
                                  std::span<void* const> given, const Workspace& workspace) const {
  const RelaxedCapture relaxed;  // finding a kernel may load it
  std::vector<std::byte*> all;
  for (void* const address : given) all.push_back(static_cast<std::byte*>(address));
  for (const DeviceMemory& memory : workspace.memory) all.push_back(memory.get());
  call.plan.emplace(cubin, wanted, all, buffers);
  call.addresses.assign(given.begin(), given.end());
  call.scalars = own_scalars;
}

void PreparedKernel::Loaded::move(BoundCall& call, std::span<void* const> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (call.addresses[i] == given[i]) continue;
    call.plan->move(static_cast<std::uint32_t>(i), static_cast<std::byte*>(given[i]));
    call.addresses[i] = given[i];
  }
}

/// Scalars that are not given take the plan's values.
void PreparedKernel::Loaded::set(BoundCall& call, std::span<const Scalar> given) const {
  std::vector<Scalar>& scalars = call.scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const auto other = std::ranges::find(given, scalars[i].name, &Scalar::name);
    const Scalar& wanted = other == given.end() ? own_scalars[i] : *other;
    if (memory_of(scalars[i]) == memory_of(wanted)) continue;
    call.plan->set(wanted);
    scalars[i] = wanted;
  }
}

void PreparedKernel::launch(std::span<void* const> addresses, std::span<const Scalar> scalars,
                            void* stream, std::string_view constant, std::size_t workspace) {
  const OnDevice on_device(ordinal_);  // NULL is a stream of the thread's GPU
  const std::lock_guard lock(loaded_->mutex);
  while (loaded_->workspaces.size() <= workspace) loaded_->add_workspace();
  Loaded::Workspace& used = loaded_->workspaces[workspace];
  Loaded::BoundCall& call = constant.empty() ? used.whole : used.with_constant;
  try {
    if (call.constant != constant) call.plan.reset();  // the plan is for another buffer
    if (!call.plan) {
      const LaunchPlan& all = loaded_->plan;
      loaded_->bind(call, constant.empty() ? all : with_constant(all, constant), addresses, used);
      call.constant = constant;
    }
    Loaded::move(call, addresses);
    loaded_->set(call, scalars);
  } catch (...) {
    call.plan.reset();  // only some addresses were replaced
    throw;
  }
  call.plan->launch(static_cast<cudaStream_t>(stream), early_);
}

}  // namespace autotune
