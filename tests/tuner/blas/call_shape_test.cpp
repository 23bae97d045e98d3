// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_shape.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/matchers.hpp"
#include "tuner/blas/lt_call.hpp"

namespace autotune::blas {
namespace {

TargetProblem problem_of(const CallShape& shape) { return problems_of(shape).at(0); }

TargetProblem launched_problem_of(const CallShape& shape) {
  return launched_problem_of(shape, problem_of(shape));
}

/// C[2,3] = A[2,4] B[4,3], packed.
CallShape small() {
  CallShape shape;
  shape.m = 2, shape.n = 3, shape.k = 4;
  shape.lda = 2, shape.ldb = 4, shape.ldc = shape.ldd = 2;
  shape.compute_type = kComputeF32;
  shape.epilogue = kNoEpilogue;
  return shape;
}

TEST(CallShape, AColumnMajorProductIsTheRowMajorOneOfSwappedOperands) {
  CallShape shape = small();
  shape.op_a = 1;
  shape.lda = 4;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  const TargetProblem problem = problem_of(shape);
  EXPECT_EQ(problem.target, "gemm");
  EXPECT_EQ(problem.settings, "dtype=f32 units=fp32 layout=NT scale=none");
  EXPECT_THAT(problem.sizes, ElementsAre(3, 2, 4, 1));
}

TEST(CallShape, ABatchIsASize) {
  CallShape shape = small();
  shape.op_b = 2;
  shape.ldb = 3;
  shape.batch = 5;
  shape.stride_a = 8, shape.stride_b = 12, shape.stride_c = shape.stride_d = 6;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape).settings, "dtype=f32 units=fp32 layout=TN scale=none");
  EXPECT_THAT(problem_of(shape).sizes, ElementsAre(3, 2, 4, 5));
  EXPECT_EQ(launched_problem_of(shape), problem_of(shape));
  shape.stride_b = 13;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_THAT(launched_problem_of(shape).sizes, ElementsAre(3, 2, 4, 5, 3, 2, -1, 2, 13, 8, -1, 6));
  shape.stride_d = 5;  // the last row of one result begins the next
  EXPECT_EQ(contract_of(shape), Outcome::batch);
}

TEST(CallShape, LeadingDimensionsAreFreeSizes) {
  CallShape shape = small();
  EXPECT_EQ(launched_problem_of(shape), problem_of(shape));
  shape.lda = 5, shape.ldb = 6, shape.ldd = 7;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape), problem_of(small()));
  const TargetProblem launched = launched_problem_of(shape);
  EXPECT_EQ(launched.target, "gemm");
  EXPECT_EQ(launched.settings, "dtype=f32 units=fp32 layout=NN scale=none");
  EXPECT_THAT(launched.sizes, ElementsAre(3, 2, 4, 1, 6, 5, -1, 7, -1, -1, -1, -1));
  shape.lda = 1;
  EXPECT_EQ(contract_of(shape), Outcome::leading_dimension);
}

TEST(CallShape, TheLeadingDimensionOfASingleColumnDoesNotMatter) {
  CallShape shape = small();
  shape.ldb = 9;
  EXPECT_FALSE(is_packed(shape));
  shape.n = 1;
  EXPECT_TRUE(is_packed(shape));
}

TEST(CallShape, WhatCublasRefusesIsNotServed) {
  CallShape shape = small();
  shape.n = 1;
  shape.ldb = 0;  // cuBLAS checks that of a single column
  EXPECT_EQ(contract_of(shape), Outcome::leading_dimension);
  shape = small();
  shape.ldc = 1;  // and that of a C that it does not read
  EXPECT_EQ(contract_of(shape), Outcome::leading_dimension);
  shape = small();
  shape.op_a = operation_of(256);
  EXPECT_EQ(contract_of(shape), Outcome::empty);
  shape.op_a = operation_of(-256);
  EXPECT_EQ(contract_of(shape), Outcome::empty);
}

TEST(CallShape, WhatTheOtherMembersDoNotShowIsTheObstacle) {
  CallShape shape = small();
  for (const Outcome obstacle : {Outcome::pointers, Outcome::settings, Outcome::order}) {
    shape.obstacle = obstacle;
    EXPECT_EQ(contract_of(shape), obstacle);
    EXPECT_EQ(outcome_called(name_of(obstacle)), obstacle);
  }
}

