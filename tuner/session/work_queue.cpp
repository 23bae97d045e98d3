// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/work_queue.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

namespace autotune {

ProblemQueue::ProblemQueue(std::size_t count) : waiting_(count) {
  std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
}

std::optional<std::size_t> ProblemQueue::take(std::optional<std::size_t> wanted) {
  if (waiting_.empty()) return std::nullopt;
  auto found = wanted ? std::ranges::find(waiting_, *wanted) : waiting_.begin();
  if (found == waiting_.end()) found = waiting_.begin();
  const std::size_t number = *found;
  waiting_.erase(found);
  ++begun_;
  return number;
}

std::vector<std::size_t> ProblemQueue::next(std::size_t count) const {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(count, waiting_.size()));
  return {waiting_.begin(), end};
}

bool ProblemQueue::waits(std::size_t number) const {
  return std::ranges::find(waiting_, number) != waiting_.end();
}

bool ProblemQueue::give_back(std::size_t number) {
  --begun_;
  waiting_.push_front(number);
  return given_back_.insert(number).second;
}

std::vector<std::size_t> longest_first(const Target& target, std::span<const Problem> problems,
                                       const DeviceInfo& device) {
  std::vector<double> length;
  for (const Problem& problem : problems) {
    const Work work = work_of(target, problem, device);
    length.push_back(std::max(work.flops, work.bytes));
  }
  std::vector<std::size_t> order(problems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return length[i]; });
  return order;
}

namespace {

/// While one problem waits for its compilers, kernels of the other run.
constexpr std::size_t kPlaces = 2;

/// Two problems fit if the buffers of each take no more than this share of the memory: inputs,
/// results and references are allocated several times.
constexpr std::int64_t kMemoryShare = 16;

}  // namespace

std::int64_t buffer_bytes(const Target& target, const Problem& problem, const DeviceInfo& device) {
  std::int64_t bytes = 0;
  for (const BufferSpec& buffer : buffers_of(target, problem, device)) bytes += buffer.bytes();
  return bytes;
}

std::size_t places_of_each(const Target& target, const TuningRequest& request,
                           std::span<Device* const> devices) {
  if (request.problems.size() <= devices.size()) return 1;
  const auto takes_turns = [](const Device* device) { return device->takes_turns(); };
  if (!std::ranges::all_of(devices, takes_turns)) return 1;
  const DeviceInfo& info = devices[0]->info();
  const auto fits = [&](const Problem& problem) {
    return buffer_bytes(target, problem, info) <= info.memory_bytes / kMemoryShare;
  };
  return std::ranges::all_of(request.problems, fits) ? kPlaces : 1;
}

ProblemQueue queue_of(const Target& target, const TuningRequest& request, const DeviceInfo& device,
                      std::size_t places) {
  const bool is_given = places < 2 || !request.weights.empty();
  if (is_given) return ProblemQueue(request.problems.size());
  return ProblemQueue(longest_first(target, request.problems, device));
}

namespace {

/// What is left to do, in problems of this one's weight.
double rest_of(const std::vector<double>& weights, std::size_t number, std::size_t unfinished) {
  if (weights.empty()) return static_cast<double>(unfinished);
  const auto own = weights.begin() + static_cast<std::ptrdiff_t>(number);
  return std::accumulate(own, weights.end(), 0.0) / *own;
}

}  // namespace

std::optional<double> time_share(const TuningRequest& request, std::size_t number,
                                 std::size_t unfinished, std::size_t devices) {
  if (request.budget.kind != Budget::Kind::seconds) return std::nullopt;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - request.started;
  const double rounds = rest_of(request.weights, number, unfinished) / static_cast<double>(devices);
  return (request.budget.amount - passed.count()) / std::max(1.0, rounds);
}

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
