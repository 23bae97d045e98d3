// SPDX-License-Identifier: Apache-2.0
// The main job, end to end on the host device.
#include <signal.h>

#include <chrono>
#include <thread>

#include "db/store.hpp"
#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

std::vector<std::string> tune_all(const std::string& target, const std::string& sizes,
                                  std::vector<std::string> more = {}) {
  for (const char* word : {"--strategy", "exhaustive", "--budget", "100%", "--json"}) {
    more.emplace_back(word);
  }
  return tune(target, sizes, more);
}

int trials_in(const Json& problem) {
  int count = 0;
  for (const auto& [outcome, number] : problem.at("trials").items()) count += number.get<int>();
  return count;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST(Tune, JsonIsOneDocumentWithTheDocumentedKeys) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(tune_all("tiny", "100,200"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json json = Json::parse(ended.out);  // throws when anything stands before or after it
  EXPECT_THAT(keys_of(json), ::testing::IsSupersetOf({"target", "device", "db", "problems",
                                                      "compile", "interrupted", "seconds"}));
  EXPECT_EQ(json["target"], "tiny");
  EXPECT_EQ(json["device"]["kind"], "host");
  EXPECT_EQ(json["db"], sandbox.database().string());
  EXPECT_EQ(json["interrupted"], false);
  ASSERT_EQ(json["problems"].size(), 2u);
  const Json& problem = json["problems"][1];
  EXPECT_THAT(keys_of(problem),
              ::testing::IsSupersetOf({"problem", "space", "trials", "taken_over", "best",
                                       "default", "ties", "noise_floor", "seconds"}));
  EXPECT_EQ(problem["problem"], Json({{"N", 200}}));
  EXPECT_EQ(problem["space"], 8);
  EXPECT_EQ(trials_in(problem), 8);
  EXPECT_EQ(problem["taken_over"], 0);
  for (const char* outcome : {"ok", "pruned", "invalid", "compile_error", "launch_error", "wrong",
                              "nondeterministic", "timeout", "crash"}) {
    EXPECT_TRUE(problem["trials"].contains(outcome)) << outcome;
  }
  const Json& best = problem["best"];
  EXPECT_THAT(keys_of(best["config"]), ::testing::UnorderedElementsAre("BLOCK", "STEP"));
  EXPECT_GT(best["median_ns"], 0);
  EXPECT_LE(best["low_ns"], best["median_ns"]);
  EXPECT_GE(best["high_ns"], best["median_ns"]);
  EXPECT_GT(best["gflops"], 0);
  EXPECT_EQ(best["verified"], true);
  EXPECT_EQ(best["provenance"], "measured");
  EXPECT_GT(problem["default"]["median_ns"], 0);
}

TEST(Tune, OddRectangularSizesTuneAndVerify) {
  const Ended ended = Sandbox().run(
      {"--target", "gemm", "--sizes", "37x31x55", "--device", "host", "--budget", "3", "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json problem = Json::parse(ended.out)["problems"][0];
  EXPECT_EQ(problem["problem"]["M"], 37);
  EXPECT_EQ(problem["problem"]["N"], 31);
  EXPECT_EQ(problem["problem"]["K"], 55);
  EXPECT_EQ(problem["best"]["verified"], true);
}

TEST(Tune, CtrlCKeepsEverythingAndTheSameCommandGoesOn) {
  const Sandbox sandbox;
  const auto arguments = tune_all("hostile", "50x3000");
  const auto running = sandbox.start(arguments);
  for (int i = 0; i < 3000 && !std::filesystem::exists(sandbox.database()); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::seconds(4));
  running->signal(SIGINT);
  const Ended ended = running->wait();
  ASSERT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("ending after the running launch; a second Ctrl-C ends at once\n"));
  EXPECT_THAT(ended.err, HasSubstr("the same command continues from here"));
  const Json json = Json::parse(ended.out);
  EXPECT_EQ(json["interrupted"], true);
  const int tried = trials_in(json["problems"][0]);
  EXPECT_GT(tried, 0);
  EXPECT_FALSE(json["problems"][0]["best"].is_null());
  EXPECT_EQ(sandbox.run({"query", "--target", "hostile", "--size", "50x3000"}).status, 0);

  const auto more = sandbox.start(arguments);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  more->signal(SIGINT);
  const Json again = Json::parse(more->wait().out);
  EXPECT_GE(again["problems"][0]["taken_over"], tried);
}

TEST(Tune, ATargetOfOnesOwnTunesAsItWasWritten) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run({"new-target", "exp"}).status, 0);  // a function of CUDA's has this name
  EXPECT_EQ(sandbox.run({"check", "./exp.target.toml"}).status, 0);
  const Ended ended = sandbox.run(
      {"--target", "./exp.target.toml", "--sizes", "65536", "--device", "host", "--budget", "3"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("exp N=65536: "));
  EXPECT_THAT(sandbox.run({"query", "--target", "./exp.target.toml"}).out,
              HasSubstr("exp N=65536 on "));
  const Ended again = sandbox.run({"new-target", "exp"});
  expect_refused(again, 1, {"exp.cu", "already exists"});
}

/// Not for each configuration: for the first of them, and for the reference.
TEST(Tune, CheckSaysAMistakeInTheSourceOnce) {
  const Sandbox sandbox;
  expect_refused(sandbox.run({"new-target", "gemm"}), 1, {"there is a target gemm already"});
  ASSERT_EQ(sandbox.run({"new-target", "mine"}).status, 0);
  sandbox.write("mine.cu", "this is no C++\n");
  const Ended ended = sandbox.run({"check", "mine", "--device", "host"});  // ./mine.target.toml
  EXPECT_EQ(ended.status, 1);
  int times = 0;
  for (std::size_t at = 0; (at = ended.out.find("mine.cu:1:1: error", at)) != std::string::npos;
       ++at) {
    ++times;
  }
  EXPECT_EQ(times, 2) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("as above"));
}

TEST(Tune, AKernelForMultiplesOnlyIsToldOfBeforeTheSearchAndByCheck) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run({"new-target", "mine"}).status, 0);
  sandbox.write(
      "mine.cu",
      "extern \"C\" __global__ void mine_kernel(const float* x, const float* y, float* out,\n"
      "                                       float a, int n) {\n"
      "  for (int item = 0; item < ITEMS; ++item) {\n"
      "    const int i = (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x;\n"
      "    out[i] = a * x[i] + y[i];\n  }\n}\n"
      "extern \"C\" __global__ void mine_reference(const float* x, const float* y,\n"
      "                                          double* out, float a, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = (double)a * x[i] + y[i];\n}\n");
  const Ended checked = sandbox.run({"check", "./mine.target.toml", "--device", "host"});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.err, HasSubstr("edge problem (wrong on N=257: wrote out[257]"));
  const Ended tuned = sandbox.run(
      {"--target", "./mine.target.toml", "--sizes", "65536", "--device", "host", "--budget", "20"});
  expect_refused(tuned, 1, {"edge problem (wrong on N=257: wrote out[257]", "N % 32 == 0"});
}

