// SPDX-License-Identifier: Apache-2.0
// Kernels by C++ names, and sources of several files.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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
    EXPECT_THAT([&] { read(from, to); }, ThrowsMessage<Error>(HasSubstr(what)));
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

}  // namespace
}  // namespace autotune
