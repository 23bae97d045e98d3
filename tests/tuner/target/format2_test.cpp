// SPDX-License-Identifier: Apache-2.0
// Manifests of format 2: what TOML, blocks, scopes and families mean.
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/target/one_manifest.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/convert.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

constexpr const char* kFormat2 = R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes.N = { multiple = 8, least = 16 }
sizes.W = { fixed = 5 }
settings.dtype = ["f32", "f64"]
family = "KERNEL"
let = '''
items = N / 8             # a comment; with a semicolon
padded(n, to) =
  round_up(n, to)         # an indented line goes on
'''
arguments.x = { type = "dtype", length = "N" }
arguments.y = { type = "dtype", length = "N", role = "output", tolerance = 2 }
arguments.a = { type = "dtype", value = "N / 2.0" }
launch.arguments = ["x", "y", "a", "N"]
work = "flops = N; bytes = 2 * N * dtype_bytes"
reference.kernels.scale_reference = { grid = "ceil_div(N, 64)", block = 64 }
[parts.blocks]
parameters.BLOCK = { from = 32, to = 128, factor = 2 }
launch.block = "BLOCK"
let = "blocks = ceil_div(N, BLOCK)"
[families.plain]
parts = ["blocks"]
kernels.plain.grid = "blocks"
[families.fast]
parts = ["blocks"]
when = "N >= 32"
main = "fast"
default = { UNROLL = 4, MODE = "packed" }
parameters.MODE = ["direct", "packed"]
parameters.UNROLL = { values = [2, 4], when = "MODE == 'packed'" }
parameters.SPLIT = { values = [1, 2], run_time = true }
constraints = '''
# Only with blocks of its own.
BLOCK > 32 and padded(N, 16) % SPLIT == 0
64 / (BLOCK - 32) >= 0  # not computed where the line above is false
'''
defines = "EDGE = N % tile != 0"
let = "tile = BLOCK * UNROLL"
workspace.part = { type = "f32", length = "N * SPLIT" }
resources = "registers = 16 + UNROLL"
[families.fast.kernels.pack]
when = "MODE == 'packed'"
grid = 1
arguments = ["x", "part"]
[families.fast.kernels.fast]
grid = ["blocks", "SPLIT"]
arguments = ["...", "MODE == 'packed' ? part : x", { when = "SPLIT > 1", pass = ["SPLIT"] },
  { type = "i64", value = "N * N" }, "MODE"]
)toml";

class Format2Test : public OneManifest {
 protected:
  Format2Test() : OneManifest("scale", kFormat2, "int edge = EDGE;\n") {}
  static Problem problem(const Target& target) {
    return problem_of(target, {{"N", 64}, {"W", 5}}, {});
  }
};

TEST_F(Format2Test, AFamilyIsAParameterWithParametersOfItsOwn) {
  const Target target = read();
  std::vector<std::string> names;
  for (const Parameter& each : target.parameters) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("KERNEL", "BLOCK", "MODE", "UNROLL", "SPLIT"));
  EXPECT_EQ(to_text(target.default_configuration),
            "KERNEL=plain BLOCK=32 MODE=direct UNROLL=2 SPLIT=1");
  // plain: 3 blocks; fast: 2 blocks (of more than 32) x (direct + 2 packed) x 2 splits.
  EXPECT_EQ(space_of(target, problem(target), {}).size(), 3u + 2 * 3 * 2);
  const Problem small = problem_of(target, {{"N", 16}, {"W", 5}}, {});
  EXPECT_EQ(space_of(target, small, {}).size(), 3u);
}

