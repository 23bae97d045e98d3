// SPDX-License-Identifier: Apache-2.0
// Kernels by C++ names, and sources of several files.
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/statements.hpp"

namespace autotune {
namespace {

constexpr const char* kLaunchKeys = R"toml(manifest = 2
name = "filter"
source = ["types.cu", "kernels/filter.cu"]
sizes = ["N"]
settings.real = { values = ["f32", "f64"], as = "type" }
parameters.BLOCK = [64, 128]
parameters.SUM = { values = ["float", "double"], as = "text" }
parameters.SCALE = [0.5, 1.0]
main = "run"
arguments.y = { type = "real", length = "N", role = "output", tolerance = 2 }
[kernels.run]
entry = "conv::filter<{real}, {2 * BLOCK}, {SUM}>"
grid = 1
block = "BLOCK"
arguments = ["y"]
[reference.kernels."plain"]
entry = "conv::plain<{real}>"
grid = 1
block = 1
arguments = ["y"]
)toml";

class LaunchReaderTest : public testing::Test {
 protected:
  LaunchReaderTest() {
    folder_.write("types.cu", "int types;\n");
    folder_.write("kernels/filter.cu", "int filter;\n");
  }

  Target read(const std::string& from = "", const std::string& to = "") const {
    std::string text = kLaunchKeys;
    text.replace(text.find(from), from.size(), to);
    return load_manifest(folder_.write("filter.target.toml", text));
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_REFUSAL(Error, read(from, to), what);
  }

