// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cuda_workbench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/nvml_energy.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/verifier.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kEnergyBatch = 5e-3;         // seconds: shorter than a step of the counter
constexpr double kMostEnergyLaunches = 1024;  // in one batch

/// The alignment that textures need.
std::int64_t aligned(std::int64_t bytes) { return (bytes + 511) / 512 * 512; }

/// Buffer sets (with the uniform contents) for timing: twice the size of L2 passes between two uses
/// of a set. The first set is the problem's own. With a hot L2, only buffers that stream have
/// copies.
class Rotation {
 public:
  Rotation(Memory& memory, const DeviceInfo& device, const ProblemBuffers& buffers, L2State l2)
      : memory_(memory), buffers_(buffers), all_(l2 == L2State::cold), l2_bytes_(device.l2_bytes) {
    for (const BufferSpec& spec : buffers.specs()) {
      if (has_copies(spec)) copy_bytes_ += aligned(spec.bytes());
    }
  }

  /// The number of sets. 1 if memory is short: then is_cold() is false. Made by the first call.
  int copies() {
    if (!made_) make();
    made_ = true;
    return copies_;
  }
  bool is_cold() const { return cold_; }

  std::vector<std::byte*> addresses(int index) const {
    std::vector<std::byte*> all = buffers_.addresses(InputSet::uniform);
    if (index == 0) return all;
    std::byte* next = sets_.get() + (index - 1) * copy_bytes_;
    for (std::size_t b = 0; b < all.size(); ++b) {
      const BufferSpec& spec = buffers_.specs()[b];
      if (has_copies(spec)) all[b] = std::exchange(next, next + aligned(spec.bytes()));
    }
    return all;
  }

 private:
  bool has_copies(const BufferSpec& spec) const { return all_ || spec.streams; }

  void make() {
    const std::int64_t wanted = 2 * l2_bytes_;
    if (copy_bytes_ == 0 || l2_bytes_ == 0) return;
    const std::int64_t copies = copy_bytes_ >= wanted ? 1 : (wanted - 1) / copy_bytes_ + 2;
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "ask for the free memory");
    const std::int64_t bytes = (copies - 1) * copy_bytes_;
    if (copies > kMostCopies || bytes > static_cast<std::int64_t>(free / 2)) return;
    sets_ = memory_.allocate(bytes);
    copies_ = static_cast<int>(copies);
    cold_ = true;
    const std::vector<std::byte*> from = addresses(0);
    for (int i = 1; i < copies_; ++i) {
      const std::vector<std::byte*> to = addresses(i);
      for (std::size_t b = 0; b < from.size(); ++b) {
        if (to[b] == from[b]) continue;
        memory_.copy(to[b], from[b], buffers_.specs()[b].bytes());
      }
    }
  }

  static constexpr int kMostCopies = 1024;

  Memory& memory_;
  const ProblemBuffers& buffers_;
  const bool all_;
  const std::int64_t l2_bytes_;
  std::int64_t copy_bytes_ = 0;
  int copies_ = 1;
  bool cold_ = false, made_ = false;
  std::shared_ptr<std::byte> sets_;  // all but the first
};

/// Binds the work of a call to where the workload's buffers lie.
using Bind = std::function<std::unique_ptr<BoundWork>(const std::vector<std::byte*>& addresses)>;

/// One for each state of L2.
using Rotations = std::array<Rotation, 2>;

/// What all candidates of a problem share.
struct Shared {
  const CudaContext& context;
  LaunchForm form;
  ProblemBuffers& buffers;
  Rotations& rotations;
  Verifier& verifier;
};

class CudaCandidate : public Candidate, public Countable {
 public:
  CudaCandidate(const Shared& shared, std::shared_ptr<Workspace> workspace, Bind bind)
      : context_(shared.context),
        shared_(shared),
        workspace_(std::move(workspace)),
        bind_(std::move(bind)) {
    for (const InputSet set : kInputSets) {
      calls_[index_of(set)] =
          std::make_unique<CudaCall>(context_.stream.get(), bind_(shared_.buffers.addresses(set)));
    }
  }

  Verdict verify(int runs, double give_up_seconds) override {
    context_.use();
    return shared_.verifier.verify(calls_, *workspace_, runs, give_up_seconds);
  }

  Verdict recheck() override {
    context_.use();
    return shared_.verifier.recheck(timed_call(), *workspace_);
  }

  UnseenCalls time_unseen(int rounds) override {
    context_.use();
    return shared_.verifier.time_unseen(timed_call(), rounds);
  }

  RowBits rows(std::int64_t columns) override {
    context_.use();
    return shared_.verifier.rows(timed_call(), *workspace_, columns);
  }

  TimedBatch time(int launches, L2State l2) override {
    return time_in(CallContext::chain, launches, l2);
  }

  TimedBatch time_in(CallContext context, int launches, L2State l2) override {
    context_.use();
    TimedBatch batch = timed(chain_of(context, launches, l2), context, l2);
    const bool is_cold = l2 == L2State::cold && rotation(l2).is_cold();
    batch.l2 = is_cold ? L2State::cold : L2State::hot;
    if (std::exchange(is_unchecked_, false) || shared_.verifier.is_chain_checked()) {
      shared_.verifier.check_chain(timed_call(), *workspace_, batch.seconds);
    }
    return batch;
  }

