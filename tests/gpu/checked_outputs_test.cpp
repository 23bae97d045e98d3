// SPDX-License-Identifier: Apache-2.0
// Outputs that a kernel reduces before they are compared, on a GPU.
#include <fstream>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/gaps_case.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/struct_case.hpp"
#include "tests/support/texture_case.hpp"
#include "tests/support/verdicts.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kChecked = 100'000;

/// The sum of x, which a configuration computes in parts.
Workload workload() {
  Workload made;
  made.problem = "sum";
  made.buffers = {{"x", ElementType::f32, kChecked},
                  {"total", ElementType::f32, 1, Role::checked, Fill::random, kChecked}};
  made.reference_source = unit_of(
      "extern \"C\" __global__ void reference(const float* x, double* total, int n) {\n"
      "  double sum = 0;\n  for (int i = 0; i < n; ++i) sum += x[i];\n  *total = sum;\n}\n",
      {"reference"});
  Launch launch;
  launch.entry = "reference";
  launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, kChecked}};
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
  launch.arguments = {BufferRef{0}, BufferRef{2}, Scalar{ElementType::i32, kChecked}};
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

// Inputs from files and from prepare kernels on a GPU.

class PreparedInputsOnGpu : public Gpu {
 protected:
  /// out = 2 x + y, where a prepare kernel makes y of x.
  static Workload workload(std::int64_t n) {
    Workload made = saxpy_workload(n);
    made.buffers[1].fill = Fill::prepared;
    made.reference_source.text +=
        "extern \"C\" __global__ void prepare(const float* x, float* y, int n) {\n"
        "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = -3 * x[i];\n}\n";
    made.reference_source.entries.emplace_back("prepare");
    Launch launch;
    launch.entry = "prepare";
    launch.block.x = 256;
    launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, n, 0}};
    made.preparation.launches = {launch};
    return made;
  }
  Verdict verdict(const Workload& opened, const std::string& body) {
    const std::int64_t n = opened.buffers[0].length;
    const auto bench = device().open(opened);
    return bench->load(compiled(saxpy_unit(body)), saxpy_plan(n))->verify();
  }
};

TEST_F(PreparedInputsOnGpu, AreThereForTheReferenceAndForTunedKernels) {
  expect_right_verdict(verdict(workload(10'000), kRightBody));
  expect_right_verdict(verdict(workload(10'000), "if (i < n) out[i] = a * x[i] - 3 * x[i];"));
  EXPECT_EQ(verdict(workload(10'000), "if (i < n) out[i] = a * x[i];").outcome, Outcome::wrong);
}

TEST_F(PreparedInputsOnGpu, MustNotBeChanged) {
  expect_wrong_verdict(
      verdict(workload(1000), "if (i < n) { out[i] = a * x[i] + y[i]; ((float*)y)[i] = 12; }"),
      "the input y was changed");
}

TEST_F(PreparedInputsOnGpu, OrStandInAFileBehindAHeader) {
  const std::int64_t n = 1000;
  Workload made = saxpy_workload(n);
  made.buffers[0].file = folder() / "x.npy";
  made.buffers[0].file_offset = 128;
  std::ofstream file(made.buffers[0].file, std::ios::binary);
  file << std::string(128, '#');
  for (std::int64_t i = 0; i < n; ++i) {
    const float element = 0.5f * static_cast<float>(i);
    file.write(reinterpret_cast<const char*>(&element), sizeof element);
  }
  file.close();
  expect_right_verdict(verdict(made, "if (i < n) out[i] = 1.0f * i + y[i];"));
}

// Buffers with gaps between their lines on a GPU.

using testing::Doubled;

class GapsOnGpu : public Gpu {};

TEST_F(GapsOnGpu, RightKernelsPass) {
  const std::string added = "y[at_y] += x[at_x];";
  for (const Doubled& right : {Doubled{}, Doubled{added, Role::inout, added}}) {
    expect_right_verdict(right.verdict(device()));
  }
}

TEST_F(GapsOnGpu, WhatIsWrittenBetweenLinesIsFoundOut) {
  expect_wrong_verdict(Doubled{"y[at_y] = 2 * x[at_x]; y[5] = 1;"}.verdict(device()),
                       "wrote y[5], which is between the lines of y");
}

// Buffers of structs with members of several types on a GPU.

class StructsOnGpu : public Gpu {
 protected:
  static Verdict verdict_of_body(const std::string& statement) {
    return testing::body_verdict(device(), statement);
  }
};

TEST_F(StructsOnGpu, ARightKernelPasses) {
  expect_right_verdict(verdict_of_body(testing::kRightBody));
}

TEST_F(StructsOnGpu, AChangedInputIsNamed) {
  const Verdict verdict = verdict_of_body(
      "{ out[i] = {2 * in[i].mass, in[i].id + 1, in[i].x}; "
      "if (i == 3) const_cast<Body*>(in)[i].x = 7; }");
  EXPECT_THAT(verdict.message, HasSubstr("the input in.x was changed: in.x[3] was"));
}

// Texture objects on a GPU.

class TexturesOnGpu : public Gpu {};

TEST_F(TexturesOnGpu, AreReadAsDeclared) { testing::expect_textures_are_read(device()); }

TEST_F(TexturesOnGpu, OfOneDimensionAreFetchedAndZeroBehindTheirEnd) {
  expect_right_verdict(testing::fetch_verdict(device()));
}

}  // namespace
}  // namespace autotune
