// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tune_request.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Arguments tune_arguments(const std::vector<std::string>& words) {
  return {verb_called("tune"), words};
}

TEST(TuneRequest, ThePolicyHasTheDefaultsOfItsDevice) {
  const Policy on_gpu = policy_of(tune_arguments({}), DeviceKind::cuda);
  EXPECT_EQ(on_gpu.l2, L2State::hot);
  EXPECT_EQ(on_gpu.form, LaunchForm::graph);
  EXPECT_EQ(on_gpu.context, CallContext::between);
  EXPECT_EQ(policy_of(tune_arguments({}), DeviceKind::host).context, CallContext::chain);
}

TEST(TuneRequest, ThePolicyIsWhatTheOptionsSay) {
  const Policy policy = policy_of(tune_arguments({"--l2", "cold", "--launch", "stream", "--context",
                                                  "alone", "--objective", "energy"}),
                                  DeviceKind::cuda);
  EXPECT_EQ(policy.l2, L2State::cold);
  EXPECT_EQ(policy.form, LaunchForm::stream);
  EXPECT_EQ(policy.context, CallContext::alone);
  EXPECT_EQ(policy.objective, Objective::energy);
  EXPECT_EQ(policy.finalist_margin, policy.energy_margin) << "more finalists than by time";
}

TEST(TuneRequest, AnUnknownWordIsRefusedWithTheKnownOnes) {
  const auto refusal = [](const std::string& option, const std::string& word) {
    try {
      policy_of(tune_arguments({option, word}), DeviceKind::cuda);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("it was taken");
  };
  EXPECT_EQ(refusal("--l2", "warm"), "--l2 is hot or cold, not \"warm\"");
  EXPECT_EQ(refusal("--launch", "loop"), "--launch is graph or stream, not \"loop\"");
  EXPECT_EQ(refusal("--context", "amid"), "--context is between, chain or alone, not \"amid\"");
  EXPECT_THAT(refusal("--context", "in_order"), HasSubstr("between, chain or alone"));
  EXPECT_EQ(refusal("--objective", "heat"), "--objective is time, energy or edp, not \"heat\"");
}

TEST(TuneRequest, OnlyAGpuHasNeighboursOfACall) {
  for (const DeviceKind kind : {DeviceKind::host, DeviceKind::model}) {
    EXPECT_EQ(policy_of(tune_arguments({"--context", "chain"}), kind).context, CallContext::chain);
    EXPECT_THAT(
        [&] {
          policy_of(tune_arguments({"--context", "between"}), kind);
        },
        ThrowsMessage<UsageError>(HasSubstr("needs a CUDA GPU")));
  }
}

TEST(TuneRequest, OnlyGuidedOnAGpuEndsByItself) {
  EXPECT_EQ(default_budget(DeviceKind::cuda, "guided"), "auto");
  EXPECT_EQ(default_budget(DeviceKind::cuda, "random"), "128");
  EXPECT_EQ(default_budget(DeviceKind::host, "guided"), "40");
}

TEST(TuneRequest, TheCommandIsInTheOrderOfTheOptions) {
  EXPECT_EQ(command_text(tune_arguments(
                {"--retune", "--fix", "A=1", "--sizes", "64", "--fix", "B=2", "--target", "gemm"})),
            "tune --target gemm --sizes 64 --fix A=1 --fix B=2 --retune");
}

TEST(TuneRequest, TheDeviceIsAGpuUnlessItIsNamedOtherwise) {
  EXPECT_EQ(kind_asked_for(tune_arguments({})), DeviceKind::cuda);
  EXPECT_EQ(kind_asked_for(tune_arguments({"--device", "cuda:1"})), DeviceKind::cuda);
  EXPECT_EQ(kind_asked_for(tune_arguments({"--device", "host"})), DeviceKind::host);
  EXPECT_EQ(kind_asked_for(tune_arguments({"--device", "model:h200"})), DeviceKind::model);
}

}  // namespace
}  // namespace autotune::cli
