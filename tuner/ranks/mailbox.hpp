// SPDX-License-Identifier: Apache-2.0
// Between the thread of a rank that speaks to rank 0 and the one that tunes.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace autotune {

/// A queue that a thread can wait on. Thread-safe.
template <class Item>
class Mailbox {
 public:
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  std::optional<Item> poll() {
    const std::lock_guard lock(mutex_);
    return first();
  }
  /// Waits for an item. nullopt once the mailbox is closed and empty.
  std::optional<Item> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return first();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::optional<Item> first() {
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};

}  // namespace autotune
