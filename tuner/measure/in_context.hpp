// SPDX-License-Identifier: Apache-2.0
// A Timer whose batches run in a given call context.
#pragma once

#include "tuner/core/device.hpp"

namespace autotune {

/// `timer` must outlive it.
class InContext : public Timer {
 public:
  InContext(Timer& timer, CallContext context) : timer_(timer), context_(context) {}

  TimedBatch time(int launches, L2State l2) override {
    return timer_.time_in(context_, launches, l2);
  }

 private:
  Timer& timer_;
  CallContext context_;
};

}  // namespace autotune