TEST_F(Format2Test, LaunchesTakeDefaultsFromThePartsAndTheTarget) {
  const Target target = read();
  const Problem sizes = problem(target);
  const TargetProgram program(target, sizes, {});
  const auto plan = [&](const char* text) {
    return program.plan(program.levels(parse_named_values(text)));
  };
  const LaunchPlan plain = plan("KERNEL=plain BLOCK=32 MODE=direct UNROLL=2 SPLIT=1");
  ASSERT_EQ(plain.launches.size(), 1u);
  EXPECT_EQ(plain.launches[0].entry, "plain");
  EXPECT_EQ(plain.launches[0].block.x, 32);
  EXPECT_EQ(plain.launches[0].arguments.size(), 4u);
  EXPECT_EQ(std::get<Scalar>(plain.launches[0].arguments[2]).real, 32.0);
  const LaunchPlan fast = plan("KERNEL=fast BLOCK=64 MODE=packed UNROLL=4 SPLIT=2");
  ASSERT_EQ(fast.launches.size(), 2u);
  EXPECT_EQ(fast.workspace[0].name, "part");
  EXPECT_EQ(fast.workspace[0].length, 128);
  const auto& arguments = fast.launches[1].arguments;
  ASSERT_EQ(arguments.size(), 8u);
  EXPECT_EQ(std::get<BufferRef>(arguments[4]).index, 2u);
  EXPECT_EQ(std::get<Scalar>(arguments[6]), (Scalar{ElementType::i64, 4096, 0}));
  EXPECT_EQ(std::get<Scalar>(arguments[7]).integer, 1);
  EXPECT_EQ(plan("KERNEL=fast BLOCK=64 MODE=direct UNROLL=2 SPLIT=1").launches[0].arguments.size(),
            7u);
}

TEST_F(Format2Test, APlanIsTheSameWhereTheFamilyIsNoConstant) {
  const Target target = read();
  Target whole = target;
  whole.family.reset();
  const Problem sizes = problem(target);
  const TargetProgram by_family(target, sizes, {}), at_once(whole, sizes, {});
  const ParameterSpace space = space_of(target, sizes, {});
  for (std::size_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(by_family.plan(space.levels(i)), at_once.plan(space.levels(i))) << i;
  }
}

TEST_F(Format2Test, WrongTomlIsToldWithItsPlaceAndWhatToTry) {
  const auto expect = [&](const std::string& line, const std::string& place,
                          const std::string& advice) {
    expect_error("name = \"scale\"", line, "scale.target.toml:" + place + ": TOML ");
    expect_error("name = \"scale\"", line, "; " + advice);
  };
  expect("name = scale", "2:8", "put text in quotes");
  expect("name = \"scale", "2:14", "end the string in its line");
  expect("name = \"scale\"\nname = \"twice\"", "3:8", "remove one of the two");
  expect("a name = 1", "2:3", "write NAME = VALUE");
  expect("[families.fast", "2:15", "end the header with ]");
}

TEST_F(Format2Test, MacrosAreThoseOfTheFamily) {
  const Target target = read();
  const Problem sizes = problem(target);
  const TargetProgram program(target, sizes, {});
  const auto prelude = [&](const char* text) {
    return program.source_unit(program.levels(parse_named_values(text))).prelude;
  };
  const std::string plain = prelude("KERNEL=plain BLOCK=32 MODE=direct UNROLL=2 SPLIT=1");
  EXPECT_THAT(plain, HasSubstr("#define KERNEL KERNEL_PLAIN"));
  EXPECT_THAT(plain, Not(HasSubstr("UNROLL")));
  EXPECT_THAT(plain, Not(HasSubstr("EDGE")));
  // Without a meaning it still has its first value.
  const std::string direct = prelude("KERNEL=fast BLOCK=64 MODE=direct UNROLL=2 SPLIT=1");
  EXPECT_THAT(direct, HasSubstr("#define UNROLL 2\n"));
  EXPECT_THAT(direct, HasSubstr("#define EDGE 1\n"));
  EXPECT_THAT(direct, Not(HasSubstr("tile")));
}

TEST_F(Format2Test, SizesKeepToWhatIsSaidOfThem) {
  const Target target = read();
  EXPECT_REFUSAL(UsageError, problem_of(target, {{"N", 20}, {"W", 5}}, {}),
                 "N=20 is not offered: it is a multiple of 8");
  EXPECT_REFUSAL(UsageError, problem_of(target, {{"N", 8}, {"W", 5}}, {}), "the least is 16");
  EXPECT_REFUSAL(UsageError, problem_of(target, {{"N", 16}, {"W", 16}}, {}), "it is always 5");
}

