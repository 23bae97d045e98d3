// SPDX-License-Identifier: Apache-2.0
#include "tests/tuner/target/one_manifest.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

constexpr const char* kManifest = R"toml(
manifest = 2
name = "copy"
source = "copy.cu"
sizes = ["N"]
parameters.BLOCK = [64, 128]
arguments.x = { type = "f32", length = "N * 8" }
arguments.y = { type = "f32", length = "N * 8", role = "output" }
tensor_maps.map = { buffer = "x", type = "tf32", dims = ["N", 8], strides = ["4 * N"], box = [32, 8] }
launch.arguments = ["map", "y", "N"]
kernels.copy = { grid = 1, block = "BLOCK" }
reference.kernels.plain = { grid = 1, block = 1, arguments = ["x", "y"] }
)toml";

class TensorMaps : public OneManifest {
 protected:
  TensorMaps() : OneManifest("copy", kManifest, "int copy;\n") {}
  TensorMap map(const Target& target) const {
    const LaunchPlan plan = launch_plan(target, problem_of(target, {{"N", 64}}, {}),
                                        parse_named_values("BLOCK=64"), DeviceInfo{});
    return std::get<TensorMap>(plan.launches.at(0).arguments.at(0));
  }
};

TEST_F(TensorMaps, OfF32MayRoundToTf32) {
  EXPECT_TRUE(map(read()).tf32);
  EXPECT_FALSE(map(read("type = \"tf32\", ", "")).tf32);
  EXPECT_FALSE(map(read("x = { type = \"f32\"", "x = { type = \"i32\"")).tf32);
  EXPECT_NE(read("type = \"tf32\", ", "").fingerprint, read().fingerprint);
}

TEST_F(TensorMaps, HaveNoOtherTypes) {
  EXPECT_REFUSAL(Error, read("\"tf32\"", "\"f16\""),
                 "a map has the type of its buffer, or \"tf32\"");
}

