// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/imported_rows.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;

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
  std::string refusal() const {
    try {
      rows();
    } catch (const Error& error) {
      return error.what();
    }
    return "it was taken";
  }

  Target target_;
  RecordedResults results_;
};

TEST_F(ImportedRowsTest, TheFastestIsTheDecision) {
  add(16, 2e-3);
  add(32, 1e-3);
  add(16, std::nullopt);
  const ImportedRows made = rows();
  ASSERT_EQ(made.trials.size(), 3u);
  EXPECT_EQ(made.trials[0].configuration, "BLOCK=16 WIDTH=3") << "WIDTH has one value only";
  EXPECT_EQ(made.trials[0].key.policy, "by=kernel_tuner");
  EXPECT_FALSE(made.trials[0].verified);
  ASSERT_TRUE(made.decision);
  EXPECT_EQ(made.decision->configuration, "BLOCK=32 WIDTH=3");
  EXPECT_EQ(made.decision->provenance, "imported");
  EXPECT_DOUBLE_EQ(made.decision->median_ns.value(), 1e6);
}

TEST_F(ImportedRowsTest, WithoutACorrectResultThereIsNoDecision) {
  add(16, std::nullopt);
  EXPECT_FALSE(rows().decision);
  results_.results.clear();
  EXPECT_FALSE(rows().decision);
  EXPECT_TRUE(rows().trials.empty());
}

TEST_F(ImportedRowsTest, ConfigurationsThatAreNotTheTargetsAreCounted) {
  add(64, 1e-4);
  add(32, 1e-3);
  const ImportedRows made = rows();
  EXPECT_EQ(made.left_out, 1u);
  EXPECT_EQ(made.trials.size(), 1u);
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

TEST_F(ImportedRowsTest, ParametersMustBeTheTargets) {
  results_.parameters = {{"BLOCKS", {16, 32}, {}, false}};
  EXPECT_THAT(refusal(), HasSubstr("the target toy has no parameter BLOCKS: did you mean BLOCK"));
  results_.parameters = {};
  EXPECT_THAT(refusal(), HasSubstr("it has no parameter BLOCK of the target toy"));
}

}  // namespace
}  // namespace autotune::cli
