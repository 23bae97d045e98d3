// SPDX-License-Identifier: Apache-2.0
// Inputs that kernels of the target derive from others, once a problem.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kElements = 100;

/// out = 2 in, where the prepare kernel makes `twice` of `in`.
Workload opened_workload(const std::string& value = "2 * in[i]") {
  Workload made = KernelCase{.text = "", .n = kElements, .type = ElementType::f32}.workload();
  made.buffers.push_back({"twice", ElementType::f32, kElements, Role::input, Fill::prepared});
  made.reference_source.text =
      "extern \"C\" __global__ void prepare(const float* in, float* twice, int n) {\n"
      "  for (int i = 0; i < n; ++i) twice[i] = " +
      value +
      ";\n}\n"
      "extern \"C\" __global__ void reference(const float* twice, float* out, int n) {\n"
      "  for (int i = 0; i < n; ++i) out[i] = twice[i];\n}\n";
  made.reference_source.entries = {"prepare", "reference"};
  const Scalar n{ElementType::i32, kElements, 0};
  Launch launch{"prepare", {}, {}, {}, 0, {BufferRef{0}, BufferRef{2}, n}};
  made.preparation.launches = {launch};
  launch.entry = "reference";
  launch.arguments = {BufferRef{2}, BufferRef{1}, n};
  made.reference.launches = {launch};
  return made;
}

Verdict verdict_with_inputs(const Workload& opened, const std::string& body) {
  const auto device = make_host_device(test_cache());
  KernelCase tuned;
  tuned.text =
      "extern \"C\" __global__ void kernel(const float* in, float* twice, float* out, int n) {\n"
      "  for (int i = 0; i < n; ++i) " +
      body + "\n}\n";
  const CompiledKernel kernel = device->compile(tuned.unit());
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  LaunchPlan plan = tuned.plan("kernel", {}, {}, 0);
  plan.launches[0].arguments = {BufferRef{0}, BufferRef{2}, BufferRef{1},
                                Scalar{ElementType::i32, kElements, 0}};
  const auto bench = device->open(opened);
  return bench->load(kernel, plan)->verify();
}

TEST(PreparedInputs, AreThereForTheReferenceAndForTunedKernels) {
  const Verdict direct = verdict_with_inputs(opened_workload(), "out[i] = 2 * in[i];");
  EXPECT_EQ(direct.outcome, Outcome::ok) << direct.message;
  const Verdict through = verdict_with_inputs(opened_workload(), "out[i] = twice[i];");
  EXPECT_EQ(through.outcome, Outcome::ok) << through.message;
  EXPECT_EQ(verdict_with_inputs(opened_workload(), "out[i] = in[i];").outcome, Outcome::wrong);
}

TEST(PreparedInputs, AreThereWhereAFileHasTheAnswers) {
  Workload made = opened_workload("i");
  made.expected_file = std::filesystem::path(AUTOTUNE_BINARY_DIR) / "tests/prepared_answers.bin";
  std::ofstream file(made.expected_file, std::ios::binary);
  for (int i = 0; i < kElements; ++i) {
    const auto answer = static_cast<float>(i);
    file.write(reinterpret_cast<const char*>(&answer), sizeof answer);
  }
  file.close();
  const Verdict verdict = verdict_with_inputs(made, "out[i] = twice[i];");
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
}

TEST(PreparedInputs, MustNotBeChanged) {
  const Verdict verdict =
      verdict_with_inputs(opened_workload("i"), "{ out[i] = i; twice[i] = 7; }");
  EXPECT_EQ(verdict.message, "the input twice was changed: twice[0] was 0 and is 7");
}

TEST(PreparedInputs, NameTheKernelThatFails) {
  EXPECT_THAT([] { verdict_with_inputs(opened_workload("in[i], twice[n] = 1"), "out[i] = 0;"); },
              ThrowsMessage<Error>(HasSubstr(
                  "case: a prepare kernel fails: wrote twice[100], outside twice[0..99]")));
}

}  // namespace
}  // namespace autotune
