// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/answer_explanation.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AnswerExplanation : public testing::Test {
 protected:
  AnswerExplanation() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {128, 256}, {}, false}};
    device_.name = "NVIDIA H200";
    answer_.configuration = "BLOCK=256";
    answer_.provenance = "measured";
    answer_.origin = db::Origin::exact;
    answer_.median_ns = 8000;
    answer_.default_ns = 12000;
  }
  std::string text() const {
    return explanation_of(target_, problem_of(target_, {{"N", 4096}}, {}), device_, answer_);
  }

  Target target_;
  DeviceInfo device_;
  LookupAnswer answer_;
};

TEST_F(AnswerExplanation, ATunedProblemHasItsTimeAndSpeedup) {
  EXPECT_EQ(text(),
            "toy N=4096 on NVIDIA H200: BLOCK=256\n"
            "tuned for these sizes, measured\n"
            "8.000 us there, 1.50x the default\n");
}

TEST_F(AnswerExplanation, ATransferSaysHowFarItIs) {
  answer_.origin = db::Origin::transferred;
  answer_.distance = 2;
  EXPECT_THAT(text(), AllOf(HasSubstr("these sizes are not tuned"), HasSubstr("a factor of 4 "),
                            Not(HasSubstr("expected here"))));
  answer_.expected_ns = 9000;
  EXPECT_THAT(text(), HasSubstr("8.000 us there, 1.50x the default\n9.000 us expected here\n"));
  answer_.origin = db::Origin::same_architecture;
  EXPECT_THAT(text(), AllOf(HasSubstr("not tuned on this device"), HasSubstr("a factor of 4 ")));
}

TEST_F(AnswerExplanation, APredictionIsNotCalledTuned) {
  answer_.provenance = "predicted";
  EXPECT_THAT(text(), AllOf(HasSubstr("predicted by the cost model"), HasSubstr("us predicted"),
                            Not(HasSubstr("tuned"))));
}

TEST_F(AnswerExplanation, TheDefaultConfigurationHasNoTime) {
  answer_ = {"BLOCK=128", "", db::Origin::default_configuration};
  EXPECT_EQ(text(),
            "toy N=4096 on NVIDIA H200: BLOCK=128\n"
            "no near size is tuned; the target's default configuration\n");
}

TEST_F(AnswerExplanation, AFasterLibraryIsMeasuredHereOrExpected) {
  answer_.baseline = "cublas cublasSgemm";
  answer_.baseline_ns = 7000;
  EXPECT_THAT(text(), HasSubstr("cublas cublasSgemm takes 7.000 us: it is faster"));
  answer_.origin = db::Origin::transferred;
  answer_.library_is_expected = true;
  EXPECT_THAT(
      text(),
      HasSubstr("is expected to take 7.000 us: the configuration is not known to be faster"));
  answer_.baseline_ns = 0;
  EXPECT_THAT(text(), HasSubstr("cublas cublasSgemm computes this too, and nothing tells"));
}

TEST_F(AnswerExplanation, DriftOfTheSourceIsTold) {
  answer_.validity = db::Validity::source_drifted;
  EXPECT_THAT(text(),
              HasSubstr(std::string(", ") + std::string(name_of(db::Validity::source_drifted))));
}

}  // namespace
}  // namespace autotune
