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

TEST(KernelArguments, AStructHasItsBytes) {
  Launch launch;
  launch.entry = "shift";
  launch.arguments = {Record{"s", {}, 12}};
  const int right[] = {12}, wrong[] = {16};
  check_arguments(launch, right);
  EXPECT_THROW(check_arguments(launch, wrong), KernelFailure);
}

/// A plan that passes a buffer of the workload, one of its own, and a scalar.
LaunchPlan plan() {
  LaunchPlan plan;
  plan.workspace = {{"sums", ElementType::f64, 4, Role::unchecked}};
  plan.launches.resize(1);
  plan.launches[0].entry = "sum";
  plan.launches[0].arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, 4}};
  return plan;
}

std::string type_refusal(const std::vector<std::string>& types) {
  CompiledKernel kernel;
  kernel.resources.push_back({.entry = "sum", .parameter_types = types});
  const std::vector<BufferSpec> buffers = {{"x", ElementType::f32, 4}};
  try {
    check_types(kernel, plan(), buffers);
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::launch_error);
    return failure.what();
  }
  return "";
}

TEST(KernelArguments, MustHaveTheTypesOfTheParameters) {
  EXPECT_EQ(type_refusal({"float const*", "double*", "int"}), "");
  EXPECT_EQ(type_refusal({}), "") << "not known";
  EXPECT_EQ(type_refusal({"float const*", "double*"}), "") << "refused for the number";
  EXPECT_THAT(type_refusal({"float const*", "float*", "int"}),
              HasSubstr("argument sums is f64, parameter 2 of sum is float*"));
  EXPECT_THAT(type_refusal({"float const*", "double*", "float"}), HasSubstr("argument 3 is i32"));
}

TEST(KernelArguments, AReferenceMayWriteF64OrTheOutputsType) {
  Workload workload;
  workload.buffers = {{"x", ElementType::f32, 4}, {"y", ElementType::f32, 4, Role::output}};
  workload.reference.launches.resize(1);
  workload.reference.launches[0].entry = "plain";
  workload.reference.launches[0].arguments = {BufferRef{0}, BufferRef{1}};
  const auto is_taken = [&](const std::string& input, const std::string& output) {
    CompiledKernel kernel;
    kernel.resources.push_back({.entry = "plain", .parameter_types = {input, output}});
    try {
      check_reference_types(kernel, workload);
    } catch (const KernelFailure&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(is_taken("float const*", "double*") && is_taken("float const*", "float*"));
  EXPECT_FALSE(is_taken("double const*", "double*") || is_taken("float const*", "int*"));
}

}  // namespace
}  // namespace autotune
