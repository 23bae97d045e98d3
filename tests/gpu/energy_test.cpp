// SPDX-License-Identifier: Apache-2.0
// The energy of a call on a GPU whose board has a counter.
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/timed_kernels.hpp"

namespace autotune {
namespace {

class EnergyOnGpu : public Gpu {};

TEST_F(EnergyOnGpu, IsThatOfABoardAtWork) {
  if (const std::string why = device().no_energy(); !why.empty()) GTEST_SKIP() << why;
  TimedKernels kernels(device());
  const auto small = kernels.work(20000), large = kernels.work(80000);
  const double seconds = small->time(8, L2State::hot).seconds;
  const Energy one = small->energy(0.3, L2State::hot);
  const double watts = one.watts;
  figure("power of a board at work", format("{:.4g} W", watts), "20 to 2000 W");
  EXPECT_GT(watts, 20);
  EXPECT_LT(watts, 2000);
  EXPECT_GE(one.seconds, 0.3);
  // The board is not idle between batches for long.
  EXPECT_NEAR(one.joules / seconds / watts, 1, 0.25);
  const Energy again = small->energy(0.3, L2State::hot);
  figure("energy of a call, measured twice", format("{:.3f}", again.joules / one.joules), "10 %");
  EXPECT_NEAR(again.joules / one.joules, 1, 0.1);
  const Energy four = large->energy(0.3, L2State::hot);
  figure("energy of four times the work", format("{:.3f}", four.joules / one.joules), "4 +- 20 %");
  EXPECT_NEAR(four.joules / one.joules, 4, 0.8);
}

}  // namespace
}  // namespace autotune
