// SPDX-License-Identifier: Apache-2.0
// Targets that are programs, from the manifest to what is done with the winner.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

constexpr const char* kProgramManifest = R"toml(manifest = 2
name = "twice"
source = "twice.cpp"
sizes = ["N"]
parameters.UNROLL = [1, 4]
parameters.LEVEL = { values = ["-O0", "-O2"], as = "text" }
default = { LEVEL = "-O2" }
arguments.x = { type = "i32", length = "N" }
arguments.y = { type = "i32", length = "N", role = "output" }
arguments.factor = { type = "i32", value = 2 }
build = ["g++", "{LEVEL}", "-DUNROLL={UNROLL}", "{source}", "-o", "{program}"]
run = ["{program}", "{x}", "{y}", "{N}", "{factor}", "{calls}"]
reference.run = ["python3", "-c", '''
import array, sys
x = array.array("i", open(sys.argv[1], "rb").read())
open(sys.argv[2], "wb").write(array.array("i", [2 * each for each in x]).tobytes())
''', "{x}", "{y}"]
)toml";

/// `EDIT` takes the place of what a test changes. A call takes 20 us, or 10 us if unrolled.
constexpr const char* kSource = R"(#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
int main(int, char** argv) {
  const int n = std::atoi(argv[3]), factor = std::atoi(argv[4]), calls = std::atoi(argv[5]);
  std::vector<int> x(n);
  FILE* file = std::fopen(argv[1], "rb");
  if (std::fread(x.data(), sizeof(int), n, file) != std::size_t(n)) return 1;
  std::fclose(file);
  for (int& each : x) each *= factor;
  EDIT
  std::printf("warming up\ntime %g\n", (UNROLL == 4 ? 10e-6 : 20e-6) * calls / calls);
  file = std::fopen(argv[2], "wb");
  std::fwrite(x.data(), sizeof(int), n, file);
  std::fclose(file);
}
)";

std::string edited(std::string text, const std::string& what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
  return text;
}

class ProgramTarget : public ::testing::Test {
 protected:
  ProgramTarget() { write(); }

  void write(const std::string& edit = "", const std::string& manifest = kProgramManifest) const {
    sandbox_.write("twice.cpp", edited(kSource, "EDIT", edit));
    sandbox_.write("twice.target.toml", manifest);
  }
  Ended run(Words words) const { return sandbox_.run(std::move(words)); }
  Ended check() const { return run(format("check {} --sizes 100 --device host", kName)); }
  Ended tune() const { return run(format("tune --target {} --sizes 100 --device host", kName)); }
  /// What check says of a manifest in which `what` is replaced.
  std::string refusal(const std::string& what, const std::string& with) const {
    write("", edited(kProgramManifest, what, with));
    const Ended ended = check();
    EXPECT_EQ(ended.status, 1) << ended.out;
    return ended.err;
  }

  static constexpr const char* kName = "./twice.target.toml";
  Sandbox sandbox_;
};

TEST_F(ProgramTarget, IsCheckedTunedAndExplained) {
  const Ended checked = check();
  EXPECT_EQ(checked.status, 0) << checked.err << checked.out;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("2 of 2 configurations and the reference are fine"),
                                 HasSubstr("the default is right on the edge problem too"),
                                 HasSubstr("twice.cpp -o {program}")));
  EXPECT_THAT(checked.out, Not(HasSubstr("grid")));
  const Ended tuned = tune();
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("UNROLL=4"), HasSubstr("2.00x the default")));
  const Ended found = run(format("query --target {} --size 100 --device host", kName));
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("UNROLL=4"));
  const Ended explained = run(format("explain --target {} --size 100 --device host", kName));
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_THAT(explained.out, AllOf(HasSubstr("-DUNROLL=4"), Not(HasSubstr("occupancy"))));
}

TEST_F(ProgramTarget, IsRunOnChangedInputsOnceInItsBuffers) {
  write(R"(if (n == 100) {
    FILE* const log = std::fopen("starts.log", "a");
    long sum = 0;
    for (int i = 0; i < n; ++i) sum = (sum * 31 + x[i]) % 1000003;
#ifdef __OPTIMIZE__
    std::fprintf(log, "%d %ld\n", UNROLL, sum);
#else
    std::fprintf(log, "-%d %ld\n", UNROLL, sum);
#endif
    std::fclose(log);
    // So long that one call of a chain is compared, and not up to four.
    for (const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 250; std::clock() < end;) {}
  })");
  EXPECT_EQ(tune().status, 0);
  std::ifstream log(sandbox_.folder() / "starts.log");
  std::map<int, std::vector<long>> contents;  // in the order of the starts, by configuration
  long sum = 0;
  for (int number = 0; log >> number >> sum;) contents[number].push_back(sum);
  EXPECT_EQ(contents.size(), 4u);
  for (const auto& [number, all] : contents) {
    std::vector<long> distinct;
    for (const long each : all) {
      if (std::ranges::find(distinct, each) == distinct.end()) distinct.push_back(each);
    }
    // What was far too slow at first was not timed; the default always is, as the anchor, too.
    EXPECT_TRUE(distinct.size() > 2 || number != 1) << number;
    // Behind the two input sets: changed inputs, others after the playoff has new buffers.
    for (std::size_t i = 2; i < distinct.size(); ++i) {
      EXPECT_EQ(std::ranges::count(all, distinct[i]), 1) << number;
    }
  }
}

