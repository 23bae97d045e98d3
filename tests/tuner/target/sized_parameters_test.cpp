// SPDX-License-Identifier: Apache-2.0
// Ranges and defaults of parameters that depend on the sizes of a problem.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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
    EXPECT_THAT([&] { valid(target, size); }, ThrowsMessage<UsageError>(HasSubstr(why)));
  }
  void is_wrong(const std::string& parameters, const std::string& why) const {
    EXPECT_THAT([&] { read(parameters); }, ThrowsMessage<Error>(HasSubstr(why)));
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

}  // namespace
}  // namespace autotune
