// SPDX-License-Identifier: Apache-2.0
// What is told about what was tuned: query, list, help.
#include <fstream>
#include <utility>

#include "tests/cli/sentences.hpp"
#include "tests/db/hostile.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

using Query = InSandbox;

TEST_F(Query, TellsTheExactTheNearestAndThatThereIsNothing) {
  expect_refused(sandbox.run("query --target stencil"), 1, {"tuned.db", "no such file"});
  expect_refused(sandbox.run("query --target tiny"), 2, {"no target tiny"});
  sandbox.done(tune("tiny", "100", "--budget 3"));

  const Ended exact = sandbox.run("query --target tiny --size 100");
  EXPECT_EQ(exact.status, 0) << exact.err;
  EXPECT_THAT(exact.out, HasSubstr("tiny N=100 on"));
  EXPECT_THAT(exact.out, HasSubstr("verified"));
  EXPECT_EQ(exact.out.find("not tuned"), std::string::npos);

  const std::string manifest = manifest_of("tiny");
  const std::string near = sandbox.done(format("query --target {} --size 200", manifest));
  EXPECT_THAT(near, HasSubstr("tiny N=200 is not tuned on "));
  EXPECT_THAT(near, HasSubstr("expected to be the fastest of the configurations that are good"));
  EXPECT_THAT(near, HasSubstr("autotune tune --target " + manifest +
                              " --sizes 200 --device host measures it\n"));
  const std::string file = sandbox.database().string();
  EXPECT_THAT(sandbox.run(format("query --target {} --size 200 --db {}", manifest, file)).out,
              HasSubstr("autotune tune --target " + manifest + " --sizes 200 --device host --db " +
                        file + " measures it"));
  expect_refused(sandbox.run("query --target tiny --size 200"), 1,
                 {"tiny of size 200 is not tuned", "its manifest is not found"});
  const Ended one_of_two = sandbox.run("query --target tiny --size 200,100");
  EXPECT_EQ(one_of_two.status, 0) << one_of_two.err;
  EXPECT_EQ(one_of_two.out, exact.out);
  EXPECT_THAT(one_of_two.err, HasSubstr("warning: tiny of size 200 is not tuned"));

  const Ended by_path = sandbox.run(format("query --target {} --size 100", manifest));
  EXPECT_THAT(by_path.out, StartsWith(exact.out));
  EXPECT_THAT(by_path.out, HasSubstr("program  tiny BLOCK=")) << "the manifest tells";

  const Json json = sandbox.json(format("query --target {} --size 200", manifest));
  EXPECT_EQ(json["results"][0]["exact"], false);
  EXPECT_EQ(json["results"][0]["problem"]["N"], 200);
  EXPECT_EQ(json["results"][0]["factor_away"], 2);
  EXPECT_EQ(json["results"][0]["median_ns"], nullptr);
  EXPECT_EQ(json["results"][0]["config"], json["results"][0]["program"]["config"]);

  const std::string all = sandbox.done("query --json");
  EXPECT_EQ(Json::parse(all)["results"][0]["target"], "tiny");

  expect_refused(sandbox.run("query --size 100"), 2, {"query needs --target"});
  expect_refused(sandbox.run("db unpin --size 100"), 2, {"db unpin needs --target"});
  expect_refused(sandbox.run("query --target stencil"), 1, {"stencil", "tiny"});
  expect_refused(sandbox.run("query --target tiny --size 100 --device GPU"), 2, {"GPU"});
}

TEST(OldNames, OfTargetsTakeSizesInTheOldOrderAndALineNamesTheNewOnes) {
  const Sandbox sandbox;
  const Ended tuned = sandbox.run(
      "tune --target gemm16_batched --sizes 3x61x35x67 --device host --budget 1 --quiet --json");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_EQ(
      tuned.err,
      "note: gemm16_batched is now part of gemm: --target gemm --sizes batch=3,M=61,N=35,K=67 "
      "--set dtype=f16; autotune db convert renames what is stored under the old name\n");
  const Json problem = Json::parse(tuned.out)["problems"][0]["problem"];
  EXPECT_EQ(problem["batch"], 3);
  EXPECT_EQ(problem["dtype"], "f16");
  EXPECT_EQ(problem["K"], 67);

  const std::string strided = "3x61x35x67x67x35x35x35x4087x2345x2135x2135";
  EXPECT_THAT(sandbox.done(format("query --target gemm16_strided --size {}", strided)),
              HasSubstr("gemm M=61 N=35 K=67 batch=3 dtype=f16 on "));
  expect_refused(sandbox.run("query --target gemm16_batched --size 4x8"), 2, {"--size", "BATCH"});
}