  ScratchFolder folder_;
};

TEST_F(LaunchReaderTest, AnEntryIsACppNameWithValuesInBraces) {
  const Target target = read();
  const Problem problem = problem_of(target, {{"N", 8}}, {{"real", "f64"}});
  const Configuration configuration = parse_named_values("BLOCK=128 SUM=double SCALE=0.5");
  const char* const entry = "conv::filter<double, 256, double>";
  EXPECT_EQ(launch_plan(target, problem, configuration, DeviceInfo{}).launches[0].entry, entry);
  EXPECT_THAT(source_unit(target, problem, configuration, DeviceInfo{}).entries,
              ElementsAre(entry));
  EXPECT_THAT(workload_of(target, problem, DeviceInfo{}).reference_source.entries,
              ElementsAre("conv::plain<double>"));
  EXPECT_TRUE(target.kernels[0].is_main);
}

TEST_F(LaunchReaderTest, ResultsHangOnWhatStandsInBraces) {
  EXPECT_NE(read("{2 * BLOCK}", "{BLOCK}").fingerprint, read().fingerprint);
  EXPECT_EQ(read("{2 * BLOCK}", "{2*BLOCK}").fingerprint, read().fingerprint);
}

TEST_F(LaunchReaderTest, ABadEntryShowsItsPlace) {
  expect_error("{2 * BLOCK}", "{2 * BLOK}", ":12:36: there is no name BLOK");
  expect_error("{2 * BLOCK}, {SUM}", "{2 * BLOCK", "there is no '}' after this '{'");
  expect_error("{SUM}>", "SUM}>", "there is no '{' before this '}'");
  expect_error("{SUM}>", "{'float'}>", "a quoted word can only be compared");
  expect_error("\"conv::plain<{real}>\"", "\"conv plain\"", "is not a name");
  expect_error("\"conv::plain<{real}>\"", "\"conv::plain\\n\"", "must be on one line");
}

TEST_F(LaunchReaderTest, SeveralSourcesAreOneTextWithLineDirectives) {
  const Target target = read();
  EXPECT_EQ(target.source_path.filename(), "types.cu");
  EXPECT_EQ(target.source_text, "int types;\n\n#line 1 \"filter.cu\"\nint filter;\n");
  EXPECT_THAT(target.include_folders, ElementsAre(folder_.path(), folder_.path() / "kernels"));
  folder_.write("kernels/filter.cu", "\n#define BLOCK 3\nconst int BLOCK = 3;\n");
  EXPECT_THAT(read().own_values, ElementsAre("BLOCK (filter.cu:2)", "BLOCK (filter.cu:3)"));
  expect_error("\"kernels/filter.cu\"", "\"gone.cu\"", "gone.cu cannot be read");
}

TEST_F(LaunchReaderTest, BuffersHoldVectorsAndStructs) {
  const auto buffer = [&](const std::string& type, const std::string& types) {
    const Target target =
        read("arguments.y = { type = \"real\"", types + "arguments.y = { type = " + type);
    return buffers_of(target, problem_of(target, {{"N", 10}}, {{"real", "f64"}}), DeviceInfo{})[0];
  };
  EXPECT_EQ(buffer("\"f32x3\"", "").length, 30);
  EXPECT_EQ(buffer("\"i64x2\"", "").type, ElementType::i64);
  const BufferSpec bodies = buffer("\"body\"", "types.body = { x = \"real\", y = \"real\" }\n");
  EXPECT_EQ(bodies.length, 20);
  EXPECT_EQ(bodies.type, ElementType::f64);
  const BufferSpec mixed = buffer("\"body\"", "types.body = { x = \"f32\", id = \"real\" }\n");
  EXPECT_EQ(mixed.length, 10);
  EXPECT_EQ(mixed.bytes(), 160);
  EXPECT_EQ(type_text(mixed), "{f32 x, f64 id}");
  EXPECT_NE(read("\"real\", length", "\"f32x2\", length").fingerprint,
            read("\"real\", length", "\"f32x4\", length").fingerprint);
}

TEST_F(LaunchReaderTest, BadStructsAndVectorsAreRefused) {
  const auto expect_refusal = [&](const std::string& types, const std::string& what) {
    expect_error("main = \"run\"", "main = \"run\"\n" + types, what);
  };
  expect_refusal("types.body = { x = \"f32\", \"an id\" = \"i32\" }",
                 ":10:37: \"an id\" is not a name");
  expect_refusal("types.body = { x = \"f33\" }", "\"f33\" is neither an element type");
  expect_refusal("types.body = {}", "a struct has members");
  expect_refusal("types.f32x4 = { x = \"f32\" }", "f32x4 is a type or setting already");
  expect_error("\"real\", length", "\"f32x5\", length", "\"f32x5\" is neither an element type");
  expect_error("arguments.y", "arguments.a = { type = \"f32x2\", value = 1 }\narguments.y",
               "give its 2 members: ");
}

// Kernels that are launched several times in a call, alone or in a group.

class RepeatTest : public testing::Test {
 protected:
  Target target(const std::string& kernels) const {
    folder_.write("steps.cu", "// the kernels\n");
    return load_manifest(folder_.write("steps.target.toml", R"(manifest = 2
name = "steps"
source = "steps.cu"
sizes = ["N", "T"]
parameters.DEPTH = [1, 2]
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output" }
workspace.a = { type = "f32", length = "N" }
workspace.b = { type = "f32", length = "N" }
launch = { grid = "N - turn % N", block = 32 }
reference.configuration = "default"
)" + kernels));
  }
  LaunchPlan plan(const Target& target, std::int64_t depth, std::int64_t t = 5) const {
    return launch_plan(target, problem(target, t), {{"DEPTH", depth}}, {});
  }
  static Problem problem(const Target& target, std::int64_t t) {
    return problem_of(target, {{"N", 100}, {"T", t}}, {});
  }
  auto refuses(const std::string& kernels, const std::string& why) const {
    EXPECT_REFUSAL(Error, (void)plan(target(kernels), 1), why);
  }

  ScratchFolder folder_;
};

constexpr const char* kStep = R"toml([kernels.step]
repeat = "ceil_div(T, DEPTH)"
arguments = [
  "turn == 0 ? x : turn % 2 ? a : b", "turn == turns - 1 ? y : turn % 2 ? b : a", "turn * DEPTH",
]
)toml";

TEST_F(RepeatTest, ATurnChoosesGridBuffersAndArguments) {
  const LaunchPlan plan = this->plan(target(kStep), 2);
  ASSERT_EQ(plan.launches.size(), 3u);
  const auto passed = [&](std::size_t turn) { return plan.launches[turn].arguments; };
  const auto number = [](std::int64_t value) { return Scalar{ElementType::i32, value, 0}; };
  EXPECT_THAT(passed(0), ElementsAre(BufferRef{0}, BufferRef{2}, number(0)));
  EXPECT_THAT(passed(1), ElementsAre(BufferRef{2}, BufferRef{3}, number(2)));
  EXPECT_THAT(passed(2), ElementsAre(BufferRef{3}, BufferRef{1}, number(4)));
  EXPECT_EQ(plan.launches[2].grid, (Dim3{98}));
  EXPECT_EQ(this->plan(target(kStep), 1).launches.size(), 5u);
}

TEST_F(RepeatTest, AGroupTakesTurnsTogetherAndAKernelMayLeaveOneOut) {
  const Target target = this->target(R"([kernels.steps]
repeat = "T"
kernels.odd = { when = "turn % 2", arguments = ["x", "y"] }
kernels.all = { arguments = ["x", "y"] }
[kernels.last]
grid = 1
arguments = ["x", "y"]
)");
  std::vector<std::string> entries;
  for (const Launch& each : plan(target, 1, 3).launches) entries.push_back(each.entry);
  EXPECT_THAT(entries, ElementsAre("all", "odd", "all", "all", "last"));
  const SourceUnit unit = source_unit(target, problem(target, 3), {{"DEPTH", 1}}, {});
  EXPECT_THAT(unit.entries, ElementsAre("odd", "all", "last"));
  EXPECT_THAT(source_unit(target, problem(target, 1), {{"DEPTH", 1}}, {}).entries,
              ElementsAre("all", "last"));
}

TEST_F(RepeatTest, BelongsToTheFingerprint) {
  std::string other = kStep;
  other.replace(other.find("ceil_div(T, DEPTH)"), 18, "T");
  EXPECT_NE(target(kStep).fingerprint, target(other).fingerprint);
}

TEST_F(RepeatTest, WithTooManyLaunchesAConfigurationIsInvalid) {
  const Target target = this->target(kStep);
  EXPECT_EQ(plan(target, 2, 20000).launches.size(), 10000u);
  try {
    (void)plan(target, 1, 20000);
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::invalid);
    EXPECT_THAT(failure.what(), HasSubstr("kernels.step.repeat: 20000 turns of 1 kernels are more "
                                          "than the 10000 launches that a call may have"));
  }
}

