// SPDX-License-Identifier: Apache-2.0
// The main job, end to end on the host device.
#include <utility>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

Words tune_all(const std::string& target, const std::string& sizes) {
  return tune(target, sizes, "--strategy exhaustive --budget 100% --json");
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

using Tune = InSandbox;

TEST_F(Tune, AShortBudgetIsNoSlowerThanWhatAProgramGotBefore) {
  sandbox.done(tune_all("tiny", "1000"));
  const Json before = sandbox.json("query --target @tiny --size 900");
  const Json& got = before["results"][0]["program"];
  EXPECT_EQ(got["origin"], "transferred");
  const Json after = sandbox.json(tune("tiny", "900", "--budget 2"));
  const Json& problem = after["problems"][0];
  EXPECT_NE(problem["default"]["config"], got["config"]) << "the first of the two";
  EXPECT_EQ(problem["best"]["config"], got["config"]);
}

TEST_F(Tune, JsonIsOneDocumentWithTheDocumentedKeys) {
  const std::string out = sandbox.done(tune_all("tiny", "100,200"));
  const Json json = Json::parse(out);  // throws when anything stands before or after it
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

TEST_F(Tune, ATargetOfOnesOwnTunesAsItWasWritten) {
  sandbox.done("new-target exp");  // a function of CUDA's has this name
  sandbox.done("check ./exp.target.toml");
  const std::string out =
      sandbox.done("--target ./exp.target.toml --sizes 65536 --device host --budget 3");
  EXPECT_THAT(out, HasSubstr("exp N=65536: "));
  EXPECT_THAT(sandbox.run("query --target ./exp.target.toml").out, HasSubstr("exp N=65536 on "));
  const Ended again = sandbox.run("new-target exp");
  expect_refused(again, 1, {"exp.cu", "already exists"});
}

/// Not for each configuration: for the first of them, and for the reference.
TEST_F(Tune, CheckSaysAMistakeInTheSourceOnce) {
  expect_refused(sandbox.run("new-target gemm"), 1, {"there is a target gemm already"});
  sandbox.done("new-target mine");
  sandbox.write("mine.cu", "this is no C++\n");
  const Ended ended = sandbox.run("check mine --device host");  // ./mine.target.toml
  EXPECT_EQ(ended.status, 1);
  int times = 0;
  for (std::size_t at = 0; (at = ended.out.find("mine.cu:1:1: error", at)) != std::string::npos;
       ++at) {
    ++times;
  }
  EXPECT_EQ(times, 2) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("as above"));
}

TEST_F(Tune, AKernelForMultiplesOnlyIsToldOfBeforeTheSearchAndByCheck) {
  sandbox.done("new-target mine");
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
  const Ended checked = sandbox.run("check ./mine.target.toml --device host");
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.err, HasSubstr("edge problem (wrong on N=257: wrote out[257]"));
  const Ended tuned =
      sandbox.run("--target ./mine.target.toml --sizes 65536 --device host --budget 20");
  expect_refused(tuned, 1, {"edge problem (wrong on N=257: wrote out[257]", "N % 32 == 0"});
}

TEST_F(Tune, SeveralDevicesShareTheProblems) {
  auto arguments = tune_all("tiny", "100,200,300,400");
  *(std::ranges::find(arguments, "--device") + 1) = "host,host";
  const std::string out = sandbox.done(arguments);
  const Json json = Json::parse(out);
  ASSERT_EQ(json["problems"].size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(json["problems"][i]["problem"]["N"], 100 * (i + 1));
    EXPECT_EQ(json["problems"][i]["best"]["verified"], true);
  }
  sandbox.done("db check");
}

TEST_F(Tune, AModelOfAGpuChoosesWithoutOne) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const std::string out =
      sandbox.done("--target gemm --sizes 256 --device model:h200 --budget 2 --json");
  EXPECT_EQ(Json::parse(out)["problems"][0]["best"]["provenance"], "predicted");
  const std::string query = sandbox.run("query --target gemm").out;
  EXPECT_THAT(query, HasSubstr(" us predicted, "));
  EXPECT_EQ(query.find("noise"), std::string::npos) << query;
  // With --db, because what is shipped was measured.
  const std::string why =
      sandbox.run(format("explain --target gemm --size 256 --db {}", sandbox.database().string()))
          .out;
  EXPECT_THAT(why, HasSubstr("\npredicted "));
  EXPECT_EQ(why.find("measured"), std::string::npos) << why;
}

// autotune tune --workload: what a program called is what is tuned.

std::string line(const std::string& layout, int m, int n, int k, const std::string& scale,
                 int calls, int lda) {
  return format(R"({{"call":"cublasSgemm","layout":"{}","m":{},"n":{},"k":{},"batch":1,)"
                R"("types":["f32","f32","f32","f32"],"compute_type":68,"math_mode":0,"scale":"{}",)"
                R"("lda":{},"ldb":{},"ldc":{},"ldd":{},"stride_a":0,"stride_b":0,"stride_c":0,)"
                R"("stride_d":0,"column_major":true,"epilogue":1,"alignment":16,"calls":{}}})"
                "\n",
                layout, m, n, k, scale, lda, k, m, m, calls);
}

Words tune_workload(const std::string& file) {
  return "tune --device host --budget 2 --strategy random --quiet --json --workload " + file;
}

using TuneWorkload = InSandbox;