TEST_F(Query, TellsWhatAProgramGetsWhereNothingIsStored) {
  const Words question = "query --target reduction --size 1000,2000 --device h200";
  const std::string told = sandbox.done(question);
  EXPECT_THAT(told, HasSubstr("reduction N=1000 is not tuned on NVIDIA H200"));
  EXPECT_THAT(told, HasSubstr("\nreduction N=1000 on NVIDIA H200: METHOD="));
  EXPECT_THAT(told, HasSubstr("autotune tune --target reduction --sizes 2000 measures it"));
  const Json json = sandbox.json(question);
  EXPECT_EQ(json["results"][1]["exact"], false);
  EXPECT_EQ(json["results"][1]["problem"]["N"], 2000);
  EXPECT_GT(json["results"][1]["expected_ns"], 0);

  expect_refused(sandbox.run(question + "--db other.db"), 1, {"other.db", "no such"});
  expect_refused(sandbox.run(question + "--set dtype=f80"), 2, {"dtype=f80 is not offered"});
  const auto of = [&](const char* target, const char* size) {
    return sandbox.run(format("query --target {} --size {} --device h200", target, size));
  };
  expect_refused(of("gemm", "0x8x8"), 2, {"0"});
  expect_refused(of("gem", "8"), 2, {"there is no target gem", "gemm"});
  expect_refused(of("./none.target.toml", "8"), 2, {"none.target.toml"});
}

TEST_F(Query, TellsWhatAProgramGetsThatGivesFreeSizes) {
  const auto asked = [&](const char* verb, const char* size,
                         const char* option = "--set layout=NN") {
    return sandbox.run(format("{} --target gemm --device h200 --size {} --context between {}", verb,
                              size, option));
  };
  const Ended away = asked("query", "1024,lda=1032");
  EXPECT_EQ(away.status, 0) << away.err;
  EXPECT_THAT(away.out,
              AllOf(HasSubstr("gemm M=1024 N=1024 K=1024 batch=1 lda=1032 is not tuned on NVIDIA"),
                    HasSubstr("good at these sizes with default free sizes; not timed with those"),
                    HasSubstr("measures it with default free sizes\n")));
  EXPECT_EQ(asked("query", "1024,lda=1024").out, asked("query", "1024").out) << "the default";
  const Json json = Json::parse(asked("query", "1024,lda=1032,ldd=1100", "--json").out);
  const Json program = json["results"][0]["program"];
  EXPECT_EQ(json["results"][0]["exact"], false);
  EXPECT_EQ(program["free"], (Json{{"lda", 1032}, {"ldd", 1100}}));
  EXPECT_EQ(program["config"], json["results"][0]["config"]);
  EXPECT_GT(program["expected_ns"], 0);

  const Ended explained = asked("explain", "1024,lda=1032");
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_THAT(
      explained.out,
      AllOf(HasSubstr("gemm M=1024 N=1024 K=1024 batch=1 lda=1032 on NVIDIA"),
            HasSubstr("\npredicted "), HasSubstr("\noccupancy "), Not(HasSubstr("\nmeasured "))));
  EXPECT_EQ(Json::parse(asked("explain", "1024,lda=1032,ldd=1100", "--json").out)[0]["program"],
            program);
  expect_refused(asked("explain", "1024,lda=1032", "--counters"), 2, {"--counters", "free sizes"});
}

TEST_F(Query, SaysThatALockIsNoDatabaseEvenIfItIsMissing) {
  sandbox.set("AUTOTUNE_DB", "app.lock");
  const Ended ended = sandbox.run("query --target gemm --size 512 --device 'NVIDIA H200'");
  EXPECT_THAT(ended.err, HasSubstr("app.lock: is a lock, which programs open in place of a "
                                   "database"));
}

TEST_F(Query, SaysWhyARestrictedRunHasNoResult) {
  sandbox.done(tune("tiny", "100", "--budget 3 --fix BLOCK=1"));
  expect_refused(sandbox.run("query --target tiny"), 1,
                 {"no result", "restricted by --fix", "autotune report"});
}

