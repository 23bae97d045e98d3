// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cuda_workbench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/gpu/back_to_back.hpp"
#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/nvml_energy.hpp"
#include "tuner/gpu/problem_buffers.hpp"
#include "tuner/gpu/right_answers.hpp"
#include "tuner/gpu/verifier.hpp"
#include "tuner/measure/energy.hpp"

namespace autotune {

namespace {

constexpr double kEnergyBatch = 5e-3;         // seconds: shorter than a step of the counter
constexpr double kMostEnergyLaunches = 1024;  // in one batch

double seconds_of_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Binds the work of a call to where the workload's buffers lie.
using Bind = std::function<std::unique_ptr<BoundWork>(const std::vector<std::byte*>& addresses)>;

class CudaCandidate : public Candidate, public Countable {
 public:
  CudaCandidate(const CudaContext& context, const Workload& workload, ProblemBuffers& buffers,
                const Verifier& verifier, std::shared_ptr<const Workspace> workspace, Bind bind)
      : context_(context),
        form_(workload.form),
        buffers_(buffers),
        verifier_(verifier),
        workspace_(std::move(workspace)),
        bind_(std::move(bind)) {
    for (const InputSet set : kInputSets) {
      plans_[static_cast<std::size_t>(set)] = bind_(buffers_.addresses(set));
    }
  }

  Verdict verify(int runs, double give_up_seconds) override {
    context_.use();
    return verifier_.verify(plans_, *workspace_, runs, give_up_seconds);
  }

  Verdict recheck() override {
    context_.use();
    return verifier_.recheck(plan_on(0), *workspace_);
  }

  TimedBatch time(int launches, L2State l2) override {
    return time_in(CallContext::chain, launches, l2);
  }

  TimedBatch time_in(CallContext context, int launches, L2State l2) override {
    context_.use();
    const ProblemBuffers::Rotation rotation = rotation_for(l2);
    TimedBatch batch = timed(chain_of(context, launches, rotation), context);
    batch.l2 = rotation.cold ? L2State::cold : L2State::hot;
    return batch;
  }

  Energy energy(double least_seconds, L2State l2) override {
    context_.use();
    const NvmlEnergy board(context_.info.name, pci_address(context_.ordinal));
    const double one = std::max(time(1, l2).seconds, 1e-9);
    const int launches =
        static_cast<int>(std::clamp(std::ceil(kEnergyBatch / one), 1.0, kMostEnergyLaunches));
    const Chain chain = chain_of(CallContext::chain, launches, rotation_for(l2));
    const int calls = BatchTimer::calls(chain);
    timed(chain, CallContext::chain);  // makes the graph
    BackToBack batches(context_.stream.get(), [&] { start(chain); });
    const auto run_batch = [&] {
      batches.run();
      return calls;
    };
    return sustained_energy([&] { return board.joules(); }, run_batch, least_seconds,
                            seconds_of_clock);
  }

  Counters counters(const std::filesystem::path& plugin) override {
    context_.use();
    if (!context_.count_calls) throw Error("hardware counters are not available in this process");
    const auto call = [this] {
      const cudaStream_t stream = context_.stream.get();
      plan_on(0).launch(stream, EarlyStart::never);
      check_cuda(cudaStreamSynchronize(stream), "finish a counted call");
    };
    call();  // so that caches and the module are as in a chain of calls
    return context_.count_calls(plugin, call);
  }

 private:
  ProblemBuffers::Rotation rotation_for(L2State l2) {
    return l2 == L2State::cold ? rotate() : ProblemBuffers::Rotation{};
  }

  Chain chain_of(CallContext context, int launches, const ProblemBuffers::Rotation& rotation) {
    // With fewer launches than copies, the first copies would be used again too soon.
    const int least = rotation.cold ? rotation.copies : 1;
    const EarlyStart early =
        context == CallContext::in_order ? EarlyStart::never : EarlyStart::captured;
    const auto enqueue = [this, early](cudaStream_t stream, int copy) {
      plan_on(copy).launch(stream, early);
    };
    return {enqueue, std::max(launches, least), rotation.copies, context == CallContext::between};
  }

  /// The first set of buffers is the uniform one itself.
  const BoundWork& plan_on(int copy) const {
    return copy == 0 ? *plans_[static_cast<std::size_t>(InputSet::uniform)]
                     : *on_copies_[static_cast<std::size_t>(copy) - 1];
  }

  ProblemBuffers::Rotation rotate() {
    const ProblemBuffers::Rotation rotation = buffers_.rotation(context_.stream.get());
    for (int i = static_cast<int>(on_copies_.size()) + 1; i < rotation.copies; ++i) {
      on_copies_.push_back(bind_(buffers_.copy_addresses(i)));
    }
    return rotation;
  }

  TimedBatch timed(const Chain& chain, CallContext context) {
    const BatchTimer& timer = *context_.timer;
    if (context == CallContext::alone) return timer.alone(chain);
    if (form_ == LaunchForm::stream) return timer.stream(chain);
    return timer.replay(graph_of(chain, context), chain);
  }

  void start(const Chain& chain) {
    if (form_ == LaunchForm::stream) return context_.timer->start(chain);
    context_.timer->start(graph_of(chain, CallContext::chain));
  }

  cudaGraphExec_t graph_of(const Chain& chain, CallContext context) {
    GraphExec& graph = graphs_[{chain.launches, chain.copies, context}];
    if (!graph) graph = context_.timer->prepare(chain);
    return graph.get();
  }

