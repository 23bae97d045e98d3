// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/traffic_report.hpp"

#include <gtest/gtest.h>

namespace autotune::cli {
namespace {

/// A warp that reads every other f32: 128 of 256 bytes are of use.
const KernelTraffic kStrided{
    .entry = "copy",
    .access = "load x[2 * tx]",
    .traffic = {.requests = 1, .transactions = 8, .bytes_asked = 128, .bytes_moved = 256}};

TEST(TrafficReport, IsALineForEachAccess) {
  EXPECT_EQ(traffic_text({kStrided, kStrided}, "  "),
            "  load x[2 * tx]: 8 transactions, 50 % efficient\n"
            "  load x[2 * tx]: 8 transactions, 50 % efficient\n");
  EXPECT_EQ(traffic_text({}, "  "), "");
}

TEST(TrafficReport, JsonHasTheCounts) {
  const Json json = traffic_json({kStrided});
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0], (Json{{"kernel", "copy"},
                           {"access", "load x[2 * tx]"},
                           {"requests", 1},
                           {"transactions", 8},
                           {"bytes_asked", 128},
                           {"bytes_moved", 256},
                           {"efficiency", 0.5}}));
  EXPECT_EQ(traffic_json({}), Json::array());
}

}  // namespace
}  // namespace autotune::cli