/// What is stored of the sample's gemm, whose source is none that is here.
std::string of_sample(const Sandbox& sandbox) {
  return sandbox.run("query --db sample.db --target gemm").out;
}

TEST_F(Query, TellsTheTimeWithTheOtherStateOfTheL2Cache) {
  db::TunedStore store(sandbox.folder() / "sample.db");
  db::Sample sample(store);
  store.add_decision(sample.decision("BM=32", 20000));
  EXPECT_THAT(of_sample(sandbox), HasSubstr("L2       24.00 us with a cold L2 cache\n"));
  sample.key.policy = "l2=cold launch=graph";
  db::DecisionRow other = sample.decision("BM=32", 4000);
  other.samples = 1;
  store.add_decision(other);
  const std::string both = of_sample(sandbox);
  EXPECT_THAT(both, HasSubstr("gemm M=512 N=512 K=512 on NVIDIA H200 (l2=hot"));
  EXPECT_THAT(both, HasSubstr("us with a hot L2 cache\n"));
  EXPECT_THAT(both, HasSubstr(", 1 sample, verified"));
}

TEST_F(Query, GivesNoResultOfAChangedKernelThatIsNoLongerValid) {
  db::decide(sandbox.folder() / "sample.db", "BM=32", 20000);
  EXPECT_THAT(of_sample(sandbox), HasSubstr("stale    the kernel has changed since"));
  const std::string asked = sandbox.done("query --db sample.db --target gemm --size 512");
  EXPECT_THAT(asked, HasSubstr("gemm M=512 N=512 K=512 is not tuned on NVIDIA H200 (l2=hot"));
  EXPECT_THAT(asked, Not(HasSubstr("BM=32\n")));
}

TEST_F(Query, GivesNoAnswerThatMayBeNoneAndNamesAPinThatFailed) {
  for (const db::HostileDatabase& hostile : db::hostile_databases()) {
    SCOPED_TRACE(hostile.name);
    std::filesystem::remove(sandbox.folder() / "sample.db");
    make(hostile, sandbox.folder() / "sample.db");
    const Ended text = sandbox.run("query --db sample.db --target gemm --trials 9");
    const Ended header = sandbox.run("db export --db sample.db --target gemm --format cpp");
    EXPECT_THAT(header.out, Not(HasSubstr(db::kNoAnswer)));
    EXPECT_EQ(text.status, hostile.answer.empty() ? 1 : 0) << text.err;
    if (hostile.answer.empty()) continue;
    EXPECT_THAT(text.out, HasSubstr(": " + hostile.answer + "\n"));
    const bool is_pinned = std::string_view(hostile.name).find("pinned") != std::string::npos;
    const std::string pin = "pin      BM=64 is left out, because it failed for this problem\n";
    EXPECT_EQ(text.out.find(db::kNoAnswer) != std::string::npos, is_pinned) << text.out;
    EXPECT_EQ(text.out.find(pin) != std::string::npos, is_pinned) << text.out;
  }
}

TEST_F(Query, SaysWhetherRunsGaveTheSameBits) {
  db::TunedStore store(sandbox.folder() / "sample.db");
  const db::Sample sample(store);
  store.add_decision(sample.decision("BM=32", 20000));
  EXPECT_THAT(of_sample(sandbox), Not(HasSubstr("runs ")));
  db::DecisionRow decision = sample.decision("BM=32", 20000, db::now_text());
  decision.repeats = false;
  store.add_decision(decision);
  EXPECT_THAT(of_sample(sandbox), HasSubstr("runs     bits differ from run to run"));
  decision.repeats = true;
  decision.created_at = db::now_text();
  store.add_decision(decision);
  EXPECT_THAT(of_sample(sandbox), HasSubstr("runs     every run gave the same bits\n"));
}

