// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/type_reader.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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

class TextureReader : public testing::Test {
 protected:
  Target read(const std::string& from = "", const std::string& to = "") const {
    std::string text = kTextures;
    text.replace(text.find(from), from.size(), to);
    folder_.write("blur.cu", "int blur;\n");
    return load_manifest(folder_.write("blur.target.toml", text));
  }
  LaunchPlan plan(const Target& target) const {
    const Problem problem = problem_of(target, {{"N", 64}, {"M", 32}}, {});
    return launch_plan(target, problem, parse_named_values("BLOCK=64"), DeviceInfo{});
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_THAT([&] { plan(read(from, to)); }, ThrowsMessage<Error>(HasSubstr(what)));
  }

  ScratchFolder folder_;
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

}  // namespace
}  // namespace autotune