TEST_F(Format2Test, ErrorsShowThePlace) {
  expect_error("MODE == 'packed' ? part", "MODE == 'paked' ? part",
               "there is no MODE 'paked' (did you mean packed?");
  expect_error("BLOCK > 32 and", "BLOK > 32 and",
               "scale.target.toml:36:1: there is no name BLOK (did you mean BLOCK?)\n"
               "   36 | BLOK > 32 and padded(N, 16) % SPLIT == 0\n"
               "      | ^");
  expect_error("EDGE = N % tile", "EDGE = N // tile", "'//' is not an operator");
  expect_error("round_up(n, to)", "round_up(m, to)", "there is no name m");
  expect_error("name = \"scale\"", "name = \"scale\"\nname = \"twice\"", "scale.target.toml:3:");
  expect_error("sizes.N", "use = [\"x\"]\nsizes.N", "\"use\" is not supported yet");
}

TEST_F(Format2Test, ASettingMayDependOnSettingsBeforeItWhereNoneIsChosen) {
  const std::string line = "settings.dtype = [\"f32\", \"f64\"]";
  const auto with = [&](const std::string& value) {
    return line + "\nsettings.out = { values = [\"f64\", \"f32\"], default = \"" + value + "\" }";
  };
  const auto text = [](const Target& target, const NamedValues& chosen) {
    const Problem problem = problem_of(target, {{"N", 64}, {"W", 5}}, chosen);
    return problem.text() + ", told " + problem_text(target, problem);
  };
  const Target target = read(line, with("dtype"));
  EXPECT_EQ(text(target, {}), "N=64 W=5 dtype=f32 out=f32, told N=64 W=5");
  EXPECT_EQ(text(target, {{"dtype", "f64"}}),
            "N=64 W=5 dtype=f64 out=f64, told N=64 W=5 dtype=f64");
  EXPECT_EQ(text(target, {{"dtype", "f64"}, {"out", "f32"}}),
            "N=64 W=5 dtype=f64 out=f32, told N=64 W=5 dtype=f64 out=f32");
  EXPECT_EQ(text(read(line, with("f32")), {}), "N=64 W=5 dtype=f32 out=f32, told N=64 W=5");
  EXPECT_EQ(text(read(line, with("dtype == 'f32' ? 'f64' : 'f32'")), {{"dtype", "f64"}}),
            "N=64 W=5 dtype=f64 out=f32, told N=64 W=5 dtype=f64");
  expect_error(line, with("dtype == 'f32' ? dtype : 'f16'"),
               "with dtype=f64, dtype == 'f32' ? dtype : 'f16' gives no value of out");
  expect_error(line, with("N"), "N is not a setting before out");
  expect_error(line, with("out"), "there is no name out");
}

TEST_F(Format2Test, TheDefaultOfTheNextFamilyComesBeforeANeighbourOfTheFirst) {
  const Target target = read("family = \"KERNEL\"",
                             "family = \"KERNEL\"\ndefault = { KERNEL = [\"fast\", \"plain\"] }");
  const TargetProgram program(target, problem(target), {});
  const std::vector<Levels> defaults = program.defaults();
  ASSERT_EQ(defaults.size(), 2u);
  const ParameterSpace space = space_of(target, problem(target), {});
  EXPECT_FALSE(space.find(defaults[0])) << "BLOCK=32 is not valid in fast";
  EXPECT_EQ(space.find(defaults[1]), default_index(target, defaults, space));
}

TEST_F(Format2Test, OnlyTheLastSizesMayHaveADefault) {
  expect_error("sizes.W = { fixed = 5 }", "sizes.W = { default = 5 }\nsizes.K = { least = 2 }",
               "K has no default, but W before it has: only the last sizes may be left out");
  expect_error("sizes.W = { fixed = 5 }", "sizes.W = { fixed = 5, default = 5 }",
               "\"fixed\" needs no other key");
  expect_error("sizes.W = { fixed = 5 }", "sizes.W = { least = 4, default = 3 }",
               "it is not one of the values that \"multiple\" and \"least\" allow");
  expect_error("sizes.W = { fixed = 5 }", "sizes.W = { default = 0 }", "from 1 to 2147483647");
}

TEST_F(Format2Test, KeysInWrongPlacesAreNamedWithTheRightOne) {
  expect_error(
      "constraints = '''", "constraint = '''",
      "scale.target.toml:34:1: there is no key \"constraint\" (did you mean constraints?)");
  expect_error(
      "[parts.blocks]\n", "[parts.blocks]\nsettings.real = [\"f32\"]\n",
      "scale.target.toml:20:1: \"settings\" is a key of the target: such keys stand above");
  expect_error("kernels.plain.grid = \"blocks\"\n", "",
               "the family plain has no kernels to launch");
}

