// SPDX-License-Identifier: Apache-2.0
// A buffer whose contents stay the same between launches: autotune_hold_constant().
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace autotune {

/// Remembers whether the workspace already holds what a kernel computes from the buffer alone.
class ConstantBuffer {
 public:
  /// `index` is that of the buffer `name` in the addresses below. An empty name: no buffer.
  void hold(std::string name, std::size_t index) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
    index_ = index;
    made_from_ = nullptr;
  }
  void invalidate() {
    const std::lock_guard lock(mutex_);
    made_from_ = nullptr;
  }

  /// Calls launch(name) if the work on the buffer can be left out, else launch(""). If lasts()
  /// returns true, the next launch may leave it out.
  template <class Lasts, class Launch>
  void launch(std::span<void* const> addresses, const Lasts& lasts, const Launch& launch) {
    const std::lock_guard lock(mutex_);
    if (name_.empty()) return launch(std::string());
    const bool is_made = made_from_ != nullptr && made_from_ == addresses[index_];
    launch(is_made ? name_ : std::string());
    if (!is_made && lasts()) made_from_ = addresses[index_];
  }

 private:
  std::mutex mutex_;
  std::string name_;
  std::size_t index_ = 0;
  const void* made_from_ = nullptr;
};

}  // namespace autotune
