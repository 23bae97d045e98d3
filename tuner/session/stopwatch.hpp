// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes.
#pragma once

#include <chrono>

namespace autotune {

/// Where the seconds of one problem went.
struct Phases {
  double compile_wait = 0;  // for the compile threads, with nothing else to do
  double open = 0;          // buffers and the reference
  double verify = 0;        // loading and verifying, on the device
  double measure = 0;       // judging by the clock, on the device
  double decide = 0;        // the finalists: harder verification and the playoff
  double record = 0;        // the database
};

/// Adds the seconds that it lives to a figure.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace autotune
