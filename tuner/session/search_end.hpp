// SPDX-License-Identifier: Apache-2.0
// The end of a search: on request, or because its time is over.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace autotune {

/// Whether to end; polled before each trial and while waiting for a compiler.
using StopRequested = std::function<bool()>;

/// A search that has ended does not begin again.
class SearchEnd {
 public:
  /// Sets the condition that ends the search for good.
  void when(StopRequested stop) { stop_ = std::move(stop); }
  /// Polls the condition. For the thread of the search.
  bool ask() {
    if (!is_over_ && stop_ && stop_()) is_over_ = true;
    return is_over_;
  }
  /// The last result of ask(). For any thread.
  bool is_over() const { return is_over_; }

 private:
  StopRequested stop_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace autotune
