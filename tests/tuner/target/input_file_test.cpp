// SPDX-License-Identifier: Apache-2.0
// Inputs from files: what a manifest says of them, and what files are refused.
#include "tuner/target/input_file.hpp"

#include <sstream>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

/// As NumPy writes it: the header is filled up with spaces to a multiple of 64 bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                const std::string& order = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  const std::string length = {static_cast<char>(header.size() + 1), '\0'};
  return std::string("\x93NUMPY\x01\0", 8) + length + header + '\n' + elements;
}

const std::string kSixFloats(24, '\0');

class InputFileTest : public testing::Test {
 protected:
  InputFile input(const std::string& name, const std::string& content) const {
    return input_file(folder_.write(name, content));
  }
  void expect_refused(const std::string& name, const std::string& content,
                      const std::string& why) const {
    EXPECT_THAT([&] { input(name, content); },
                ThrowsMessage<Error>(AllOf(HasSubstr(name), HasSubstr(why))));
  }

  /// A target with the argument `m` and the file m.npy, or m.bin, of six zeros.
  Target target(const std::string& m, const std::string& sizes = "sizes = [\"N\"]") const {
    folder_.write("m.npy", npy("<f4", "(2, 3)", kSixFloats));
    folder_.write("m.bin", kSixFloats);
    folder_.write("sum.cu", "");
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
)toml" + sizes + R"toml(
settings.dtype = ["f32", "f64"]
arguments.m = { )toml" + m + R"toml( }
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["m", "y", "N"]
kernels.sum = { grid = 1, block = 1 }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  }
  static Problem problem(const Target& target, std::int64_t n = 6,
                         const NamedValues& settings = {}) {
    return problem_of(target, {{"N", n}}, settings);
  }
  static std::vector<BufferSpec> buffers(const Target& target, const Problem& problem) {
    return buffers_of(target, problem, {});
  }

  ScratchFolder folder_;
};

TEST_F(InputFileTest, OfNumPyTellsTypeLengthAndPlace) {
  const InputFile file = input("a.npy", npy("<f8", "(2, 3)", kSixFloats + kSixFloats));
  EXPECT_EQ(file.type, "f64");
  EXPECT_EQ(file.bytes, 48);
  EXPECT_EQ(file.offset, 128);
  EXPECT_EQ(input("b.npy", npy("<i8", "(3,)", kSixFloats)).type, "i64");
  EXPECT_EQ(input("b.npy", npy("|u1", "(24,)", kSixFloats)).type, "u8");
  EXPECT_EQ(input("c.npy", npy("<f4", "()", "1234")).bytes, 4);
}

TEST_F(InputFileTest, MayHoldNumbersOf16And8Bits) {
  folder_.write("half.npy", npy("<f2", "(3, 4)", kSixFloats));
  const Target halves = target("type = \"f16x2\", file = \"half.npy\"");
  EXPECT_EQ(buffers(halves, problem(halves))[0].type, ElementType::f16);
  EXPECT_EQ(buffers(halves, problem(halves))[0].length, 12);
  folder_.write("bytes.npy", npy("|i1", "(24,)", kSixFloats));
  const Target bytes = target("type = \"i8\", file = \"bytes.npy\"");
  EXPECT_EQ(buffers(bytes, problem(bytes))[0].bytes(), 24);
}

TEST_F(InputFileTest, OfNumPyIsRefusedWithWhatToSaveInstead) {
  expect_refused("a.npy", npy("<f4", "(2, 3)", kSixFloats, "True"), "Fortran order");
  expect_refused("a.npy", npy("<f4", "(7,)", kSixFloats), "28 bytes of elements, but 24 follow");
  expect_refused("a.npy", npy("<f4", "(0,)", ""), "no elements");
  expect_refused("a.bin", "", "no elements");
  EXPECT_REFUSAL(Error, input_file(folder_.path() / "none.bin"), "No such file");
  EXPECT_REFUSAL(Error, input_file(folder_.path()), "folder");
}

TEST_F(InputFileTest, HasAHashOfItsContent) {
  const std::string before = input("a.bin", "12345678").hash;
  EXPECT_EQ(input("b.bin", "12345678").hash, before);
  EXPECT_NE(input("a.bin", "12345679").hash, before);
}

TEST_F(InputFileTest, GivesItsLengthToTheArgument) {
  const Target numpy = target("type = \"f32\", file = \"m.npy\"");
  EXPECT_EQ(buffers(numpy, problem(numpy))[0].length, 6);
  EXPECT_EQ(buffers(numpy, problem(numpy))[0].file, folder_.path() / "m.npy");
  EXPECT_EQ(buffers(numpy, problem(numpy))[0].file_offset, 128);
  const Target raw = target("type = \"dtype\", file = \"m.bin\"");
  EXPECT_EQ(buffers(raw, problem(raw))[0].length, 6);
  EXPECT_EQ(buffers(raw, problem(raw, 6, {{"dtype", "f64"}}))[0].length, 3);
}

