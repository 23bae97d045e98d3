// SPDX-License-Identifier: Apache-2.0
// autotune warm: after it, programs compile nothing.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

class Warm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "this build has no NVRTC";
    const Ended tuned = sandbox_.run({"tune", "--target", "vector_add", "--sizes", "4096,65536",
                                      "--device", "model:h200", "--budget", "3", "--quiet"});
    ASSERT_EQ(tuned.status, 0) << tuned.err;
    sandbox_.set("AUTOTUNE_CACHE", (sandbox_.folder() / "cache").string());
  }

  Sandbox sandbox_;
};

TEST_F(Warm, FillsTheCacheOnce) {
  const Json first = Json::parse(sandbox_.run({"warm", "--gpu", "h200", "--json"}).out);
  EXPECT_EQ(first["device"], "NVIDIA H200");
  EXPECT_GE(first["compiled"], 1);
  EXPECT_EQ(first["failed"], 0);
  const Json again = Json::parse(sandbox_.run({"warm", "--gpu", "h200", "--json"}).out);
  EXPECT_EQ(again["compiled"], 0);
  EXPECT_EQ(again["cached"], 2);
  const Ended one = sandbox_.run(
      {"warm", "--gpu", "h200", "--target", "vector_add", "--size", "4096", "--jobs", "1"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("(sm_90): 0 compiled, 1 in the cache, 0 failed"));
}

TEST_F(Warm, AnotherGpuOfTheArchitectureUsesTheAnswersToo) {
  const Json json = Json::parse(sandbox_.run({"warm", "--gpu", "h100", "--json"}).out);
  EXPECT_EQ(json["compute_capability"], 90);
  EXPECT_EQ(json["compiled"].get<int>() + json["cached"].get<int>(), 2);
}

/// Without a database, and with one that has other targets only.
TEST_F(Warm, ShippedResultsAreCompiledToo) {
  const std::vector<std::string> words{"warm",   "--gpu",       "h200",      "--target", "gemm",
                                       "--size", "512x512x512", "--context", "between"};
  Sandbox fresh;
  fresh.set("AUTOTUNE_CACHE", (sandbox_.folder() / "cache").string());
  for (const Sandbox* const sandbox : {&std::as_const(fresh), &std::as_const(sandbox_)}) {
    const Ended warmed = sandbox->run(words);
    EXPECT_EQ(warmed.status, 0) << warmed.err;
    EXPECT_THAT(warmed.out, HasSubstr(", 0 failed"));
    for (const char* const device : {"model:h200", "h200", "NVIDIA H200"}) {
      const Ended asked = sandbox->run(
          {"query", "--target", "gemm", "--size", "512", "--device", device, "--json"});
      ASSERT_EQ(asked.status, 0) << device << asked.err;
      EXPECT_EQ(Json::parse(asked.out)["results"][0]["shipped"], true) << device;
    }
  }
}

/// The user's database may be no database: an empty file, a text, a folder.
TEST_F(Warm, ShippedResultsAreThereBesideADamagedDatabase) {
  for (const char* const text : {"", "no database\n", "folder"}) {
    Sandbox sandbox;
    const std::filesystem::path file = sandbox.database();
    std::filesystem::create_directories(file.parent_path());
    sandbox.set("AUTOTUNE_CACHE", (sandbox_.folder() / "cache").string());
    if (std::string_view(text) == "folder") {
      std::filesystem::create_directory(file);
    } else {
      std::ofstream(file) << text;
    }
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"query", "--target", "gemm", "--size", "512", "--device",
                                   "h200"},
          {"warm", "--gpu", "h200", "--target", "gemm", "--size", "512", "--context", "between"},
          {"explain", "--target", "gemm", "--size", "512", "--device", "h200", "--context",
           "between"}}) {
      const Ended ended = sandbox.run(words);
      EXPECT_EQ(ended.status, 0) << text << words[0] << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("only shipped results are used")) << text << words[0];
    }
  }
}

TEST_F(Warm, WhatCannotBeWarmedIsRefused) {
  expect_refused(sandbox_.run({"warm", "--gpu", "a100"}), 1, {"nothing is tuned there for"});
  expect_refused(sandbox_.run({"warm", "--gpu", "cuda:99"}), 1, {"there is no GPU cuda:99 here"});
  expect_refused(sandbox_.run({"warm", "--gpu", "h200", "--size", "4096"}), 2,
                 {"warm needs --target"});
  expect_refused(sandbox_.run({"warm", "--gpu", "h200", "--target", "vector_add", "--size", "8"}),
                 1, {"nothing is tuned there for"});
  sandbox_.set("AUTOTUNE_CACHE", "/proc/none");
  expect_refused(sandbox_.run({"warm", "--gpu", "h200"}), 1, {"cannot be used"});
}

}  // namespace
}  // namespace autotune::testing
