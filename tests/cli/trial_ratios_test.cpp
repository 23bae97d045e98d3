// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/trial_ratios.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tests/db/sample.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class TrialRatios : public ::testing::Test {
 protected:
  std::map<std::string, double> ratios() {
    return trial_ratios(store_, store_.tuned({}).at(0), 1.05);
  }
  db::TrialRow pruned(const std::string& configuration, double bound_ns) {
    db::TrialRow row = sample_.trial(configuration, bound_ns);
    row.outcome = "pruned";
    row.verified = false;
    return row;
  }

  db::TemporaryFolder folder_;
  db::TunedStore store_{folder_ / "t.db"};
  db::Sample sample_{store_};
};

TEST_F(TrialRatios, AreOverTheFastest) {
  store_.append(std::vector{sample_.trial("BM=16", 30000), sample_.trial("BM=32", 20000),
                            sample_.failure("BM=64", "wrong")});
  EXPECT_THAT(ratios(),
              ElementsAre(Pair("BM=16", 1.5), Pair("BM=32", 1), Pair("BM=64", kInfinity)));
}

TEST_F(TrialRatios, TheDecisionIsTheFastestWhateverTheSearchTimed) {
  store_.append(std::vector{sample_.trial("BM=16", 20000), sample_.trial("BM=32", 20200)});
  store_.add_decision(sample_.decision("BM=32", 19000));
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", 1)));
}

TEST_F(TrialRatios, ALowerBoundWithinTheLimitSaysNothing) {
  store_.append(
      std::vector{sample_.trial("BM=16", 20000), pruned("BM=32", 20800), pruned("BM=64", 40000)});
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", kInfinity), Pair("BM=64", 2)));
}

TEST_F(TrialRatios, WhereAllFailNoRatioIsLostToArithmetic) {
  store_.append(
      std::vector{sample_.failure("BM=16", "wrong"), sample_.failure("BM=32", "timeout")});
  store_.pin({"", sample_.key, "BM=64", "", "2026-03-01T12:02:00.000Z"});  // not tried
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", kInfinity), Pair("BM=32", kInfinity)));
}

double limit_at(const char* within) {
  return limit_of(Arguments(verb_called("compare"), {"--within", within}));
}

TEST(LimitOf, ReadsPercent) {
  EXPECT_DOUBLE_EQ(limit_at("5"), 1.05);
  EXPECT_DOUBLE_EQ(limit_at("2.5%"), 1.025);
  EXPECT_DOUBLE_EQ(limit_at("0"), 1);
  for (const char* text : {"-1", "1001", "nan", "inf", "1e400", "%", "5%%", "5 %", "five"}) {
    EXPECT_THROW(limit_at(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace autotune::cli
