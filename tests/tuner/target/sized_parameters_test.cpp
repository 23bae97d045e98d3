// SPDX-License-Identifier: Apache-2.0
// Ranges and defaults of parameters that depend on the sizes of a problem.
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/reading.hpp"

namespace autotune {
namespace {

class SizedParameters : public testing::Test {
 protected:
  SizedParameters() { folder_.write("fill.cu", "int x = STEP;\n"); }

  Target read(const std::string& parameters) const {
    return load_manifest(folder_.write("fill.target.toml", R"(manifest = 2
name = "fill"
source = "fill.cu"
sizes = ["N"]
settings.dtype = ["f32", "f64"]
arguments.y = { type = "dtype", length = "N", role = "output" }
kernels.fill = { grid = "N", block = 1, arguments = ["y"] }
reference.configuration = "default"
)" + parameters));
  }

  std::string by_default(const Target& target, std::int64_t size,
                         const NamedValues& settings = {}) const {
    return to_text(valid_default(target, problem_of(target, {{"N", size}}, settings), device_));
  }
  std::size_t valid(const Target& target, std::int64_t size) const {
    return space_of(target, problem_of(target, {{"N", size}}, {}), device_).size();
  }
  void refuses(const Target& target, std::int64_t size, const std::string& why) const {
    EXPECT_REFUSAL(UsageError, valid(target, size), why);
  }
  void is_wrong(const std::string& parameters, const std::string& why) const {
    EXPECT_REFUSAL(Error, read(parameters), why);
  }

  const ScratchFolder folder_;
  const DeviceInfo device_;
};

TEST_F(SizedParameters, ARangeInOneTextEndsAtASize) {
  for (const char* const range :
       {"'3..N / 2'", "{ values = '3..N / 2' }", "{ from = 3, to = 'N / 2', step = 1 }"}) {
    const Target target = read(std::string("parameters.STEP = ") + range);
    EXPECT_EQ(valid(target, 20), 8u) << range;  // 3 to 10
    EXPECT_EQ(valid(target, 6), 1u) << range;
    EXPECT_EQ(by_default(target, 20), "STEP=3");
    refuses(target, 5, "fill: STEP has no value here: its range, 3 to N / 2, is empty");
  }
  EXPECT_EQ(valid(read("parameters.STEP = '4..6'"), 1), 3u);
}

TEST_F(SizedParameters, ARangeOfMoreValuesThanATableHasIsRefused) {
  const Target target = read("parameters.STEP = '1..N'");
  EXPECT_EQ(valid(target, 65535), 65535u);
  refuses(target, 65536,
          "STEP has more than 65535 values here, 1 to N: use a larger step, a factor, or a smaller "
          "end such as min(N, 65535)");
  EXPECT_EQ(valid(read("parameters.STEP = { from = 1, to = 'N', factor = 2 }"), 2000000000), 31u);
}

TEST_F(SizedParameters, MistakesInARangeAreSaidAtTheirPlace) {
  is_wrong("parameters.STEP = 'N..4'", "a range starts at an integer, as in \"1..N\"");
  is_wrong("parameters.STEP = '1..W'", "there is no name W");
  is_wrong("parameters.STEP = '4..1'", "4 to 1 goes down");
  is_wrong("parameters.STEP = { from = 0.5, to = 'N', step = 1 }",
           "only a range of integers can end at an expression");
  is_wrong("parameters.A = [1]\nparameters.STEP = '1..A'", "this depends on a parameter: A");
  is_wrong("parameters.STEP = '1..99999'", "more than 65535 values");
}

TEST_F(SizedParameters, ADefaultFollowsTheSizesAndSettings) {
  const Target target = read(
      "parameters.STEP = '1..N'\nparameters.MODE = ['plain', 'packed']\n"
      "default = { STEP = 'min(N, 256)', MODE = \"dtype == 'f64' ? 'packed' : 'plain'\" }");
  EXPECT_EQ(by_default(target, 100), "STEP=100 MODE=plain");
  EXPECT_EQ(by_default(target, 1000), "STEP=256 MODE=plain");
  EXPECT_EQ(by_default(target, 1000, {{"dtype", "f64"}}), "STEP=256 MODE=packed");
}

TEST_F(SizedParameters, ADefaultThatIsNoValueForTheSizesIsRefused) {
  const Target listed = read("parameters.STEP = [1, 2, 4]\ndefault = { STEP = 'N / 8' }");
  EXPECT_EQ(by_default(listed, 32), "STEP=4");
  refuses(listed, 24, "fill: the default of STEP, \"N / 8\", is 3 here, which is no value of STEP");
  const Target ranged = read("parameters.STEP = '1..N'\ndefault = { STEP = '2 * N' }");
  refuses(ranged, 24, "the default of STEP, \"2 * N\", is beyond the end of its range here, \"N\"");
  is_wrong("parameters.STEP = [1, 2]\ndefault = { STEP = 'W' }", "there is no name W");
  is_wrong("parameters.STEP = [1, 2]\ndefault = { STEP = 3 }", "3 is not a value");
  is_wrong("parameters.STEP = [1, 2]\ndefault = { STEP = \"dtype\" }",
           "expected a number, as the values of STEP");
  is_wrong("parameters.MODE = ['a', 'b']\ndefault = { MODE = 'c' }", "c is not a value");
}

TEST_F(SizedParameters, NothingIsVerifiedOnAnEdgeProblemThatHasNoSuchDefault) {
  const Target target = read("parameters.STEP = [1, 2, 4]\ndefault = { STEP = 'N / 8' }");
  EXPECT_EQ(edge_problems(target, problem_of(target, {{"N", 32}}, {}), device_).usual.size(), 1u)
      << "33 / 8 is 4";
  EXPECT_EQ(edge_problems(target, problem_of(target, {{"N", 1 << 20}}, {}), device_),
            EdgeProblems{})
      << "257 / 8 is 32";
}

TEST_F(SizedParameters, ResultsStayWhereOnlyADefaultOrARangeChanges) {
  const Target target = read("parameters.STEP = [1, 2, 4]");
  EXPECT_EQ(read("parameters.STEP = '1..N'\ndefault = { STEP = 'min(N, 4)' }").fingerprint,
            target.fingerprint);
}

void expect_parameter_error(const std::string& parameter, const std::string& what) {
  Reading reading(toml("parameters.BM = " + parameter), {});
  Target target;
  EXPECT_REFUSAL(Error, read_parameters(reading, target), what);
}

TEST(DeclaredParameters, HaveTheirValuesFromOnePlace) {
  expect_parameter_error("64", "a.toml:1:17: expected a list, got an integer");
  expect_parameter_error("{ values = [1, 2], from = 1, to = 9, step = 1 }",
                         "a.toml:1:43: give \"values\" or a range, not both");
  expect_parameter_error("{ values = [1, 2], step = 2 }", "give \"values\" or a range, not both");
  expect_parameter_error("{ value = [1, 2] }", "there is no key \"value\" (did you mean values?)");
  expect_parameter_error("{ values = ['a'], as = 'text', run_time = true }",
                         "has no text in the source");
}

// Compiler options that depend on the configuration.

class OptionsTest : public testing::Test {
 protected:
  Target target(const std::string& options) const {
    folder_.write("k.cu", "// the kernel\n");
    return load_manifest(folder_.write("k.target.toml", R"(manifest = 2
name = "k"
source = "k.cu"
sizes = ["N"]
parameters.REGS = [32, 64]
parameters.FAST = [false, true]
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.k = { grid = 1, block = 32, arguments = ["y"] }
reference.kernels.plain = { grid = 1, block = 32, arguments = ["y"] }
options = [)" + options + "]\n"));
  }
  std::vector<std::string> options(const Target& target, std::int64_t regs, bool fast) const {
    const Configuration configuration{{"REGS", regs}, {"FAST", std::int64_t{fast}}};
    return source_unit(target, problem_of(target, {{"N", 8}}, {}), configuration, {}).options;
  }

  ScratchFolder folder_;
};

constexpr const char* kOptions =
    R"("-maxrregcount={REGS}", "-lineinfo", { option = "-use_fast_math", when = "FAST" })";

TEST_F(OptionsTest, FollowTheConfigurationAndNotTheReference) {
  const Target target = this->target(kOptions);
  EXPECT_THAT(options(target, 32, false), ElementsAre("-lineinfo", "-maxrregcount=32"));
  EXPECT_THAT(options(target, 64, true),
              ElementsAre("-lineinfo", "-maxrregcount=64", "-use_fast_math"));
  EXPECT_THAT(workload_of(target, problem_of(target, {{"N", 8}}, {}), {}).reference_source.options,
              ElementsAre("-lineinfo"));
}

TEST_F(OptionsTest, BelongToTheFingerprint) {
  EXPECT_NE(target(kOptions).fingerprint, target("\"-lineinfo\"").fingerprint);
  EXPECT_NE(target("\"-maxrregcount={REGS}\"").fingerprint,
            target("\"-maxrregcount={2 * REGS}\"").fingerprint);
}

TEST_F(OptionsTest, MisuseIsNamed) {
  const auto refuses = [&](const std::string& options, const std::string& why) {
    EXPECT_REFUSAL(Error, target(options), why);
  };
  refuses("\"-maxrregcount={REG}\"", "there is no name REG");
  refuses("\"-maxrregcount={REGS\"", "there is no '}' after this '{'");
  refuses("\"-maxrregcount=REGS}\"", "there is no '{' before this '}'");
  refuses("\"-DR={REGS}\"", "it tells the preprocessor");
  refuses("{ option = \"-Iother\", when = \"FAST\" }", "it tells the preprocessor");
  refuses("{ option = \"-use_fast_math\" }", "\"when\"");
}

}  // namespace
}  // namespace autotune