TEST(CallShape, CIsNotLookedAtUnlessItIsAdded) {
  CallShape shape = small();
  shape.ldc = 7;
  EXPECT_TRUE(is_packed(shape));
  shape.scale = Scale::beta;
  EXPECT_FALSE(is_packed(shape));
  EXPECT_THAT(launched_problem_of(shape).sizes,
              ElementsAre(3, 2, 4, 1, 4, 2, 7, 2, -1, -1, -1, -1));
}

TEST(CallShape, EpiloguesAreSettings) {
  CallShape shape = small();
  shape.epilogue = kReluOfBias;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape).settings,
            "dtype=f32 units=fp32 layout=NN scale=none epilogue=bias_relu");
  shape.scale = Scale::beta;  // a bias takes the place of C
  EXPECT_EQ(contract_of(shape), Outcome::epilogue);
  shape.epilogue = kGelu;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  shape.epilogue = 130;  // ReLU, and a mask of the signs
  EXPECT_EQ(contract_of(shape), Outcome::epilogue);
}

TEST(CallShape, TensorCoresMayServeAProductInF32) {
  CallShape shape = small();
  ASSERT_EQ(problems_of(shape).size(), 2U);
  const TargetProblem split = problems_of(shape)[1];
  EXPECT_EQ(split.settings, "dtype=f32 units=any layout=NN scale=none");
  EXPECT_EQ(launched_problem_of(shape, split), split);
  shape.epilogue = kBias;
  shape.ldd = 8;
  const TargetProblem launched = launched_problem_of(shape, problems_of(shape)[1]);
  EXPECT_EQ(launched.settings, "dtype=f32 units=any layout=NN scale=none epilogue=bias");
  EXPECT_THAT(launched.sizes, ElementsAre(3, 2, 4, 1, 4, 2, -1, 8, -1, -1, -1, -1));
}

TEST(CallShape, TensorCoresMayServeBatchesInF32) {
  CallShape shape = small();
  shape.batch = 5;
  shape.stride_a = 8, shape.stride_b = 12, shape.stride_c = shape.stride_d = 6;
  ASSERT_EQ(problems_of(shape).size(), 2U);
  const TargetProblem split = problems_of(shape)[1];
  EXPECT_EQ(split.settings, "dtype=f32 units=any layout=NN scale=none");
  EXPECT_THAT(split.sizes, ElementsAre(3, 2, 4, 5));
  EXPECT_EQ(launched_problem_of(shape, split), split);
  shape.batch = 8;
  shape.scale = Scale::beta;
  ASSERT_EQ(problems_of(shape).size(), 2U);
  EXPECT_EQ(problems_of(shape)[1].settings, "dtype=f32 units=any layout=NN scale=beta");
  shape.ldd = 8, shape.stride_d = 24;  // not packed
  ASSERT_EQ(problems_of(shape).size(), 2U);
  EXPECT_THAT(launched_problem_of(shape, problems_of(shape)[1]).sizes,
              ElementsAre(3, 2, 4, 8, 4, 2, 2, 8, 12, 8, 6, 24));
}

TEST(CallShape, SixteenBitsAreTypesOfGemm) {
  CallShape shape = small();
  shape.a_type = shape.b_type = kBf16;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  shape.c_type = shape.d_type = kBf16;
  shape.epilogue = kReluOfBias;
  shape.op_a = 1, shape.lda = 4;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape).target, "gemm");
  EXPECT_EQ(problem_of(shape).settings,
            "dtype=bf16 output=bf16 layout=NT scale=none epilogue=bias_relu");
  shape.scale = Scale::beta;  // a bias takes the place of C
  EXPECT_EQ(contract_of(shape), Outcome::epilogue);
  shape.epilogue = kGelu;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  shape.scale = Scale::none;
  shape.epilogue = kNoEpilogue;
  shape.lda = 3;
  EXPECT_EQ(contract_of(shape), Outcome::leading_dimension);
  shape.b_type = kF16;
  EXPECT_EQ(contract_of(shape), Outcome::types);
}

/// As cublasLt has them: rows of both operands lie along k.
CallShape of_eight_bits() {
  CallShape shape = small();
  shape.m = 16, shape.n = 3, shape.k = 32;
  shape.op_a = 1, shape.lda = shape.ldb = 32, shape.ldc = shape.ldd = 16;
  shape.a_type = shape.b_type = kE4m3;
  shape.c_type = shape.d_type = kBf16;
  return shape;
}