/// A manifest whose argument `y` has these keys.
class KeysOfBuffers : public testing::Test {
 protected:
  KeysOfBuffers() { folder_.write("sum.cu", ""); }
  Target target(const std::string& keys, const std::string& type = "f32") const {
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
settings.order = ["fixed", "any"]
parameters.BLOCK = [64, 128]
arguments.y = { length = "N", type = ")toml" + type + "\"" + keys +
                                                              R"toml( }
arguments.z = { type = "f32", length = "N", role = "output" }
launch.arguments = ["y", "z", "N"]
kernels.sum = { grid = 1, block = "BLOCK" }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  }
  static BufferSpec buffer(const Target& target, const char* order) {
    return buffers_of(target, problem_of(target, {{"N", 64}}, {{"order", order}}), {})[0];
  }

  const ScratchFolder folder_;
};

TEST_F(KeysOfBuffers, ConditionsHoldForSomeProblems) {
  const Target plain = target(", role = \"inout\"");
  const Target always = target(", role = \"inout\", repeatable = true");
  const Target fixed = target(", role = \"output\", repeatable = \"order == 'fixed'\"");
  EXPECT_FALSE(buffer(plain, "fixed").repeatable);
  EXPECT_TRUE(buffer(always, "any").repeatable);
  EXPECT_TRUE(buffer(fixed, "fixed").repeatable);
  EXPECT_FALSE(buffer(fixed, "any").repeatable);
  EXPECT_NE(plain.fingerprint, always.fingerprint);
  const Target streams = target(", streams = \"order == 'any'\"");
  EXPECT_TRUE(buffer(streams, "any").streams);
  EXPECT_FALSE(buffer(streams, "fixed").streams);
  EXPECT_NE(target(", role = \"input\"").fingerprint, streams.fingerprint);
  EXPECT_REFUSAL(Error, target(", role = \"output\", streams = true"),
                 "only an input can stream from memory");
  EXPECT_REFUSAL(Error, target(", role = \"output\", repeatable = \"BLOCK == 64\""),
                 "this depends on a parameter");
  EXPECT_REFUSAL(Error, target(", role = \"output\", repeatable = \"order\""),
                 "a word can only be compared");
  EXPECT_REFUSAL(Error, target(", repeatable = true"), "only an output");
}

TEST_F(KeysOfBuffers, ABufferDeclaresTheAlignmentOfItsAddresses) {
  const Target plain = target("");
  const Target declared = target(", alignment = \"order == 'fixed' ? 16 : 8\"");
  EXPECT_EQ(buffer(plain, "any").alignment, 4);
  EXPECT_EQ(buffer(target("", "f64"), "any").alignment, 8);
  EXPECT_EQ(buffer(declared, "fixed").alignment, 16);
  EXPECT_EQ(buffer(declared, "any").alignment, 8);
  EXPECT_EQ(plain.fingerprint, declared.fingerprint) << "results stay valid";
  for (const char* wrong : {"12", "512", "0"}) {
    EXPECT_REFUSAL(Error, buffer(target(std::string(", alignment = ") + wrong), "any"),
                   "arguments.y.alignment")
        << wrong;
  }
}

TEST_F(TensorMaps, LastDimensionsWithABoxOf0AreLeftOut) {
  const TensorMap made = map(read("box = [32, 8]", "box = [32, \"N > 64\"]"));
  EXPECT_EQ(made.dims, std::vector<std::int64_t>{64});
  EXPECT_EQ(made.box, std::vector<std::int64_t>{32});
  EXPECT_TRUE(made.strides.empty());
  EXPECT_REFUSAL(Error, map(read("box = [32, 8]", "box = [0, 8]")),
                 "tensor_maps.map.box: only the last dimensions");
}

TEST_F(TensorMaps, EndWithinTheirBuffer) {
  const auto expect_refused = [&](const char* from, const char* to, const char* why) {
    EXPECT_REFUSAL(Error, map(read(from, to)), why) << to;
  };
  expect_refused("dims = [\"N\", 8]", "dims = [\"N\", 9]",
                 "tensor_maps.map.dims: 64 x 9, with strides of 256 bytes, reach beyond x, which "
                 "has 2048 bytes");
  expect_refused("dims = [\"N\", 8]", "dims = [\"N + 1\", 8]", "reach beyond x");
  expect_refused("[\"4 * N\"]", "[\"4 * N + 16\"]", "with strides of 272 bytes, reach beyond x");
  expect_refused("[\"4 * N\"]", "[9223372036854775807]", "reach beyond x");
  EXPECT_EQ(map(read("dims = [\"N\", 8]", "dims = [\"N - 4\", 8]")).dims.front(), 60);
}

// Outputs of a manifest that hang on parameters, and the kernels that check them.

constexpr const char* kOutputs = R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
parameters.BLOCK = [10, 20]
let = "blocks = ceil_div(N, BLOCK)"
arguments.x = { type = "f32", length = "N" }
arguments.parts = { type = "f32", length = "blocks", role = "unchecked" }
arguments.total = { type = "f32", length = 1, role = "checked", tolerance = "N", absolute = 1e-3 }
workspace.scratch = { type = "i32", length = 3 }
launch.arguments = ["scratch", "x", "parts", "N"]
kernels.sum = { grid = "blocks", block = "BLOCK" }
check.kernels.add_up = { grid = 1, block = 1, arguments = ["parts", "blocks", "total"] }
reference.kernels.plain = { grid = 1, block = 1, arguments = ["x", "total", "N"] }
reference.outputs = "f64"
)toml";

class CheckedOutputs : public OneManifest {
 protected:
  CheckedOutputs() : OneManifest("sum", kOutputs, "") {}
};

TEST_F(CheckedOutputs, AreMadeOfUncheckedOnesThatStandFirstInTheWorkspace) {
  const Target made = read();
  const Problem problem = problem_of(made, {{"N", 100}}, {});
  const TargetProgram program(made, problem, {});
  const Levels levels = program.levels({{"BLOCK", 20}});
  const LaunchPlan plan = program.plan(levels);
  ASSERT_EQ(plan.workspace.size(), 2u);
  EXPECT_EQ(plan.workspace[0].name, "parts");
  EXPECT_EQ(plan.workspace[0].length, 5);
  EXPECT_EQ(plan.workspace[0].role, Role::unchecked);
  EXPECT_EQ(program.plan(program.levels({{"BLOCK", 10}})).workspace[0].length, 10);
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].arguments[2], Argument(BufferRef{2}));
  ASSERT_EQ(plan.checks.size(), 1u);
  EXPECT_THAT(plan.checks[0].arguments,
              ElementsAre(BufferRef{2}, Scalar{ElementType::i32, 5}, BufferRef{1}));
  EXPECT_THAT(program.source_unit(levels).entries, ElementsAre("sum", "add_up"));
}

