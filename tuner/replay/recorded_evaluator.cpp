// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <algorithm>

namespace autotune {

SimulatedCompilers::SimulatedCompilers(std::span<const double> compile_seconds, int threads)
    : compile_seconds_(compile_seconds),
      threads_(static_cast<std::size_t>(threads)),
      states_(compile_seconds.size(), State::unknown) {}

void SimulatedCompilers::compile(std::size_t index, bool is_urgent) {
  if (states_[index] == State::unknown) {
    states_[index] = State::queued;
    (is_urgent ? urgent_ : ahead_).push_back(index);
  } else if (states_[index] == State::queued && is_urgent && std::erase(ahead_, index) > 0) {
    urgent_.push_back(index);
  }
  begin();
}

void SimulatedCompilers::begin() {
  const std::size_t most_ahead = std::max<std::size_t>(1, threads_ - 1);
  while (running_.size() < threads_) {
    const bool is_ahead = urgent_.empty();
    std::deque<std::size_t>& queue = is_ahead ? ahead_ : urgent_;
    if (queue.empty() || (is_ahead && running_ahead_ >= most_ahead)) return;
    const std::size_t index = queue.front();
    queue.pop_front();
    states_[index] = State::running;
    running_ahead_ += is_ahead ? 1 : 0;
    running_.insert({now_ + compile_seconds_[index], index, is_ahead});
  }
}

void SimulatedCompilers::wait_for_one() {
  const Running first = *running_.begin();
  running_.erase(running_.begin());
  now_ = std::max(now_, first.end);
  running_ahead_ -= first.is_ahead ? 1 : 0;
  states_[first.index] = State::compiled;
  begin();
}

void SimulatedCompilers::pass(double seconds) {
  const double until = now_ + seconds;
  while (!running_.empty() && running_.begin()->end <= until) wait_for_one();
  now_ = until;
}

RecordedEvaluator::RecordedEvaluator(const RecordedSpace& recorded, RecordedRun run)
    : recorded_(recorded),
      run_(run),
      compilers_(recorded.compile_seconds, run.threads),
      asked_(recorded.space.size(), 0) {
  run_.budget = std::min(run_.budget, recorded.space.size());
  if (run_.automatic) automatic_end_.emplace(!run_.predicted.empty());
  if (!run_.known) return;
  known_.push_back(recorded.answers[*run_.known]);
  measure(*run_.known);
}

std::size_t RecordedEvaluator::remaining() const {
  if (automatic_end_ && automatic_end_->is_reached(order_.size())) return 0;
  if (run_.seconds < std::numeric_limits<double>::infinity()) {
    const std::chrono::duration<double> own = std::chrono::steady_clock::now() - start_;
    if (compilers_.now() + own.count() >= run_.seconds) return 0;
  }
  return run_.budget - order_.size();
}

void RecordedEvaluator::expect(double gain) {
  if (!automatic_end_) return;
  std::vector<Evaluation> known;
  for (const std::size_t index : order_) known.push_back(recorded_.answers[index]);
  automatic_end_->note(known, gain);
}

void RecordedEvaluator::prefetch(std::span<const std::size_t> indices) {
  if (run_.threads == 1) return;
  for (const std::size_t index : indices) compilers_.compile(index, false);
}

void RecordedEvaluator::measure(std::size_t index) {
  compilers_.compile(index, true);
  while (!compilers_.is_compiled(index)) compilers_.wait_for_one();
  compilers_.pass(std::max(recorded_.total_seconds[index] - recorded_.compile_seconds[index], 0.0));
  asked_[index] = 1;
  order_.push_back(index);
  measured_at_.push_back(compilers_.now());
  if (run_.end_at_optimum && recorded_.answers[index].seconds &&
      *recorded_.answers[index].seconds <= recorded_.best()) {
    run_.budget = order_.size();
  }
}

std::vector<Evaluation> RecordedEvaluator::evaluate(std::span<const std::size_t> indices) {
  if (run_.threads > 1) {
    std::size_t affordable = remaining();
    for (const std::size_t index : indices) {
      if (asked_[index]) continue;
      if (affordable-- == 0) break;
      compilers_.compile(index, true);
    }
  }
  std::vector<Evaluation> answers;
  for (const std::size_t index : indices) {
    if (!asked_[index]) {
      if (remaining() == 0) return answers;
      measure(index);
    }
    answers.push_back(recorded_.answers[index]);
  }
  return answers;
}

std::vector<Evaluation> RecordedEvaluator::evaluate_some(std::span<const std::size_t> indices,
                                                         std::size_t count) {
  count = std::min(count, indices.size());
  prefetch(indices);
  std::vector<std::size_t> chosen;
  const auto choose = [&](auto&& is_ready) {
    for (const std::size_t index : indices) {
      const bool is_new = std::ranges::find(chosen, index) == chosen.end();
      if (chosen.size() < count && is_new && is_ready(index)) chosen.push_back(index);
    }
  };
  if (run_.threads == 1) return evaluate(indices.first(count));
  choose([&](std::size_t index) { return asked_[index] != 0; });
  choose([&](std::size_t index) { return compilers_.is_compiled(index); });
  while (chosen.size() < count) {
    compilers_.wait_for_one();
    choose([&](std::size_t index) { return compilers_.is_compiled(index); });
  }
  return evaluate(chosen);
}

}  // namespace autotune
