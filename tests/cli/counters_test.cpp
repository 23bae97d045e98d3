// SPDX-License-Identifier: Apache-2.0
// --counters: what was counted is shown; where nothing can be counted, the tool says why.
#include <gmock/gmock.h>

#include "db/counters.hpp"
#include "db/store.hpp"
#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> explain_tiny(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"explain", "--target", manifest_of("tiny"), "--size", "100",
                                        "--db",    "t.db"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Counters, AreShownByExplain) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "2", "--db", "t.db"})).status, 0);
  EXPECT_THAT(sandbox.run(explain_tiny()).out, Not(HasSubstr("counters ")));
  {
    db::TunedStore store(sandbox.folder() / "t.db");
    const db::BestRow best = store.tuned({}).at(0).best;
    db::add_counters(store, {"", best.key, best.configuration,
                             "achieved_occupancy=0.775 dram_read_bytes=4096 dram_write_bytes=0 "
                             "load_requests=1024 load_sectors=4096 "
                             "load_efficiency=0.5 l2_bytes=9 stall_wait=1.5 stall_barrier=2",
                             "driver 580.82", "2026-03-01T12:00:00.000Z"});
  }
  const std::string text = sandbox.run(explain_tiny()).out;
  EXPECT_THAT(text, HasSubstr("counters    of one call, by the hardware\n"
                              "  occupancy     77.5 % achieved\n"));
  EXPECT_THAT(text, HasSubstr("  global loads  1024 requests, 4096 sectors of 32 bytes, 50.0 % of "
                              "them used\n"));
  EXPECT_THAT(text, HasSubstr("  stalls        barrier 2.00, wait 1.50 (warps"));
  EXPECT_THAT(text, HasSubstr("  DRAM          4.000 KiB read, 0 bytes written"));
  EXPECT_THAT(text, HasSubstr(" if each element moves once\n")) << "what the target declares";
  EXPECT_THAT(text, Not(HasSubstr("  L2  "))) << "its hits were not counted";
  const Json json = Json::parse(sandbox.run(explain_tiny({"--json"})).out)[0];
  EXPECT_EQ(json["counters"]["load_sectors"], 4096);
  const Ended asked =
      sandbox.run({"query", "--target", manifest_of("tiny"), "--db", "t.db", "--json"});
  EXPECT_EQ(Json::parse(asked.out)["results"][0]["counters"]["load_sectors"], 4096);
}

TEST(Counters, NeedAnNvidiaGpu) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(tune("tiny", "100", {"--counters", "--budget", "2"}));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("(host) has no hardware counters: --counters needs an NVIDIA GPU"));
}

}  // namespace
}  // namespace autotune::testing