TEST_F(CheckedOutputs, AreWrittenByTheReferenceItself) {
  const Target made = read();
  const Workload workload = workload_of(made, problem_of(made, {{"N", 100}}, {}), {});
  ASSERT_EQ(workload.buffers.size(), 2u);
  EXPECT_EQ(workload.buffers[1].role, Role::checked);
  EXPECT_EQ(workload.buffers[1].absolute, 1e-3);
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("plain"));
  EXPECT_TRUE(workload.reference.checks.empty());
}

TEST_F(CheckedOutputs, OfTheDefaultConfigurationAreCheckedAsEveryOther) {
  const Target made = read(
      "reference.kernels.plain = { grid = 1, block = 1, arguments = [\"x\", \"total\", \"N\"] }\n"
      "reference.outputs = \"f64\"",
      "reference.configuration = \"default\"");
  const Workload workload = workload_of(made, problem_of(made, {{"N", 100}}, {}), {});
  EXPECT_EQ(workload.reference.checks.size(), 1u);
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("sum", "add_up"));
}

TEST_F(CheckedOutputs, NeedKernelsThatWriteThem) {
  expect_error("[\"parts\", \"blocks\", \"total\"]", "[\"parts\", \"blocks\"]",
               "no kernel of \"check.kernels\" takes total");
  expect_error("role = \"checked\"", "role = \"output\"", "no argument has role = \"checked\"");
  expect_error("length = 1, role", "length = \"blocks\", role", "depends on a parameter");
  expect_error("role = \"unchecked\"", "role = \"unchecked\", tolerance = 1", "tolerance");
}

TEST_F(CheckedOutputs, AndTheirKernelsBelongToTheMeasurement) {
  const std::string before = read().fingerprint;
  EXPECT_EQ(read().fingerprint, before);
  EXPECT_NE(read("add_up = { grid = 1", "add_up = { grid = 2").fingerprint, before);
  EXPECT_NE(read("1e-3", "1e-4").fingerprint, before);
}

constexpr const char* kTextures = R"toml(
manifest = 2
name = "blur"
source = "blur.cu"
sizes = ["N", "M"]
parameters.BLOCK = [64, 128]
arguments.image = { type = "f32x2", length = "N * M" }
arguments.y = { type = "f32x2", length = "N * M", role = "output" }
textures.tex = { buffer = "image", dims = ["N", "M"], filter = "linear", address = "wrap", normalized = true }
launch.arguments = ["tex", "y", "N", "M"]
kernels.blur = { grid = 1, block = "BLOCK" }
reference.kernels.plain = { grid = 1, block = 1 }
)toml";

class TextureReader : public OneManifest {
 protected:
  TextureReader() : OneManifest("blur", kTextures, "int blur;\n") {}
  LaunchPlan plan(const Target& target) const {
    const Problem problem = problem_of(target, {{"N", 64}, {"M", 32}}, {});
    return launch_plan(target, problem, parse_named_values("BLOCK=64"), DeviceInfo{});
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_REFUSAL(Error, plan(read(from, to)), what);
  }
};

TEST_F(TextureReader, ATextureIsAnArgument) {
  const Argument argument = plan(read()).launches.at(0).arguments.at(0);
  const Texture expected{0, {64, 32}, 2, TextureFilter::linear, TextureAddress::wrap, true};
  EXPECT_EQ(std::get<Texture>(argument), expected);
  const Argument flat =
      plan(read(", filter = \"linear\", address = \"wrap\", normalized = true", ""))
          .launches.at(0)
          .arguments.at(0);
  EXPECT_EQ(std::get<Texture>(flat).filter, TextureFilter::point);
}

TEST_F(TextureReader, ResultsHangOnHowItIsRead) {
  EXPECT_NE(read("\"wrap\"", "\"mirror\"").fingerprint, read().fingerprint);
}