TEST_F(Format2Test, ReadingAManifestRunsNoGenerator) {
  const std::string generate = "generate = [\"touch\", \"made.cu\"]\nsource = ";
  expect_error("source = \"scale.cu\"", generate + "\"made.cu\"",
               "made.cu does not exist yet: autotune check and autotune tune run the generator");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "made.cu"));
  const auto generator = generator_of(folder_.path() / "scale.target.toml");
  ASSERT_TRUE(generator);
  EXPECT_EQ(generator->source, folder_.path() / "made.cu");
  EXPECT_THAT(generator->command, ElementsAre("touch", "made.cu"));
  const std::string generated =
      read("source = \"scale.cu\"", generate + "\"scale.cu\"").fingerprint;
  EXPECT_EQ(read().fingerprint, generated);
  EXPECT_FALSE(generator_of(folder_.path() / "scale.target.toml"));
  expect_error("source = \"scale.cu\"", generate + "[\"scale.cu\"]",
               "a generated source is one file");
}

TEST_F(Format2Test, NamesHaveScopes) {
  expect_error("items = N / 8", "items = UNROLL",
               "UNROLL belongs to the family fast: move this line there");
  expect_error("let = \"tile =", "let = \"items =", "items is declared by the target");
  expect_error("blocks = ceil_div(N, BLOCK)", "blocks = ceil_div(N, blocks)",
               "blocks needs itself: blocks -> blocks");
  EXPECT_NO_THROW(
      read("let = \"tile = BLOCK * UNROLL\"", "let = \"tile = other * UNROLL; other = BLOCK\""));
}

TEST_F(Format2Test, WhatIsPerProblemNamesThePathToAParameter) {
  expect_error("flops = N;", "flops = TIMES;", "there is no name TIMES");
  expect_error("work = \"flops = N;", "parameters.TIMES = [1, 2]\nwork = \"flops = TIMES;",
               "this depends on a parameter: TIMES");
  expect_error("items = N / 8", "items = N / TIMES\nparts = items", "there is no name TIMES");
}

TEST_F(Format2Test, TheMeasurementFingerprintIsOfTheMeaning) {
  const Target first = read();
  const auto same = [&](const char* from, const char* to) {
    return read(from, to).fingerprint == first.fingerprint;
  };
  EXPECT_TRUE(same("# Only with blocks of its own.", "# Other words."));
  EXPECT_TRUE(same("BLOCK > 32 and", "BLOCK > 64 and"));
  EXPECT_TRUE(same("values = [2, 4]", "values = [2, 4, 8]"));
  EXPECT_TRUE(same("resources = \"registers = 16 + UNROLL\"", ""));
  EXPECT_FALSE(same("EDGE = N % tile != 0", "EDGE = N % tile == 0"));
  EXPECT_FALSE(same("tile = BLOCK * UNROLL", "tile = BLOCK"));
  EXPECT_FALSE(same("tolerance = 2", "tolerance = 3"));
  EXPECT_NE(read("BLOCK > 32 and", "BLOCK > 64 and").space_fingerprint, first.space_fingerprint);
  EXPECT_EQ(read("# Only with blocks of its own.", "").space_fingerprint, first.space_fingerprint);
}

/// Results that are stored already must stay found.
TEST_F(Format2Test, FingerprintsAreAsTheyEverWere) {
  EXPECT_EQ(read().fingerprint, "348c3147bbb4f0b18352710fda3b96fe");
  EXPECT_EQ(read().space_fingerprint, "2bfe46f7ce1ec61b34ee54200fbfcc68");
}

TEST_F(Format2Test, MacrosThatAreSpelledAlikeAreRefused) {
  expect_error("let = '''", "parameters.DTYPE = [1, 2]\nlet = '''",
               "setting dtype and parameter DTYPE would both give the macro DTYPE");
}