TEST(CallShape, EightBitsHaveFactorsAndAWayToSum) {
  CallShape shape = of_eight_bits();
  shape.factors = Factors::rows, shape.sums = Sums::fast;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape).settings,
            "dtype=e4m3 output=bf16 layout=NT scale=none scales=rows sums=fast");
  EXPECT_THAT(problem_of(shape).sizes, ElementsAre(3, 16, 32, 1));
  EXPECT_THAT(text_of(shape), HasSubstr("e4m3 to bf16 scales=rows sums=fast"));
}

TEST(CallShape, WhatCublasHasNotInEightBitsIsNotServed) {
  CallShape shape = of_eight_bits();
  shape.b_type = 29;  // e5m2
  EXPECT_EQ(contract_of(shape), Outcome::types);
  shape = of_eight_bits();
  shape.d_type = kF32;
  EXPECT_EQ(contract_of(shape), Outcome::types);
  shape = of_eight_bits();
  shape.k = shape.lda = shape.ldb = 24;
  EXPECT_EQ(contract_of(shape), Outcome::empty);
  shape = of_eight_bits();
  shape.op_b = 1;
  EXPECT_EQ(contract_of(shape), Outcome::empty);
  shape = of_eight_bits();
  shape.lda = 48;
  EXPECT_EQ(contract_of(shape), Outcome::leading_dimension);
}

TEST(CallShape, BatchesOfAnySizeInSixteenBitsHaveOneToo) {
  CallShape shape = small();
  shape.a_type = shape.b_type = shape.c_type = shape.d_type = kF16;
  shape.op_b = 1, shape.ldb = 3;
  shape.scale = Scale::beta;
  shape.batch = 5;
  shape.stride_a = 8, shape.stride_b = 12, shape.stride_c = shape.stride_d = 6;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(problem_of(shape).settings, "dtype=f16 output=f16 layout=TN scale=beta");
  EXPECT_THAT(problem_of(shape).sizes, ElementsAre(3, 2, 4, 5));
  EXPECT_EQ(launched_problem_of(shape), problem_of(shape));
  shape.epilogue = kBias;  // all products would get the same
  EXPECT_EQ(contract_of(shape), Outcome::epilogue);
  shape.epilogue = kNoEpilogue;
  shape.stride_a = 0;
  EXPECT_EQ(contract_of(shape), Outcome::batch);
}

TEST(CallShape, DistancesInSixteenBitsAreFreeSizes) {
  CallShape shape = small();
  shape.a_type = shape.b_type = kBf16;
  shape.lda = 5, shape.ldb = 6, shape.ldd = 7;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_EQ(launched_problem_of(shape).settings, problem_of(shape).settings);
  EXPECT_THAT(launched_problem_of(shape).sizes,
              ElementsAre(3, 2, 4, 1, 6, 5, -1, 7, -1, -1, -1, -1));
  shape.batch = 2;
  shape.stride_a = 30, shape.stride_b = 18, shape.stride_d = 16;
  EXPECT_EQ(contract_of(shape), Outcome::served);
  EXPECT_THAT(launched_problem_of(shape).sizes,
              ElementsAre(3, 2, 4, 2, 6, 5, -1, 7, 18, 30, -1, 16));
  shape.stride_d = 15;  // the last row of one result begins the next
  EXPECT_EQ(contract_of(shape), Outcome::batch);
}

TEST(CallShape, SixteenBitsAreTheSameWithTf32) {
  CallShape shape = small();
  shape.a_type = shape.b_type = kBf16;
  shape.math_mode = 3;  // CUBLAS_TF32_TENSOR_OP_MATH
  EXPECT_EQ(contract_of(shape), Outcome::served);
  shape.math_mode = kPedanticMath;
  EXPECT_EQ(contract_of(shape), Outcome::other_math);
}

TEST(CallShape, TheManualHasEveryReason) {
  std::ostringstream manual;
  manual << std::ifstream(AUTOTUNE_SOURCE_DIR "/docs/blas.md").rdbuf();
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    EXPECT_THAT(manual.str(), HasSubstr(name_of(static_cast<Outcome>(i))));
  }
}

TEST(CallShape, FlagsOfTheMathModeThatChangeNoProductAreAllowed) {
  CallShape shape = small();
  shape.math_mode = 16;  // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
  EXPECT_EQ(contract_of(shape), Outcome::served);
  shape.math_mode = 3;  // CUBLAS_TF32_TENSOR_OP_MATH
  EXPECT_EQ(contract_of(shape), Outcome::other_math);
}

