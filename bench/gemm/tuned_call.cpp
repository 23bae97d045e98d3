// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/tuned_call.hpp"

#include <deque>
#include <memory>

#include "tuner/core/error.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/text/format.hpp"

namespace autotune::bench {
namespace {

/// The kernels, their workspace, and a plan bound to each set of operands.
struct Tuned {
  Tuned(const std::string& binary, const LaunchPlan& plan, const Operands& operands)
      : cubin(binary) {
    std::vector<BufferSpec> specs = operands.specs();
    for (const BufferSpec& spec : plan.workspace) {
      specs.push_back(spec);
      workspace.push_back(allocated_workspace(spec));
    }
    for (int copy = 0; copy < operands.copies(); ++copy) {
      std::vector<std::byte*> addresses = operands.addresses(copy);
      for (const DeviceMemory& memory : workspace) addresses.push_back(memory.get());
      plans.emplace_back(cubin, plan, addresses, specs);
    }
  }

  LoadedCubin cubin;
  std::vector<DeviceMemory> workspace;
  std::deque<BoundPlan> plans;
};

}  // namespace

EnqueueOnce tuned_call(const CudaContext& context, const Operands& operands, const Target& target,
                       const Problem& problem, const Configuration& configuration,
                       EarlyStart early) {
  const LaunchPlan plan = launch_plan(target, problem, configuration, context.info);
  const CompiledKernel kernel =
      context.compiler.compile(source_unit(target, problem, configuration, context.info));
  if (kernel.outcome != Outcome::ok) {
    throw Error(format("{}: the stored configuration {} does not compile: {}", problem.text(),
                       to_text(configuration), kernel.log));
  }
  const auto tuned = std::make_shared<const Tuned>(*kernel.binary, plan, operands);
  return [tuned, early](cudaStream_t stream, int copy) {
    tuned->plans[static_cast<std::size_t>(copy)].launch(stream, early);
  };
}

}  // namespace autotune::bench
