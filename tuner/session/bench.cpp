// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Violation = std::optional<std::string>;

Violation over(const std::string& what, std::int64_t value, std::int64_t limit) {
  if (value <= limit) return std::nullopt;
  return format("{} is {}, the device allows {}", what, value, limit);
}

/// Blocks of a cooperative launch must all be resident at once.
Violation breaks_residency(const Launch& launch, const KernelShape& shape,
                           const DeviceInfo& device) {
  if (!launch.cooperative) return std::nullopt;
  const bool is_host = device.compute_capability == 0;
  const Occupancy blocks = is_host ? Occupancy{} : occupancy(gpu_spec(device), shape);
  const std::int64_t most = is_host ? kMostHostThreads / shape.threads
                            : shape.cluster > 1
                                ? std::int64_t{blocks.active_clusters} * shape.cluster
                                : std::int64_t{blocks.active_blocks} * device.multiprocessors;
  const std::string why = not_resident(launch, most);
  return why.empty() ? std::nullopt : Violation(why);
}

Violation breaks_shape(const Launch& launch, const KernelResources& resources,
                       const DeviceInfo& device) {
  const KernelShape shape = shape_of(launch, resources);
  if (auto reason = over(format("shared memory of {}", written_name(launch.entry)),
                         shape.shared_bytes(), device.shared_bytes_per_block)) {
    return reason;
  }
  if (resources.max_threads > 0) {
    if (auto reason = over(format("block of {}", written_name(launch.entry)), shape.threads,
                           resources.max_threads)) {
      return reason;
    }
  }
  if (device.compute_capability > 0) {
    if (auto reason = complaint(gpu_spec(device), shape)) return reason;
  }
  return breaks_residency(launch, shape, device);
}

}  // namespace

Violation breaks_declared_limit(const LaunchPlan& plan, const TargetProgram::Estimates& estimates,
                                const DeviceInfo& device) {
  for (const Launch& launch : plan.launches) {
    if (auto reason = breaks_residency(launch, shape_of(launch, {}), device)) return reason;
    if (launch.cluster.count() == 1) continue;
    if (device.kind != DeviceKind::host && device.compute_capability < 90) {
      return format("{} launches clusters, which need compute capability 9.0",
                    written_name(launch.entry));
    }
    if (auto reason =
            over(format("cluster of {}", written_name(launch.entry)), launch.cluster.count(), 8))
      return reason;
  }
  if (!estimates.shared_bytes && !estimates.registers) return std::nullopt;
  KernelResources resources;
  resources.shared_bytes = estimates.shared_bytes.value_or(0);
  if (estimates.registers) {
    resources.registers = static_cast<int>(std::clamp<std::int64_t>(*estimates.registers, 1, 255));
  }
  return breaks_shape(heaviest(plan), resources, device);
}

Violation breaks_compiled_limit(const CompiledKernel& kernel, const LaunchPlan& plan,
                                const DeviceInfo& device) {
  for (const Launch& launch : plan.launches) {
    if (const KernelResources* resources = resources_of(kernel, launch.entry)) {
      if (auto reason = breaks_shape(launch, *resources, device)) return reason;
    }
  }
  return std::nullopt;
}

const Launch& heaviest(const LaunchPlan& plan) {
  return *std::max_element(
      plan.launches.begin(), plan.launches.end(), [](const Launch& a, const Launch& b) {
        return std::pair(a.dynamic_shared_bytes, a.grid.count() * a.block.count()) <
               std::pair(b.dynamic_shared_bytes, b.grid.count() * b.block.count());
      });
}

KernelShape shape_of(const Launch& launch, const KernelResources& resources) {
  KernelShape shape;
  shape.threads = static_cast<int>(launch.block.count());
  shape.registers = std::max(resources.registers, 0);
  shape.static_shared_bytes = resources.shared_bytes;
  shape.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  shape.cluster = static_cast<int>(launch.cluster.count());
  return shape;
}

namespace {

void note(Trial& trial, const Judgement& judgement) {
  trial.outcome = judgement.outcome;
  trial.measurement = judgement.measurement;
  if (judgement.outcome != Outcome::ok) trial.message = name_of(judgement.decision);
}

void recheck(Trial& trial, Candidate& candidate) {
  const Verdict verdict = candidate.recheck();
  if (verdict.outcome == Outcome::ok) return;
  trial.fail(verdict.outcome, format("after it was timed: {}", verdict.message));
}

}  // namespace

