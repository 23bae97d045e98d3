// SPDX-License-Identifier: Apache-2.0
// autotune explain: what it tells of a tuned problem, and what it refuses.
#include <cstdlib>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

Words explain(const std::string& size, const Words& more = {}) {
  return Words(format("explain --target @tiny --size {}", size)) + more;
}

TEST(Explain, TellsTheBestItsLosersAndHowManyWereTried) {
  const Sandbox sandbox;
  sandbox.done(tune("tiny", "100", "--budget 8"));
  const std::string out = sandbox.done(explain("100"));
  EXPECT_THAT(out, HasSubstr("N=100"));
  EXPECT_THAT(out, HasSubstr("measured"));
  EXPECT_THAT(out, HasSubstr("predicted"));
  EXPECT_THAT(out, HasSubstr("tried       8"));
  EXPECT_THAT(out, HasSubstr("timed configurations, fastest first"));
  EXPECT_THAT(out, HasSubstr("the rank correlation of predicted and measured times of 8 "));

  const Json json = sandbox.json(explain("100", "--losers 1"))[0];
  EXPECT_EQ(json["problem"], "N=100");
  EXPECT_EQ(json["tried"], 8);
  EXPECT_LE(json["losers"].size(), 1U);
  EXPECT_FALSE(json.contains("roofs"));  // of a CPU
  EXPECT_EQ(json["ranked"], 8);
  EXPECT_EQ(out.find("misleads"), std::string::npos) << "8 times do not convict a model";
}

/// On the model of an H200.
Ended explained(const std::string& target, const Words& more = {}) {
  const Sandbox sandbox;
  sandbox.done(
      format("tune --target {} --sizes 1024 --device model:h200 --budget 3 --quiet", target));
  return sandbox.run(Words(format("explain --target {} --size 1024", target)) + more);
}

TEST(Explain, DrawsTheRoofsOfBothUnits) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended ended = explained("gemm_tf32");
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* text :
       {"tensor cores", "2 products on tensor cores",
        "FMA 66.91 TFLOP/s, tensor cores 535.3 TFLOP/s", "FMA roof", "tensor and L2 roofs"}) {
    EXPECT_THAT(ended.out, HasSubstr(text));
  }
}

TEST(Explain, TensorCoresHaveNoRoofWhereNothingUsesThem) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended ended = explained("convolution_2d", "--json");
  EXPECT_EQ(ended.status, 0) << ended.err;
  const Json json = Json::parse(ended.out)[0];
  EXPECT_GT(json["roofs"]["fma"], 6e13);
  EXPECT_TRUE(json["roofs"]["tensor_cores"].is_null());
  EXPECT_EQ(json["predicted"]["terms"]["tensor cores"], 0);
}

TEST(Explain, RefusesWhatIsNotTuned) {
  const Sandbox sandbox;
  expect_refused(sandbox.run(explain("100")), 1, {"tuned.db", "no such file"});
  sandbox.done(tune("tiny", "100", "--budget 3"));
  expect_refused(sandbox.run(explain("200")), 1, {"200", "not tuned", "--sizes 200"});
  expect_refused(sandbox.run(explain("100", "--device GPU")), 2, {"GPU"});
  expect_refused(sandbox.run(explain("100", "--losers -1")), 2, {"--losers", "-1"});
}

/// 32 configurations; those of BLOCK=16 do not compile. The model predicts the same time for all.
constexpr const char* kHealthManifest = R"toml(manifest = 2
name = "narrow"
description = "y = 2 x + 1"
source = "narrow.cu"
sizes = ["N"]
parameters.BLOCK = [1, 16]
parameters.STEP.run_time = true
parameters.STEP.values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
arguments.x = { type = "i32", length = "N" }
arguments.y = { type = "i32", length = "N", role = "output" }
kernels.narrow.grid = ["ceil_div(N, BLOCK * STEP)"]
kernels.narrow.block = ["BLOCK"]
kernels.narrow.arguments = ["x", "y", "STEP", "N"]
reference.kernels = { reference = { grid = [1], block = [1], arguments = ["x", "y", "N"] } }
reference.outputs = "f64"
)toml";

constexpr const char* kSource = R"(
#if defined(BLOCK) && BLOCK == 16
#error too wide
#endif
#ifndef BLOCK
#define BLOCK 1
#endif
extern "C" __global__ void narrow(const int* x, int* y, int step, int n) {
  const int first = (blockIdx.x * BLOCK + threadIdx.x) * step;
  for (int i = first; i < first + step && i < n; ++i) y[i] = 2 * x[i] + 1;
}
extern "C" __global__ void reference(const int* x, int* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;
}
)";