  const CudaContext& context_;
  LaunchForm form_;
  ProblemBuffers& buffers_;
  const Verifier& verifier_;
  std::shared_ptr<const Workspace> workspace_;
  Bind bind_;
  PlanOfSet plans_;
  std::vector<std::unique_ptr<BoundWork>> on_copies_;
  std::map<std::tuple<int, int, CallContext>, GraphExec> graphs_;  // by launches, copies, context
};

std::shared_ptr<const Workspace> allocate(cudaStream_t stream, const LaunchPlan& plan) try {
  auto workspace = std::make_shared<Workspace>(Workspace{plan.workspace, {}});
  for (const BufferSpec& spec : plan.workspace) {
    fill_workspace(stream, spec, workspace->buffers.emplace_back(stream, spec.bytes()));
  }
  return workspace;
} catch (const Error& error) {
  throw KernelFailure(Outcome::launch_error, std::string("its workspace: ") + error.what());
}

/// One candidate of a vendor's library, on one buffer set.
class BoundBaseline : public BoundWork {
 public:
  BoundBaseline(std::shared_ptr<Baseline> baseline, std::size_t number,
                const std::vector<std::byte*>& addresses, std::span<const Scalar> scalars)
      : baseline_(std::move(baseline)),
        number_(number),
        addresses_(addresses.begin(), addresses.end()),
        scalars_(scalars) {}
  void launch(cudaStream_t stream, EarlyStart) const override {
    baseline_->launch(number_, addresses_, scalars_, stream);
  }

 private:
  std::shared_ptr<Baseline> baseline_;
  std::size_t number_;
  std::vector<void*> addresses_;
  std::span<const Scalar> scalars_;  // the workload's
};

class CudaWorkbench : public Workbench {
 public:
  CudaWorkbench(std::shared_ptr<const CudaContext> context, const Workload& workload)
      : context_(std::move(context)),
        workload_(workload),
        buffers_(stream(), context_->info, workload_, *context_->kernels),
        answers_(
            right_answers(stream(), workload_, context_->compiler, *context_->kernels, buffers_)),
        verifier_(stream(), workload_, *context_->kernels, buffers_, answers_) {}

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    context_->use();
    const auto cubin = std::make_shared<const LoadedCubin>(*kernel.binary);
    const auto workspace = allocate(stream(), plan);
    std::vector<BufferSpec> specs = buffers_.specs();
    specs.insert(specs.end(), workspace->specs.begin(), workspace->specs.end());
    return candidate(workspace, [=](std::vector<std::byte*> addresses) {
      for (const ZonedBuffer& buffer : workspace->buffers) addresses.push_back(buffer.start());
      return std::make_unique<BoundPlan>(*cubin, plan, addresses, specs);
    });
  }

  std::vector<std::string> baselines(const BaselineSource& source) override {
    context_->use();
    return baseline(source)->names();
  }

  std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                           std::size_t number) override {
    context_->use();
    return candidate(
        std::make_shared<const Workspace>(),
        [this, number, library = baseline(source)](const std::vector<std::byte*>& addresses) {
          return std::make_unique<BoundBaseline>(library, number, addresses, workload_.scalars);
        });
  }

  double launch_floor() override {
    constexpr int kLaunches = 512;
    context_->use();
    const Chain chain{[this](cudaStream_t on, int) { context_->kernels->empty(on); }, kLaunches, 1};
    const BatchTimer& timer = *context_->timer;
    const bool graph_form = workload_.form == LaunchForm::graph;
    const GraphExec graph = graph_form ? timer.prepare(chain) : GraphExec();
    std::array<double, 7> times;
    for (double& time : times) {
      time = (graph_form ? timer.replay(graph.get(), chain) : timer.stream(chain)).seconds;
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

 private:
  cudaStream_t stream() const { return context_->stream.get(); }

  std::unique_ptr<Candidate> candidate(std::shared_ptr<const Workspace> workspace, Bind bind) {
    return std::make_unique<CudaCandidate>(*context_, workload_, buffers_, verifier_,
                                           std::move(workspace), std::move(bind));
  }

  /// Opened once.
  const std::shared_ptr<Baseline>& baseline(const BaselineSource& source) {
    std::shared_ptr<Baseline>& opened = baselines_[source];
    if (!opened) {
      if (!context_->open_baseline) throw Error("baselines are not available in this process");
      const auto bytes = buffers_.addresses(InputSet::uniform);
      const std::vector<void*> addresses(bytes.begin(), bytes.end());
      opened = context_->open_baseline(source, workload_, addresses);
    }
    return opened;
  }

  std::shared_ptr<const CudaContext> context_;
  const Workload workload_;
  ProblemBuffers buffers_;
  RightAnswers answers_;
  Verifier verifier_;
  std::map<BaselineSource, std::shared_ptr<Baseline>> baselines_;
};

}  // namespace

CudaContext::CudaContext(int device, const DeviceInfo& device_info,
                         const CubinCompiler& cubin_compiler, OpenBaseline opener,
                         CountCalls counter)
    : ordinal(device),
      info(device_info),
      compiler(cubin_compiler),
      open_baseline(std::move(opener)),
      count_calls(std::move(counter)) {
  use();
  stream = make_stream();
  kernels = std::make_unique<DeviceKernels>(compiler, info.multiprocessors);
  timer = std::make_unique<BatchTimer>(*kernels, stream.get());
}

void CudaContext::use() const { check_cuda(cudaSetDevice(ordinal), "be used"); }

std::unique_ptr<Workbench> make_cuda_workbench(std::shared_ptr<const CudaContext> context,
                                               const Workload& workload) {
  context->use();
  return std::make_unique<CudaWorkbench>(std::move(context), workload);
}

}  // namespace autotune
