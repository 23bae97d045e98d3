// SPDX-License-Identifier: Apache-2.0
// Facts of earlier targets: db convert, and import and merge on the way.
#include <SQLiteCpp/Database.h>

#include <fstream>

#include "db/rows.hpp"
#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGemm16 = "a893ada65985a71d9c9da6c3277484a9";
constexpr const char* kBatched = "ea56ea9235a958e2ca0486460ab16214";
constexpr const char* kSettings = " dtype=f16 output=f16 layout=NN scale=none epilogue=none";
constexpr const char* kSettingsNow =
    " dtype=f16 output=f16 compute=f32 math=full units=any layout=NN scale=none pad=0 "
    "epilogue=none sums=promoted scales=none";
constexpr const char* kConfiguration =
    "KERNEL=mma BM=64 BN=64 BK=32 WARPS_M=2 WARPS_N=2 STAGES=3 STORE=direct GROUP=1 SWAP=0 ROWS=64 "
    "COLUMNS=8 DEPTH=64 WARPGROUPS=1 ALTERNATE=0 MIN_BLOCKS=1 SPLIT_K=1 BESIDE=1 BELOW=1 PAD=0 "
    "BY_THREADS=none";
constexpr const char* kOther =
    "KERNEL=wgmma BM=16 BN=16 BK=16 WARPS_M=1 WARPS_N=1 STAGES=2 STORE=direct GROUP=1 SWAP=0 "
    "ROWS=64 COLUMNS=64 DEPTH=128 WARPGROUPS=1 ALTERNATE=0 MIN_BLOCKS=1 SPLIT_K=1 BESIDE=1 BELOW=1 "
    "PAD=0 BY_THREADS=none";

db::KernelRow old_gemm16(const char* fingerprint = kGemm16) {
  return {"", "gemm16", fingerprint, "M N K"};
}
db::KernelRow old_batched(const char* fingerprint = kBatched) {
  return {"", "gemm16_batched", fingerprint, "BATCH M N K"};
}

class TodaysNamesTest : public ::testing::Test {
 protected:
  /// Every kind of fact about a problem of this kernel.
  void fill(const fs::path& file, const db::KernelRow& kernel, const std::string& sizes) {
    db::TunedStore store(file);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel(kernel);
    sample.key.problem = sizes + kSettings;
    std::vector<db::TrialRow> trials{sample.trial(kConfiguration, 2000),
                                     sample.failure(kOther, "wrong")};
    trials.push_back(sample.trial(kOther, 4000));
    trials.back().outcome = "pruned";
    store.append(trials);
    db::DecisionRow decision = sample.decision(kConfiguration, 1000);
    decision.default_configuration = kOther;
    decision.ties = std::string(kConfiguration) + '\n' + kOther;
    store.add_decision(decision);
    store.pin({"", sample.key, kConfiguration, "why", "2026-03-02T12:00:00.000Z"});
    db::add_counters(store, {"", sample.key, kConfiguration, "instructions=1", "CUDA", ""});
    db::ProblemKey every_row = sample.key;
    every_row.policy.clear();
    db::add_classes(store, {{"", every_row, kConfiguration, "build", "0123456789abcdef", ""}});
    db::execute(file,
                "DELETE FROM kernel WHERE fingerprint = 'f1';"
                "INSERT OR IGNORE INTO inflight SELECT session, device, kernel, problem, policy, "
                "configuration, 'of an earlier version', '' FROM trial LIMIT 1");
  }