TEST(SearchHealthReport, TuneAndExplainTellOfFailuresAndWhatToDo) {
  const Sandbox sandbox;
  sandbox.write("narrow.cu", kSource);
  const std::string manifest = sandbox.write("narrow.target.toml", kHealthManifest).string();
  const std::string tuned = sandbox.done(format(
      "tune --device host --target {} --sizes 64 --strategy exhaustive --budget 100%", manifest));
  EXPECT_THAT(tuned, HasSubstr("failures: 16 of 32 (50 %), 16 of them compile_error: "));
  EXPECT_THAT(tuned, HasSubstr("a constraint in the manifest"));
  EXPECT_THAT(tuned, Not(HasSubstr("still improving"))) << "everything was tried";

  const Words explain = format("explain --target {} --size 64", manifest);
  const Ended explained = sandbox.run(explain);
  EXPECT_THAT(explained.out, HasSubstr("failures    16 of 32 (50 %), 16 of them compile_error: "));
  EXPECT_THAT(explained.out, HasSubstr("progress    the last quarter of 32 evaluations"));
}

TEST(SearchHealthReport, JsonOfBothHasTheFigures) {
  const Sandbox sandbox;
  const Json search = sandbox.json(tune("tiny", "100", "--budget 8"))["problems"][0]["search"];
  EXPECT_EQ(search["tried"], 8);
  EXPECT_EQ(search["failed"], 0);
  EXPECT_TRUE(search["main_failure"].is_null());
  EXPECT_TRUE(search["last_quarter_gain"].is_null()) << "too few evaluations";
  EXPECT_EQ(search["still_improves"], false);

  const Json document = sandbox.json("explain --target @tiny --size 100")[0];
  EXPECT_EQ(document["search"]["ranked"], document["ranked"]);
  EXPECT_EQ(document["search"]["tried"], 8);
}

// Which of the stored results a report shows.

/// One problem with a result for a chain and one between other kernels, and another size.
class ReportSource : public ::testing::Test {
 protected:
  ReportSource() {
    setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
    db::TunedStore store(file_);
    db::Sample sample(store);
    store.add_decision(sample.decision("BM=64", 10000));
    sample.key.policy = "l2=hot launch=graph context=between";
    store.add_decision(sample.decision("BM=32", 12000));
    sample.key.problem = "M=64 N=64 K=64 dtype=f64";
    store.add_decision(sample.decision("BM=16", 3000));
  }

  /// The configurations of the problems that are shown.
  std::vector<std::string> shown(Words words) const {
    words += format("--db {} --output unused.html", file_);
    const cli::Arguments arguments(cli::verb_called("report"), words);
    std::vector<std::string> configurations;
    for (const report::ReportedProblem& problem : cli::ReportSource(arguments).read().problems) {
      configurations.push_back(problem.entry.best.configuration);
    }
    return configurations;
  }

  const Sandbox sandbox_;
  const std::string file_ = (sandbox_.folder() / "some.db").string();
};

TEST_F(ReportSource, OneContextMayBeChosen) {
  EXPECT_EQ(shown({}).size(), 2u) << "contexts of a problem are told together";
  EXPECT_THAT(shown("--context chain"), ElementsAre("BM=64"));
  EXPECT_THAT(shown("--context between"), UnorderedElementsAre("BM=32", "BM=16"));
  EXPECT_THAT(shown("--context between --set dtype=f64"), ElementsAre("BM=16"));
}

TEST_F(ReportSource, OfARunThatDidNotEndOnlyTheSearchIsShown) {
  db::TunedStore store(file_);
  db::Sample sample(store);
  sample.key.problem = "M=32 N=32 K=32 dtype=f64";
  store.append(std::vector{sample.trial("BM=16", 3000)});
  EXPECT_THAT(shown("--target gemm --size 32"), ElementsAre(""));
}

TEST_F(ReportSource, AContextWithoutResultsIsAnErrorThatNamesTheOthers) {
  const auto error_of = [&](const Words& words) { return thrown_by([&] { shown(words); }); };
  EXPECT_THAT(error_of("--context alone"), HasSubstr("gemm is not tuned with --context alone in " +
                                                     file_ + ", but with between and chain"));
  EXPECT_THAT(error_of("--context chain --set dtype=f64"), HasSubstr("but with between"));
  EXPECT_THAT(error_of("--context amid"), HasSubstr("--context is between, chain or alone"));
}

TEST_F(ReportSource, OtherVerbsChooseAContextInTheSameWay) {
  const Json results =
      sandbox_.json(format("query --db {} --context chain --target gemm", file_))["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["config"]["BM"], 64);
  expect_refused(
      sandbox_.run(
          format("db pin --db {} --target gemm --size 512 --context alone --config BM=64", file_)),
      1, {"--context alone"});
}

TEST_F(ReportSource, ASizeNeedsATargetAndMustBeTuned) {
  EXPECT_THROW(shown("--size 512"), UsageError);
  EXPECT_THROW(shown("--target gemm --size 8"), Error);
  EXPECT_THAT(shown("--target gemm --size 64"), ElementsAre("BM=16"));
}

}  // namespace
}  // namespace autotune::testing
