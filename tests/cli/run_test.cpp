// SPDX-License-Identifier: Apache-2.0
// autotune run: a program is started with the library in front of its cuBLAS.
#include <fstream>
#include <string_view>
#include <utility>

#include "db/rows.hpp"
#include "db/store.hpp"
#include "tests/cli/sentences.hpp"
#include "tests/support/how_often.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

const std::string kCaller = AUTOTUNE_BINARY_DIR "/tests/blas_stub/blas_caller";

using RunVerb = InSandbox;

TEST_F(RunVerb, ServesRecordsAndReports) {
  sandbox.set("AUTOTUNE_BLAS_LIBRARY", AUTOTUNE_BINARY_DIR "/tests/blas_stub/libfake_autotune.so");
  const Ended ended =
      sandbox.run(format("run --record workload.jsonl --report --wait -- {} same 3", kCaller));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("wrong 0, cuBLAS 0"));
  EXPECT_THAT(ended.err, HasSubstr("3 of 3 calls of cuBLAS were served"));
  EXPECT_TRUE(std::filesystem::exists(sandbox.folder() / "workload.jsonl"));
  const Ended off = sandbox.run(format("run --no-serve --report -- {} same 3", kCaller));
  EXPECT_THAT(off.err, HasSubstr("serving is off 3"));
}

TEST_F(RunVerb, TheCommandHasItsOwnOptionsSignalsAndStatus) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  const Ended ended = sandbox.run("run -- sh -c 'kill -s PIPE $$; echo --help'");
  EXPECT_EQ(ended.status, 128 + 13);
  EXPECT_THAT(sandbox.run("run -- printf %s --help").out, HasSubstr("--help"));
  EXPECT_EQ(sandbox.run("run -- sh -c 'exit 7'").status, 7);
}

TEST_F(RunVerb, SaysThatTheCommandCalledNothing) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  const Ended ended = sandbox.run(format("run --report -- {} same 0", kCaller));
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("autotune: blas_caller: this process called no matrix product"));
  const Ended script = sandbox.run(format("run --report -- bash -c '{} same 0; true'", kCaller));
  EXPECT_THAT(script.err, HasSubstr("autotune: bash: this process"));
  EXPECT_THAT(script.err, Not(HasSubstr("blas_caller"))) << "of processes that it starts";
}

TEST_F(RunVerb, KeepsWhatIsPreloadedAlready) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  sandbox.set("LD_PRELOAD", "libm.so.6");
  EXPECT_THAT(sandbox.run("run --db mine.db -- env").out,
              AllOf(HasSubstr("libautotune_blas.so:libm.so.6\n"),
                    HasSubstr("AUTOTUNE_DB=" + (sandbox.folder() / "mine.db").string())));
}

