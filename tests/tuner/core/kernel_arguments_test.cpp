// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include <gmock/gmock.h>

#include "tuner/core/device.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

/// A pointer, an i64, an f16, a tensor map.
Launch launch() {
  Launch launch;
  launch.entry = "multiply";
  launch.arguments = {BufferRef{0}, Scalar{ElementType::i64}, Scalar{ElementType::f16},
                      TensorMap{}};
  return launch;
}

std::string refusal(const std::vector<int>& parameter_bytes) {
  try {
    check_arguments(launch(), parameter_bytes);
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::launch_error);
    return failure.what();
  }
  return "";
}

TEST(KernelArguments, ThatFitAreAccepted) { EXPECT_EQ(refusal({8, 8, 2, 128}), ""); }

TEST(KernelArguments, MustBeAsManyAsTheParameters) {
  EXPECT_THAT(refusal({8, 8, 2}), HasSubstr("multiply: it takes 3 arguments, not 4"));
  EXPECT_THAT(refusal({8, 8, 2, 128, 4}), HasSubstr("it takes 5 arguments, not 4"));
}

TEST(KernelArguments, MustHaveTheSizesOfTheParameters) {
  EXPECT_THAT(refusal({8, 4, 2, 128}), HasSubstr("argument 2 has 8 bytes"));
  EXPECT_THAT(refusal({8, 8, 2, 8}), HasSubstr("argument 4 has 128 bytes"));
}

}  // namespace
}  // namespace autotune
