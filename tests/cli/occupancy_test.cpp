// SPDX-License-Identifier: Apache-2.0
// autotune occupancy: its tables, its JSON, its plots, and what it refuses.
#include <filesystem>

#include "tests/cli/sentences.hpp"
#include "tests/support/command.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

Ended occupancy(const Sandbox& sandbox, Words arguments) {
  arguments.insert(arguments.begin(), "occupancy");
  return sandbox.run(arguments);
}

Json json_of(const Sandbox& sandbox, Words arguments) {
  arguments.push_back("--json");
  const Ended ended = occupancy(sandbox, std::move(arguments));
  EXPECT_EQ(ended.status, 0) << ended.err;
  return Json::parse(ended.out);
}

using Occupancy = InSandbox;

TEST_F(Occupancy, TellsLimitsAndLimiters) {
  const Words kernel = "--gpu gt240 --block 16x16 --regs 14 --shared 4140";
  const Json json = json_of(sandbox, kernel);
  EXPECT_EQ(json["active_blocks"], 3);
  EXPECT_EQ(json["active_warps"], 24);
  EXPECT_EQ(json["occupancy"], 0.75);
  EXPECT_EQ(json["limits"]["registers"], 4);
  EXPECT_EQ(json["limiters"], Json::array({"shared_memory"}));
  const Ended table = occupancy(sandbox, kernel);
  EXPECT_THAT(table.out, HasSubstr("256 threads (16 x 16), 8 warps"));
  EXPECT_THAT(table.out, HasSubstr("75 %, limited by shared memory"));
}

TEST_F(Occupancy, FindsTheBestBlock) {
  const Words kernel = "--gpu h200 --best-block --shared 8*threads --regs 40";
  EXPECT_EQ(json_of(sandbox, kernel)["threads"], 768);
  std::vector<std::string> square = kernel;
  square.push_back("--square");
  EXPECT_EQ(json_of(sandbox, square)["threads"], 256);
  EXPECT_EQ(json_of(sandbox, square)["shared_bytes"], 2048);
}

TEST_F(Occupancy, CompilesATargetForAGpuThatIsNotHere) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Json json = json_of(sandbox, "--gpu h200 --target gemm --size 512 BLOCK_SIZE=16");
  EXPECT_EQ(json["threads"], 256);
  EXPECT_GT(json["registers"], 16);
  EXPECT_GT(json["shared_bytes"], 0);
}

TEST_F(Occupancy, CompilesWhereTheToolkitIsNotOnTheLoadersPath) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(loader)) GTEST_SKIP() << "another loader than " << loader;
  const Ran ran = run_command("unset LD_LIBRARY_PATH; cd " + sandbox.folder().string() +
                              "; AUTOTUNE_CACHE=$PWD AUTOTUNE_KERNEL_PATH=" AUTOTUNE_SOURCE_DIR
                              "/kernel_sources AUTOTUNE_WORKER=" AUTOTUNE_BINARY_DIR
                              "/libexec/autotune/autotune-worker " +
                              loader +
                              " --inhibit-cache " AUTOTUNE_BINARY_DIR
                              "/bin/autotune occupancy --gpu h200 --target vector_add");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Occupancy, SweepsInJson) {
  const Json json = json_of(sandbox, "--gpu gt240 --block 64 --sweep block");
  EXPECT_EQ(json["sweep"].size(), 16U);
  EXPECT_EQ(json["sweep"][7]["threads"], 256);
  EXPECT_EQ(json["sweep"][7]["active_warps"], 16);
}

TEST_F(Occupancy, Plots) {
  const Ended ended = occupancy(sandbox, "--gpu h200 --block 256 --sweep regs");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("registers a thread"));
  EXPECT_THAT(ended.out, HasSubstr("@ this kernel"));
}

TEST_F(Occupancy, RefusesWhatNoGpuHas) {
  struct Case {
    Words arguments, words;
  };
  const std::vector<Case> cases = {
      {"--gpu h200", {"--block", "--target"}},
      {"--gpu h20 --block 256", {"h20", "h200"}},
      {"--gpu h200 --block 0", {"0 threads", "1 or more"}},
      {"--gpu h200 --block 2048", {"2048", "1024"}},
      {"--gpu h200 --block axb", {"--block", "16x16"}},
      {"--gpu h200 --block 256 --regs 300", {"300", "255"}},
      {"--gpu h200 --block 256 --shared 300000", {"300000", "232448"}},
      {"--gpu h200 --block 256 --shared size", {"--shared", "size", "side"}},
      {"--gpu h200 --block 256 --sweep warps", {"--sweep", "warps", "regs"}},
      {"--gpu gt240 --block 64 --cluster 2", {"GT 240", "clusters"}},
      {"--gpu h200 --block 64 --square", {"--square", "--best-block"}},
      {"--gpu h200 --block 64 BLOCK_SIZE=8", {"BLOCK_SIZE=8", "--target"}},
      {"--gpu h200 --target gemm --regs 64", {"--regs", "--target"}},
      {"--gpu h200 --target gemm --size 8x8", {"--size", "M x N x K"}},
      {"--gpu h200 --target gemm --size 64..128", {"takes one problem"}},
      {"--gpu h200 --target @tiny BLOK=16", {"BLOK", "BLOCK"}},
      {"--gpu h200 --target @tiny BLOCK=17", {"BLOCK=17"}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(::testing::PrintToString(one.arguments));
    expect_refused(occupancy(sandbox, one.arguments), 2, one.words);
  }
}

}  // namespace
}  // namespace autotune::testing
