// SPDX-License-Identifier: Apache-2.0
// Wrong use is refused with one sentence: the thing, what is wrong, what to try.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

/// What is given, and what must be in the sentence.
struct Case {
  Words arguments, words;
};

using WrongUse = InSandbox;

TEST_F(WrongUse, IsOneSentenceAndStatusTwo) {
  const std::vector<Case> cases = {
      {"--target gem --sizes 8", {"gem", "did you mean", "gemm"}},
      {"--target ./no.target.toml --sizes 8", {"no.target.toml", "new-target"}},
      {"--target gemm", {"needs --sizes, or --workload", "--help"}},
      {"--sizes 8", {"needs --target", "--help"}},
      {"--target gemm --sizes ''", {"--sizes", "empty", "examples"}},
      {"--target gemm --sizes 8,,9", {"--sizes", "empty", "comma"}},
      {"--target gemm --sizes 0", {"--sizes", "\"0\"", "1 or more"}},
      {"--target gemm --sizes -4", {"--sizes", "-4"}},
      {"--target gemm --sizes eight", {"--sizes", "eight", "examples"}},
      {"--target gemm --sizes 8x8", {"8x8", "gives 2 sizes", "M x N x K"}},
      {"--target gemm --sizes 64..8", {"64..8", "write 8..64"}},
      {"--target gemm --sizes 1..99999999", {"more than", "step"}},
      {"--target gemm --sizes 99999999999999999999", {"too large"}},
      {"--target gemm --sizes M=8,N=8,Z=8", {"\"Z\""}},
      {"--target gemm --sizes M=8,N=8", {"no K"}},
      {"--target gemm --sizes M=8,N=8,K=8,lda=9", {"lda is a free size of gemm", "leave it out"}},
      {"query --target gemm --size 8,lda=7 --device h200",
       {"lda=7 is too small", "the least is 8"}},
      {"query --target gemm --size 8,lda=9223372036854775807 --device h200",
       {"gemm: the size lda=9223372036854775807 is too large"}},
      {"query --target gemm --size 8,ldd=9223372036854775807 --device h200",
       {"gemm: the size ldd=9223372036854775807 is too large"}},
      {"query --target gemmm", {"no target gemmm", "did you mean gemm?"}},
      {"query --target gemm --size 8,lda=-8 --device h200", {"lda=-8", "0 or more"}},
      {"query --target gemm --size 8,lde=8 --device h200", {"\"lde\"", "lda"}},
      {"query --target reduction --size 8,lda=8 --device h200", {"\"lda\""}},
      {"convert old.target.toml", {"old.target.toml: is in format 2 already"}},
      {"--target gemm --sizes 8 --set dtype", {"--set", "NAME=VALUE"}},
      {"--target gemm --sizes 8 --set dtype=f16x", {"dtype", "f16x"}},
      {"--target gemm --sizes 8 --set kind=f32", {"kind"}},
      {"--target gemm --sizes 8 --set dtype=f32 --set dtype=f64", {"--set", "dtype", "twice"}},
      {"--target gemm --sizes 8 --device gpu", {"gpu", "host", "cuda"}},
      {"--target gemm --sizes 8 --device host,", {"there is no device \"\""}},
      {"--target gemm --sizes 8 --device model:h20", {"h20", "h200"}},
      {"--target gemm --sizes 8 --strategy guide", {"guide", "guided"}},
      {"--target gemm --sizes 8 --budget -3", {"budget", "-3", "60s"}},
      {"--target gemm --sizes 8 --budget 0%", {"budget", "0%"}},
      {"--target gemm --sizes 8 --seed x", {"--seed", "\"x\""}},
      {"--target gemm --sizes 8 --jobs 0", {"--jobs", "\"0\""}},
      {"--target gemm --sizes 8 --l2 warm", {"--l2", "warm"}},
      {"--target gemm --sizes 8 --launch loop", {"--launch", "loop"}},
      {"--target gemm --sizes 8 --context amid", {"--context", "between"}},
      {"--target gemm --sizes 8 --objective heat", {"--objective", "energy"}},
      {"--target gemm --sizes 8 --device host --context alone", {"--context alone", "chain only"}},
      {"--target '' --sizes 8", {"--target is given an empty name"}},
      {"query --device ''", {"--device is given an empty name"}},
      {"--target gemm --size 8", {"--size", "--sizes"}},
      {"--target gemm --sizes 8 --sizes 9", {"--sizes", "twice"}},
      {"--target gemm --sizes", {"--sizes needs a value"}},
      {{"./mine.target.toml", "--sizes", "8"}, {"not a verb", "--target ./mine.target.toml"}},
      {"query --sort time", {"--sort", "--trials"}},
      {"replay cache.json --target gemm", {"not both"}},
      {"replay cache.json --score --budget 9", {"--score ends", "leave out --budget"}},
      {"replay cache.json --trace x --seeds 9", {"--trace", "leave out --seeds"}},
      {"replay a.json b.json --trace x", {"one space", "one file"}},
      {"--target gemm --sizes 8 more", {"\"more\""}},
      {"tunes --target gemm", {"tunes", "tune"}},
      {"completion bash", {"no verb", "autotune help --completion SHELL"}},
      {"man", {"no verb", "autotune help --man"}},
      {"list", {"targets", "strategies"}},
      {"list target", {"target", "targets"}},
      {"db", {"check"}},
      {"help tunes", {"tunes", "did you mean tune"}},
      {"db chek", {"chek", "check"}},
      {"db check other.db", {"other.db", "--db"}},
      {"new-target", {"name"}},
      {"new-target 'two words'", {"two words", "letters"}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(::testing::PrintToString(one.arguments));
    expect_refused(sandbox.run(one.arguments), 2, one.words);
  }
  EXPECT_FALSE(std::filesystem::exists(sandbox.database())) << "wrong use made a database";
}

TEST_F(WrongUse, WithoutAWordTheListOfVerbsIsShown) {
  const Ended ended = Sandbox().run({});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, ::testing::HasSubstr("query"));
}