Workbench& Bench::workbench() {
  if (!workbench_) {
    const Device::Turn turn = device_.take_turn();
    const Stopwatch watch(phases_.open);
    Workload workload = prepared_workload_of(target_, problem_, device_.info());
    workload.form = policy_.form;
    workbench_ = device_.open(workload);
  }
  return *workbench_;
}

void Bench::close() {
  anchor_.reset();
  anchor_timer_.reset();
  anchor_candidate_.reset();
  workbench_.reset();
}

Anchor& Bench::anchor() {
  if (anchor_) return *anchor_;
  if (const std::optional<Loadable> loadable = anchor_source_()) {
    try {
      anchor_candidate_ = workbench().load(*loadable->kernel, loadable->plan);
    } catch (const KernelFailure&) {  // a second copy of a large workspace may not fit
      return anchor_.emplace();
    }
    try {
      anchor_timer_.emplace(*anchor_candidate_, search_context(policy_));
      return anchor_.emplace(*anchor_timer_, policy_);
    } catch (const KernelFailure& failure) {
      if (failure.outcome() != Outcome::killed) anchor_failure_ = failure;
    }
  }
  return anchor_.emplace();
}

void Bench::measure(Trial& trial, const Loadable& configuration, double best_seconds) {
  ++measured_;
  const Device::Turn turn = device_.take_turn();
  try {
    std::unique_ptr<Candidate> candidate;
    Verdict verdict;
    workbench();
    {
      const Stopwatch watch(phases_.verify);
      candidate = workbench().load(*configuration.kernel, configuration.plan);
      const bool is_disturbed = anchor_ && anchor_->is_disturbed();
      verdict = candidate->verify(1, is_disturbed ? 0 : give_up_seconds(best_seconds, policy_));
      trial.outcome = verdict.outcome;
      trial.message = verdict.message;
      trial.verified = verdict.outcome == Outcome::ok;
    }
    if (verdict.outcome == Outcome::pruned) {
      note(trial, given_up(verdict.seconds, policy_));
    } else if (verdict.outcome == Outcome::ok) {
      {
        const Stopwatch watch(phases_.measure);
        note(trial, judged(*candidate, best_seconds, verdict.seconds));
        if (anchor().is_disturbed() && trial.outcome == Outcome::ok) trial.message = kDisturbed;
      }
      const Stopwatch watch(phases_.verify);
      if (trial.outcome == Outcome::ok) recheck(trial, *candidate);
    }
    const bool is_timed = trial.outcome == Outcome::ok && trial.measurement;
    if (is_timed && trial.measurement->median < time_floor()) {
      trial.fail(Outcome::launch_error, too_fast_text(trial.measurement->median, time_floor()));
      trial.of_machine = true;
    }
  } catch (const KernelFailure& failure) {
    trial.fail(failure.outcome(), failure.what());
  }
}

/// A time below the floor is measured once more.
Judgement Bench::judged(Candidate& candidate, double best_seconds, double single_launch) {
  InContext timer(candidate, search_context(policy_));
  Judgement judgement = judge(timer, best_seconds, policy_, anchor(), single_launch);
  if (judgement.measurement.median < time_floor()) {
    anchor().refresh();
    judgement = judge(timer, best_seconds, policy_, anchor());
  }
  if (anchor().failure()) anchor_failure_ = anchor().failure();
  return judgement;
}

double Bench::time_floor() {
  if (!time_floor_) {
    const TargetProgram program(target_, problem_, device_.info());
    time_floor_ = autotune::time_floor(program, device_.info());
  }
  return *time_floor_;
}

std::string too_fast_text(double seconds, double floor) {
  return format(
      "{} is less than its bytes take at the peak of the caches ({}): the time was disturbed, or "
      "`bytes` of the manifest is too large",
      time_text(seconds), time_text(floor));
}

namespace {

class FailedCandidate final : public Candidate {
 public:
  explicit FailedCandidate(KernelFailure failure) : failure_(std::move(failure)) {}
  Verdict verify(int, double) override { throw failure_; }
  TimedBatch time(int, L2State) override { throw failure_; }
  Energy energy(double, L2State) override { throw failure_; }

 private:
  KernelFailure failure_;
};

}  // namespace

std::unique_ptr<Candidate> reloaded(const std::function<std::unique_ptr<Candidate>()>& load) try {
  return load();
} catch (const KernelFailure& failure) {
  return std::make_unique<FailedCandidate>(failure);
}

}  // namespace autotune
