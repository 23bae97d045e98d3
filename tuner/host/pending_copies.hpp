// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of one thread of a block. They run in the wait, as late as CUDA allows. So a
// kernel that forgets to wait reads stale values on the host, too.
#pragma once

#include <cstring>
#include <vector>

namespace autotune {

class PendingCopies {
 public:
  void add(void* to, const void* from, unsigned bytes, unsigned zeros) {
    copies_.push_back({to, from, bytes, zeros});
  }

  /// Ends a group: all copies since the last one.
  void commit() { groups_.push_back(copies_.size()); }

  /// Runs the copies of all groups but the newest `groups_left`.
  void wait(std::size_t groups_left) {
    if (groups_.size() <= groups_left) return;
    const std::size_t groups = groups_.size() - groups_left, count = groups_[groups - 1];
    for (std::size_t i = 0; i < count; ++i) make(copies_[i]);
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(count));
    groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : groups_) end -= count;
  }

  void drop() {
    copies_.clear();
    groups_.clear();
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    unsigned bytes, zeros;
  };

  static void make(const Copy& copy) {
    std::memcpy(copy.to, copy.from, copy.bytes);
    std::memset(static_cast<char*>(copy.to) + copy.bytes, 0, copy.zeros);
  }

  std::vector<Copy> copies_;
  std::vector<std::size_t> groups_;  // the end of each in copies_
};

}  // namespace autotune