  /// One decision about a problem of this kernel.
  void decide(const db::KernelRow& kernel, const std::string& problem,
              const std::string& configuration, double median_ns = 1000) const {
    db::TunedStore store(file_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel(kernel);
    sample.key.problem = problem;
    store.add_decision(sample.decision(configuration, median_ns));
  }
  Ended convert() { return sandbox_.run("db convert"); }
  Json answers() const { return sandbox_.json("query --target gemm")["results"]; }

  /// `target fingerprint sizes` of each kernel.
  static std::vector<std::string> kernels(const fs::path& file) {
    std::vector<std::string> all;
    for (const db::KernelRow& row : db::TunedStore(file, db::Mode::read_only).kernels()) {
      all.push_back(row.target + ' ' + row.fingerprint + ' ' + row.sizes);
    }
    return all;
  }
  std::string of(const std::string& fingerprint) const {
    return "gemm " + fingerprint + " M N K batch";
  }
  static std::string facts(const fs::path& file) {
    return db::facts_of(db::TunedStore(file, db::Mode::read_only));
  }

  const Sandbox sandbox_;
  const fs::path file_ = sandbox_.database();
  const Target gemm_ = find_target("gemm");
};

TEST_F(TodaysNamesTest, EveryFactOfAnOldNameIsOneOfTheTargetNow) {
  fill(file_, old_batched(), "BATCH=4 M=64 N=64 K=128");
  const Ended ended = convert();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(": 7 facts converted, 0 refused\n"));
  EXPECT_THAT(kernels(file_), ElementsAre(of(gemm_.fingerprint)));
  const std::string problem = "M=64 N=64 K=128 batch=4" + std::string(kSettingsNow);
  SQLite::Database database(file_.string());
  for (const char* const table :
       {"trial", "decision", "pin", "counter", "reduction_class", "best"}) {
    SQLite::Statement query(database, std::string("SELECT DISTINCT problem FROM ") + table);
    ASSERT_TRUE(query.executeStep()) << table;
    EXPECT_EQ(query.getColumn(0).getString(), problem) << table;
    EXPECT_FALSE(query.executeStep()) << table;
  }
  sandbox_.done("db check");
  const Json answer = answers()[0];
  EXPECT_EQ(answer["provenance"], "pinned");
  EXPECT_EQ(answer["stale"], false);
  EXPECT_EQ(answer["median_ns"], 1000);

  const std::string once = facts(file_);
  EXPECT_THAT(convert().out, HasSubstr(": 0 facts converted, 0 refused\n"));
  EXPECT_EQ(facts(file_), once);
}

TEST_F(TodaysNamesTest, SizesThatATargetHasGotSinceHaveTheirDefault) {
  fill(file_, old_gemm16(), "M=64 N=64 K=128");
  EXPECT_THAT(convert().out, HasSubstr(": 7 facts converted, 0 refused\n"));
  EXPECT_THAT(kernels(file_), ElementsAre(of(gemm_.fingerprint)));
  EXPECT_THAT(facts(file_), HasSubstr("\"M=64 N=64 K=128 batch=1 dtype=f16"));
}

/// TN of families that lack it was 2 once.
TEST_F(TodaysNamesTest, InactiveParametersHaveTheirFirstValueOfToday) {
  decide({"", "gemm", "9265d5024b30ef6f217de82f79fae478", "M N K"},
         "M=64 N=64 K=64 dtype=f32 layout=NN scale=none batch=1 pad=0",
         "KERNEL=tiled BLOCK_SIZE=16 TILE_SIZE=4 PREFETCH=register A_LAYOUT=padded BN=16 TM=1 BM=1 "
         "TN=2 THREADS=1 BK=8 WARP_M=1 K_SLICES=1 STAGES=1 LOADER=async TRANSPOSE=none PACK=none "
         "UNROLL_K=10 MIN_BLOCKS=1 STATIC_SIZES=0 REDUCTION=none SPLIT_K=1 RASTER_ROWS=1");
  EXPECT_THAT(convert().out, HasSubstr(": 1 facts converted, 0 refused\n"));
  const Ended asked = sandbox_.run("query --target gemm --json");
  EXPECT_EQ(asked.err, "");
  const Json answer = Json::parse(asked.out)["results"][0];
  EXPECT_EQ(answer["median_ns"], 1000);
  EXPECT_EQ(answer["stale"], false);
}

