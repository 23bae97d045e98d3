// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/workload.hpp"

#include <gmock/gmock.h>

#include "tuner/blas/call_report.hpp"
#include "tuner/blas/cublas_abi.hpp"

namespace autotune::cli {
namespace {

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
  const auto read = recorded_call(blas::workload_line(unusual(), 42));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape, unusual());
  EXPECT_EQ(read->calls, 42);
}

TEST(WorkloadFile, FactorsOfEightBitsAreReadAgain) {
  blas::CallShape shape = unusual();
  shape.a_type = shape.b_type = blas::kE4m3;
  shape.factors = blas::Factors::blocks, shape.sums = blas::Sums::fast;
  const auto read = recorded_call(blas::workload_line(shape, 42));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape, shape);
}

TEST(WorkloadFile, WhyNoKernelServesACallIsReadAgain) {
  blas::CallShape shape = unusual();
  shape.obstacle = blas::Outcome::pointers;
  const std::string line = blas::workload_line(shape, 42);
  const auto read = recorded_call(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape.obstacle, blas::Outcome::pointers);
  std::string of_a_later_version = line;
  of_a_later_version.replace(line.find("batch of pointers"), 17, "something else");
  const auto later = recorded_call(of_a_later_version);
  ASSERT_TRUE(later);
  EXPECT_NE(later->shape.obstacle, blas::Outcome::served);
}

TEST(WorkloadFile, LinesOfEarlierVersionsHaveNoObstacle) {
  blas::CallShape shape = unusual();
  shape.obstacle = blas::Outcome::served;
  std::string line = blas::workload_line(shape, 42);
  const std::string member = R"("obstacle":"",)";
  line.erase(line.find(member), member.size());
  const auto read = recorded_call(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape, shape);
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