TEST_F(ProgramTarget, IsRunAsItIsTimedOnChangedInputs) {
  write(R"(if (UNROLL == 4) {
    FILE* const kept = std::fopen("kept.bin", calls == 1 ? "wb" : "rb");
    if (calls == 1) std::fwrite(x.data(), sizeof(int), n, kept);
    else if (std::fread(x.data(), sizeof(int), n, kept) != std::size_t(n)) return 1;
    std::fclose(kept);
  })");
  const Ended tuned = tune();
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("UNROLL=1"), Not(HasSubstr("UNROLL=4"))));
}

TEST_F(ProgramTarget, TheWinnerIsExportedAsAScriptThatBuildsIt) {
  EXPECT_EQ(tune().status, 0);
  const Ended script = run(format("db export --format source --target {} --size 100", kName));
  EXPECT_EQ(script.status, 0) << script.err;
  sandbox_.write("twice.sh", script.out);
  const Ended built = sandbox_.run_program({"/bin/sh", "twice.sh", "winner"});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "winner"));
  EXPECT_THAT(run(format("db export --format cpp --embed --target {}", kName)).err,
              HasSubstr("it is a program, and an exported header launches kernels only"));
}

TEST_F(ProgramTarget, SourceAndWordsBelongToItsResults) {
  EXPECT_EQ(tune().status, 0);
  write("", edited(kProgramManifest, "\"{source}\"", "\"-g\", \"{source}\""));
  const Ended found = run(format("query --target {} --size 100 --device host", kName));
  EXPECT_THAT(found.out, HasSubstr("stale    the kernel has changed since"));
}

TEST_F(ProgramTarget, WhatAProgramDoesWrongIsSaid) {
  write("x[3] += 1;");
  EXPECT_THAT(check().err, HasSubstr("y[3]"));
  write("return 0;");
  EXPECT_THAT(check().err, HasSubstr("the program wrote no file of y"));
  write("x.resize(n - 1); std::fopen(argv[2], \"wb\"); return 0;");
  EXPECT_THAT(check().err, HasSubstr("the program wrote 0 bytes of y"));
  write("std::puts(\"no memory here\"); return 3;");
  EXPECT_THAT(check().err,
              HasSubstr("the program ended with status 3; it printed: no memory here"));
  write("std::abort();");
  EXPECT_THAT(check().err, HasSubstr("the program ended by signal 6"));
  write("for (;;) std::puts(\"endless\");",
        edited(kProgramManifest, "build =", "limit = 1\nbuild ="));
  EXPECT_THAT(check().err, HasSubstr("the program did not end within 1 s and was killed"));
  write("file = std::fopen(argv[1], \"r+b\"); std::fputc(77, file); std::fclose(file);");
  EXPECT_THAT(check().err, HasSubstr("x[0]"));
  write("no_such_name;");
  EXPECT_THAT(check().out, HasSubstr("no_such_name"));
}

TEST_F(ProgramTarget, TimesAreReadAsTheManifestSays) {
  write("std::puts(\"Elapsed: 12.5 us a call\");",
        edited(kProgramManifest, "build =", "time = \"Elapsed: {us} us\"\nbuild ="));
  const Ended tuned = tune();
  EXPECT_THAT(tuned.out, HasSubstr("12.5")) << tuned.err;
  write("", edited(kProgramManifest, "build =", "time = \"Took {s}\"\nbuild ="));
  EXPECT_THAT(check().err,
              HasSubstr("the program printed no line with the time of a call, \"Took {s}\""));
  write("", edited(kProgramManifest, "build =", "time = \"process\"\nbuild ="));
  EXPECT_EQ(check().status, 0);
}

TEST_F(ProgramTarget, MistakesInTheManifestAreNamed) {
  EXPECT_THAT(refusal("\"{y}\", \"{N}\"", "\"{N}\""), HasSubstr("no word has {y}"));
  EXPECT_THAT(refusal("\"-o\", \"{program}\"", "\"-o\", \"a.out\""),
              HasSubstr("no word has {program}, the file that it writes"));
  EXPECT_THAT(refusal("[\"g++\"", "[\"g+++\""), HasSubstr("there is no program g+++ in PATH"));
  EXPECT_THAT(refusal("build =", "time = \"{h}\"\nbuild ="), HasSubstr("{s}, {ms}, {us} or {ns}"));
  EXPECT_THAT(refusal("build =", "limit = 1000\nbuild ="), HasSubstr("expected 1 to 90 seconds"));
  EXPECT_THAT(refusal("build =", "launch = {}\nbuild ="),
              HasSubstr("a program, which \"run\" starts, has no \"launch\""));
  EXPECT_THAT(refusal("{UNROLL}", "{UNROL}"), HasSubstr("UNROL"));
}

TEST(ProgramExample, AMatrixProductIsTunedByItsOwnCompiler) {
  Sandbox sandbox;
  EXPECT_THAT(sandbox.done({"tune", "--target",
                            AUTOTUNE_SOURCE_DIR "/examples/programs/product/product.target.toml",
                            "--sizes", "48", "--device", "host", "--budget", "6"}),
              HasSubstr("product N=48"));
}

}  // namespace
}  // namespace autotune::testing