  Energy energy(double least_seconds, L2State l2) override {
    context_.use();
    const NvmlEnergy board(context_.info.name, pci_address(context_.ordinal));
    const double one = std::max(time(1, l2).seconds, 1e-9);
    const int launches =
        static_cast<int>(std::clamp(std::ceil(kEnergyBatch / one), 1.0, kMostEnergyLaunches));
    const Chain chain = chain_of(CallContext::chain, launches, l2);
    const int calls = BatchTimer::calls(chain);
    timed(chain, CallContext::chain, l2);  // makes the graph
    BackToBack batches(context_.stream.get(), [&] { start(chain, l2); });
    const auto run_batch = [&] {
      batches.run();
      return calls;
    };
    return sustained_energy([&] { return board.joules(); }, run_batch, least_seconds,
                            steady_seconds);
  }

  Counters counters(const std::filesystem::path& plugin) override {
    context_.use();
    if (!context_.count_calls) throw Error("hardware counters are not available in this process");
    const auto call = [this] {
      const cudaStream_t stream = context_.stream.get();
      timed_call().work().launch(stream, EarlyStart::never);
      check_cuda(cudaStreamSynchronize(stream), "finish a counted call");
    };
    call();  // so that caches and the module are as in a chain of calls
    return context_.count_calls(plugin, call);
  }

 private:
  Chain chain_of(CallContext context, int launches, L2State l2) {
    const int copies = rotate(l2);
    const EarlyStart early =
        context == CallContext::in_order ? EarlyStart::never : EarlyStart::captured;
    const auto enqueue = [this, early, l2](cudaStream_t stream, int copy) {
      plan_on(copy, l2).launch(stream, early);
    };
    // With fewer launches than copies, the first copies would be used again too soon.
    Chain chain{enqueue, std::max(launches, copies), copies, context == CallContext::between};
    if (shared_.buffers.any_inouts()) {
      chain.restore = [this, l2](cudaStream_t stream, int copy) {
        restore_inouts(stream, rotation(l2).addresses(copy));
      };
    }
    return chain;
  }

  Rotation& rotation(L2State l2) const { return shared_.rotations[static_cast<int>(l2)]; }

  void restore_inouts(cudaStream_t stream, const std::vector<std::byte*>& to) const {
    const auto& specs = shared_.buffers.specs();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].role != Role::inout) continue;
      context_.kernels->copy(stream, to[i], shared_.buffers.pristine(i, InputSet::uniform),
                             specs[i].bytes());
    }
  }

  /// The set of buffers that all use first.
  CudaCall& timed_call() const {
    return static_cast<CudaCall&>(*calls_[index_of(InputSet::uniform)]);
  }

  const BoundWork& plan_on(int copy, L2State l2) const {
    const auto& others = on_copies_[static_cast<std::size_t>(l2)];
    return copy == 0 ? timed_call().work() : *others[static_cast<std::size_t>(copy) - 1];
  }

  int rotate(L2State l2) {
    auto& others = on_copies_[static_cast<std::size_t>(l2)];
    const int copies = rotation(l2).copies();
    for (int i = static_cast<int>(others.size()) + 1; i < copies; ++i) {
      others.push_back(bind_(rotation(l2).addresses(i)));
    }
    return copies;
  }

  TimedBatch timed(const Chain& chain, CallContext context, L2State l2) {
    const BatchTimer& timer = *context_.timer;
    if (context == CallContext::alone) return timer.alone(chain);
    if (shared_.form == LaunchForm::stream) return timer.stream(chain);
    return timer.replay(graph_of(chain, context, l2), chain);
  }

  void start(const Chain& chain, L2State l2) {
    if (shared_.form == LaunchForm::stream) return context_.timer->start(chain);
    context_.timer->start(graph_of(chain, CallContext::chain, l2));
  }

  cudaGraphExec_t graph_of(const Chain& chain, CallContext context, L2State l2) {
    GraphExec& graph = graphs_[{chain.launches, context, l2}];
    if (!graph) graph = context_.timer->prepare(chain);
    return graph.get();
  }

  const CudaContext& context_;
  const Shared shared_;
  std::shared_ptr<Workspace> workspace_;
  Bind bind_;
  CallOfSet calls_;
  bool is_unchecked_ = true;  // no chain of it was checked yet
  std::array<std::vector<std::unique_ptr<BoundWork>>, 2> on_copies_;   // by the state of L2
  std::map<std::tuple<int, CallContext, L2State>, GraphExec> graphs_;  // by the chain's launches
};

std::shared_ptr<Workspace> allocate(Memory& memory, const LaunchPlan& plan) try {
  return std::make_shared<Workspace>(allocated_workspace(memory, plan));
} catch (const Error& error) {
  throw KernelFailure(Outcome::launch_error, std::string("its workspace: ") + error.what());
}