TEST_F(TodaysNamesTest, FamiliesOfAnOldTargetAreFamiliesOfTheTargetNow) {
  const db::KernelRow split{"", "gemm_split", "c8fbc1895e117f98b1a86d1411872686", "M N K batch"};
  const std::string others = "K_GROUPS=1 A_SOURCE=shared MIN_BLOCKS=1 RASTER_ROWS=1 STREAMED=b ";
  decide(split, "M=64 N=64 K=64 batch=1 layout=NN scale=none pad=0 units=fp32 epilogue=none",
         "KERNEL=cores BLOCK_SIZE=16 TILE_SIZE=4 BM=64 BN=32 STAGES=2 " + others +
             "ROWS=64 COLUMNS=8 SPLIT_K=1");
  decide(split, "M=64 N=512 K=512 batch=1 layout=NN scale=none pad=0 units=any epilogue=none",
         "KERNEL=streamed BLOCK_SIZE=1 TILE_SIZE=1 BM=64 BN=32 STAGES=3 " + others +
             "ROWS=64 COLUMNS=32 SPLIT_K=2");
  EXPECT_THAT(convert().out, HasSubstr(": 2 facts converted, 0 refused\n"));
  const Json results = answers();
  ASSERT_EQ(results.size(), 2u);
  for (const Json& one : results) EXPECT_EQ(one["stale"], false);
  EXPECT_THAT(facts(file_),
              HasSubstr("dtype=f32 output=f32 compute=f32 math=full units=fp32 layout=NN"));
  EXPECT_THAT(facts(file_), HasSubstr("KERNEL=tiled BLOCK_SIZE=16 TILE_SIZE=4 PREFETCH=register "
                                      "A_LAYOUT=padded BN="));
  EXPECT_THAT(facts(file_), ::testing::ContainsRegex("KERNEL=streamed [^\"]*K_PARTS=2"));
}

TEST_F(TodaysNamesTest, ParametersOfTensorCoresHaveTheirNamesAndValuesNow) {
  const auto problem = [](const char* types, const char* sizes) {
    return std::string(sizes) + types + " layout=NN scale=none epilogue=none";
  };
  const std::string rest =
      "WARPS_M=1 WARPS_N=1 STAGES=3 STORE=direct GROUP=1 SWAP=0 ROWS=64 COLUMNS=64 WARPGROUPS=1 "
      "ALTERNATE=0 MIN_BLOCKS=1 SPLIT_K=1 ";
  const db::KernelRow tf32{"", "gemm_tf32", "808f3e977ae9b757c6822016b3a197f3", "M N K"};
  decide({"", "gemm16", "5d6edfb53c9fb418b0bc4f1f949f4e69", "M N K batch"},
         problem(" dtype=bf16 output=bf16", "M=512 N=512 K=512 batch=1"),
         "KERNEL=wgmma BM=16 BN=16 BK=16 DEPTH=128 PAD=0 " + rest);
  decide({"", "gemm_i8", "422c575ca53636b5b6b67b748ac0df19", "M N K"},
         "M=512 N=512 K=512 dtype=i8 output=i32 layout=NN",
         "KERNEL=wgmma ROWS_ACROSS=0 BM=16 BN=16 BK=32 DEPTH=128 " + rest);
  decide(tf32, problem(" dtype=f32 output=f32 math=tf32", "M=512 N=512 K=512"),
         "KERNEL=mma ROWS_ACROSS=0 BM=64 BN=64 BK=16 DEPTH=32 " + rest);
  decide(tf32,
         "M=64 N=64 K=64 dtype=f32 output=f32 math=tf32 layout=NN scale=none epilogue=bias_relu",
         "KERNEL=mma ROWS_ACROSS=0 BM=64 BN=64 BK=16 DEPTH=32 " + rest);
  EXPECT_THAT(convert().out, HasSubstr(": 4 facts converted, 0 refused\n"));
  const Json results = answers();
  ASSERT_EQ(results.size(), 4u);
  for (const Json& one : results) {
    EXPECT_EQ(one["stale"], one["problem"]["epilogue"] == "bias_relu") << "its ReLU lost a NaN";
  }
  const std::string all = facts(file_);
  EXPECT_THAT(all, HasSubstr("dtype=i8 output=i32 compute=i32 math=full units=any"));
  EXPECT_THAT(all, ::testing::ContainsRegex("KERNEL=wgmma [^\"]*SLAB_BYTES=256[^\"]* PAD_LINES=0"));
  EXPECT_THAT(all, ::testing::ContainsRegex("KERNEL=wgmma_along_k [^\"]*SLAB_BYTES=128"));
  EXPECT_THAT(all, ::testing::ContainsRegex("KERNEL=mma_along_k [^\"]*SLICE_BYTES=64"));
}

