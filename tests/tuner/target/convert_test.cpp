// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/convert.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

/// Every key of format 1.
constexpr const char* kFormat1 = R"json({
  // A comment.
  "manifest": 1, "name": "scale", "description": "y = \"a\" x", "source": "scale.cu",
  "include": ["shared"], "options": ["-lineinfo"], "sizes": ["N"],
  "settings": {"dtype": ["f32", "f64"]},
  "parameters": [
    {"name": "MODE", "values": ["plain", "unrolled"]},
    {"name": "BLOCK", "values": [64, 128]},
    {"name": "UNROLL", "values": [2, 4], "when": "MODE == 'unrolled'"},
    {"name": "SPLIT", "values": [1, 2], "run_time": true}
  ],
  "constraints": ["BLOCK <= device.max_threads && TILE <= N"],
  "default": {"BLOCK": 128},
  "defines": {"TILE": "BLOCK * (MODE == 'unrolled' ? UNROLL : 1)"},
  "bake_sizes": "MODE == 'unrolled'",
  "arguments": {
    "x": {"type": "dtype", "length": "N", "fill": "iota"},
    "y": {"type": "dtype", "length": "N", "role": "output", "tolerance": 2},
    "a": {"type": "dtype", "value": 1.5}
  },
  "workspace": {"part": {"type": "f32", "length": "N * SPLIT"}},
  "tensor_maps": {"map": {"buffer": "x", "dims": ["N / 2", 2], "strides": ["N / 2 * dtype_bytes"],
                          "box": ["BLOCK", 1]}},
  "kernels": [
    {"entry": "scale", "grid": ["ceil_div(N, TILE)", "SPLIT"], "block": ["BLOCK"],
     "arguments": ["x", "y", "a", "N", "SPLIT", "map"]},
    {"entry": "finish", "when": "SPLIT > 1", "grid": [1], "block": [32], "arguments": ["part", "y"]},
    {"entry": "finish", "when": "SPLIT > 1", "grid": [2], "block": [32], "arguments": ["part", "y"]}
  ],
  "reference": {"kernels": [{"entry": "plain", "grid": ["ceil_div(N, 64)"], "block": [64],
                             "arguments": ["x", "y", "a", "N"]}]},
  "work": {"flops": "N", "bytes": "2 * N * dtype_bytes"},
  "resources": {"registers": "16 + UNROLL"},
  "model": {"l2_bytes": "8 * N"}
})json";

std::string converted(std::string_view from = "", std::string_view to = "") {
  std::string text = kFormat1;
  text.replace(text.find(from), from.size(), to);
  return converted_manifest(parse_json(text, "scale.target.json"));
}

TEST(ConvertedManifest, MeansWhatItMeant) {
  const ScratchFolder folder;
  folder.write("scale.cu", "");
  const Target target = load_manifest(folder.write("scale.target.toml", converted()));
  EXPECT_EQ(target.name, "scale");
  EXPECT_EQ(target.description, "y = \"a\" x");
  EXPECT_THAT(target.options, ElementsAre("-lineinfo"));
  ASSERT_EQ(target.parameters.size(), 4u);
  EXPECT_EQ(target.parameters[2].when->text(), "MODE == 'unrolled'");
  EXPECT_TRUE(target.parameters[3].run_time);
  EXPECT_EQ(to_text(target.default_configuration), "MODE=plain BLOCK=128 UNROLL=2 SPLIT=1");
  EXPECT_EQ(target.arguments[2].real, 1.5);
  ASSERT_EQ(target.kernels.size(), 3u);
  EXPECT_EQ(target.kernels[1].entry, "finish");
  EXPECT_EQ(target.kernels[2].entry, "finish");
  EXPECT_EQ(target.kernels[2].grid[0].text(), "2");
  EXPECT_EQ(target.tensor_maps.size(), 1u);
  EXPECT_TRUE(target.reference.float64_outputs);
  EXPECT_EQ(target.model.size(), 1u);
}

TEST(ConvertedManifest, AReferenceMayBeTheDefaultOrWriteTheTargetsTypes) {
  EXPECT_THAT(converted("\"reference\": {", "\"reference\": \"default\", \"old\": {"),
              HasSubstr("reference.configuration = \"default\"\n"));
  EXPECT_THAT(converted("\"reference\": {", "\"reference\": {\"float64_outputs\": false, "),
              testing::Not(HasSubstr("outputs")));
}

TEST(ConvertedManifest, WhatIsNoneIsRefused) {
  EXPECT_THAT([] { converted("\"manifest\": 1", "\"manifest\": 2"); },
              ThrowsMessage<Error>(HasSubstr("no manifest of format 1")));
  EXPECT_THAT([] { converted("\"entry\": \"scale\", ", ""); },
              ThrowsMessage<Error>(HasSubstr("lacks \"entry\"")));
  EXPECT_THAT([] { converted("1.5", "null"); }, ThrowsMessage<Error>(HasSubstr("null")));
}

}  // namespace
}  // namespace autotune