/// Every key of format 1.
constexpr const char* kFormat1 = R"json({
  // A comment.
  "manifest": 1, "name": "scale", "description": "y = \"a\" x", "source": "scale.cu",
  "include": ["shared"], "options": ["-lineinfo"], "sizes": ["N"],
  "settings": {"dtype": ["f32", "f64"]},
  "parameters": [
    {"name": "MODE", "values": ["plain", "unrolled"]},
    {"name": "BLOCK", "values": [64, 128]},
    {"name": "UNROLL", "values": [2, 4], "when": "MODE == 'unrolled'"},
    {"name": "SPLIT", "values": [1, 2], "run_time": true}
  ],
  "constraints": ["BLOCK <= device.max_threads && TILE <= N"],
  "default": {"BLOCK": 128},
  "defines": {"TILE": "BLOCK * (MODE == 'unrolled' ? UNROLL : 1)"},
  "bake_sizes": "MODE == 'unrolled'",
  "arguments": {
    "x": {"type": "dtype", "length": "N", "fill": "iota"},
    "y": {"type": "dtype", "length": "N", "role": "output", "tolerance": 2},
    "a": {"type": "dtype", "value": 1.5}
  },
  "workspace": {"part": {"type": "f32", "length": "N * SPLIT"}},
  "tensor_maps": {"map": {"buffer": "x", "dims": ["N / 2", 2], "strides": ["N / 2 * dtype_bytes"],
                          "box": ["BLOCK", 1]}},
  "kernels": [
    {"entry": "scale", "grid": ["ceil_div(N, TILE)", "SPLIT"], "block": ["BLOCK"],
     "arguments": ["x", "y", "a", "N", "SPLIT", "map"]},
    {"entry": "finish", "when": "SPLIT > 1", "grid": [1], "block": [32], "arguments": ["part", "y"]},
    {"entry": "finish", "when": "SPLIT > 1", "grid": [2], "block": [32], "arguments": ["part", "y"]}
  ],
  "reference": {"kernels": [{"entry": "plain", "grid": ["ceil_div(N, 64)"], "block": [64],
                             "arguments": ["x", "y", "a", "N"]}]},
  "work": {"flops": "N", "bytes": "2 * N * dtype_bytes"},
  "resources": {"registers": "16 + UNROLL"},
  "model": {"l2_bytes": "8 * N"}
})json";

std::string converted(std::string_view from = "", std::string_view to = "") {
  std::string text = kFormat1;
  text.replace(text.find(from), from.size(), to);
  return converted_manifest(parse_json(text, "scale.target.json"));
}

TEST(ConvertedManifest, MeansWhatItMeant) {
  const ScratchFolder folder;
  folder.write("scale.cu", "");
  const Target target = load_manifest(folder.write("scale.target.toml", converted()));
  EXPECT_EQ(target.name, "scale");
  EXPECT_EQ(target.description, "y = \"a\" x");
  EXPECT_THAT(target.options, ElementsAre("-lineinfo"));
  ASSERT_EQ(target.parameters.size(), 4u);
  EXPECT_EQ(target.parameters[2].when->text(), "MODE == 'unrolled'");
  EXPECT_TRUE(target.parameters[3].run_time);
  EXPECT_EQ(to_text(target.default_configuration), "MODE=plain BLOCK=128 UNROLL=2 SPLIT=1");
  EXPECT_EQ(target.arguments[2].real, 1.5);
  ASSERT_EQ(target.kernels.size(), 3u);
  EXPECT_EQ(target.kernels[1].entry, "finish");
  EXPECT_EQ(target.kernels[2].entry, "finish");
  EXPECT_EQ(target.kernels[2].grid[0].text(), "2");
  EXPECT_EQ(target.tensor_maps.size(), 1u);
  EXPECT_TRUE(target.reference.float64_outputs);
  EXPECT_EQ(target.model.size(), 1u);
}

TEST(ConvertedManifest, AReferenceMayBeTheDefaultOrWriteTheTargetsTypes) {
  EXPECT_THAT(converted("\"reference\": {", "\"reference\": \"default\", \"old\": {"),
              HasSubstr("reference.configuration = \"default\"\n"));
  EXPECT_THAT(converted("\"reference\": {", "\"reference\": {\"float64_outputs\": false, "),
              testing::Not(HasSubstr("outputs")));
}

TEST(ConvertedManifest, WhatIsNoneIsRefused) {
  EXPECT_REFUSAL(Error, converted("\"manifest\": 1", "\"manifest\": 2"), "no manifest of format 1");
  EXPECT_REFUSAL(Error, converted("\"entry\": \"scale\", ", ""), "lacks \"entry\"");
  EXPECT_REFUSAL(Error, converted("1.5", "null"), "null");
}

}  // namespace
}  // namespace autotune
