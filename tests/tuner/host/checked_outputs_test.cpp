// SPDX-License-Identifier: Apache-2.0
// Outputs that are compared after a kernel has reduced them.
#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSummed = 120;

/// The sum of `in`, which a configuration computes in parts.
Workload sums_workload() {
  Workload made = KernelCase{.text = "", .n = kSummed}.workload();
  made.buffers[1] = {"total", ElementType::i32, 1, Role::checked};
  made.reference_source.text =
      "extern \"C\" __global__ void reference(const int* in, int* total, int n) {\n"
      "  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += in[i];\n  *total = sum;\n}\n";
  return made;
}

/// Each of `parts` blocks sums its share up; `written` of them are in the buffer.
Verdict verdict_of_sums(std::int64_t parts, std::int64_t written, const std::string& part = "sum") {
  KernelCase tuned;
  tuned.text =
      "extern \"C\" __global__ void kernel(const int* in, int* parts, int n) {\n"
      "  int sum = 0;\n"
      "  for (int i = blockIdx.x; i < n; i += gridDim.x) sum += in[i];\n"
      "  parts[blockIdx.x] = " +
      part +
      ";\n}\n"
      "extern \"C\" __global__ void add_up(const int* parts, int count, int* total) {\n"
      "  int sum = 0;\n  for (int i = 0; i < count; ++i) sum += parts[i];\n  *total = sum;\n}\n";
  SourceUnit unit = tuned.unit();
  unit.entries = {"kernel", "add_up"};
  const auto device = make_host_device(test_cache());
  const CompiledKernel kernel = device->compile(unit);
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  LaunchPlan plan;
  plan.workspace = {{"parts", ElementType::i32, written, Role::unchecked}};
  plan.launches = {{"kernel",
                    {parts},
                    {},
                    {},
                    0,
                    {BufferRef{0}, BufferRef{2}, Scalar{ElementType::i32, kSummed}}}};
  plan.checks = {
      {"add_up", {}, {}, {}, 0, {BufferRef{2}, Scalar{ElementType::i32, parts}, BufferRef{1}}}};
  const auto bench = device->open(sums_workload());
  const auto candidate = bench->load(kernel, plan);
  const Verdict verdict = candidate->verify(2);
  if (verdict.outcome == Outcome::ok) candidate->time(1, L2State::hot);
  return verdict;
}

TEST(CheckedOutputs, AreRightWhateverTheLengthOfTheUncheckedOnes) {
  for (const std::int64_t parts : {1, 7, 120}) {
    const Verdict verdict = verdict_of_sums(parts, parts);
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  }
}

TEST(CheckedOutputs, ShowAWrongPart) {
  EXPECT_THAT(verdict_of_sums(7, 7, "sum + (blockIdx.x == 3)").message, HasSubstr("total[0] is "));
  EXPECT_EQ(verdict_of_sums(7, 7, "sum + (blockIdx.x == 3)").outcome, Outcome::wrong);
}

TEST(CheckedOutputs, HaveRedZonesRoundTheUncheckedOnes) {
  EXPECT_EQ(verdict_of_sums(7, 6).message,
            "wrote parts[6], outside parts[0..5]; 4 bytes around parts changed");
}

}  // namespace
}  // namespace autotune