TEST_F(WrongUse, ASizeWithoutConfigurationsIsStatusThreeInEveryVerb) {
  sandbox.done("new-target scale");
  std::string text = file_bytes(sandbox.folder() / "scale.target.toml");
  const std::string constraint = "BLOCK <= device.max_threads";
  text.replace(text.find(constraint), constraint.size(), "N == 64");
  sandbox.write("scale.target.toml", text);
  const std::vector<Words> cases = {
      "check ./scale.target.toml --sizes 128 --device host",
      {"query", "--target", "./scale.target.toml", "--size", "128", "--device", "host"},
      {"explain", "--target", "./scale.target.toml", "--size", "128", "--device", "host"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.front());
    expect_refused(sandbox.run(one), 3, {"no configuration is valid", "N == 64"});
  }
  const Ended tuned = sandbox.run("tune --target ./scale.target.toml --sizes 128 --device host");
  EXPECT_EQ(tuned.status, 3) << tuned.err;
}

TEST_F(WrongUse, OfAGpuThatIsNotHereNamesKindsOfGpus) {
  const std::vector<Words> cases = {
      "warm --target gemm --gpu cuda:99",
      {"lock", "--target", "gemm", "--sizes", "64", "--output", "x.lock", "--device", "cuda:99"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.front());
    expect_refused(sandbox.run(one), 1, {"no GPU cuda:99 here", "name a kind of GPU", "h200"});
  }
}

TEST_F(WrongUse, OfAKindOfGpuThatIsMisspeltNamesIt) {
  expect_refused(sandbox.run("query --target gemm --size 64 --device h20"), 2,
                 {"GPU \"h20\" is not in the table: did you mean h200?"});
}

TEST_F(WrongUse, ADatabaseThatIsNotThereIsNotMade) {
  for (const char* action : {"check", "compact", "unpin"}) {
    SCOPED_TRACE(action);
    expect_refused(sandbox.run(format("db {} --target gemm --size 8", action)), 1,
                   {"tuned.db", "no such file"});
  }
  expect_refused(sandbox.run("db export"), 1, {"tuned.db", "no such file"});
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

TEST_F(WrongUse, AnOutputThatCannotBeWrittenSaysWhatToTry) {
  sandbox.done(tune("tiny", "100", "--budget 3"));
  expect_refused(sandbox.run("report --output no/report.html"), 1,
                 {"no/report.html: cannot be written", "create its folder"});
  expect_refused(sandbox.run("report --output ."), 1, {"Is a directory", "another file"});
}

TEST_F(WrongUse, AWorkloadThatIsNotThereSaysWhatToTry) {
  expect_refused(Sandbox().run("--workload no.jsonl --device host"), 1,
                 {"no.jsonl: cannot be read", "autotune run --record"});
}

TEST_F(WrongUse, AnExportWithManyBadLinesIsReadWithoutAFlood) {
  std::string lines = R"({"table":"kernel","target":"gemm","fingerprint":"f","sizes":"M"})";
  for (int i = 0; i < 500; ++i) lines += "\nno fact";
  const Ended ended =
      sandbox.run(format("db import {}", sandbox.write("notes.txt", lines).string()));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, ::testing::HasSubstr("and 490 more"));
  EXPECT_LT(std::ranges::count(ended.err, '\n'), 20);
  EXPECT_THAT(ended.out, ::testing::HasSubstr("1 rows added, 0 were there already, 500 refused"));
}

TEST_F(WrongUse, ADeviceThatIsNotThereIsRefused) {
  expect_refused(Sandbox().run("--target gemm --sizes 8 --device cuda:99"), 1, {"cuda:99"});
  if (Sandbox().json("list devices")[0]["name"] != "host") return;
  expect_refused(Sandbox().run("--target gemm --sizes 8 --device cuda:all"), 1,
                 {"cuda:all: there is no CUDA GPU here"});
}

