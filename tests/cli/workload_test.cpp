// SPDX-License-Identifier: Apache-2.0
// autotune tune --workload: what a program called is what is tuned.
#include <utility>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

std::string line(const std::string& layout, int m, int n, int k, const std::string& scale,
                 int calls, int lda) {
  return R"({"call":"cublasSgemm","layout":")" + layout + R"(","m":)" + std::to_string(m) +
         R"(,"n":)" + std::to_string(n) + R"(,"k":)" + std::to_string(k) +
         R"(,"batch":1,"types":["f32","f32","f32","f32"],"compute_type":68,"math_mode":0,)" +
         R"("scale":")" + scale + R"(","lda":)" + std::to_string(lda) + R"(,"ldb":)" +
         std::to_string(k) + R"(,"ldc":)" + std::to_string(m) + R"(,"ldd":)" + std::to_string(m) +
         R"(,"stride_a":0,"stride_b":0,"stride_c":0,"stride_d":0,"column_major":true,)" +
         R"("epilogue":1,"alignment":16,"calls":)" + std::to_string(calls) + "}\n";
}

std::vector<std::string> tune_workload(const std::string& file) {
  return {"tune", "--workload", file,     "--device", "host",  "--budget",
          "2",    "--strategy", "random", "--quiet",  "--json"};
}

TEST(TuneWorkload, TheHeaviestProblemComesFirst) {
  const Sandbox sandbox;
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

TEST(TuneWorkload, SettingsChooseAmongTheCalls) {
  const Sandbox sandbox;
  sandbox.write("w.jsonl",
                line("NN", 16, 8, 24, "none", 2, 16) + line("TN", 16, 8, 24, "none", 5, 24));
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> words = tune_workload("w.jsonl");
    words.insert(words.end(), {"--set", setting});
    return sandbox.run(words);
  };
  const Ended fp32 = with("units=fp32");
  ASSERT_EQ(fp32.status, 0) << fp32.err;
  const Json tuned = Json::parse(fp32.out)["problems"];
  for (const Json& each : tuned) EXPECT_EQ(each["problem"]["units"], "fp32");
  const Ended nn = with("layout=NN");
  ASSERT_EQ(nn.status, 0) << nn.err;
  EXPECT_EQ(Json::parse(nn.out)["problems"].size(), 1U);
  expect_refused(with("scale=beta"), 1, {"could serve with --set scale=beta"});
  expect_refused(with("colour=red"), 2, {"gemm has no setting colour"});
}

TEST(TuneWorkload, WhatNoKernelServesIsLeftOutAndALineSaysHowMuch) {
  const Sandbox sandbox;
  sandbox.write("w.jsonl",
                line("NN", 16, 8, 24, "none", 3, 16) + line("NN", 16, 8, 24, "device", 1, 16));
  const Ended ended = sandbox.run(tune_workload("w.jsonl"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 problem of gemm is tuned, 75.0 % of the estimated time"));
}

TEST(TuneWorkload, ShapesOfTunableOpAreRead) {
  const Sandbox sandbox;
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
TEST(TuneWorkload, SixteenBitsAreTunedToo) {
  const Sandbox sandbox;
  std::string bf16 = line("TN", 16, 8, 24, "none", 3, 24);
  bf16.replace(bf16.find(R"("f32","f32","f32","f32")"), 23, R"("bf16","bf16","bf16","bf16")");
  bf16.replace(bf16.find(R"("epilogue":1)"), 12, R"("epilogue":4)");
  sandbox.write("w.jsonl", bf16);
  sandbox.write("tunableop_untuned0.csv", "GemmAndBiasTunableOp_BFloat16_TN,tn_16_8_24\n");
  for (const auto& [file, target] :
       {std::pair("w.jsonl", "gemm"), {"tunableop_untuned0.csv", "gemm16_batched"}}) {
    std::vector<std::string> words = tune_workload(file);
    words.insert(words.end(), {"--target", target});
    const Ended ended = sandbox.run(words);
    ASSERT_EQ(ended.status, 0) << ended.err;
    const Json problem = Json::parse(ended.out)["problems"][0]["problem"];
    EXPECT_EQ(problem["M"], 8);
    EXPECT_EQ(problem["N"], 16);
    EXPECT_EQ(problem["layout"], "NT");
    EXPECT_EQ(problem["dtype"], "bf16");
    EXPECT_EQ(problem["output"], "bf16");
    EXPECT_EQ(problem["epilogue"], "bias");
  }
}

/// As a full disk leaves it: the next line begins behind half of one.
TEST(TuneWorkload, LinesThatCannotBeReadAreLeftOutAndCounted) {
  const Sandbox sandbox;
  const std::string whole = line("NN", 16, 8, 24, "none", 1, 16);
  sandbox.write("w.jsonl", whole + whole.substr(0, 50) + whole);
  const Ended ended = sandbox.run(tune_workload("w.jsonl"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 other line is left out"));
}

TEST(TuneWorkload, ABadFileIsNamedWithItsLine) {
  const Sandbox sandbox;
  sandbox.write("bad.jsonl", "\n{\"call\":1}\n");
  expect_refused(sandbox.run(tune_workload("bad.jsonl")), 1,
                 {"bad.jsonl, line 2", "is not a call of cuBLAS"});
  sandbox.write("other.jsonl", line("NN", 16, 8, 24, "device", 1, 16));
  expect_refused(sandbox.run(tune_workload("other.jsonl")), 1,
                 {"has no call that kernels of gemm could", "run --report"});
  expect_refused(sandbox.run(tune_workload("none.jsonl")), 1, {"none.jsonl: cannot be read"});
  sandbox.write("half.csv", "GemmTunableOp_Half_NN,nn_16_8_24\n");
  std::vector<std::string> only_f32 = tune_workload("half.csv");
  only_f32.insert(only_f32.end(), {"--set", "dtype=f32"});
  expect_refused(sandbox.run(only_f32), 1, {"half.csv: has no call", "--target gemm"});
  sandbox.write("none.csv", "Validator,PT_VERSION,2.11.0\n");
  expect_refused(sandbox.run(tune_workload("none.csv")), 1,
                 {"none.csv: has no call", "docs/blas.md"});
  expect_refused(sandbox.run({"tune", "--workload", "w", "--sizes", "8", "--device", "host"}), 2,
                 {"leave out --sizes"});
}

}  // namespace
}  // namespace autotune::testing
