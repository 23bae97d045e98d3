// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_candidate.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/deadline.hpp"

namespace autotune {
namespace {

constexpr double kEnoughSeconds = 0.05;

}  // namespace

HostCandidate::HostCandidate(const CompiledKernel& kernel, const LaunchPlan& plan, Memory& memory,
                             ProblemBuffers& buffers, Verifier& verifier, Launcher& launcher)
    : module_(*kernel.binary),
      buffers_(buffers),
      verifier_(verifier),
      workspace_(allocated_workspace(memory, plan)) {
  for (const InputSet set : kInputSets) {
    std::vector<ZonedBuffer> bound = buffers.all(set);
    bound.insert(bound.end(), workspace_.begin(), workspace_.end());
    calls_[index_of(set)] = std::make_unique<HostCall>(plan, module_, bound, launcher);
  }
}

void HostCandidate::restore(L2State l2) {
  buffers_.restore_inouts(InputSet::uniform);
  if (l2 == L2State::hot) return;
  for (const ZonedBuffer& buffer : buffers_.all(InputSet::uniform)) evict(buffer);
  for (const ZonedBuffer& space : workspace_) evict(space);
}

TimedBatch HostCandidate::time(int launches, L2State l2) {
  const bool at_once = l2 == L2State::hot && !buffers_.any_inouts();
  restore(L2State::hot);
  timed_call().start();  // what ran last was another kernel, or a comparison
  int done = 0;
  double seconds = 0;
  const auto begin = Deadline::Clock::now();
  while (done < std::max(launches, 1) && (done == 0 || seconds < kEnoughSeconds)) {
    if (at_once) {
      timed_call().start();
      seconds = seconds_since(begin);
    } else {
      restore(l2);
      seconds += timed_call().run();
    }
    ++done;
  }
  const TimedBatch batch{seconds / done, 0, l2};
  if (std::exchange(is_unchecked_, false) || verifier_.is_chain_checked()) {
    verifier_.check_chain(timed_call(), workspace_, batch.seconds);
  }
  return batch;
}

}  // namespace autotune
