// SPDX-License-Identifier: Apache-2.0
// Outputs that a kernel reduces before they are compared, on a GPU.
#include "tests/gpu/gpu_fixture.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLength = 100'000;

/// The sum of x, which a configuration computes in parts.
Workload workload() {
  Workload made;
  made.problem = "sum";
  made.buffers = {{"x", ElementType::f32, kLength},
                  {"total", ElementType::f32, 1, Role::checked, Fill::random, kLength}};
  made.reference_source = unit_of(
      "extern \"C\" __global__ void reference(const float* x, double* total, int n) {\n"
      "  double sum = 0;\n  for (int i = 0; i < n; ++i) sum += x[i];\n  *total = sum;\n}\n",
      {"reference"});
  Launch launch;
  launch.entry = "reference";
  launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, kLength}};
  made.reference.launches = {launch};
  return made;
}

SourceUnit source(const std::string& part) {
  return unit_of(
      "extern \"C\" __global__ void kernel(const float* x, float* parts, int n) {\n"
      "  float sum = 0;\n"
      "  for (int i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];\n"
      "  parts[blockIdx.x] = " +
          part +
          ";\n}\n"
          "extern \"C\" __global__ void add_up(const float* parts, int count, float* total) {\n"
          "  float sum = 0;\n  for (int i = 0; i < count; ++i) sum += parts[i];\n"
          "  *total = sum;\n}\n",
      {"kernel", "add_up"});
}

LaunchPlan plan(std::int64_t parts) {
  LaunchPlan made;
  made.workspace = {{"parts", ElementType::f32, parts, Role::unchecked}};
  Launch launch;
  launch.entry = "kernel";
  launch.grid.x = parts;
  launch.arguments = {BufferRef{0}, BufferRef{2}, Scalar{ElementType::i32, kLength}};
  made.launches = {launch};
  launch.entry = "add_up";
  launch.grid.x = 1;
  launch.arguments = {BufferRef{2}, Scalar{ElementType::i32, parts}, BufferRef{1}};
  made.checks = {launch};
  return made;
}

class CheckedOutputsOnGpu : public Gpu {
 protected:
  Outcome outcome(std::int64_t parts, const std::string& part = "sum") {
    const auto bench = device().open(workload());
    const auto candidate = bench->load(compiled(source(part)), plan(parts));
    const Outcome outcome = candidate->verify(2).outcome;
    if (outcome == Outcome::ok) candidate->time(3, L2State::hot);
    return outcome;
  }
};

TEST_F(CheckedOutputsOnGpu, AreRightWhateverTheLengthOfTheUncheckedOnes) {
  for (const std::int64_t parts : {1, 100, 1000}) EXPECT_EQ(outcome(parts), Outcome::ok);
}

TEST_F(CheckedOutputsOnGpu, ShowAWrongPart) {
  EXPECT_EQ(outcome(100, "blockIdx.x == 3 ? 1e6f : sum"), Outcome::wrong);
}

}  // namespace
}  // namespace autotune
