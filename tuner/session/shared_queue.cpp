// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/shared_queue.hpp"

#include <utility>

namespace autotune {

void SharedQueue::add(std::vector<Task> tasks) {
  const std::lock_guard lock(mutex_);
  for (Task& task : tasks) waiting_.push_back(std::move(task));
  changed_.notify_all();
}

Trial SharedQueue::take(std::size_t index, const Make& make) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return made_.contains(index) || !waiting_.empty(); });
    if (const auto made = made_.find(index); made != made_.end()) {
      Trial trial = std::move(made->second);
      made_.erase(made);
      return trial;
    }
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Trial trial = make(task);
    lock.lock();
    made_[task.index] = std::move(trial);
  }
}

std::map<std::size_t, Trial> SharedQueue::abandon() {
  std::unique_lock lock(mutex_);
  waiting_.clear();
  changed_.wait(lock, [&] { return helpers_busy_ == 0; });
  waiting_.clear();  // what a helper that failed has given back
  return std::exchange(made_, {});
}

std::size_t SharedQueue::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void SharedQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void SharedQueue::set_reference(Reference reference) {
  const std::lock_guard lock(mutex_);
  reference_ = std::move(reference);
  changed_.notify_all();
}

std::optional<SharedQueue::Reference> SharedQueue::reference() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || reference_; });
  return closed_ ? std::nullopt : reference_;
}

void SharedQueue::help(const Make& make) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    ++helpers_busy_;
    lock.unlock();
    std::optional<Trial> trial;
    std::exception_ptr failure;
    try {
      trial = make(task);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --helpers_busy_;
    if (trial) {
      made_[task.index] = *std::move(trial);
    } else {
      waiting_.push_front(task);
    }
    changed_.notify_all();
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace autotune
