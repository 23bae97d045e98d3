// SPDX-License-Identifier: Apache-2.0
// Runs a suite in one process (tests/suites.cmake). Nothing failed and something was skipped, or
// nothing was there to run: the process ends with 77, which CTest calls skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool some_left_out = all.skipped_test_count() > 0 || all.test_to_run_count() == 0;
  return status == 0 && some_left_out ? skipped : status;
}
