// SPDX-License-Identifier: Apache-2.0
// gemm16 on the host device, where lanes exchange what ldmatrix and mma.sync exchange and copies
// happen at the wait: configurations of a GPU, with every type, layout, scale and epilogue.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::host;
using testing::small_gpu;

const Target& gemm16() {
  static const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm16/gemm16.target.toml");
  return target;
}

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& settings) {
  return problem_of(gemm16(), {{"M", m}, {"N", n}, {"K", k}}, settings);
}

/// Of one configuration, of which `seed` chooses; `change` may spoil its source.
template <class Change>
Verdict verdict_of(const Problem& problem, std::uint64_t seed, const Change& change) {
  const DeviceInfo gpu = small_gpu();
  const ParameterSpace space = space_of(gemm16(), problem, gpu);
  const Configuration configuration =
      space.at((seed * 6364136223846793005u + 1442695040888963407u) / 65536 % space.size());
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
  SourceUnit unit = source_unit(gemm16(), problem, configuration, gpu);
  change(unit.text);
  const CompiledKernel kernel = host().compile(unit);
  EXPECT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  if (kernel.outcome != Outcome::ok) return {kernel.outcome, kernel.log, 0};
  const auto workbench = host().open(workload_of(gemm16(), problem, host().info()));
  return workbench->load(kernel, launch_plan(gemm16(), problem, configuration, gpu))->verify();
}

void expect_right(const Problem& problem, std::uint64_t seed) {
  const Verdict verdict = verdict_of(problem, seed, [](std::string&) {});
  EXPECT_EQ(name_of(verdict.outcome), "ok") << problem.text() << ": " << verdict.message;
}

using Text = std::string;

TEST(Gemm16, IsRightInEveryLayoutAlignedAndOdd) {
  std::uint64_t seed = 0;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    expect_right(problem(61, 131, 67, {{"layout", Text(layout)}}), ++seed);
    expect_right(problem(64, 96, 128, {{"layout", Text(layout)}, {"dtype", Text("bf16")}}), ++seed);
  }
}

TEST(Gemm16, IsRightWithEveryScaleEpilogueAndOutput) {
  std::uint64_t seed = 20;
  for (const char* scale : {"none", "alpha", "beta"}) {
    for (const char* epilogue : {"none", "bias", "bias_relu", "bias_gelu"}) {
      const char* const outputs[] = {"f16", "bf16", "f32"};
      const Text output = outputs[++seed % 3];
      expect_right(problem(40, 72, 50,
                           {{"scale", Text(scale)},
                            {"epilogue", Text(epilogue)},
                            {"output", output},
                            {"dtype", Text(seed % 2 == 0 ? "f16" : "bf16")}}),
                   seed);
    }
  }
}

TEST(Gemm16, IsRightForVectorsAndSingleElements) {
  expect_right(problem(1, 300, 70, {}), 41);
  expect_right(problem(300, 1, 70, {{"output", Text("f32")}}), 42);
  expect_right(problem(1, 1, 1, {}), 43);
}

/// With one tolerance in the unit of bf16 this would pass.
TEST(Gemm16, ASumWithoutItsLastSliceIsWrong) {
  const Problem bf16 = problem(32, 32, 512, {{"dtype", Text("bf16")}, {"output", Text("bf16")}});
  const auto spoil = [](std::string& text) {
    const std::string loop = "for (int step = 0; step < steps; ++step) {";
    const std::size_t at = text.find(loop);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, loop.size(), "for (int step = 0; step < steps - 1; ++step) {");
  };
  EXPECT_EQ(verdict_of(bf16, 7, spoil).outcome, Outcome::wrong);
}

}  // namespace
}  // namespace autotune
