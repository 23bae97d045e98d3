// SPDX-License-Identifier: Apache-2.0
// Buffers of structs with members of several types on the host device.
#include <gmock/gmock.h>

#include "tests/support/struct_case.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;

Verdict verdict_on(const std::string& statement) {
  return testing::body_verdict(*make_host_device(test_cache()), statement);
}

TEST(StructsOnHost, ARightKernelPasses) {
  const Verdict verdict = verdict_on(testing::kRightBody);
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
}

TEST(StructsOnHost, AWrongMemberIsNamed) {
  const Verdict verdict =
      verdict_on("out[i] = {2 * in[i].mass, in[i].id + (i == 700 ? 2 : 1), in[i].x};");
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("out.id[700] is "));
  EXPECT_THAT(verdict.message, HasSubstr("1 of 1000 elements is wrong"));
}

TEST(StructsOnHost, AMemberThatIsNotWrittenIsFoundOut) {
  const Verdict verdict = verdict_on("out[i].mass = 2 * in[i].mass, out[i].x = in[i].x;");
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("out.id[0]"));
}

TEST(StructsOnHost, AChangedInputIsNamed) {
  const Verdict verdict = verdict_on(
      "{ out[i] = {2 * in[i].mass, in[i].id + 1, in[i].x}; "
      "if (i == 3) const_cast<Body*>(in)[i].x = 7; }");
  EXPECT_THAT(verdict.message, HasSubstr("the input in.x was changed: in.x[3] was"));
}

TEST(StructsOnHost, AWriteBehindTheLastIsNamedByItsStruct) {
  const Verdict verdict = verdict_on(
      "{ out[i] = {2 * in[i].mass, in[i].id + 1, in[i].x}; if (i == 3) out[n].mass = 7; }");
  EXPECT_THAT(verdict.message, HasSubstr("wrote out[1000], outside out[0..999]"));
}

}  // namespace
}  // namespace autotune
