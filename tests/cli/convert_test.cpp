// SPDX-License-Identifier: Apache-2.0
// autotune convert: from a manifest of format 1 to one that can be tuned.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/cli/sentences.hpp"
#include "tests/cli/tool.hpp"

namespace autotune::testing {
namespace {

constexpr const char* kFormat1 = R"json({
  "manifest": 1, "name": "tiny", "source": "tiny.cu", "sizes": ["N"],
  "parameters": [{"name": "BLOCK", "values": [1, 16]},
                 {"name": "STEP", "values": [1, 4], "run_time": true}],
  "arguments": {"x": {"type": "i32", "length": "N"},
                "y": {"type": "i32", "length": "N", "role": "output"}},
  "kernels": [{"entry": "tiny", "grid": ["ceil_div(N, BLOCK * STEP)"], "block": ["BLOCK"],
               "arguments": ["x", "y", "STEP", "N"]}],
  "reference": {"kernels": [{"entry": "tiny_reference", "grid": ["ceil_div(N, 256)"],
                             "block": [256], "arguments": ["x", "y", "N"]}]}
})json";

TEST(Convert, AManifestOfFormat1IsRefusedWithTheVerbThatMakesOneToTune) {
  const Sandbox sandbox;
  std::filesystem::copy_file(AUTOTUNE_SOURCE_DIR "/tests/cli/tiny.cu",
                             sandbox.folder() / "tiny.cu");
  sandbox.write("old.target.json", kFormat1);
  const std::vector<std::string> to_tune{"--sizes", "100", "--device", "host", "--quiet"};
  const auto tuned = [&](const char* manifest) {
    std::vector<std::string> words{"--target", manifest};
    words.insert(words.end(), to_tune.begin(), to_tune.end());
    return sandbox.run(words);
  };
  expect_refused(tuned("./old.target.json"), 1, {"old.target.json", "autotune convert"});
  EXPECT_EQ(sandbox.run({"convert", "old.target.json", "--output", "new.target.toml"}).status, 0);
  const Ended ended = tuned("./new.target.toml");
  EXPECT_EQ(ended.status, 0) << ended.err;
  expect_refused(sandbox.run({"convert", "tiny.cu"}), 1, {"tiny.cu"});
  expect_refused(sandbox.run({"convert"}), 2, {"one manifest"});
}

}  // namespace
}  // namespace autotune::testing
