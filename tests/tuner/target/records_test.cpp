// SPDX-License-Identifier: Apache-2.0
// Structs and vectors that kernels take by value, and structs of structs, arrays and vectors.
#include <cstring>
#include <set>

#include "tests/support/hidden_headers.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/shipped_manifests.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/fingerprint.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/old_names.hpp"

namespace autotune {
namespace {

constexpr const char* kTypes = R"(
types.Range = { low = "f32", high = "real" }
types.Grade = { gain = "f32[3]", lift = "f32x4", range = "Range[2]", levels = "i32" }
)";

class RecordsTest : public testing::Test {
 protected:
  Target target(const std::string& arguments, const std::string& types = kTypes) const {
    folder_.write("k.cu", "// the kernel\n");
    return load_manifest(folder_.write("k.target.toml", R"(manifest = 2
name = "k"
source = "k.cu"
sizes = ["N"]
settings.real = ["f64", "f32"]
parameters.BLOCK = [32]
kernels.k = { grid = 1, block = 32, arguments = ["y", "v"] }
reference.configuration = "default"
arguments.y = { type = "f32", length = "N", role = "output" }
)" + types + arguments));
  }
  Record passed(const Target& target, const NamedValues& settings = {}) const {
    const Problem problem = problem_of(target, {{"N", 8}}, settings);
    const LaunchPlan plan = launch_plan(target, problem, {{"BLOCK", 32}}, {});
    return std::get<Record>(plan.launches[0].arguments[1]);
  }
  void refuses(const std::string& arguments, const std::string& why,
               const std::string& types = kTypes) const {
    EXPECT_REFUSAL(Error, target(arguments, types), why) << arguments;
  }

  ScratchFolder folder_;
};

/// As the manifest's Grade with f64.
struct Range {
  float low;
  double high;
};
struct alignas(16) Four {
  float x, y, z, w;
};
struct Grade {
  float gain[3];
  Four lift;
  Range range[2];
  int levels;
};

TEST_F(RecordsTest, AreLaidOutAsInCpp) {
  const Target target = this->target(R"([arguments.v]
type = "Grade"
value = { gain = [1, 2, 3], lift = { w = 7, x = 4, y = 5, z = 6 }, range = [[8, "N + 1"], { low = 10, high = 0.5 }], levels = 12 }
)");
  const Record record = passed(target);
  ASSERT_EQ(record.bytes, static_cast<std::int64_t>(sizeof(Grade)));
  Grade grade;
  std::memcpy(&grade, memory_of(record).data(), sizeof grade);
  EXPECT_THAT(grade.gain, ElementsAre(1, 2, 3));
  EXPECT_EQ(grade.lift.x, 4);
  EXPECT_EQ(grade.lift.w, 7);
  EXPECT_EQ(grade.range[0].low, 8);
  EXPECT_EQ(grade.range[0].high, 9);
  EXPECT_EQ(grade.range[1].low, 10);
  EXPECT_EQ(grade.range[1].high, 0.5);
  EXPECT_EQ(grade.levels, 12);
  EXPECT_EQ(passed(target, {{"real", "f32"}}).bytes, 64) << "the setting is a member's type";
}

TEST_F(RecordsTest, MembersAreScalarsByName) {
  const Target target =
      this->target("arguments.v = { type = \"f32x3\", value = [1, 2.5, \"N\"] }\n");
  EXPECT_EQ(passed(target).bytes, 12);
  std::vector<std::string> names;
  for (const Scalar& each : scalars_of(target, problem_of(target, {{"N", 8}}, {}), {})) {
    names.push_back(each.name);
  }
  EXPECT_THAT(names, ElementsAre("v.x", "v.y", "v.z"));
}

TEST_F(RecordsTest, AreMembersOfBuffers) {
  const Target target = this->target(
      "arguments.v = { type = \"Grade\", length = \"N\" }\n"
      "workspace.w = { type = \"Pair\", length = \"N\" }\n",
      std::string(kTypes) + "types.Pair = { a = \"f32x2\", b = \"f32\" }\n");
  const std::vector<BufferSpec> buffers =
      buffers_of(target, problem_of(target, {{"N", 8}}, {}), {});
  EXPECT_EQ(buffers[1].element_bytes(), static_cast<std::int64_t>(sizeof(Grade)));
  EXPECT_EQ(buffers[1].members[7].name, "range[0].low");
  EXPECT_EQ(target.workspace[0].members.size(), 3u) << "it has padding, so it is no vector";
}

TEST_F(RecordsTest, BelongToTheFingerprint) {
  const auto fingerprint = [&](const char* value) {
    return target(std::string("arguments.v = { type = \"f32x2\", value = ") + value + " }\n")
        .fingerprint;
  };
  EXPECT_EQ(fingerprint("[1, 2]"), fingerprint("{ y = 2, x = 1 }"));
  EXPECT_NE(fingerprint("[1, 2]"), fingerprint("[1, 3]"));
}

TEST_F(RecordsTest, MisuseIsNamed) {
  const auto value = [](const std::string& type, const std::string& text) {
    return "arguments.v = { type = \"" + type + "\", value = " + text + " }\n";
  };
  refuses(value("f32x3", "2"), "give its 3 members: [ … ] in their order, or { name = … }");
  refuses(value("f32x3", "[1, 2]"), "3");
  refuses(value("f32x3", "{ x = 1, y = 2 }"), "\"z\"");
  refuses(value("f32x2", "{ x = 1, y = 2, u = 3 }"), "there is no member u");
  refuses(value("Grde", "[1]"), "\"Grde\" is neither an element type nor a setting");
  refuses(value("f32[3]", "[1, 2, 3]"), "only as a member of a struct");
  refuses("arguments.v = { type = \"f32[3]\", length = 4 }\n", "an array is a member of a struct");
  refuses("", "S is a member of itself", "types.S = { s = \"S[2]\" }\n");
  refuses("", "an array is written as f32[3]", "types.S = { s = \"f32[n]\" }\n");
  refuses("", "an array is written as f32[3]", "types.S = { s = \"f32]\" }\n");
  refuses("", "at most 4096 members", "types.S = { s = \"f32[4096][4096]\" }\n");
  const Target real = target(value("f32x2", "[1, 2]"));
  EXPECT_EQ(passed(real).bytes, 8);
  EXPECT_THROW(passed(target(value("i32x2", "[1, 0.5]"))), Error);
}

TEST(Fingerprint, ChangesWithEveryHeaderHoweverItIsRead) {
  const ScratchFolder folder;
  const HiddenHeaders headers(folder.path());
  for (const auto& way : headers.ways()) {
    Target target;
    target.source_text = way.text;
    target.include_folders = headers.folders();
    target.options = way.options;
    headers.write("#define VALUE 1\n");
    const std::string before = measurement_fingerprint(target);
    EXPECT_EQ(measurement_fingerprint(target), before);
    headers.write("#error gone\n");
    EXPECT_NE(measurement_fingerprint(target), before) << way.text;
  }
}

TEST(SameSources, AreThoseOfTodaysTargetsAndNoneIsStillToday) {
  std::set<std::string, std::less<>> todays;
  for (const auto& manifest : shipped_manifests()) {
    const Target target = load_manifest(manifest);
    todays.insert({target.fingerprint, target.space_fingerprint});
  }
  for (const SameSource& each : same_sources()) {
    EXPECT_TRUE(todays.contains(each.is)) << each.was << ": no target is " << each.is << " now";
    EXPECT_FALSE(todays.contains(each.was)) << each.was;
  }
}

TEST(SameSources, ASpaceIsTheSameAsItselfAndAsTheOneInTheTable) {
  const std::string was(same_sources().back().was), is(same_sources().back().is);
  EXPECT_TRUE(is_same_space(was, is));
  EXPECT_TRUE(is_same_space(is, is));
  EXPECT_FALSE(is_same_space(is, was));
  EXPECT_FALSE(is_same_space("unknown", is));
}

}  // namespace
}  // namespace autotune