TEST_F(RunVerb, TheTunerItselfCallsTheRealLibrary) {
  const Ended ended = sandbox.run({"run", "--report", "--record", "w.jsonl", "--",
                                   AUTOTUNE_BINARY_DIR "/bin/autotune", "--version"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST_F(RunVerb, WhatCannotBeRunIsRefused) {
  expect_refused(sandbox.run("run"), 2, {"run needs a command"});
  expect_refused(sandbox.run("run -- ./none"), 1, {"./none: cannot be run"});
  expect_refused(sandbox.run("run --record /proc/none/w -- true"), 1,
                 {"--record /proc/none/w: cannot be written"});
}

class Warm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "this build has no NVRTC";
    sandbox_.done(
        "tune --target vector_add --sizes 4096,65536 --device model:h200 --budget 3 --quiet");
    sandbox_.set("AUTOTUNE_CACHE", (sandbox_.folder() / "cache").string());
  }

  Sandbox sandbox_;
};

TEST_F(Warm, FillsTheCacheOnce) {
  const Json first = sandbox_.json("warm --gpu h200");
  EXPECT_EQ(first["device"], "NVIDIA H200");
  EXPECT_GE(first["compiled"], 1);
  EXPECT_EQ(first["failed"], 0);
  const Json again = sandbox_.json("warm --gpu h200");
  EXPECT_EQ(again["compiled"], 0);
  EXPECT_EQ(again["cached"], 2);
  EXPECT_THAT(sandbox_.done("warm --gpu h200 --target vector_add --size 4096 --jobs 1"),
              HasSubstr("(sm_90): 0 compiled, 1 in the cache, 0 failed"));
}

TEST_F(Warm, AnotherGpuOfTheArchitectureUsesTheAnswersToo) {
  const Json json = sandbox_.json("warm --gpu h100");
  EXPECT_EQ(json["compute_capability"], 90);
  EXPECT_EQ(json["compiled"].get<int>() + json["cached"].get<int>(), 2);
}

/// Without a database, and with one that has other targets only.
TEST_F(Warm, ShippedResultsAreCompiledToo) {
  const Words words = "warm --gpu h200 --target gemm --size 512x512x512 --context between";
  Sandbox fresh;
  fresh.set("AUTOTUNE_CACHE", (sandbox_.folder() / "cache").string());
  for (const Sandbox* const sandbox : {&std::as_const(fresh), &std::as_const(sandbox_)}) {
    const Ended warmed = sandbox->run(words);
    EXPECT_EQ(warmed.status, 0) << warmed.err;
    EXPECT_THAT(warmed.out, HasSubstr(", 0 failed"));
    for (const char* const device : {"model:h200", "h200", "NVIDIA H200"}) {
      const Ended asked =
          sandbox->run(format("query --target gemm --size 512 --device '{}' --json", device));
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
    for (const Words words : {"query --target gemm --size 512 --device h200",
                              "warm --gpu h200 --target gemm --size 512 --context between",
                              "explain --target gemm --size 512 --device h200 --context between"}) {
      const Ended ended = sandbox.run(words);
      EXPECT_EQ(ended.status, 0) << text << words[0] << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("only shipped results are used")) << text << words[0];
    }
  }
}

TEST_F(Warm, WhatCannotBeWarmedIsRefused) {
  expect_refused(sandbox_.run("warm --gpu a100"), 1, {"nothing is tuned there for"});
  expect_refused(sandbox_.run("warm --gpu cuda:99"), 1, {"there is no GPU cuda:99 here"});
  expect_refused(sandbox_.run("warm --gpu h200 --size 4096"), 2, {"warm needs --target"});
  sandbox_.set("AUTOTUNE_CACHE", "/proc/none");
  expect_refused(sandbox_.run("warm --gpu h200"), 1, {"cannot be used"});
}

TEST_F(Warm, ASizeIsCompiledWhetherItIsTunedOrNot) {
  EXPECT_THAT(sandbox_.done("warm --gpu h200 --target vector_add --size 8"),
              HasSubstr("1 compiled, 0 in the cache, 0 failed"));
}

constexpr const char* kValuesManifest = R"toml(manifest = 2
name = "scaled"
source = ["scaled.cu", "reference.cu"]
sizes = ["N"]
parameters.SUM = { values = ["float", "const double"], as = "text" }
parameters.SHARE = { from = 0.25, to = 0.5, step = 0.25 }
parameters.FAST = [false, true]
parameters.STD = { values = [17, 20], when = "FAST" }
options = ["-std=c++{STD}", { option = "-use_fast_math", when = "FAST" }]
default = { SHARE = 0.5, FAST = true }
arguments.x = { type = "f32x2", length = "N" }
arguments.y = { type = "f32x2", length = "N", role = "output", tolerance = 2 }
launch = { block = 1, arguments = ["x", "y", "N"] }
[kernels.scaled]
entry = "ns::scaled<{SUM}, {FAST}>"
grid = "int(1 / SHARE)"
[reference.kernels.right]
entry = "::right"
grid = 1
)toml";

constexpr const char* kValuesSource = R"(namespace ns {
template <class SUM, bool FAST>  // no macros, so one text has several entries
__global__ void scaled(const float2* x, float2* y, int n) {
  SUM share = SHARE;
  const int count = (int)(n * share), first = blockIdx.x * count;
  const int last = blockIdx.x + 1 == gridDim.x ? n : first + count;
  for (int i = first; i < last; ++i) y[i] = make_float2((SUM)x[i].x * 2, (SUM)x[i].y * 2);
}
}
)";

constexpr const char* kReference = R"(__global__ void right(const float2* x, float2* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = make_float2(x[i].x * 2, x[i].y * 2);
}
)";