TEST_F(Query, SaysThatTheSpaceChangedSinceUntilItIsTunedAgain) {
  sandbox.write("twice.cu",
                "__global__ void twice(const float* x, float* y, int n) {\n"
                "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
                "}\n");
  const auto write = [&](const std::string& constraint) {
    return sandbox
        .write("twice.target.toml", R"toml(manifest = 2
name = "twice"
source = "twice.cu"
sizes = ["N"]
parameters.STEP = [1, 2]
constraints = ")toml" + constraint + R"toml("
default = { STEP = 1 }
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output", tolerance = 1 }
launch = { grid = 1, block = 1, arguments = ["x", "y", "N"] }
kernels.twice = {}
reference.kernels.twice = {}
)toml")
        .string();
  };
  const std::string manifest = write("STEP > 0");
  const Words words = format("tune --target {} --sizes 100 --device host", manifest);
  const auto asked = [&] {
    return sandbox.run(format("query --target {} --size 100", manifest)).out;
  };
  sandbox.done(words);
  EXPECT_EQ(asked().find("have changed since"), std::string::npos);
  write("STEP > 0 and STEP < 9");
  EXPECT_THAT(asked(), HasSubstr("space    parameters or constraints of twice have changed since"));
  sandbox.done(words);
  EXPECT_EQ(asked().find("have changed since"), std::string::npos);
}

TEST_F(Query, ShowsTrialsSortedByAColumn) {
  sandbox.done(tune("tiny", "100", "--budget 3"));
  const Words query = "query --target tiny --trials 2";
  EXPECT_THAT(sandbox.done(query),
              HasSubstr("time registers occupancy    compile  configuration\n"));
  const Json trials = sandbox.json(query + "--sort compile")["results"][0]["trials"];
  ASSERT_FALSE(trials.empty());  // the others may have been pruned
  EXPECT_LE(trials.front()["compile_seconds"], trials.back()["compile_seconds"]);
  expect_refused(sandbox.run(query + "--sort register"), 2, {"not \"register\"", "registers"});

  const Ended refused = sandbox.run("query --target tiny --trials -1");
  expect_refused(refused, 2, {"--trials", "-1"});
  EXPECT_EQ(refused.out, "") << "before anything is shown";
}

TEST_F(Query, LeavesOutWhatMeansNothingInAConfiguration) {
  sandbox.done("--target gemm --sizes 16 --device host --budget 1");
  const Ended text = sandbox.run("query --target gemm --size 16");
  EXPECT_THAT(text.out, HasSubstr("KERNEL=tiled BLOCK_SIZE="));
  EXPECT_EQ(text.out.find("STAGES="), std::string::npos) << text.out;
  const Ended as_json = sandbox.run("query --target gemm --size 16 --json");
  EXPECT_TRUE(Json::parse(as_json.out)["results"][0]["config"].contains("STAGES"));
}

TEST_F(Query, ShowsConfigurationsThatCanBePinned) {
  sandbox.done("--target gemm --sizes 16 --device host --budget 1");
  const std::string shown = sandbox.run("query --target gemm --size 16").out;
  const std::size_t start = shown.find("KERNEL=");
  const std::string configuration = shown.substr(start, shown.find('\n', start) - start);
  const auto pin = [&](const std::string& text) {
    return sandbox.run(format("db pin --target gemm --size 16 --config '{}'", text));
  };

  const Ended pinned = pin(configuration);
  EXPECT_EQ(pinned.status, 0) << pinned.err;
  EXPECT_THAT(pinned.out, HasSubstr("STAGES="));
  EXPECT_THAT(sandbox.run("query --target gemm --size 16").out, HasSubstr("pinned"));
  expect_refused(pin("KERNEL=none"), 2, {"--config", "KERNEL of gemm has no value none"});
  expect_refused(pin("tiled"), 2, {"--config", "\"tiled\" is not NAME=VALUE"});
  expect_refused(pin("KERNL=tiled"), 2, {"KERNL", "did you mean KERNEL"});
}