TEST_F(WrongUse, ASizeThatDoesNotFitIsRefused) {
  expect_refused(Sandbox().run("--target gemm --sizes 1000000 --device host"), 1,
                 {"gemm", "1000000", "smaller sizes"});
}

/// The tiny target with one text in its manifest, or its source, replaced by another.
std::string spoilt(const Sandbox& sandbox, const std::string& file, const std::string& from,
                   const std::string& to) {
  for (const char* name : {"tiny.target.toml", "tiny.cu"}) {
    std::string text = file_bytes(std::string(AUTOTUNE_SOURCE_DIR "/tests/cli/") + name);
    if (name == file) text.replace(text.find(from), from.size(), to);
    sandbox.write(name, text);
  }
  return "./tiny.target.toml";
}

Words tune_on_host(const std::string& manifest) {
  return format("--target {} --sizes 100 --device host --quiet", manifest);
}

TEST_F(WrongUse, AKernelThatIsNeverRightHasAReportAndNoAnswer) {
  const std::string manifest = spoilt(sandbox, "tiny.cu", "2 * x[i] + 1", "2 * x[i] + 2");
  ASSERT_EQ(sandbox.run(tune_on_host(manifest)).status, 3);
  expect_refused(sandbox.run(format("query --target {}", manifest)), 1,
                 {"led to no result", "every configuration failed", "autotune report"});
  const Ended report = sandbox.run(format("report --target {} --output report.html", manifest));
  EXPECT_EQ(report.out, "report.html: 1 problem\n") << report.err;
}

TEST_F(WrongUse, AManifestSaysWhereItIsWrong) {
  const std::string manifest = "tiny.target.toml";
  const std::vector<Case> cases = {
      {{"sizes =", "size ="}, {"tiny.target.toml", "size"}},
      {{"STEP = { values", "STEP = { value"}, {"tiny.target.toml", "value"}},
      {{"BLOCK * STEP)", "BLOCK * )"}, {"tiny.target.toml", "grid"}},
      {{"BLOCK * STEP)", "BLOK * STEP)"}, {"tiny.target.toml", "BLOK", "BLOCK"}},
      {{"tiny.cu\"", "tny.cu\""}, {"tny.cu"}},
      {{"name = \"tiny\"", "name = \"tiny"}, {"tiny.target.toml"}},
      {{"manifest = 2", "manifest = 7"}, {"tiny.target.toml", "manifest", "7"}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.arguments[1]);
    const std::string path = spoilt(sandbox, manifest, one.arguments[0], one.arguments[1]);
    const Ended ended = sandbox.run(tune_on_host(path));
    expect_manifest_refused(ended, one.words);
  }
}

TEST_F(WrongUse, ASourceInPlaceOfItsManifestIsOneSentence) {
  const std::string source =
      sandbox.write("tiny.cu", "// A comment.\n// Another.\n#define N 1\n").string();
  expect_refused(sandbox.run(format("check {}", source)), 2,
                 {"tiny.cu is a kernel and no manifest", "autotune init " + source});
  expect_refused(sandbox.run("--target tiny.cu --sizes 1"), 2,
                 {"tiny.cu is a kernel and no manifest", "autotune init tiny.cu"});
  expect_refused(sandbox.run("tune tiny.cu"), 2, {"a target is --target tiny.cu"});
  const std::string header = sandbox.write("tiny.cuh", "// A comment.\n#define N 1\n").string();
  const Ended ended = sandbox.run(format("check {}", header));
  expect_refused(ended, 1, {"tiny.cuh", "this is not a manifest", ".target.toml"});
  EXPECT_EQ(ended.err.find("comment"), std::string::npos) << ended.err;
}

TEST_F(WrongUse, AReferenceThatDoesNotCompileIsOneSentence) {
  const std::string path = spoilt(sandbox, "tiny.cu", "void tiny_reference", "void reference");
  expect_refused(sandbox.run(tune_on_host(path)), 1, {"reference kernel", "tiny_reference"});
}

TEST_F(WrongUse, AReferenceThatCrashesIsOneSentence) {
  const std::string path = spoilt(sandbox, "tiny.cu", "if (i < n) y[i]", "if (i < n) *(int*)8");
  expect_refused(sandbox.run(tune_on_host(path)), 1, {"running the reference", "illegal memory"});
}

TEST_F(WrongUse, ASourceThatNeverCompilesSaysWhy) {
  const std::string path = spoilt(sandbox, "tiny.cu", "#ifdef SPOILT", "#if 1");
  const Ended ended = sandbox.run(tune_on_host(path));
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_THAT(ended.out, ::testing::HasSubstr("this kernel does not compile"));
}

}  // namespace
}  // namespace autotune::testing
