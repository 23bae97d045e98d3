// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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

class TensorMaps : public testing::Test {
 protected:
  Target read(const std::string& from = "", const std::string& to = "") const {
    std::string text = kManifest;
    text.replace(text.find(from), from.size(), to);
    folder_.write("copy.cu", "int copy;\n");
    return load_manifest(folder_.write("copy.target.toml", text));
  }
  TensorMap map(const Target& target) const {
    const LaunchPlan plan = launch_plan(target, problem_of(target, {{"N", 64}}, {}),
                                        parse_named_values("BLOCK=64"), DeviceInfo{});
    return std::get<TensorMap>(plan.launches.at(0).arguments.at(0));
  }

  ScratchFolder folder_;
};

TEST_F(TensorMaps, OfF32MayRoundToTf32) {
  EXPECT_TRUE(map(read()).tf32);
  EXPECT_FALSE(map(read("type = \"tf32\", ", "")).tf32);
  EXPECT_FALSE(map(read("x = { type = \"f32\"", "x = { type = \"i32\"")).tf32);
  EXPECT_NE(read("type = \"tf32\", ", "").fingerprint, read().fingerprint);
}

TEST_F(TensorMaps, HaveNoOtherTypes) {
  EXPECT_THAT([&] { read("\"tf32\"", "\"f16\""); },
              ThrowsMessage<Error>(HasSubstr("a map has the type of its buffer, or \"tf32\"")));
}

TEST(ConditionsOfBuffers, HoldForSomeProblems) {
  const ScratchFolder folder;
  folder.write("sum.cu", "");
  const auto target = [&](const std::string& keys) {
    return load_manifest(folder.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
settings.order = ["fixed", "any"]
parameters.BLOCK = [64, 128]
arguments.y = { type = "f32", length = "N", )toml" + keys +
                                                             R"toml( }
arguments.z = { type = "f32", length = "N", role = "output" }
launch.arguments = ["y", "z", "N"]
kernels.sum = { grid = 1, block = "BLOCK" }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  };
  const auto is_repeatable = [](const Target& read, const char* order) {
    const Problem problem = problem_of(read, {{"N", 64}}, {{"order", order}});
    return buffers_of(read, problem, {})[0].repeatable;
  };
  const Target plain = target("role = \"inout\"");
  const Target always = target("role = \"inout\", repeatable = true");
  const Target fixed = target("role = \"output\", repeatable = \"order == 'fixed'\"");
  EXPECT_FALSE(is_repeatable(plain, "fixed"));
  EXPECT_TRUE(is_repeatable(always, "any"));
  EXPECT_TRUE(is_repeatable(fixed, "fixed"));
  EXPECT_FALSE(is_repeatable(fixed, "any"));
  EXPECT_NE(plain.fingerprint, always.fingerprint);
  const Target streams = target("streams = \"order == 'any'\"");
  const auto may_stream = [&](const char* order) {
    return buffers_of(streams, problem_of(streams, {{"N", 64}}, {{"order", order}}), {})[0].streams;
  };
  EXPECT_TRUE(may_stream("any"));
  EXPECT_FALSE(may_stream("fixed"));
  EXPECT_NE(target("role = \"input\"").fingerprint, streams.fingerprint);
  EXPECT_THAT([&] { target("role = \"output\", streams = true"); },
              ThrowsMessage<Error>(HasSubstr("only an input can stream from memory")));
  EXPECT_THAT([&] { target("role = \"output\", repeatable = \"BLOCK == 64\""); },
              ThrowsMessage<Error>(HasSubstr("this depends on a parameter")));
  EXPECT_THAT([&] { target("role = \"output\", repeatable = \"order\""); },
              ThrowsMessage<Error>(HasSubstr("a word can only be compared")));
  EXPECT_THAT([&] { target("repeatable = true"); },
              ThrowsMessage<Error>(HasSubstr("only an output")));
}

TEST(Alignments, ABufferDeclaresTheAlignmentOfItsAddresses) {
  const ScratchFolder folder;
  folder.write("sum.cu", "");
  const auto target = [&](const std::string& type, const std::string& keys) {
    return load_manifest(folder.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
settings.order = ["fixed", "any"]
parameters.BLOCK = [64, 128]
arguments.y = { length = "N", type = )toml" + type + keys + R"toml( }
arguments.z = { type = "f32", length = "N", role = "output" }
launch.arguments = ["y", "z", "N"]
kernels.sum = { grid = 1, block = "BLOCK" }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  };
  const auto alignment = [](const Target& read, const char* order) {
    const Problem problem = problem_of(read, {{"N", 64}}, {{"order", order}});
    return buffers_of(read, problem, {})[0].alignment;
  };
  const Target plain = target("\"f32\"", "");
  const Target declared = target("\"f32\"", ", alignment = \"order == 'fixed' ? 16 : 8\"");
  EXPECT_EQ(alignment(plain, "any"), 4);
  EXPECT_EQ(alignment(target("\"f64\"", ""), "any"), 8);
  EXPECT_EQ(alignment(declared, "fixed"), 16);
  EXPECT_EQ(alignment(declared, "any"), 8);
  EXPECT_EQ(plain.fingerprint, declared.fingerprint) << "results stay valid";
  for (const char* wrong : {"12", "512", "0"}) {
    EXPECT_THAT([&] { alignment(target("\"f32\"", std::string(", alignment = ") + wrong), "any"); },
                ThrowsMessage<Error>(HasSubstr("arguments.y.alignment")))
        << wrong;
  }
}

TEST_F(TensorMaps, LastDimensionsWithABoxOf0AreLeftOut) {
  const TensorMap made = map(read("box = [32, 8]", "box = [32, \"N > 64\"]"));
  EXPECT_EQ(made.dims, std::vector<std::int64_t>{64});
  EXPECT_EQ(made.box, std::vector<std::int64_t>{32});
  EXPECT_TRUE(made.strides.empty());
  EXPECT_THAT([&] { map(read("box = [32, 8]", "box = [0, 8]")); },
              ThrowsMessage<Error>(HasSubstr("tensor_maps.map.box: only the last dimensions")));
}

TEST_F(TensorMaps, EndWithinTheirBuffer) {
  const auto expect_refused = [&](const char* from, const char* to, const char* why) {
    EXPECT_THAT([&] { map(read(from, to)); }, ThrowsMessage<Error>(HasSubstr(why))) << to;
  };
  expect_refused("dims = [\"N\", 8]", "dims = [\"N\", 9]",
                 "tensor_maps.map.dims: 64 x 9, with strides of 256 bytes, reach beyond x, which "
                 "has 2048 bytes");
  expect_refused("dims = [\"N\", 8]", "dims = [\"N + 1\", 8]", "reach beyond x");
  expect_refused("[\"4 * N\"]", "[\"4 * N + 16\"]", "with strides of 272 bytes, reach beyond x");
  expect_refused("[\"4 * N\"]", "[9223372036854775807]", "reach beyond x");
  EXPECT_EQ(map(read("dims = [\"N\", 8]", "dims = [\"N - 4\", 8]")).dims.front(), 60);
}

}  // namespace
}  // namespace autotune