/// A source that nobody knows, strides of their own, and a batch whose machine code is another.
TEST_F(TodaysNamesTest, FactsOfAnotherSourceKeepItAndAreNoAnswers) {
  fill(file_, old_gemm16("unknown"), "M=64 N=64 K=64");
  fill(file_, old_batched(), "BATCH=1 M=64 N=64 K=128");
  fill(file_,
       {"", "gemm16_strided", "3e125c666923f346c0fbca97bb0ce0ae",
        "BATCH M N K lda ldb ldc ldd stride_a stride_b stride_c stride_d"},
       "BATCH=1 M=64 N=64 K=256 lda=256 ldb=64 ldc=64 ldd=72 stride_a=1 stride_b=1 stride_c=1 "
       "stride_d=1");
  EXPECT_THAT(convert().out, HasSubstr(": 21 facts converted, 0 refused\n"));
  EXPECT_THAT(kernels(file_),
              UnorderedElementsAre(of("unknown"), of(std::string(kBatched) + " with other values"),
                                   of("3e125c666923f346c0fbca97bb0ce0ae")));
  const Json results = answers();
  ASSERT_EQ(results.size(), 3u);
  for (const Json& one : results) EXPECT_EQ(one["stale"], true);
  EXPECT_THAT(convert().out, HasSubstr(": 0 facts converted, 0 refused\n"));
}

TEST_F(TodaysNamesTest, AnImportAMergeAndAConversionGiveTheSame) {
  fill(file_, old_gemm16(), "M=64 N=64 K=128");
  fill(file_, old_batched(), "BATCH=4 M=64 N=64 K=128");
  fill(file_, old_gemm16("unknown"), "M=64 N=64 K=64");
  const fs::path old = sandbox_.folder() / "old.db", lines = sandbox_.folder() / "old.jsonl";
  fs::copy_file(file_, old);
  sandbox_.done(format("db export --output {}", lines.string()));
  ASSERT_EQ(convert().status, 0);
  const fs::path imported = sandbox_.folder() / "imported.db";
  for (const fs::path& from : {lines, old}) {
    fs::remove(imported);
    sandbox_.done(format("db import {} --db {}", from.string(), imported.string()));
    EXPECT_EQ(facts(imported), facts(file_)) << from;
  }
  // Into what is converted, an old file brings nothing; and a part that is old finds its place.
  sandbox_.done(format("db merge {}", old.string()));
  EXPECT_EQ(facts(imported), facts(file_));
  fill(file_, old_batched(), "BATCH=4 M=64 N=64 K=128");
  EXPECT_THAT(kernels(file_), ::testing::SizeIs(3));
  EXPECT_THAT(convert().out, HasSubstr(": 7 facts converted, 0 refused\n"));
  EXPECT_EQ(facts(imported), facts(file_));
}

