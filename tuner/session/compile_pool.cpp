// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"

namespace autotune {
namespace {

/// How often whoever waits is asked whether to go on.
constexpr std::chrono::milliseconds kAskAgain{20};

}  // namespace

std::string key_of(const SourceUnit& unit) {
  std::string text = unit.name + '\0' + unit.prelude + '\0' + unit.text;
  for (const auto* const words : {&unit.options, &unit.entries, &unit.cooperative}) {
    text += '\0';
    for (const std::string& word : *words) text += '\0' + word;
  }
  return hash128(text);
}

CompileStatistics& CompileStatistics::operator+=(const CompileStatistics& other) {
  compiled += other.compiled;
  cached += other.cached;
  cpu_seconds += other.cpu_seconds;
  wall_seconds += other.wall_seconds;
  return *this;
}

struct CompilePool::Job {
  SourceUnit unit;
  std::string key;
  std::set<const CompileRequests*> wanted_by = {};
  std::promise<std::shared_ptr<const CompiledKernel>> promise;
  Result result = promise.get_future().share();
  bool started = false;
  bool done = false;
};

CompilePool::CompilePool(Device& device, int threads) : device_(device) { set_threads(threads); }

void CompilePool::set_threads(int threads) {
  const std::lock_guard lock(mutex_);
  count_ = std::max(threads, 1);
  while (threads_.size() < static_cast<std::size_t>(count_)) {
    threads_.emplace_back([this] { work(); });
  }
  wake_.notify_all();
}

CompilePool::~CompilePool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::shared_ptr<CompilePool::Job> CompilePool::job_of(SourceUnit&& unit, bool urgent) {
  const std::string key = key_of(unit);
  std::shared_ptr<Job>& job = jobs_[key];
  if (!job) {
    job = std::make_shared<Job>();
    job->unit = std::move(unit);
    job->key = key;
    (urgent ? urgent_ : ahead_).push_back(job);
  } else if (urgent && !job->started) {
    if (const auto waiting = std::find(ahead_.begin(), ahead_.end(), job);
        waiting != ahead_.end()) {
      ahead_.erase(waiting);
      urgent_.push_back(job);
    }
  }
  return job;
}

CompilePool::Result CompilePool::queue(SourceUnit&& unit, bool urgent, const CompileRequests& by) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = job_of(std::move(unit), urgent);
    job->wanted_by.insert(&by);
  }
  wake_.notify_all();
  return job->result;
}

std::optional<std::size_t> CompilePool::wait_for_one(std::span<const Result> results,
                                                     const std::function<bool()>& stop) {
  const auto is_there = [](const Result& result) {
    return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  std::unique_lock lock(mutex_);
  while (true) {
    const auto first = std::find_if(results.begin(), results.end(), is_there);
    if (first != results.end()) return static_cast<std::size_t>(first - results.begin());
    if (stop && stop()) return std::nullopt;
    finished_.wait_for(lock, kAskAgain);
  }
}

void CompilePool::forget(const CompileRequests& requests) {
  const std::lock_guard lock(mutex_);
  const auto is_unwanted = [](const std::shared_ptr<Job>& job) {
    return job->wanted_by.empty() && (job->done || !job->started);
  };
  for (const auto& [key, job] : jobs_) job->wanted_by.erase(&requests);
  std::erase_if(urgent_, is_unwanted);
  std::erase_if(ahead_, is_unwanted);
  std::erase_if(jobs_, [&](const auto& entry) { return is_unwanted(entry.second); });
}

CompileStatistics CompilePool::statistics() const {
  const std::lock_guard lock(mutex_);
  CompileStatistics statistics = statistics_;
  if (busy_ > 0) statistics.wall_seconds += steady_seconds() - busy_since_;
  return statistics;
}

bool CompilePool::may_work() const {
  const bool may_prefetch = !ahead_.empty() && prefetching_ < std::max(1, count_ - 1);
  return busy_ < count_ && (!urgent_.empty() || may_prefetch);
}

void CompilePool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || may_work(); });
    if (stopping_) return;
    const bool ahead = urgent_.empty();
    auto& queue = ahead ? ahead_ : urgent_;
    if (ahead) ++prefetching_;
    const std::shared_ptr<Job> job = queue.front();
    queue.pop_front();
    job->started = true;
    if (busy_++ == 0) busy_since_ = steady_seconds();
    lock.unlock();
    std::shared_ptr<const CompiledKernel> kernel;
    std::exception_ptr thrown;  // a broken environment
    try {
      kernel = std::make_shared<CompiledKernel>(device_.compile(job->unit));
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (ahead) --prefetching_;
    if (--busy_ == 0) statistics_.wall_seconds += steady_seconds() - busy_since_;
    if (kernel) {
      statistics_.cpu_seconds += kernel->seconds;
      ++(kernel->cached ? statistics_.cached : statistics_.compiled);
    }
    job->done = true;
    if (job->wanted_by.empty()) jobs_.erase(job->key);
    // Last, so that whoever has the result finds it counted.
    if (thrown) {
      job->promise.set_exception(thrown);
    } else {
      job->promise.set_value(kernel);
    }
    finished_.notify_all();
  }
}

std::shared_ptr<const CompiledKernel> wait_for(const CompilePool::Result& result,
                                               const std::function<bool()>& stop) {
  while (result.wait_for(kAskAgain) != std::future_status::ready) {
    if (stop()) return nullptr;
  }
  return result.get();
}

CompileRequests::Result CompileScheduler::compile(std::size_t index) {
  SourceUnit source = unit(index);
  readiness(index, source) = true;
  return requests_.compile(std::move(source));
}

void CompileScheduler::prefetch(std::size_t index) {
  SourceUnit source = unit(index);
  readiness(index, source);
  requests_.prefetch(std::move(source));
}

std::optional<std::vector<std::size_t>> CompileScheduler::first_compiled(
    std::vector<std::size_t> indices, std::size_t count, SearchEnd& end) {
  std::vector<CompileRequests::Result> kernels;
  for (const std::size_t index : indices) kernels.push_back(requests_.prefetch(unit(index)));
  std::vector<std::size_t> first;
  while (first.size() < count) {
    const auto compiled = requests_.wait_for_one(kernels, [&] { return end.ask(); });
    if (!compiled) return std::nullopt;
    const auto at = static_cast<std::ptrdiff_t>(*compiled);
    first.push_back(indices[*compiled]);
    indices.erase(indices.begin() + at);
    kernels.erase(kernels.begin() + at);
  }
  return first;
}

bool CompileScheduler::is_ready(std::size_t index) {
  const auto known = preludes_.find(index);
  return known != preludes_.end() ? is_ready_.at(known->second) : readiness(index, unit(index));
}

SourceUnit CompileScheduler::unit(std::size_t index) const {
  return program_.source_unit(space_.levels(index));
}

bool& CompileScheduler::readiness(std::size_t index, const SourceUnit& unit) {
  const std::uint64_t prelude = preludes_[index] = hash64(unit.prelude);
  const auto [entry, is_new] = is_ready_.try_emplace(prelude);
  if (is_new) entry->second = device_.is_cached(unit);
  return entry->second;
}

std::shared_ptr<const CompiledKernel> wait_in_search(const CompileRequests::Result& kernel,
                                                     const std::function<bool()>& is_over) {
  try {
    if (auto compiled = wait_for(kernel, is_over)) return compiled;
  } catch (const NotCompiled&) {  // a compiler that was stopped says so too
    if (!is_over()) throw;
  }
  throw SearchOver{};
}

}  // namespace autotune