TEST_F(Query, NamesAProblemByItsSizesAndTheSettingsThatAreNotTheDefault) {
  const auto tune = [&](const std::string& dtype) {
    return sandbox.run(
        format("--target gemm --sizes 16 --device host --budget 1 --set {}", "dtype=" + dtype));
  };
  const Ended f32 = tune("f32"), f64 = tune("f64");
  EXPECT_THAT(f32.out, StartsWith("gemm M=16 N=16 K=16 batch=1: "));
  EXPECT_THAT(f32.err, HasSubstr("M=16 N=16 K=16 batch=1: tried 1 of"));
  EXPECT_THAT(f64.out, StartsWith("gemm M=16 N=16 K=16 batch=1 dtype=f64: "));
  const auto ask = [&](const Words& question) {
    return sandbox.run(question + "--target gemm --size 16").out;
  };
  const std::string both = ask("query");
  EXPECT_THAT(both, HasSubstr("gemm M=16 N=16 K=16 batch=1 on "));
  EXPECT_THAT(both, HasSubstr("gemm M=16 N=16 K=16 batch=1 dtype=f64 on "));
  EXPECT_THAT(ask("explain --set dtype=f64"),
              HasSubstr("gemm M=16 N=16 K=16 batch=1 dtype=f64 on "));
  EXPECT_THAT(ask("db unpin --set dtype=f64"),
              HasSubstr("gemm M=16 N=16 K=16 batch=1 dtype=f64 on "));
  const Json json = Json::parse(ask("query --set dtype=f32 --json"));
  EXPECT_EQ(json["results"][0]["problem"]["dtype"], "f32");
  EXPECT_EQ(json["results"][0]["problem"]["layout"], "NN");
}

TEST_F(Query, SaysWithWhichSettingsATargetIsTuned) {
  sandbox.done("--target gemm --sizes 16 --device host --budget 1");
  expect_refused(sandbox.run("query --target gemm --set dtype=f64"), 1,
                 {"not tuned with dtype=f64", "but with dtype=f32", "--set dtype=f64 --sizes"});
  expect_refused(sandbox.run("query --target gemm --set dtypes=f64"), 2,
                 {"no problem of gemm has a setting dtypes", "did you mean dtype"});
}

TEST_F(Query, TellsWhereTheVendorsLibraryIsFaster) {
  {
    db::TunedStore store(sandbox.folder() / "vendor.db");
    const db::Sample sample(store);
    store.add_decision(sample.lost_decision("BM=64", 10000));
  }
  const std::string file = (sandbox.folder() / "vendor.db").string();
  const Ended text = sandbox.run(format("query --target gemm --db {}", file));
  EXPECT_THAT(text.out,
              HasSubstr("baseline 9.000 us [8.910 us, 9.090 us], 0.900x the best, faster: "
                        "cublas cublasLt 0 (algorithm 55)"));
  const Json baseline =
      sandbox.json(format("query --target gemm --db {}", file))["results"][0]["baseline"];
  EXPECT_EQ(baseline["plugin"], "cublas");
  EXPECT_EQ(baseline["name"], "cublasLt 0 (algorithm 55)");
  EXPECT_EQ(baseline["median_ns"], 9000);
  EXPECT_EQ(baseline["wins"], true);
}

TEST(List, NamesWhatThereIs) {
  const Sandbox sandbox;
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"targets", "gemm"}, {"strategies", "guided"}, {"devices", "host"}};
  for (const auto& [kind, name] : expected) {
    const std::string out = sandbox.done(format("list {} --json", kind));
    bool found = false;
    for (const Json& row : Json::parse(out)) found = found || row["name"] == name;
    EXPECT_TRUE(found) << kind;
  }
  sandbox.done("list plugins");
}

TEST(Help, EveryVerbHasOne) {
  const Sandbox sandbox;
  const std::string overview = sandbox.done("--help");
  for (const char* verb : {"tune", "query", "list", "check", "new-target", "db", "help"}) {
    EXPECT_THAT(overview, HasSubstr(std::string("\n  ") + verb));
    const Ended help = sandbox.run({verb, "--help"});
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr(std::string("usage: autotune ") + verb));
    EXPECT_EQ(sandbox.run(format("help {}", verb)).out, help.out);
    EXPECT_EQ(sandbox.run({verb, "-h"}).out, help.out);
  }
  EXPECT_THAT(overview, HasSubstr("Exit status: 0 done"));
  const std::string tune = sandbox.run("tune --help").out;
  EXPECT_THAT(tune, HasSubstr("every multiple of the first"));
  EXPECT_THAT(tune, HasSubstr("\n    {\"target\": \"gemm\""));
  EXPECT_THAT(sandbox.run("--version").out, StartsWith("autotune "));
}

TEST(Help, TheReferenceInTheRepositoryIsWhatTheToolPrints) {
  const std::string committed = file_bytes(AUTOTUNE_SOURCE_DIR "/docs/cli.md");
  EXPECT_TRUE(Sandbox().run("help --markdown").out == committed)
      << "write it anew: build/bin/autotune help --markdown > docs/cli.md";
}

}  // namespace
}  // namespace autotune::testing
