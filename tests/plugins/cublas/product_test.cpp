// SPDX-License-Identifier: Apache-2.0
#include "plugins/cublas/product.hpp"

#include <stdexcept>
#include <string>

#include "tests/support/matchers.hpp"

namespace cublas {
namespace {

using autotune::thrown_by;
using ::testing::HasSubstr;

/// The product of a problem whose matrices have this type.
Product read(const char* problem, const char* type = "f32") {
  const autotune_buffer_v1 buffers[] = {
      {"A", type, "input", 1, nullptr},      {"B", type, "input", 1, nullptr},
      {"C", type, "input", 1, nullptr},      {"D", type, "output", 1, nullptr},
      {"alpha", type, "scalar", 1, nullptr}, {"beta", type, "scalar", 1, nullptr}};
  return product_of({"gemm", problem, 6, buffers});
}

std::string refusal_of(const char* problem, const char* type = "f32") {
  return thrown_by([&] { read(problem, type); });
}

TEST(Product, LeadingDimensionsAreThoseOfRowMajorMatrices) {
  const Product plain = read("M=3 N=5 K=7");
  EXPECT_EQ(plain.lda, 7);
  EXPECT_EQ(plain.ldb, 5);
  EXPECT_EQ(plain.ldc, 5);
  EXPECT_EQ(plain.ldd, 5);
  const Product turned = read("M=3 N=5 K=7 layout=TT pad=2 scale=beta");
  EXPECT_EQ(turned.lda, 3 + 2);
  EXPECT_EQ(turned.ldb, 7 + 2);
  EXPECT_EQ(turned.ldc, 5 + 2);
  EXPECT_EQ(turned.ldd, 5);
  EXPECT_EQ(turned.stride_a, 7 * 5);
  EXPECT_EQ(turned.stride_b, 5 * 9);
}

TEST(Product, FreeSizesReplaceTheirDefaults) {
  const Product p = read("M=3 N=5 K=7 batch=2 scale=beta lda=10 ldc=6 ldd=8 stride_b=0");
  EXPECT_EQ(p.lda, 10);
  EXPECT_EQ(p.ldb, 5);
  EXPECT_EQ(p.ldc, 6);
  EXPECT_EQ(p.ldd, 8);
  EXPECT_EQ(p.stride_a, 3 * 10) << "the default follows lda";
  EXPECT_EQ(p.stride_b, 0);
  EXPECT_EQ(p.stride_c, 3 * 6);
  EXPECT_EQ(p.stride_d, 3 * 8);
  EXPECT_EQ(p.alignment, 0u);
  EXPECT_EQ(read("M=3 N=5 K=7 stride_a=9000000000").stride_a, 9'000'000'000);
  const Product in_place = read("M=3 N=5 K=7 ldc=6 ldd=8");
  EXPECT_EQ(in_place.ldc, 8) << "without C, D takes its place";
  EXPECT_EQ(read("M=3 N=5 K=7 A_aligned=8 D_aligned=4").alignment, 4u);
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 batch=2 ldd=10 stride_d=5"),
              HasSubstr("between each other's lines"));
}

TEST(Product, ABatchIsASize) {
  EXPECT_EQ(read("M=3 N=5 K=7").batch, 1);
  EXPECT_EQ(read("M=3 N=5 K=7 batch=4").batch, 4);
}

TEST(Product, ScalarsAndBiasAreBuffersByName) {
  EXPECT_FALSE(read("M=3 N=5 K=7").alpha);
  const Product scaled = read("M=3 N=5 K=7 scale=beta");
  EXPECT_EQ(scaled.alpha, 4u);
  EXPECT_EQ(scaled.beta, 5u);
  EXPECT_EQ(scaled.c, 2u);
  const Product added = read("M=3 N=5 K=7 epilogue=bias_relu");
  EXPECT_EQ(added.bias, 2u);
  EXPECT_EQ(added.epilogue, CUBLASLT_EPILOGUE_RELU_BIAS);
}

TEST(Product, CublasChoosesItselfWhereItHasTheProduct) {
  EXPECT_STREQ(read("M=3 N=5 K=7").default_name(), "cublasSgemm");
  EXPECT_STREQ(read("M=3 N=5 K=7", "f64").default_name(), "cublasDgemm");
  EXPECT_STREQ(read("M=3 N=5 K=7", "bf16").default_name(), "cublasGemmEx");
  EXPECT_STREQ(read("M=3 N=5 K=7 math=tf32").default_name(), "cublasGemmEx");
  EXPECT_STREQ(read("M=3 N=5 K=7 batch=2").default_name(), "cublasSgemmStridedBatched");
  EXPECT_EQ(read("M=3 N=5 K=7 scale=beta").default_name(), nullptr);
  EXPECT_EQ(read("M=3 N=5 K=7 epilogue=bias").default_name(), nullptr);
  EXPECT_EQ(read("M=3 N=5 K=7", "i8").default_name(), nullptr);
}

TEST(Product, IntegersAreSummedInIntegers) {
  const Product product = read("M=3 N=5 K=7", "i8");
  EXPECT_EQ(product.compute(), CUBLAS_COMPUTE_32I);
  EXPECT_EQ(product.result, CUDA_R_32I);
}

TEST(Product, OfEightBitFloatsHasScalesAndTwoWaysToSum) {
  const autotune_buffer_v1 buffers[] = {
      {"A", "e4m3", "input", 1, nullptr},      {"B", "e4m3", "input", 1, nullptr},
      {"C", "bf16", "input", 1, nullptr},      {"D", "bf16", "output", 1, nullptr},
      {"scale_a", "f32", "input", 3, nullptr}, {"scale_b", "f32", "input", 5, nullptr}};
  const auto of = [&](const char* problem) { return product_of({"gemm", problem, 6, buffers}); };
  const Product promoted = of("M=3 N=5 K=7 layout=NT sums=promoted scales=rows");
  EXPECT_EQ(promoted.type, CUDA_R_8F_E4M3);
  EXPECT_EQ(promoted.result, CUDA_R_16BF);
  EXPECT_EQ(promoted.compute(), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(promoted.scales, Scales::rows);
  EXPECT_EQ(promoted.scale_b, 5u);
  EXPECT_EQ(promoted.default_name(), nullptr);
  EXPECT_FALSE(promoted.is_fast);
  EXPECT_TRUE(of("M=3 N=5 K=7 layout=NT sums=fast scales=tensor").is_fast);
  EXPECT_EQ(of("M=3 N=5 K=7 layout=NT scales=none").scales, Scales::none);
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 layout=NN", "e4m3"), HasSubstr("in layout NT only"));
}

TEST(Product, WithAResultOfEightBitsHasItsScaleAndLargestMagnitude) {
  const autotune_buffer_v1 buffers[] = {{"A", "e4m3", "input", 1, nullptr},
                                        {"B", "e4m3", "input", 1, nullptr},
                                        {"scale_d", "f32", "input", 1, nullptr},
                                        {"D", "e4m3", "output", 1, nullptr},
                                        {"amax", "f32", "output", 1, nullptr}};
  const char* const text = "M=3 N=5 K=7 layout=NT output=e4m3";
  const Product product = product_of({"gemm", text, 5, buffers});
  EXPECT_TRUE(product.is_scaled);
  EXPECT_EQ(product.added(), CUDA_R_16BF) << "cublasLt has no C of 8 bits";
  EXPECT_EQ(product.scale_d, 2u);
  EXPECT_EQ(product.amax, 4u);
  EXPECT_THROW(product_of({"gemm", text, 4, buffers}), std::runtime_error);
}

TEST(Product, WhatCannotBeReadIsRefusedWithAReason) {
  EXPECT_THAT(refusal_of("M=3 N=5"), HasSubstr("M=3 N=5"));
  EXPECT_THAT(refusal_of("M=3 N=0 K=7"), HasSubstr("N=0"));
  EXPECT_THAT(refusal_of("M=3x N=5 K=7"), HasSubstr("M=3x is not a number"));
  EXPECT_THAT(refusal_of("M=99999999999 N=5 K=7"), HasSubstr("is not a number"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 pad=wide"), HasSubstr("pad=wide is not a number"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 pad=-4"), HasSubstr("pad=-4"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 layout=NX"), HasSubstr("layout NX"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 layout="), HasSubstr("layout"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7 epilogue=gelu"), HasSubstr("epilogue gelu"));
  EXPECT_THAT(refusal_of("M=3 N=5 K=7", "u16"), HasSubstr("dtype u16"));
}

TEST(Product, EveryBufferMustBeThere) {
  EXPECT_THROW(product_of({"gemm", "M=3 N=5 K=7", 0, nullptr}), std::runtime_error);
}

}  // namespace
}  // namespace cublas
