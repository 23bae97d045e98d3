// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_candidate.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "tuner/core/deadline.hpp"

namespace autotune {
namespace {

constexpr double kEnoughSeconds = 0.05;

std::vector<HostCandidate::Bytes> outputs_of(HostBuffers& buffers) {
  std::vector<HostCandidate::Bytes> copies;
  for (const HostBuffer& buffer : buffers.all()) {
    const auto bytes = buffer.bytes();
    if (is_compared(buffer.spec().role)) copies.emplace_back(bytes.begin(), bytes.end());
  }
  return copies;
}

/// compare() of tuner/measure on all threads.
Verdict compared(const HostBuffer& buffer, const Expected& expected, ThreadPool& threads) {
  const BufferSpec& spec = buffer.spec();
  if (!spec.members.empty()) return compare(spec, buffer.bytes(), expected);
  Finding all;
  std::mutex mutex;
  threads.run_pieces(spec.length, [&](std::int64_t first, std::int64_t count) {
    const Finding part = compare_elements(spec, buffer.bytes(), expected, first, count);
    const std::lock_guard lock(mutex);
    add(all, part);
  });
  return verdict_of(spec, all, element_of(spec.type, buffer.bytes(), all),
                    element_of(expected, all));
}

}  // namespace

HostCandidate::HostCandidate(const CompiledKernel& kernel, const LaunchPlan& plan,
                             std::span<HostBuffers> buffers,
                             std::span<const ReferenceResults> expected, Launcher& launcher)
    : module_(*kernel.binary), buffers_(buffers), expected_(expected), launcher_(launcher) {
  for (BufferSpec spec : plan.workspace) {
    spec.role = Role::workspace;
    workspace_.emplace_back(spec).clear(launcher_.threads());
  }
  for (HostBuffers& set : buffers_)
    plans_.emplace_back(plan, module_, memory_of(set.all(), workspace_));
}

Verdict HostCandidate::verify(int runs, double give_up_seconds) {
  Verdict worst;
  for (std::size_t set = 0; set < buffers_.size(); ++set) {
    const Verdict verdict = verify_on(set, runs);
    if (verdict.outcome != Outcome::ok) return verdict;
    worst.seconds = verdict.seconds;
    if (set == 0 && give_up_seconds > 0 && verdict.seconds > give_up_seconds) {
      worst.outcome = Outcome::pruned;
      return worst;
    }
    worst.worst_error = std::max(worst.worst_error, verdict.worst_error);
  }
  warm_ = true;
  return worst;
}

Verdict HostCandidate::verify_on(std::size_t set, int runs) {
  HostBuffers& buffers = buffers_[set];
  Verdict worst;
  std::vector<Bytes> first;
  for (int run = 0; run < std::max(runs, 1); ++run) {
    buffers.prepare();
    for (HostBuffer& space : workspace_) space.clear(launcher_.threads());
    const auto start = Deadline::Clock::now();
    plans_[set].run(launcher_);
    worst.seconds = seconds_since(start);
    plans_[set].check(launcher_);
    Verdict verdict = buffers.check_untouched();
    for (HostBuffer& space : workspace_) {
      if (verdict.outcome == Outcome::ok) verdict = space.check_red_zones();
    }
    if (verdict.outcome == Outcome::ok) verdict = check_outputs(set);
    if (verdict.outcome != Outcome::ok) return verdict;
    worst.worst_error = std::max(worst.worst_error, verdict.worst_error);
    if (run == 0 && runs > 1) first = outputs_of(buffers);
    if (run > 0) verdict = check_repeats(set, first);
    if (verdict.outcome != Outcome::ok) return verdict;
  }
  return worst;
}

Verdict HostCandidate::check_outputs(std::size_t set) {
  double worst_error = 0;
  std::size_t output = 0;
  for (const HostBuffer& buffer : buffers_[set].all()) {
    if (!is_compared(buffer.spec().role)) continue;
    const Expected expected = expected_[set].outputs[output++].expected();
    const Verdict verdict = compared(buffer, expected, launcher_.threads());
    if (verdict.outcome != Outcome::ok) return verdict;
    worst_error = std::max(worst_error, verdict.worst_error);
  }
  return {Outcome::ok, "", worst_error};
}

Verdict HostCandidate::check_repeats(std::size_t set, const std::vector<Bytes>& first) {
  Verdict verdict;
  std::size_t output = 0;
  for (const HostBuffer& buffer : buffers_[set].all()) {
    if (!is_compared(buffer.spec().role) || verdict.outcome != Outcome::ok) continue;
    verdict = compare_runs(buffer.spec(), first[output++], buffer.bytes());
  }
  return verdict;
}

/// The uniform input set is the last.
void HostCandidate::run() { plans_.back().run(launcher_); }

void HostCandidate::evict() {
  for (HostBuffer& buffer : buffers_.back().all()) buffer.evict();
  for (HostBuffer& space : workspace_) space.evict();
}

TimedBatch HostCandidate::time(int launches, L2State l2) {
  if (!warm_) run();
  warm_ = true;
  int done = 0;
  double seconds = 0;
  const auto begin = Deadline::Clock::now();
  while (done < std::max(launches, 1) && (done == 0 || seconds < kEnoughSeconds)) {
    if (l2 == L2State::cold) {
      evict();
      const auto start = Deadline::Clock::now();
      run();
      seconds += seconds_since(start);
    } else {
      run();
      seconds = seconds_since(begin);
    }
    ++done;
  }
  return {seconds / done, 0, l2};
}

}  // namespace autotune