TEST(Tune, SeveralDevicesShareTheProblems) {
  const Sandbox sandbox;
  auto arguments = tune_all("tiny", "100,200,300,400");
  *(std::ranges::find(arguments, "--device") + 1) = "host,host";
  const Ended ended = sandbox.run(arguments);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  ASSERT_EQ(json["problems"].size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(json["problems"][i]["problem"]["N"], 100 * (i + 1));
    EXPECT_EQ(json["problems"][i]["best"]["verified"], true);
  }
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
}

TEST(Tune, AModelOfAGpuChoosesWithoutOne) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Sandbox sandbox;
  const Ended ended = sandbox.run(
      {"--target", "gemm", "--sizes", "256", "--device", "model:h200", "--budget", "2", "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["problems"][0]["best"]["provenance"], "predicted");
  const std::string query = sandbox.run({"query", "--target", "gemm"}).out;
  EXPECT_THAT(query, HasSubstr(" us predicted, "));
  EXPECT_EQ(query.find("noise"), std::string::npos) << query;
  // With --db, because what is shipped was measured.
  const std::string why = sandbox
                              .run({"explain", "--target", "gemm", "--size", "256", "--db",
                                    sandbox.database().string()})
                              .out;
  EXPECT_THAT(why, HasSubstr("\npredicted "));
  EXPECT_EQ(why.find("measured"), std::string::npos) << why;
}

}  // namespace
}  // namespace autotune::testing
