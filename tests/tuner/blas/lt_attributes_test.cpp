// SPDX-License-Identifier: Apache-2.0
// The attributes of the cublasLt of this machine, whichever version it is. No GPU.
#include "tuner/blas/lt_attributes.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace autotune::blas {
namespace {

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
  bool has_others() const {
    return LtAttributes(vendor_).has_others(operation_, std::array{layout_, layout_});
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
    set(attribute, static_cast<const void*>(nullptr));
    EXPECT_FALSE(has_others()) << attribute;
  }
}

TEST(LtAttributes, WithoutDefaultsEveryCallMayHaveOthers) {
  EXPECT_TRUE(LtAttributes(VendorLibrary{}).has_others(nullptr, {}));
}

}  // namespace
}  // namespace autotune::blas
