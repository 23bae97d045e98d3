// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/work_queue.hpp"

#include <algorithm>
#include <utility>

namespace autotune {

WorkQueue::WorkQueue(ProblemQueue problems, std::size_t devices, StopRequested stop)
    : stop_(std::move(stop)), problems_(std::move(problems)), devices_(devices) {}

WorkQueue::Work WorkQueue::next(std::size_t place, bool can_help) {
  std::unique_lock lock(mutex_);
  const std::size_t device = device_of(place);
  const auto search = [&] { return can_help ? search_for(device) : nullptr; };
  const auto is_over = [&] { return stopped_ || out_.contains(device); };
  changed_.wait(lock, [&] {
    return is_over() || problems_.waiting() > 0 || problems_.begun() == 0 || search();
  });
  if (is_over() || (stop_ && stop_())) return {};
  if (const auto number = problems_.take(problem_for(place))) return {number, nullptr};
  TrialEvaluator* const found = search();
  if (found) ++searches_.at(found).helpers;
  return {std::nullopt, found};
}

std::optional<std::size_t> WorkQueue::reserve(std::size_t place) {
  const std::lock_guard lock(mutex_);
  const auto number = problem_for(place);
  if (number) reserved_[place] = *number;
  return number;
}

/// What it has reserved, or the first that nobody has.
std::optional<std::size_t> WorkQueue::problem_for(std::size_t place) const {
  const auto own = reserved_.find(place);
  if (own != reserved_.end() && problems_.waits(own->second)) return own->second;
  for (const std::size_t number : problems_.next(reserved_.size() + 1)) {
    const auto has = [&](const auto& reservation) { return reservation.second == number; };
    if (std::ranges::none_of(reserved_, has)) return number;
  }
  return std::nullopt;
}

TrialEvaluator* WorkQueue::search_for(std::size_t device) const {
  if (apart_.contains(device)) return nullptr;
  TrialEvaluator* found = nullptr;
  int fewest = 0;
  for (const auto& [evaluator, search] : searches_) {
    const bool is_own = search.device == device;  // its kernels run there already
    if (is_own || search.over || (found && search.helpers >= fewest)) continue;
    found = evaluator;
    fewest = search.helpers;
  }
  return found;
}

void WorkQueue::expect(std::span<const std::size_t> order) {
  const std::lock_guard lock(mutex_);
  problems_.expect(order);
}

void WorkQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void WorkQueue::done() {
  const std::lock_guard lock(mutex_);
  problems_.done();
  changed_.notify_all();
}

bool WorkQueue::give_back(std::size_t number) {
  const std::lock_guard lock(mutex_);
  const bool is_first = problems_.give_back(number);
  changed_.notify_all();
  return is_first;
}

bool WorkQueue::was_given_back(std::size_t number) {
  const std::lock_guard lock(mutex_);
  return problems_.was_given_back(number);
}

bool WorkQueue::drop_out(std::size_t device) {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return out_.insert(device).second;
}

void WorkQueue::open(TrialEvaluator& search, std::size_t place) {
  const std::lock_guard lock(mutex_);
  searches_[&search].device = device_of(place);
  changed_.notify_all();
}

void WorkQueue::close(TrialEvaluator& search) {
  std::unique_lock lock(mutex_);
  Search& one = searches_.at(&search);
  one.over = true;
  search.dismiss_helpers();
  changed_.wait(lock, [&] { return one.helpers == 0; });
  searches_.erase(&search);
}

void WorkQueue::leave(TrialEvaluator& search) {
  const std::lock_guard lock(mutex_);
  --searches_.at(&search).helpers;
  changed_.notify_all();
}

void WorkQueue::stay_apart(std::size_t device) {
  const std::lock_guard lock(mutex_);
  apart_.insert(device);
}

WorkQueue::Share WorkQueue::share() {
  const std::lock_guard lock(mutex_);
  return {problems_.unfinished(), devices_ - out_.size()};
}

std::vector<std::size_t> WorkQueue::next_problems(std::size_t count) {
  const std::lock_guard lock(mutex_);
  return problems_.next(count);
}

}  // namespace autotune