TEST_F(InputFileTest, MustHaveTheTypeAndLengthThatAreDeclared) {
  const Target numpy = target("type = \"dtype\", length = \"N\", file = \"m.npy\"");
  EXPECT_EQ(buffers(numpy, problem(numpy))[0].length, 6);
  EXPECT_REFUSAL(Error, buffers(numpy, problem(numpy, 5)),
                 "arguments.m.length: 5 elements of f32 are 20 bytes, "
                 "and m.npy has 24");
  EXPECT_REFUSAL(Error, buffers(numpy, problem(numpy, 3, {{"dtype", "f64"}})),
                 "arguments.m.type: is f64, and m.npy holds f32");
  EXPECT_REFUSAL(Error, target("type = \"f32\", file = \"m.npy\", fill = \"zero\""), "not both");
  EXPECT_THAT([&] { target("type = \"f32\", file = \"n.npy\""); },
              ThrowsMessage<Error>(AllOf(HasSubstr("sum.target.toml:6:"), HasSubstr("n.npy"))));
}

TEST_F(InputFileTest, BelongsToTheMeasurement) {
  const std::string m = "type = \"f32\", file = \"m.bin\"";
  const std::string before = target(m).fingerprint;
  EXPECT_EQ(target(m).fingerprint, before);
  EXPECT_NE(target("type = \"f32\", file = \"m.npy\"").fingerprint, before);
}

TEST_F(InputFileTest, WithTheResultsBelongsToTheMeasurementAsWell) {
  folder_.write("sum.cu", "");
  const std::filesystem::path path = folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["y", "N"]
kernels.sum = { grid = 1, block = 1 }
reference.file = "expected.bin"
)toml");
  const auto fingerprint = [&](const std::string& results) {
    folder_.write("expected.bin", results);
    return load_manifest(path).fingerprint;
  };
  const std::string before = fingerprint(kSixFloats);
  EXPECT_EQ(fingerprint(kSixFloats), before);
  EXPECT_NE(fingerprint(kSixFloats.substr(1) + '\x01'), before);
  EXPECT_REFUSAL(Error, fingerprint(""), "has no elements");
}

/// What a file holds fits the sizes that it was made for.
TEST_F(InputFileTest, AllowsAnEdgeProblemWhereItsLengthStays) {
  const auto has_edge = [](const Target& target) {
    return edge_problem(target, problem(target)).has_value();
  };
  EXPECT_FALSE(has_edge(target("type = \"f32\", file = \"m.bin\"")));
  EXPECT_FALSE(has_edge(target("type = \"f32\", length = \"N\", file = \"m.bin\"")));
  EXPECT_TRUE(has_edge(target("type = \"f32\", length = 6, file = \"m.bin\"")));
  EXPECT_TRUE(has_edge(target("type = \"f32\", file = \"m.bin\"", "sizes.N = { fixed = 6 }")));
  EXPECT_FALSE(has_edge(target("type = \"f32\", length = \"half * 2\", file = \"m.bin\"",
                               "sizes = [\"N\"]\nlet = \"half = N / 2\"")));
}

/// A header of this version of the format; its length is that of the dictionary plus `excess`.
std::string header(const std::string& dictionary, char version = 1, int excess = 0) {
  const auto length = static_cast<unsigned>(static_cast<int>(dictionary.size()) + excess);
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(length >> 8 * i & 255);
  }
  return bytes + dictionary;
}

NpyArray read(const std::string& bytes) {
  std::istringstream file(bytes);
  return read_npy_header(file);
}