TEST(Values, OfAllKindsAreTunedStoredAndFoundAgain) {
  const Sandbox sandbox;
  sandbox.write("scaled.cu", kValuesSource);
  sandbox.write("reference.cu", kReference);
  const std::string manifest = sandbox.write("scaled.target.toml", kValuesManifest).string();
  const auto tuned = [&](Words more) {
    Words words = format(
        "tune --target {} --sizes 1000 --json --device host --strategy exhaustive --budget 100%",
        manifest);
    words += more;
    const std::string out = sandbox.done(words);
    return Json::parse(out)["problems"][0];
  };
  const Json first = tuned({});
  EXPECT_EQ(first["space"], 12);
  EXPECT_EQ(first["trials"]["ok"].get<int>() + first["trials"]["pruned"].get<int>(), 12);
  const Json best = first["best"]["config"];
  EXPECT_TRUE(best["SHARE"].is_number_float()) << best;
  EXPECT_TRUE(best["SUM"].is_string()) << best;
  EXPECT_EQ(tuned({})["taken_over"], 12);
  const Json fixed = tuned("--fix SHARE=0.25 --fix FAST=false");
  EXPECT_EQ(fixed["space"], 2);
  EXPECT_EQ(fixed["best"]["config"]["SHARE"], 0.25);
}

/// A plugin with one target, whose manifest cannot be read.
const std::string kBadManifest = testing::plugin_with({{"TARGETS", "targets"}}, "bad", R"(
static const autotune_target_v1 target = {"{ \"format\": ", 0, 0, 0};
static const autotune_targets_v1 targets = {1, &target};
)");

TEST(PluginsOfACommand, ABadManifestOfOneThatWasFoundEndsNothing) {
  const PluginWorkshop workshop;
  const std::string file = workshop.build("bad", kBadManifest);
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_PLUGIN_PATH", workshop.folder().string());
  const Ended found = sandbox.run("tune --target nosuch --sizes 1 --device host");
  EXPECT_THAT(found.err, HasSubstr("warning: the targets of plugin bad are left out: "));
  EXPECT_THAT(found.err, HasSubstr("\nerror: "));
  EXPECT_THAT(found.err.substr(found.err.find("\nerror: ")), Not(HasSubstr("bad.so")));
  expect_refused(
      sandbox.run(format("tune --plugin {} --target nosuch --sizes 1 --device host", file)), 1,
      {"bad.so", "this manifest is in JSON"});
}

TEST(PluginsOfACommand, AManifestIsReadWithoutThoseThatAreFound) {
  const PluginWorkshop workshop;
  workshop.build("bad", kBadManifest);
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_PLUGIN_PATH", workshop.folder().string());
  sandbox.done("new-target scale");
  const Ended ended = sandbox.run("check scale.target.toml --device host");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
}

Words explain_tiny(const Words& more = {}) {
  return Words("explain --target @tiny --size 100 --db t.db") + more;
}

TEST(Counters, AreShownByExplain) {
  const Sandbox sandbox;
  sandbox.done(tune("tiny", "100", "--budget 2 --db t.db"));
  EXPECT_THAT(sandbox.run(explain_tiny()).out, Not(HasSubstr("counters ")));
  {
    db::TunedStore store(sandbox.folder() / "t.db");
    const db::BestRow best = store.tuned({}).at(0).best;
    db::add_counters(store, {"", best.key, best.configuration,
                             "achieved_occupancy=0.775 dram_read_bytes=4096 dram_write_bytes=0 "
                             "load_requests=1024 load_sectors=4096 "
                             "load_efficiency=0.5 l2_bytes=9 stall_wait=1.5 stall_barrier=2",
                             "driver 580.82", "2026-03-01T12:00:00.000Z"});
  }
  const std::string text = sandbox.run(explain_tiny()).out;
  EXPECT_THAT(text, HasSubstr("counters    of one call, by the hardware\n"
                              "  occupancy     77.5 % achieved\n"));
  EXPECT_THAT(text, HasSubstr("  global loads  1024 requests, 4096 sectors of 32 bytes, 50.0 % of "
                              "them used\n"));
  EXPECT_THAT(text, HasSubstr("  stalls        barrier 2.00, wait 1.50 (warps"));
  EXPECT_THAT(text, HasSubstr("  DRAM          4.000 KiB read, 0 bytes written"));
  EXPECT_THAT(text, HasSubstr(" if each element moves once\n")) << "what the target declares";
  EXPECT_THAT(text, Not(HasSubstr("  L2  "))) << "its hits were not counted";
  const Json json = Json::parse(sandbox.run(explain_tiny("--json")).out)[0];
  EXPECT_EQ(json["counters"]["load_sectors"], 4096);
  const Ended asked = sandbox.run("query --target @tiny --db t.db --json");
  EXPECT_EQ(Json::parse(asked.out)["results"][0]["counters"]["load_sectors"], 4096);
}

TEST(Counters, NeedAnNvidiaGpu) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(tune("tiny", "100", "--counters --budget 2"));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("(host) has no hardware counters: --counters needs an NVIDIA GPU"));
}

}  // namespace
}  // namespace autotune::testing
