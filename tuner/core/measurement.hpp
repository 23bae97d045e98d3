// SPDX-License-Identifier: Apache-2.0
// The figures of a set of times, which are stored and compared.
#pragma once

namespace autotune {

/// Times of one configuration, in seconds per launch.
struct Measurement {
  double median = 0;
  double low = 0;  // 95 % interval of the median: low..high
  double high = 0;
  int samples = 0;
  int outliers = 0;        // far above the median; included in the samples
  bool throttled = false;  // the SM clock was below 0.90 of the session's reference
};

}  // namespace autotune