TEST_F(RepeatTest, MisuseIsNamed) {
  const std::string plain = "kernels.step = { grid = 1, arguments = [\"x\", \"y\", \"turn\"] }\n";
  refuses(plain, "turn is the name of a launch's turn: only kernels with \"repeat\" have it");
  refuses("let = \"half = turn / 2\"\n" + std::string(kStep), "only kernels with \"repeat\"");
  refuses("[kernels.g]\nrepeat = 2\nkernels.k = { repeat = 3, arguments = [\"x\", \"y\"] }\n",
          "a kernel of a group is repeated with its group");
  refuses("[kernels.g]\nrepeat = 2\nkernels = {}\n", "there are no kernels");
  refuses("let = \"turn = 3\"\n" + std::string(kStep),
          "turn names the launches of a kernel with \"repeat\"");
  refuses("kernels.step = { repeat = \"T - 9\", arguments = [\"x\", \"y\"] }\n",
          "kernels.step.repeat");
  refuses("kernels.step = { repeat = \"T - 5\", arguments = [\"x\", \"y\"] }\n",
          "every \"when\" or \"repeat\" is 0");
  refuses("kernels.step = { repeat = 2, entry = \"step<{turn}>\", arguments = [\"x\", \"y\"] }\n",
          "only kernels with \"repeat\"");
}

TEST(Conjuncts, AreWhatAndJoins) {
  EXPECT_THAT(conjuncts_of("a < b"), ElementsAre("a < b"));
  EXPECT_THAT(conjuncts_of("a and (b and c) && d"), ElementsAre("a ", " (b and c) ", " d"));
  EXPECT_THAT(conjuncts_of("m == 'and' and band"), ElementsAre("m == 'and' ", " band"));
  EXPECT_THAT(conjuncts_of("a  # this and that\n  and b"),
              ElementsAre("a  # this and that\n  ", " b"));
}

TEST(Conjuncts, OfAConclusionHaveTheConditionEach) {
  EXPECT_THAT(conjuncts_of("p and q implies a and b"),
              ElementsAre("p and q implies a ", "p and q implies b"));
}

TEST(Conjuncts, OfAnythingLooserAreNone) {
  for (const char* text :
       {"a and b or c", "a and b || c", "c ? a and b : d", "p implies q implies a and b"}) {
    EXPECT_THAT(conjuncts_of(text), ElementsAre(text));
  }
}

}  // namespace
}  // namespace autotune
