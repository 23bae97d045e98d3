// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

constexpr double kWatts = 200;

/// A board of kWatts whose counter steps every `step` seconds, and batches of ten calls.
class FakeBoard {
 public:
  FakeBoard(double step, double batch) : step_(step), batch_(batch) {}

  Energy measure(double least) {
    return sustained_energy([this] { return kWatts * step_ * std::floor(now_ / step_); },
                            [this] {
                              now_ += batch_;
                              return 10;
                            },
                            least, [this] { return now_; });
  }

 private:
  double step_, batch_;
  double now_ = 5.017;
};

TEST(SustainedEnergy, IsPowerTimesTimeWhateverTheStepsOfTheCounter) {
  for (const double step : {0.02, 0.1, 0.25}) {
    FakeBoard board(step, 0.005);  // 0.1 J a call
    const Energy energy = board.measure(0.3);
    EXPECT_GE(energy.seconds, 0.3);
    EXPECT_NEAR(energy.joules, 0.1, 0.1 * (energy.resolution + 1e-6)) << step;
    EXPECT_NEAR(energy.watts, kWatts, kWatts * (energy.resolution + 1e-6)) << step;
    EXPECT_LT(energy.resolution, 0.02);
  }
}

TEST(SustainedEnergy, SaysHowFarLongBatchesBlurIt) {
  FakeBoard board(0.02, 0.1);  // several steps in each batch
  const Energy energy = board.measure(0.3);
  EXPECT_NEAR(energy.joules, 2, 2 * energy.resolution);
  EXPECT_GT(energy.resolution, 0.1);
}

TEST(SustainedEnergy, ACounterThatStandsStillIsAnError) {
  FakeBoard board(1e6, 0.005);
  try {
    board.measure(0.3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the energy counter stays at 0 J: use --objective time");
  }
}

}  // namespace
}  // namespace autotune