void check_memory(const Workload& workload, const DeviceInfo& device) {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "ask for the free memory");
  const std::int64_t needed = verification_bytes(workload);
  if (needed <= static_cast<std::int64_t>(free)) return;
  throw Error(
      format("{} needs {} of memory on {} with its reference results, and {} is free: try a "
             "smaller size",
             workload.problem, bytes_text(needed), device.name,
             bytes_text(static_cast<std::int64_t>(free))));
}

std::vector<std::byte*> addresses_of(std::span<const ZonedBuffer> buffers) {
  std::vector<std::byte*> addresses;
  for (const ZonedBuffer& buffer : buffers) addresses.push_back(buffer.start());
  return addresses;
}

/// Runs a plan of the reference, whose binary it loads.
class ReferenceCall : public Call {
 public:
  ReferenceCall(cudaStream_t stream, const std::string& binary, const LaunchPlan& plan,
                std::span<const ZonedBuffer> buffers)
      : stream_(stream), cubin_(binary), plan_(bound(cubin_, plan, buffers)) {}

  void start() override { plan_.launch(stream_, EarlyStart::never); }
  void start_checks() override { plan_.check(stream_); }
  double run() override {
    start();
    check_kernel(cudaStreamSynchronize(stream_), "its reference kernel");
    return 0;
  }

 private:
  static BoundPlan bound(const LoadedCubin& cubin, const LaunchPlan& plan,
                         std::span<const ZonedBuffer> buffers) {
    std::vector<BufferSpec> specs;
    for (const ZonedBuffer& buffer : buffers) specs.push_back(buffer.spec());
    return {cubin, plan, addresses_of(buffers), specs};
  }

  cudaStream_t stream_;
  const LoadedCubin cubin_;
  BoundPlan plan_;
};

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
        workload_(checked(workload)),
        memory_(make_memory()),
        buffers_(*memory_, workload_),
        answers_(make_answers()),
        verifier_(*memory_, workload_, buffers_, answers_),
        rotations_{Rotation(*memory_, context_->info, buffers_, L2State::hot),
                   Rotation(*memory_, context_->info, buffers_, L2State::cold)} {
    context_->kernels->finish(workload_.buffers);
  }

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    context_->use();
    const auto cubin = std::make_shared<const LoadedCubin>(*kernel.binary);
    const auto workspace = allocate(*memory_, plan);
    std::vector<BufferSpec> specs = buffers_.specs();
    for (const ZonedBuffer& buffer : *workspace) specs.push_back(buffer.spec());
    auto loaded = candidate(workspace, [=](std::vector<std::byte*> addresses) {
      for (const ZonedBuffer& buffer : *workspace) addresses.push_back(buffer.start());
      return std::make_unique<BoundPlan>(*cubin, plan, addresses, specs);
    });
    check_types(kernel, plan, workload_.buffers);
    return loaded;
  }

  std::vector<std::string> baselines(const BaselineSource& source) override {
    context_->use();
    return baseline(source)->names();
  }

  std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                           std::size_t number) override {
    context_->use();
    return candidate(std::make_shared<Workspace>(), [this, number, library = baseline(source)](
                                                        const std::vector<std::byte*>& addresses) {
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

  const Workload& checked(const Workload& workload) const {
    check_memory(workload, context_->info);
    return workload;
  }

  std::unique_ptr<Memory> make_memory() const {
    context_->kernels->begin(workload_.buffers);
    return make_cuda_memory(stream(), *context_->kernels);
  }

  RightAnswers make_answers() {
    auto binary = workload_.reference_binary;
    if (!binary && workload_.runs_kernels()) {
      binary = reference_binary(workload_, context_->compiler.compile(workload_.reference_source));
    }
    const auto bind = [&](const LaunchPlan& plan, const std::vector<ZonedBuffer>& buffers) {
      return std::make_unique<ReferenceCall>(stream(), *binary, plan, buffers);
    };
    return right_answers(*memory_, workload_, bind, buffers_);
  }

  std::unique_ptr<Candidate> candidate(std::shared_ptr<Workspace> workspace, Bind bind) {
    const Shared shared{*context_, workload_.form, buffers_, rotations_, verifier_};
    return std::make_unique<CudaCandidate>(shared, std::move(workspace), std::move(bind));
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
  const std::unique_ptr<Memory> memory_;
  ProblemBuffers buffers_;
  const RightAnswers answers_;
  Verifier verifier_;
  Rotations rotations_;
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
      count_calls(std::move(counter)),
      kernels(std::make_unique<DeviceKernels>(compiler, info.multiprocessors)) {
  use();
  stream = make_stream();
  timer = std::make_unique<BatchTimer>(*kernels, stream.get());
}

void CudaContext::use() const { check_cuda(cudaSetDevice(ordinal), "be used"); }

std::unique_ptr<Workbench> make_cuda_workbench(std::shared_ptr<const CudaContext> context,
                                               const Workload& workload) {
  context->use();
  return std::make_unique<CudaWorkbench>(std::move(context), workload);
}

}  // namespace autotune