TEST(CallShape, ATextSaysWhatIsUnusual) {
  CallShape shape = small();
  EXPECT_EQ(text_of(shape), "cublasSgemm NN m=2 n=3 k=4");
  shape.scale = Scale::alpha;
  shape.lda = 5;
  shape.a_type = 2;
  EXPECT_EQ(text_of(shape), "cublasSgemm NN m=2 n=3 k=4 f16 to f32 scale=alpha lda=5 ldb=4 ldc=2");
}

// The attributes of the cublasLt of this machine, whichever version it is. No GPU.

using Set = Status(void*, int, const void*, std::size_t);

class LtAttributesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr std::string_view kLibrary = AUTOTUNE_TEST_CUBLASLT;  // empty without a toolkit
    if (!kLibrary.empty()) library_ = dlopen(kLibrary.data(), RTLD_LAZY | RTLD_LOCAL);
    if (!library_) GTEST_SKIP() << "there is no cublasLt";
    std::ranges::transform(kVendorFunctions, vendor_.functions.begin(),
                           [&](const char* name) { return dlsym(library_, name); });
    ASSERT_EQ(function<Status(void**, int, int)>("cublasLtMatmulDescCreate")(&operation_, 68, 0),
              kSuccess);
    ASSERT_EQ((function<Status(void**, int, std::uint64_t, std::uint64_t, std::int64_t)>(
                  "cublasLtMatrixLayoutCreate")(&layout_, 0, 8, 4, 8)),
              kSuccess);
  }
  void TearDown() override {
    if (operation_) function<Status(void*)>("cublasLtMatmulDescDestroy")(operation_);
    if (layout_) function<Status(void*)>("cublasLtMatrixLayoutDestroy")(layout_);
  }
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  template <class Value>
  void set(int attribute, Value value) const {
    ASSERT_EQ(function<Set>("cublasLtMatmulDescSetAttribute")(operation_, attribute, &value,
                                                              sizeof value),
              kSuccess)
        << attribute;
  }
  bool has_others(bool is_8_bit = false) const {
    return LtAttributes(vendor_).has_others(operation_, std::array{layout_, layout_}, is_8_bit);
  }

  void* library_ = nullptr;
  void* operation_ = nullptr;
  void* layout_ = nullptr;
  VendorLibrary vendor_;
};

TEST_F(LtAttributesTest, WhatKernelsObeyIsNoOther) {
  EXPECT_FALSE(has_others());
  set(static_cast<int>(OperationAttribute::op_a), std::int32_t{1});
  set(static_cast<int>(OperationAttribute::epilogue), std::int32_t{kReluOfBias});
  set(static_cast<int>(OperationAttribute::bias_pointer), static_cast<const void*>(&vendor_));
  EXPECT_FALSE(has_others());
  const LtAttributes attributes(vendor_);
  EXPECT_EQ(attributes.read(operation_, OperationAttribute::op_a, std::int32_t{-1}), 1);
  EXPECT_EQ(attributes.read(layout_, LayoutAttribute::columns, std::int64_t{-1}), 4);
  EXPECT_EQ(attributes.read(layout_, LayoutAttribute::batch_mode, std::int32_t{kStrided}),
            kStrided);
}

TEST_F(LtAttributesTest, ATargetForSmsIsOne) {
  set(15, std::int32_t{16});  // CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET
  EXPECT_TRUE(has_others());
  set(15, std::int32_t{0});
  EXPECT_FALSE(has_others());
}

TEST_F(LtAttributesTest, ScalesAndLargestValuesAre) {
  // CUBLASLT_MATMUL_DESC_A_SCALE_POINTER to CUBLASLT_MATMUL_DESC_AMAX_D_POINTER
  for (int attribute = 17; attribute <= 21; ++attribute) {
    set(attribute, static_cast<const void*>(&vendor_));
    EXPECT_TRUE(has_others()) << attribute;
    EXPECT_EQ(has_others(true), attribute > 18) << attribute << ": those of A and B are obeyed";
    set(attribute, static_cast<const void*>(nullptr));
    EXPECT_FALSE(has_others()) << attribute;
  }
}

TEST(LtAttributes, WithoutDefaultsEveryCallMayHaveOthers) {
  EXPECT_TRUE(LtAttributes(VendorLibrary{}).has_others(nullptr, {}, false));
}

}  // namespace
}  // namespace autotune::blas
