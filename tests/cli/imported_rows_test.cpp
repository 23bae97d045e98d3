// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/call_table.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/import.hpp"
#include "tuner/cli/workload.hpp"
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

class StoredResultsTest : public db::SampledStore {
 protected:
  db::TunedEntry single(const std::vector<std::string>& words) const {
    const Arguments arguments(verb_called("query"), words);
    return single_entry(arguments, store_);
  }
};

TEST_F(StoredResultsTest, AnAnswerWithoutTrialsIsRefused) {
  store_.add_decision(sample_.decision("BM=32", 20000));
  EXPECT_REFUSAL(Error, stored_results(store_, store_.tuned({}).at(0)), "only its answer");
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
  EXPECT_REFUSAL(Error, stored_results(store_, single({"--target", "gemm", "--context", "alone"})),
                 "only its answer");
  store_.append(std::vector{sample_.trial("BM=32", 30000)});
  EXPECT_REFUSAL(Error, single({"--target", "gemm"}), "2 problems are tuned: choose one");
}

TEST_F(StoredResultsTest, WhatFailedUnderAnotherPolicyHasFailed) {
  store_.append(std::vector{sample_.trial("BM=16", 30000), sample_.trial("BM=32", 20000)});
  sample_.key.policy += " context=alone";
  store_.append(std::vector{sample_.failure("BM=32", "crash")});
  const RecordedResults results = stored_results(store_, store_.tuned({}).at(0));
  ASSERT_EQ(results.results.size(), 2u);
  EXPECT_EQ(results.results[1].outcome, Outcome::crash);
}

/// A call in which every field that is recorded differs from its default.
blas::CallShape unusual() {
  blas::CallShape shape;
  shape.op_a = 1;
  shape.m = 3, shape.n = 5, shape.k = 7, shape.batch = 2;
  shape.lda = 11, shape.ldb = 13, shape.ldc = 17, shape.ldd = 19;
  shape.stride_a = 100, shape.stride_b = 200, shape.stride_c = 300, shape.stride_d = 400;
  shape.a_type = shape.b_type = blas::kBf16;
  shape.c_type = shape.d_type = blas::kF32;
  shape.compute_type = blas::kComputeF32;
  shape.math_mode = 1;
  shape.scale = blas::Scale::beta;
  shape.epilogue = blas::kBias;
  shape.alignment = 8;
  shape.obstacle = blas::Outcome::order;
  return shape;
}

TEST(WorkloadFile, WhatTheLibraryRecordsIsReadAgain) {
  blas::CallShape eight_bits = unusual(), pointers = unusual();
  eight_bits.a_type = eight_bits.b_type = blas::kE4m3;
  eight_bits.factors = blas::Factors::blocks, eight_bits.sums = blas::Sums::fast;
  pointers.obstacle = blas::Outcome::pointers;
  for (const blas::CallShape& shape : {unusual(), eight_bits, pointers}) {
    const auto read = recorded_call(blas::workload_line(shape, 42));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->calls, 42);
  }
}

TEST(WorkloadFile, OfOtherVersionsIsReadWithTheObstaclesThatAreKnown) {
  blas::CallShape shape = unusual();
  shape.obstacle = blas::Outcome::pointers;
  std::string of_a_later_version = blas::workload_line(shape, 42);
  of_a_later_version.replace(of_a_later_version.find("batch of pointers"), 17, "something else");
  const auto later = recorded_call(of_a_later_version);
  ASSERT_TRUE(later);
  EXPECT_NE(later->shape.obstacle, blas::Outcome::served);
  shape.obstacle = blas::Outcome::served;
  std::string of_an_earlier_one = blas::workload_line(shape, 42);
  const std::string member = R"("obstacle":"",)";
  of_an_earlier_one.erase(of_an_earlier_one.find(member), member.size());
  const auto earlier = recorded_call(of_an_earlier_one);
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->shape, shape);
}

TEST(WorkloadFile, ShapesOfTunableOpMayHaveABatchALeadingDimensionAndABias) {
  const auto call =
      tunable_op_call("GemmStridedBatchedTunableOp_Half_NN,nn_16_8_24_B_3_ld_32_40_48,extra");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->shape.batch, 3);
  EXPECT_EQ(call->shape.lda, 32);
  EXPECT_EQ(call->shape.ldb, 40);
  EXPECT_EQ(call->shape.ldc, 48);
  EXPECT_EQ(call->shape.a_type, blas::kF16);
  const auto biased = tunable_op_call("GemmAndBiasTunableOp_BFloat16_TN,tn_16_8_24");
  ASSERT_TRUE(biased);
  EXPECT_EQ(biased->shape.epilogue, blas::kBias);
}

TEST(WorkloadFile, OtherLinesOfTunableOpAreNoCall) {
  for (const char* line : {"", "Validator,PT_VERSION,2.11.0", "GemmTunableOp_double_NN,nn_16_8_24",
                           "GemmTunableOp_float_NN,nn_16_8", "GemmTunableOp_float_NN,nn_-16_8_24",
                           "GemmTunableOp_float_NN,nn_99999999999999999999_8_24",
                           "GemmTunableOp_float_NN,nn_4000000000_8_24"}) {
    EXPECT_FALSE(tunable_op_call(line)) << line;
  }
}

}  // namespace
}  // namespace autotune::cli