TEST_F(TodaysNamesTest, WhatWasRetractedStaysSo) {
  fill(file_, old_gemm16(), "M=64 N=64 K=128");
  fill(file_, old_batched(), "BATCH=4 M=64 N=64 K=128");
  {
    db::TunedStore store(file_);
    for (const db::KernelRow& kernel : store.kernels()) {
      if (kernel.target == "gemm16") store.retract(kernel.id, "all of it");
    }
    const std::string pin = SQLite::Database(file_.string())
                                .execAndGet(
                                    "SELECT pin.id FROM pin JOIN kernel ON kernel.id = pin.kernel "
                                    "WHERE target = 'gemm16_batched'")
                                .getString();
    store.retract(pin, "this one");
  }
  EXPECT_THAT(convert().out, HasSubstr(": 14 facts converted, 0 refused\n"));
  const db::TunedStore store(file_, db::Mode::read_only);
  const std::vector<db::TunedEntry> left = store.tuned({});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].best.provenance, "measured");
  EXPECT_THAT(left[0].best.key.problem, HasSubstr("batch=4"));
}

TEST_F(TodaysNamesTest, DamagedFactsAndThoseOfNoProblemTodayStayWhereTheyAre) {
  fill(file_, old_batched(), "BATCH=4 M=64 N=64 K=128");
  decide(old_batched(), "BATCH=4 M=64 N=64 K=128 dtype=f8", "KERNEL=mma");
  db::execute(file_, "UPDATE trial SET median_ns = 1 WHERE median_ns = 2000");
  const Ended ended = convert();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr(": 6 facts converted, 2 refused\n"));
  EXPECT_THAT(ended.err, HasSubstr("it is not what was stored"));
  EXPECT_THAT(ended.err, HasSubstr("dtype=f8 is no problem of today's target"));
  EXPECT_THAT(kernels(file_), ::testing::Contains(::testing::StartsWith("gemm16_batched")));
}

TEST_F(TodaysNamesTest, AFileThatIsMissingOrCannotBeWrittenIsRefused) {
  expect_refused(convert(), 1, {"there is no such file"});
  fill(file_, old_gemm16(), "M=64 N=64 K=128");
  std::ofstream(file_, std::ios::in | std::ios::out) << "no database at all";
  expect_refused(convert(), 1, {"tuned.db"});
}

TEST_F(TodaysNamesTest, TargetsOfTheUserGetTheirNewSizesToo) {
  const fs::path manifest = sandbox_.write("fill.target.toml", R"toml(manifest = 2
name = "fill"
source = "fill.cu"
sizes.N = {}
sizes.times = { default = 2 }
parameters.BLOCK = [32, 64]
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.fill = { grid = "ceil_div(N, BLOCK)", block = "BLOCK", arguments = ["y", "N", "times"] }
reference.configuration = "default"
)toml");
  sandbox_.write("fill.cu", "extern \"C\" __global__ void fill(float*, int, int) {}");
  decide({"", "fill", "f1", "N"}, "N=100", "BLOCK=32");
  EXPECT_THAT(convert().out, HasSubstr(": 0 facts converted")) << "its manifest is not known";
  const Ended ended = sandbox_.run(format("db convert --target {}", manifest.string()));
  EXPECT_THAT(ended.out, HasSubstr(": 1 facts converted, 0 refused")) << ended.err;
  EXPECT_THAT(kernels(file_), ::testing::Contains("fill f1 N times"));
  EXPECT_THAT(facts(file_), HasSubstr("\"problem\":\"N=100 times=2\""));
}

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
  const Words to_tune = "--sizes 100 --device host --quiet";
  const auto tuned = [&](const char* manifest) {
    return sandbox.run(Words(format("--target {}", manifest)) + to_tune);
  };
  expect_refused(tuned("./old.target.json"), 1, {"old.target.json", "autotune convert"});
  sandbox.done("convert old.target.json --output new.target.toml");
  const Ended ended = tuned("./new.target.toml");
  EXPECT_EQ(ended.status, 0) << ended.err;
  expect_refused(sandbox.run("convert tiny.cu"), 1, {"tiny.cu"});
  expect_refused(sandbox.run("convert"), 2, {"one manifest"});
}

}  // namespace
}  // namespace autotune::testing