void expect_refused(const std::string& bytes, const std::string& why) {
  try {
    read(bytes);
    ADD_FAILURE() << "it was read; expected: " << why;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

constexpr const char* kFloats =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n";

TEST(Npy, TypeBytesAndOffsetAreRead) {
  for (const char version : {1, 2, 3}) {
    const std::string bytes = header(kFloats, version);
    const NpyArray array = read(bytes + "elements");
    EXPECT_EQ(array.type, "f32");
    EXPECT_EQ(array.bytes, 24);
    EXPECT_EQ(array.offset, static_cast<std::int64_t>(bytes.size()));
  }
}

TEST(Npy, EveryKindOfNumberHasItsName) {
  const auto type = [](const std::string& descr) {
    return read(header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (4,)}")).type;
  };
  EXPECT_EQ(type("<f8"), "f64");
  EXPECT_EQ(type("<f2"), "f16");
  EXPECT_EQ(type("|i1"), "i8");
  EXPECT_EQ(type("<u2"), "u16");
  EXPECT_EQ(type("<u4"), "u32");
  EXPECT_EQ(type("<u8"), "u64");
  EXPECT_EQ(type("|b1"), "bool");
}

TEST(Npy, WhatIsNoHeaderIsRefused) {
  expect_refused("", "cut off");
  expect_refused("PK\x03\x04 a zip file", "does not begin with the bytes of one");
  expect_refused(header(kFloats, 4), "version 4");
  expect_refused(header(kFloats, 1, 1), "cut off");
  expect_refused(header("{}", 2, 1 << 20), "too long");
  expect_refused(header("{'fortran_order': False, 'shape': (4,)}"), "no descr");
  expect_refused(header("{'descr': '<f4', 'shape': (4,)}"), "no fortran_order");
  expect_refused(header("{'descr': '<f4', 'fortran_order': False}"), "no shape");
}

TEST(Npy, WhatCannotBeUsedIsRefused) {
  const auto array = [](const std::string& descr, const std::string& shape) {
    return header("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}");
  };
  expect_refused(array("'>f4'", "(4,)"), "big-endian");
  expect_refused(array("'<c8'", "(4,)"), "elements are <c8");
  expect_refused(array("[('x', '<f4')]", "(4,)"), "structs");
  expect_refused(array("'<f4'", "(-1,)"), "not a list of sizes");
  expect_refused(array("'<f4'", "(4294967296, 4294967296)"), "not a list of sizes");
  expect_refused(array("'<f4'", "(4, x)"), "not a list of sizes");
  expect_refused(array("'<f4'", "4"), "no shape");
  expect_refused(header("{'descr': '<f4', 'fortran_order': True, 'shape': (4,)}"), "Fortran order");
}

// Fills as a manifest gives them.

class FillOfManifest : public testing::Test {
 protected:
  Target target(const std::string& fill) const {
    folder_.write("sum.cu", "");
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
arguments.m = { type = "i32", length = "N", fill = )toml" + fill +
                                                              R"toml( }
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["m", "y", "N"]
kernels.sum = { grid = 1, block = 1 }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  }
  BufferSpec buffer(const std::string& fill) const {
    const Target made = target(fill);
    return buffers_of(made, problem_of(made, {{"N", 100}}, {}), {})[0];
  }
  void expect_error(const std::string& fill, const std::string& what) const {
    EXPECT_REFUSAL(Error, buffer(fill), what) << fill;
  }

  ScratchFolder folder_;
};

TEST_F(FillOfManifest, HasARuleWithExpressionsAndASeed) {
  const BufferSpec uniform = buffer("{ uniform = [0, \"N - 1\"], seed = 7 }");
  EXPECT_EQ(uniform.fill, Fill::uniform);
  EXPECT_THAT(uniform.fill_values, ElementsAre(0, 99));
  EXPECT_EQ(uniform.seed, 7u);
  const BufferSpec normal = buffer("{ normal = [-1e-3, 2.5] }");
  EXPECT_EQ(normal.fill, Fill::normal);
  EXPECT_THAT(normal.fill_values, ElementsAre(-1e-3, 2.5));
  EXPECT_EQ(normal.seed, std::nullopt);
  EXPECT_THAT(buffer("{ normal = [2.5, 1e-6] }").fill_values, ElementsAre(2.5, 1e-6));
  EXPECT_THAT(buffer("{ value = \"N / 3\" }").fill_values, ElementsAre(33));
  EXPECT_EQ(buffer("{ range = [0, 2] }").fill, Fill::range);
  EXPECT_EQ(buffer("{ integers = [1, 4] }").fill, Fill::integers);
}

TEST_F(FillOfManifest, IsRefusedWhereItMakesNoSense) {
  expect_error("{ seed = 3 }",
               "give \"uniform\", \"normal\", \"value\", \"range\" or \"integers\"");
  expect_error("{ integers = [0, 1.5] }", "arguments.m.fill: 1.5 is not an integer");
  expect_error("{ integers = [3, 1] }", "3 to 1 is empty");
  expect_error("{ value = 3, range = [0, 1] }", "give one of");
  expect_error("{ uniform = 3 }", "expected a list");
  expect_error("{ uniform = [1, 2, 3] }", "uniform");
  expect_error("{ values = 3 }", "did you mean value?");
  expect_error("{ value = 3, seed = -1 }", "a seed is 0 or more");
  expect_error("{ value = 0.5 }", "arguments.m.fill: 0.5 is not a value of i32");
  expect_error("{ value = \"N / 0\" }", "arguments.m.fill");
}

TEST_F(FillOfManifest, BelongsToTheMeasurement) {
  const std::string before = target("{ uniform = [0, 9] }").fingerprint;
  EXPECT_EQ(target("{ uniform = [0, \"9\"] }").fingerprint, before);
  EXPECT_NE(target("{ uniform = [0, 8] }").fingerprint, before);
  EXPECT_NE(target("{ uniform = [0, 9], seed = 1 }").fingerprint, before);
  EXPECT_NE(target("{ range = [0, 9] }").fingerprint, before);
}

}  // namespace
}  // namespace autotune
