// SPDX-License-Identifier: Apache-2.0
// A timer with scripted results.
#pragma once

#include <functional>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// A function gives the result of call number `call` (from 0). Keeps the launches of each call.
class ScriptedTimer : public Timer {
 public:
  using Script = std::function<TimedBatch(int call, int launches)>;
  explicit ScriptedTimer(Script script) : script_(std::move(script)) {}
  explicit ScriptedTimer(double seconds)
      : ScriptedTimer([seconds](int, int) {
          return TimedBatch{seconds, 0, L2State::hot};
        }) {}

  TimedBatch time(int launches, L2State) override {
    calls.push_back(launches);
    return script_(static_cast<int>(calls.size()) - 1, launches);
  }

  std::vector<int> calls;  // launches per call

 private:
  Script script_;
};

inline TimedBatch batch_of(double seconds, double clock_hz = 0) {
  return {seconds, clock_hz, L2State::hot};
}

}  // namespace autotune
