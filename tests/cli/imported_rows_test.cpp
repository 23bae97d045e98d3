// SPDX-License-Identifier: Apache-2.0
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/import.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

constexpr const char* kOtherwise = "2026-01-01T00:00:00.000000Z";

class ImportedRowsTest : public ::testing::Test {
 protected:
  ImportedRowsTest() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {16, 32}, {}, false}, {"WIDTH", {3}, {}, false}};
    target_.default_configuration = {{"BLOCK", 16}, {"WIDTH", 3}};
    results_.parameters = {{"BLOCK", {16, 32, 64}, {}, false}};
  }

  void add(std::int64_t block, std::optional<double> seconds, const std::string& timestamp = "") {
    RecordedResult result;
    result.values = {Value(block)};
    result.outcome = seconds ? Outcome::ok : Outcome::wrong;
    result.seconds = seconds;
    result.timestamp = timestamp;
    results_.results.push_back(result);
  }
  ImportedRows rows() const {
    return imported_rows(results_, target_, problem_of(target_, {{"N", 100}}, {}), DeviceInfo{},
                         kOtherwise);
  }

  Target target_;
  RecordedResults results_;
};

TEST_F(ImportedRowsTest, WithoutACorrectResultThereIsNoDecision) {
  add(16, std::nullopt);
  EXPECT_FALSE(rows().decision);
  results_.results.clear();
  EXPECT_FALSE(rows().decision);
  EXPECT_TRUE(rows().trials.empty());
}

TEST_F(ImportedRowsTest, TimesOfDayAreTheFilesWhereTheyHaveItsForm) {
  add(16, 1e-3, "2026-11-22 14:34:21.102791+00:00");
  add(32, 1e-3, "yesterday");
  add(32, 1e-3, "2026-11-22 14:34:21.1027x1+00:00");
  add(32, 1e-3, "2026-11-22 14:34:21.102791+02:00");
  const ImportedRows made = rows();
  EXPECT_EQ(made.trials[0].created_at, "2026-11-22T14:34:21.102791Z");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(made.trials[i].created_at, kOtherwise) << i;
  EXPECT_EQ(made.started_at, kOtherwise);
}

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

TEST_F(StoredResultsTest, AnAnswerWithoutTrialsIsRefused) {
  store_.add_decision(sample_.decision("BM=32", 20000));
  EXPECT_THAT([&] { stored_results(store_, store_.tuned({}).at(0)); },
              ThrowsMessage<Error>(HasSubstr("only its answer")));
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
