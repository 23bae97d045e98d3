// SPDX-License-Identifier: Apache-2.0
// Reports regularly what a verb is waiting for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace autotune::cli {

/// Prints the progress of compilation on stderr every 10 s while it lives.
class Patience {
 public:
  explicit Patience(double limit_seconds);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// Thread-safe.
  void note(std::size_t done, std::size_t all);

 private:
  void speak(const std::stop_token& end);

  const double limit_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t done_ = 0;
  std::string of_;
  std::jthread thread_;
};

}  // namespace autotune::cli