TEST_F(TextureReader, BadTexturesShowTheirPlace) {
  expect_error("\"linear\"", "\"cubic\"", ":9:64: \"cubic\" is not known");
  expect_error("\"wrap\"", "\"repeat\"", "\"repeat\" is not known");
  expect_error("normalized = true", "normalized = false",
               "CUDA knows \"wrap\" only where \"normalized\" is true");
  expect_error("dims = [\"N\", \"M\"]", "dims = \"N\"", "a texture of one dimension is read by");
  expect_error("\"image\", dims", "\"N\", dims", "expected the name of a buffer");
}

TEST_F(TextureReader, WhatATextureCannotHoldIsRefused) {
  expect_error("dims = [\"N\", \"M\"]", "dims = [\"N\", \"M + 1\"]",
               "textures.tex.dims: image has 2048 texels, which are too few");
  expect_error("{ type = \"f32x2\", length = \"N * M\" }", "{ type = \"f64\", length = \"N * M\" }",
               "textures.tex.buffer: a texture is over f32 or i32");
  expect_error("{ type = \"f32x2\", length = \"N * M\" }", "{ type = \"i32\", length = \"N * M\" }",
               "textures.tex.filter: only f32 is filtered linearly");
}

// The kernels of a manifest that prepare inputs.

class Preparation : public testing::Test {
 protected:
  Target target(
      const std::string& slopes = "fill = \"prepared\"",
      const std::string& prepare =
          "prepare.kernels.derive = { grid = \"ceil_div(N, 64)\", block = 64, arguments "
          "= [\"m\", \"s\", \"N\"] }",
      const std::string& reference = "reference.kernels.plain = { grid = 1, block = 1 }") const {
    folder_.write("sum.cu", "");
    folder_.write("expected.bin", "results");
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
arguments.m = { type = "f32", length = "N" }
arguments.s = { type = "f32", length = "N", )toml" + slopes + R"toml( }
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["s", "y", "N"]
kernels.sum = { grid = 1, block = 1 }
)toml" + prepare + "\n" + reference + "\n"));
  }
  static Workload workload(const Target& target) {
    return workload_of(target, problem_of(target, {{"N", 100}}, {}), {});
  }
  void expect_error(const std::string& slopes, const std::string& prepare,
                    const std::string& what) const {
    EXPECT_REFUSAL(Error, target(slopes, prepare), what);
  }

  ScratchFolder folder_;
};

TEST_F(Preparation, IsLaunchedFromTheSourceOfTheReference) {
  const Workload made = workload(target());
  EXPECT_EQ(made.buffers[1].fill, Fill::prepared);
  ASSERT_EQ(made.preparation.launches.size(), 1u);
  EXPECT_EQ(made.preparation.launches[0].grid.x, 2);
  EXPECT_EQ(made.preparation.launches[0].arguments[1], Argument(BufferRef{1}));
  EXPECT_THAT(made.reference_source.entries, ElementsAre("plain", "derive"));
}

TEST_F(Preparation, IsCompiledWhereAFileHasTheAnswers) {
  const Workload made =
      workload(target("fill = \"prepared\"", "prepare.kernels.derive = { grid = 1, block = 1 }",
                      "reference.file = \"expected.bin\""));
  EXPECT_TRUE(made.runs_kernels());
  EXPECT_TRUE(made.reference.launches.empty());
  EXPECT_THAT(made.reference_source.entries, ElementsAre("derive"));
}

TEST_F(Preparation, BelongsToTheMeasurement) {
  const std::string before = target().fingerprint;
  EXPECT_EQ(target().fingerprint, before);
  EXPECT_NE(target("fill = \"prepared\"", "prepare.kernels.derive = { grid = 1, block = 64 }")
                .fingerprint,
            before);
}

TEST_F(Preparation, GoesWithAnInputThatIsPrepared) {
  expect_error("fill = \"zero\"", "prepare.kernels.derive = { grid = 1, block = 64 }",
               "no argument has fill = \"prepared\"");
  expect_error("fill = \"prepared\"", "", "no kernel of \"prepare.kernels\" takes s");
  expect_error("fill = \"prepared\"",
               "prepare.kernels.derive = { grid = 1, block = 64, arguments = [\"m\"] }",
               "no kernel of \"prepare.kernels\" takes s");
  expect_error("fill = \"prepared\", role = \"inout\"", "", "only an input can be prepared");
}

}  // namespace
}  // namespace autotune