TEST_F(TuneWorkload, TheHeaviestProblemComesFirst) {
  sandbox.write("w.jsonl", line("NN", 16, 8, 24, "none", 2, 16) +
                               line("TN", 16, 8, 24, "alpha", 5, 24) +
                               line("NN", 16, 8, 24, "none", 1, 16));
  const Ended ended = sandbox.run(tune_workload("w.jsonl"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, IsEmpty());
  const Json problems = Json::parse(ended.out)["problems"];
  ASSERT_EQ(problems.size(), 2U);
  const Json& first = problems[0]["problem"];
  EXPECT_EQ(first["M"], 8);
  EXPECT_EQ(first["N"], 16);
  EXPECT_EQ(first["K"], 24);
  EXPECT_EQ(first["layout"], "NT");
  EXPECT_EQ(first["scale"], "alpha");
  EXPECT_EQ(first["units"], "any");
  EXPECT_EQ(problems[1]["problem"]["layout"], "NN");
}

TEST_F(TuneWorkload, SettingsChooseAmongTheCalls) {
  sandbox.write("w.jsonl",
                line("NN", 16, 8, 24, "none", 2, 16) + line("TN", 16, 8, 24, "none", 5, 24));
  const auto with = [&](const std::string& setting) {
    return sandbox.run(tune_workload("w.jsonl") + format("--set {}", setting));
  };
  const Json tuned = Json::parse(with("units=fp32").out)["problems"];
  for (const Json& each : tuned) EXPECT_EQ(each["problem"]["units"], "fp32");
  EXPECT_EQ(Json::parse(with("layout=NN").out)["problems"].size(), 1U);
  expect_refused(with("scale=beta"), 1, {"could serve with --set scale=beta"});
  expect_refused(with("colour=red"), 2, {"gemm has no setting colour"});
}

TEST_F(TuneWorkload, WhatNoKernelServesIsLeftOutAndALineSaysHowMuch) {
  sandbox.write("w.jsonl",
                line("NN", 16, 8, 24, "none", 3, 16) + line("NN", 16, 8, 24, "device", 1, 16));
  const Ended ended = sandbox.run(tune_workload("w.jsonl"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 problem of gemm is tuned, 75.0 % of the estimated time"));
}

TEST_F(TuneWorkload, ShapesOfTunableOpAreRead) {
  sandbox.write("tunableop_untuned0.csv",
                "Validator,PT_VERSION,2.11.0\n"
                "GemmTunableOp_float_NT,nt_16_8_24\n"
                "GemmTunableOp_float_TN,tn_16_8_24_ld_24_24_16\n"
                "GemmAndBiasTunableOp_BFloat16_TN,tn_16_8_24_ld_24_24_16\n"
                "ScaledGemmTunableOp_Float8_NN,nn_16_8_24\n");
  const Ended ended = sandbox.run(tune_workload("tunableop_untuned0.csv"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 other line is left out"));
  const Json problems = Json::parse(ended.out)["problems"];
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0]["problem"]["M"], 8);
}

/// A linear layer in bf16, as PyTorch calls it.
TEST_F(TuneWorkload, SixteenBitsAreTunedToo) {
  std::string bf16 = line("TN", 16, 8, 24, "none", 3, 24);
  bf16.replace(bf16.find(R"("f32","f32","f32","f32")"), 23, R"("bf16","bf16","bf16","bf16")");
  bf16.replace(bf16.find(R"("epilogue":1)"), 12, R"("epilogue":4)");
  sandbox.write("w.jsonl", bf16);
  sandbox.write("tunableop_untuned0.csv", "GemmAndBiasTunableOp_BFloat16_TN,tn_16_8_24\n");
  for (const auto& [file, target] :
       {std::pair("w.jsonl", "gemm"), {"tunableop_untuned0.csv", "gemm16_batched"}}) {
    const std::string out = sandbox.done(tune_workload(file) + "--target" + target);
    const Json problem = Json::parse(out)["problems"][0]["problem"];
    EXPECT_EQ(problem["M"], 8);
    EXPECT_EQ(problem["N"], 16);
    EXPECT_EQ(problem["layout"], "NT");
    EXPECT_EQ(problem["dtype"], "bf16");
    EXPECT_EQ(problem["output"], "bf16");
    EXPECT_EQ(problem["epilogue"], "bias");
  }
}

/// As a full disk leaves it: the next line begins behind half of one.
TEST_F(TuneWorkload, LinesThatCannotBeReadAreLeftOutAndCounted) {
  const std::string whole = line("NN", 16, 8, 24, "none", 1, 16);
  sandbox.write("w.jsonl", whole + whole.substr(0, 50) + whole);
  const Ended ended = sandbox.run(tune_workload("w.jsonl"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 other line is left out"));
}

TEST_F(TuneWorkload, ABadFileIsNamedWithItsLine) {
  sandbox.write("bad.jsonl", "\n{\"call\":1}\n");
  expect_refused(sandbox.run(tune_workload("bad.jsonl")), 1,
                 {"bad.jsonl, line 2", "is not a call of cuBLAS"});
  sandbox.write("other.jsonl", line("NN", 16, 8, 24, "device", 1, 16));
  expect_refused(sandbox.run(tune_workload("other.jsonl")), 1,
                 {"has no call that kernels of gemm could", "run --report"});
  expect_refused(sandbox.run(tune_workload("none.jsonl")), 1, {"none.jsonl: cannot be read"});
  sandbox.write("half.csv", "GemmTunableOp_Half_NN,nn_16_8_24\n");
  expect_refused(sandbox.run(tune_workload("half.csv") + "--set dtype=f32"), 1,
                 {"half.csv: has no call", "--target gemm"});
  sandbox.write("none.csv", "Validator,PT_VERSION,2.11.0\n");
  expect_refused(sandbox.run(tune_workload("none.csv")), 1,
                 {"none.csv: has no call", "docs/blas.md"});
  expect_refused(sandbox.run("tune --workload w --sizes 8 --device host"), 2,
                 {"leave out --sizes"});
}

}  // namespace
}  // namespace autotune::testing
