// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/stored_results.hpp"

#include <gmock/gmock.h>

#include "tests/db/sample.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StoredResultsTest : public ::testing::Test {
 protected:
  db::TunedEntry single(const std::vector<std::string>& words) const {
    const Arguments arguments(verb_called("query"), words);
    return single_entry(arguments, store_);
  }

  db::TemporaryFolder folder_;
  db::TunedStore store_{folder_ / "t.db"};
  db::Sample sample_{store_};
};

TEST_F(StoredResultsTest, AreTheTrialsOfTheProblem) {
  store_.append(std::vector{sample_.trial("BM=16", 30000), sample_.trial("BM=32", 20000),
                            sample_.failure("BM=64", "wrong")});
  const RecordedResults results = stored_results(store_, store_.tuned({}).at(0));
  EXPECT_EQ(results.device, "NVIDIA H200");
  EXPECT_EQ(results.kernel, "gemm");
  EXPECT_THAT(results.problem_size, ElementsAre(512, 512, 512)) << "sizes, not settings";
  ASSERT_EQ(results.results.size(), 3u);
  EXPECT_DOUBLE_EQ(results.results[1].seconds.value(), 20e-6);
  EXPECT_EQ(results.results[2].outcome, Outcome::wrong);
}

TEST_F(StoredResultsTest, AnAnswerWithoutTrialsIsRefused) {
  store_.add_decision(sample_.decision("BM=32", 20000));
  EXPECT_THAT([&] { stored_results(store_, store_.tuned({}).at(0)); },
              ThrowsMessage<Error>(HasSubstr("only its answer")));
}

TEST_F(StoredResultsTest, SeveralProblemsAreListed) {
  store_.add_decision(sample_.decision("BM=32", 20000));
  EXPECT_EQ(single({"--target", "gemm"}).best.configuration, "BM=32");
  sample_.key.problem = "M=64 N=64 K=64 dtype=f32";
  store_.add_decision(sample_.decision("BM=16", 1000));
  EXPECT_THAT(
      [&] {
        single({"--target", "gemm"});
      },
      ThrowsMessage<Error>(HasSubstr("2 problems are tuned: choose one with --size")));
  EXPECT_EQ(single({"--target", "gemm", "--size", "64"}).best.configuration, "BM=16");
  EXPECT_THAT(
      [&] {
        single({"--target", "gemm", "--size", "128"});
      },
      ThrowsMessage<Error>(HasSubstr("gemm of size 128 is not tuned in")));
  EXPECT_THAT([&] { single({}); }, ThrowsMessage<UsageError>(HasSubstr("needs --target")));
}

TEST_F(StoredResultsTest, OfOneProblemTheContextThatWasSearchedIsTaken) {
  const std::string chain = sample_.key.policy;
  sample_.key.policy = chain + " context=between";
  store_.append(std::vector{sample_.trial("BM=16", 30000)});
  store_.add_decision(sample_.decision("BM=16", 30000));
  for (const std::string& policy : {chain, chain + " context=alone"}) {
    sample_.key.policy = policy;
    store_.add_decision(sample_.decision("BM=16", 20000));
  }
  EXPECT_EQ(single({"--target", "gemm"}).best.key.policy, chain + " context=between");
  EXPECT_THAT(
      [&] {
        stored_results(store_, single({"--target", "gemm", "--context", "alone"}));
      },
      ThrowsMessage<Error>(HasSubstr("only its answer")));
  store_.append(std::vector{sample_.trial("BM=32", 30000)});
  EXPECT_THAT(
      [&] {
        single({"--target", "gemm"});
      },
      ThrowsMessage<Error>(HasSubstr("2 problems are tuned: choose one")));
}

TEST_F(StoredResultsTest, WhatFailedUnderAnotherPolicyHasFailed) {
  store_.append(std::vector{sample_.trial("BM=16", 30000), sample_.trial("BM=32", 20000)});
  sample_.key.policy += " context=alone";
  store_.append(std::vector{sample_.failure("BM=32", "crash")});
  const RecordedResults results = stored_results(store_, store_.tuned({}).at(0));
  ASSERT_EQ(results.results.size(), 2u);
  EXPECT_EQ(results.results[1].outcome, Outcome::crash);
}

}  // namespace
}  // namespace autotune::cli
