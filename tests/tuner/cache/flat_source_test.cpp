// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/flat_source.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A folder of headers.
class FlatSource : public ::testing::Test {
 protected:
  FlatSource() {
    std::string name = (std::filesystem::temp_directory_path() / "flat-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~FlatSource() override { std::filesystem::remove_all(folder_); }

  void header(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string flat(const std::string& text, const std::string& prelude = "") const {
    return flat_source(text, prelude, std::vector{folder_});
  }

  std::filesystem::path folder_;
};

TEST_F(FlatSource, HasTheTextOfIncludedFilesOnce) {
  header("a.cuh", "#pragma once\nint a;\n");
  header("b.cuh", "#pragma once\n#include \"a.cuh\"\nint b;\n");
  EXPECT_EQ(flat("#include \"b.cuh\"\n#include \"a.cuh\"\nint c;\n"), "int a;\nint b;\nint c;\n");
}

TEST_F(FlatSource, KeepsHeadersThatAreElsewhere) {
  EXPECT_EQ(flat("#include <cuda_fp16.h>\n"), "#include <cuda_fp16.h>\n");
}

TEST_F(FlatSource, KeepsTheBranchThatHoldsOnly) {
  const std::string text =
      "#if KIND == KIND_A\na\n#elif KIND == KIND_B && defined(WIDE)\nb\n#else\nc\n#endif\n"
      "#ifdef WIDE\nwide\n#else\nnarrow\n#endif\n";
  EXPECT_EQ(flat(text, "#define KIND_A 0\n#define KIND_B 1\n#define KIND KIND_B\n#define WIDE\n"),
            "b\nwide\n");
  EXPECT_EQ(flat(text, "#define KIND_A 0\n#define KIND_B 1\n#define KIND 2\n"), "c\nnarrow\n");
}

TEST_F(FlatSource, IncludesInABranchThatDoesNotHoldAreNone) {
  header("a.cuh", "#pragma once\nint a;\n");
  EXPECT_EQ(flat("#if 0\n#include \"a.cuh\"\n#include MACRO\n#endif\n#include \"a.cuh\"\n"),
            "int a;\n");
}

TEST_F(FlatSource, KeepsWhatTheCompilerDecides) {
  EXPECT_EQ(flat("#ifdef AUTOTUNE_HOST\nh\n#elif __CUDA_ARCH__ >= 800\nd\n#else\ne\n#endif\n"),
            "#if __CUDA_ARCH__ >= 800\nd\n#else\ne\n#endif\n");
  EXPECT_EQ(flat("#if __CUDA_ARCH__ >= 900\na\n#elif X\nb\n#elif !X\nc\n#else\nd\n#endif\n"),
            "#if __CUDA_ARCH__ >= 900\na\n#else\nc\n#endif\n");
}

TEST_F(FlatSource, AHeaderThatIsElsewhereMayDefineAnything) {
  EXPECT_EQ(flat("#include <b.h>\n#if B\nb\n#endif\n#ifdef AUTOTUNE_HOST\nh\n#endif\n"),
            "#include <b.h>\n#if B\nb\n#endif\n");
}

TEST_F(FlatSource, AMacroThatOneBranchDefinesIsUnknown) {
  EXPECT_EQ(flat("#ifdef __CUDACC__\n#define X 1\n#endif\n#if X\na\n#endif\n"),
            "#if defined(__CUDACC__)\n#define X 1\n#endif\n#if X\na\n#endif\n");
}

TEST_F(FlatSource, AFileThatMayBeIncludedIsGuardedByAMacro) {
  header("a.cuh", "#pragma once\nint a;\n");
  const std::string text = flat(
      "#ifdef __CUDACC__\n#include \"a.cuh\"\n#endif\n"
      "#include \"a.cuh\"\n");
  EXPECT_EQ(text,
            "#if defined(__CUDACC__)\n#ifndef INCLUDED_0\n#define INCLUDED_0\nint a;\n"
            "#endif\n#endif\n#ifndef INCLUDED_0\n#define INCLUDED_0\nint a;\n#endif\n");
}

TEST_F(FlatSource, ContinuedLinesAndCommentsStay) {
  const std::string text = "#define F(x) \\\n  x // why\n/* one\n#if 0\n two */\nint f;\n";
  EXPECT_EQ(flat(text), text);
}

TEST_F(FlatSource, AHeaderThatAMacroNamesIsRefused) {
  EXPECT_THROW(flat("#include HEADER\n"), Error);
}

TEST_F(FlatSource, ArithmeticOfConditionsIsThatOfC) {
  const auto holds = [&](const std::string& expression) {
    return flat("#if " + expression + "\nyes\n#endif\n", "#define A 1 + 2\n#define B (A)\n");
  };
  EXPECT_EQ(holds("A * 2 == 5"), "yes\n");
  EXPECT_EQ(holds("B * 2 == 6"), "yes\n");
  EXPECT_EQ(holds("2 + 3 * 4 - 1 == 13 && !(7 % 4 != 3)"), "yes\n");
  EXPECT_EQ(holds("10 - 4 - 3 == 3 && 0x10u == 16"), "yes\n");
  EXPECT_EQ(holds("__X && 0"), "");
  EXPECT_EQ(holds("__X || 1"), "yes\n");
  EXPECT_THAT(holds("1 / 0"), HasSubstr("#if"));
}

TEST(UsedDefines, AreThoseOfTheTextAndOfEachOther) {
  EXPECT_EQ(used_defines("#define A B\n#define B 1\n#define C 2\n#define BB 3\n", "int x = A;"),
            "#define A B\n#define B 1\n");
}

}  // namespace
}  // namespace autotune
