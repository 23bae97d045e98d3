// SPDX-License-Identifier: Apache-2.0
// Buffers of structs with members of several types on a GPU.
#include <gmock/gmock.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/struct_case.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;

class StructsOnGpu : public Gpu {
 protected:
  static Verdict verdict_of_body(const std::string& statement) {
    return testing::body_verdict(device(), statement);
  }
};

TEST_F(StructsOnGpu, ARightKernelPasses) {
  const Verdict verdict = verdict_of_body(testing::kRightBody);
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
}

TEST_F(StructsOnGpu, AWrongMemberIsNamed) {
  const Verdict verdict =
      verdict_of_body("out[i] = {2 * in[i].mass, in[i].id + (i == 700 ? 2 : 1), in[i].x};");
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("out.id[700] is "));
}

TEST_F(StructsOnGpu, AMemberThatIsNotWrittenIsFoundOut) {
  const Verdict verdict = verdict_of_body("out[i].mass = 2 * in[i].mass, out[i].x = in[i].x;");
  EXPECT_THAT(verdict.message, HasSubstr("out.id[0]"));
}

TEST_F(StructsOnGpu, AChangedInputIsNamed) {
  const Verdict verdict = verdict_of_body(
      "{ out[i] = {2 * in[i].mass, in[i].id + 1, in[i].x}; "
      "if (i == 3) const_cast<Body*>(in)[i].x = 7; }");
  EXPECT_THAT(verdict.message, HasSubstr("the input in.x was changed: in.x[3] was"));
}

}  // namespace
}  // namespace autotune
