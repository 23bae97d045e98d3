// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/earned_calls.hpp"

#include <utility>

namespace autotune {
namespace {

/// How often this process changed the stream from one call to the next.
std::atomic<std::uint64_t> stream_changes{0};
std::atomic<void*> latest_stream{nullptr};

void note_stream(void* stream) {
  if (latest_stream.load(std::memory_order_relaxed) == stream) return;
  if (latest_stream.exchange(stream) != stream) ++stream_changes;
}

}  // namespace

EarnedCalls::EarnedCalls(Earning earning, std::function<std::unique_ptr<CallTimer>()> make_timer,
                         std::function<void(const Earning&)> decided)
    : serves_(earning.serves()),
      earning_(std::move(earning)),
      make_timer_(std::move(make_timer)),
      decided_(std::move(decided)) {}

Earning::Turn EarnedCalls::begin(void* stream) noexcept try {
  note_stream(stream);
  if (is_decided_.load(std::memory_order_acquire)) return {serves(), false};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    is_disturbed_ = true;
    return {serves(), false};
  }
  if (!timer_) timer_ = make_timer_();
  if (phase_ == Phase::begun) is_disturbed_ = true;
  if (phase_ == Phase::ended) poll();
  const bool is_free = phase_ == Phase::none && !earning_.is_decided();
  const Earning::Turn turn = earning_.next(is_free && timer_->may_time(stream));
  if (!turn.is_timed) return turn;
  phase_ = Phase::begun;
  is_disturbed_ = false;
  changes_ = stream_changes;
  timer_->begin(stream);
  return turn;
} catch (...) {  // CUDA fails: the program will hear of it
  is_decided_ = true;
  return {serves(), false};
}

void EarnedCalls::end(void* stream, bool has_run) noexcept try {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::begun) return;
  const bool is_busy = timer_->end(stream);
  if (!has_run || !is_busy) return take(std::nullopt);
  phase_ = Phase::ended;
} catch (...) {
  is_decided_ = true;
}

void EarnedCalls::poll() {
  const std::optional<double> seconds = timer_->seconds();
  if (!seconds) return;
  const bool is_own = !is_disturbed_ && changes_ == stream_changes;
  take(is_own ? seconds : std::nullopt);
}

void EarnedCalls::take(std::optional<double> seconds) {
  phase_ = Phase::none;
  earning_.take(seconds);
  serves_ = earning_.serves();
  if (!earning_.is_decided()) return;
  is_decided_.store(true, std::memory_order_release);
  if (decided_) decided_(earning_);
}

}  // namespace autotune
