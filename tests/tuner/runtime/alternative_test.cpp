// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/alternative.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/runtime/c_api_case.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A handle that answers with the faster of two targets.
class Alternative : public CApiCase {
 protected:
  Alternative() {
    options_.device = "NVIDIA H200";
    options_.alternative = "gemm_split";
  }

  /// Stores the default configuration of a shipped target as tuned.
  void tune(const std::string& name, double median_ns) {
    const Target target = find_target(name);
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", name, target.fingerprint, "M N K"});
    sample.key.problem =
        problem_of(target, {{"M", 512}, {"N", 512}, {"K", 512}}, {{"layout", "NT"}}).text();
    const std::string now = format("2026-03-01T12:0{}:00.000Z", ++decisions_);
    store.add_decision(sample.decision(to_text(target.default_configuration), median_ns, now));
  }
  int decisions_ = 0;

  std::string answered_target() {
    autotune_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK) << autotune_message();
    return answer.target;
  }
};

TEST_F(Alternative, TheFasterTargetAnswers) {
  options_.settings = "layout=NT dtype=f32";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm") << "neither is tuned";
  tune("gemm_split", 8000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm_split") << "only this one is tuned";
  tune("gemm", 9000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm_split");
  char text[512];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, StartsWith("gemm_split M=512 N=512 K=512"));
  if (AUTOTUNE_WITH_CUDA) {
    autotune_kernel* kernel = nullptr;
    ASSERT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
    EXPECT_THAT(autotune_kernel_configuration(kernel), StartsWith("KERNEL=cores"));
    autotune_release(kernel);
  }
  const std::string pinned = to_text(find_target("gemm").default_configuration);
  ASSERT_EQ(autotune_pin(handle_, sizes_, 3, pinned.c_str()), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm");
  tune("gemm", 7000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm");
  autotune_close(handle_);
}

TEST_F(Alternative, BothTargetsMustHaveTheSameBuffers) {
  options_.settings = "dtype=f64";
  EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("gemm and gemm_split have different buffers"));
}

}  // namespace
}  // namespace autotune
