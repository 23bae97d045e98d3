// SPDX-License-Identifier: Apache-2.0
// Which of the stored results a report shows.
#include "tuner/cli/report.hpp"

#include <cstdlib>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

/// One problem with a result for a chain and one between other kernels, and another size.
class ReportSource : public ::testing::Test {
 protected:
  ReportSource() {
    setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
    db::TunedStore store(file_);
    db::Sample sample(store);
    store.add_decision(sample.decision("BM=64", 10000));
    sample.key.policy = "l2=hot launch=graph context=between";
    store.add_decision(sample.decision("BM=32", 12000));
    sample.key.problem = "M=64 N=64 K=64 dtype=f64";
    store.add_decision(sample.decision("BM=16", 3000));
  }

  /// The configurations of the problems that are shown.
  std::vector<std::string> shown(std::vector<std::string> words) const {
    words.insert(words.end(), {"--db", file_, "--output", "unused.html"});
    const cli::Arguments arguments(cli::verb_called("report"), words);
    std::vector<std::string> configurations;
    for (const report::ReportedProblem& problem : cli::ReportSource(arguments).read().problems) {
      configurations.push_back(problem.entry.best.configuration);
    }
    return configurations;
  }

  const Sandbox sandbox_;
  const std::string file_ = (sandbox_.folder() / "some.db").string();
};

TEST_F(ReportSource, OneContextMayBeChosen) {
  EXPECT_EQ(shown({}).size(), 2u) << "contexts of a problem are told together";
  EXPECT_THAT(shown({"--context", "chain"}), ElementsAre("BM=64"));
  EXPECT_THAT(shown({"--context", "between"}), UnorderedElementsAre("BM=32", "BM=16"));
  EXPECT_THAT(shown({"--context", "between", "--set", "dtype=f64"}), ElementsAre("BM=16"));
}

TEST_F(ReportSource, OfARunThatDidNotEndOnlyTheSearchIsShown) {
  db::TunedStore store(file_);
  db::Sample sample(store);
  sample.key.problem = "M=32 N=32 K=32 dtype=f64";
  store.append(std::vector{sample.trial("BM=16", 3000)});
  EXPECT_THAT(shown({"--target", "gemm", "--size", "32"}), ElementsAre(""));
}

TEST_F(ReportSource, AContextWithoutResultsIsAnErrorThatNamesTheOthers) {
  const auto error_of = [&](const std::vector<std::string>& words) {
    try {
      shown(words);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of({"--context", "alone"}),
              HasSubstr("gemm is not tuned with --context alone in " + file_ +
                        ", but with between and chain"));
  EXPECT_THAT(error_of({"--context", "chain", "--set", "dtype=f64"}),
              HasSubstr("but with between"));
  EXPECT_THAT(error_of({"--context", "amid"}), HasSubstr("--context is between, chain or alone"));
}

TEST_F(ReportSource, OtherVerbsChooseAContextInTheSameWay) {
  const Ended query =
      sandbox_.run({"query", "--db", file_, "--context", "chain", "--target", "gemm", "--json"});
  ASSERT_EQ(query.status, 0) << query.err;
  const Json results = Json::parse(query.out)["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["config"]["BM"], 64);
  expect_refused(sandbox_.run({"db", "pin", "--db", file_, "--target", "gemm", "--size", "512",
                               "--context", "alone", "--config", "BM=64"}),
                 1, {"--context alone"});
}

TEST_F(ReportSource, ASizeNeedsATargetAndMustBeTuned) {
  EXPECT_THROW(shown({"--size", "512"}), UsageError);
  EXPECT_THROW(shown({"--target", "gemm", "--size", "8"}), Error);
  EXPECT_THAT(shown({"--target", "gemm", "--size", "64"}), ElementsAre("BM=16"));
}

}  // namespace
}  // namespace autotune::testing
