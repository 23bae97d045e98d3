// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/flat_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/cache/directives.hpp"
#include "tuner/cache/included_text.hpp"
#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

/// A folder of headers.
class FlatSource : public ::testing::Test {
 protected:
  void header(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  std::string flat(const std::string& text, const std::string& prelude = "") const {
    return flat_source(text, prelude, std::vector{folder_.path()});
  }

  const ScratchFolder folder_;
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

TEST(Directives, PlainIncludesAreTold) {
  const Directives found = directives_of("#include \"a.h\"\n  # include <b.h> // why\nint c;\n");
  EXPECT_THAT(found.plain, ElementsAre(HeaderName{"a.h", false}, HeaderName{"b.h", true}));
  EXPECT_THAT(found.others, IsEmpty());
  EXPECT_FALSE(found.has_computed);
}

TEST(Directives, AnyOtherSpellingIsTold) {
  for (const char* text :
       {"#include /*c*/ \"x.h\"", "#/**/include \"x.h\"", "#inc\\\nlude \"x.h\"",
        "#include \\\n  \"x.h\"", "%:include \"x.h\"", "/* a */ #include \"x.h\"",
        "#include /* two\nlines */ \"x.h\"", "#import \"x.h\"", "# /**/ import\t\"x.h\"",
        "#if __has_include(\"x.h\")\n#endif", "#inc\\\r\nlude \"x.h\"\r\n"}) {
    const Directives found = directives_of(text);
    EXPECT_THAT(found.others, ElementsAre(HeaderName{"x.h", false})) << text;
    EXPECT_FALSE(found.has_computed) << text;
  }
  EXPECT_THAT(directives_of("#include_next <x.h>").next, ElementsAre(HeaderName{"x.h", true}));
}

TEST(Directives, ANameByAMacroIsTold) {
  for (const char* text : {"#include HEADER", "#include NAME(x)", "#include /**/ HEADER",
                           "#import HEADER", "#include_next HEADER"}) {
    EXPECT_TRUE(directives_of(text).has_computed) << text;
  }
  EXPECT_THAT(directives_of("#define HEADER \"x.h\"\n#define N 3\n#define OTHER <y.h>").defined,
              ElementsAre(HeaderName{"x.h", false}, HeaderName{"y.h", true}));
}

TEST(Directives, CommentsAndLiteralsAreNoDirectives) {
  for (const char* text :
       {"// #include HEADER\n", "/*\n#include HEADER\n*/", "const char* a = \"/*\";\n",
        "R\"x(\n#include HEADER\n)x\";", "int a = 1'000'000; // '\n", "#error don't\nint a;",
        "const char c = '\"'; // #include HEADER"}) {
    const Directives found = directives_of(text);
    EXPECT_FALSE(found.has_computed) << text;
    EXPECT_THAT(found.others, IsEmpty()) << text;
  }
  // What follows them is read again.
  for (const char* text : {"#error don't\n#import \"x.h\"", "char* a = \"/*\";\n#import \"x.h\"",
                           "int a = 1'000;\n#import \"x.h\"", "R\"(\")\";\n#import \"x.h\""}) {
    EXPECT_THAT(directives_of(text).others, ElementsAre(HeaderName{"x.h", false})) << text;
  }
}

MacroTable macros() {
  MacroTable table;
  table.known = {{"BM", "64"}, {"TILE", "BM * 2"}, {"EMPTY", ""}, {"SELF", "SELF + SELF"}};
  table.unknown = {"MAX"};
  return table;
}

std::optional<bool> holds(std::string_view text) { return condition(text, macros()); }

TEST(Condition, IsComputedAsInC) {
  EXPECT_EQ(holds("BM == 64 && TILE > BM"), true);
  EXPECT_EQ(holds("TILE == 128"), true);
  EXPECT_EQ(holds("1 + 2 * 3 == 7 && !(4 / 2 - 2)"), true);
  EXPECT_EQ(holds("0x10 == 16 && 010 == 8L"), true);
  EXPECT_EQ(holds("-BM < 0"), true);
  EXPECT_EQ(holds("1 | 2 == 3"), true);  // 1 | (2 == 3)
  EXPECT_EQ(holds("BM % 3"), true);
  EXPECT_EQ(holds("BM % 2"), false);
}

TEST(Condition, IsUnknownOnlyWhereWhatIsUnknownDecides) {
  EXPECT_EQ(holds("MAX > 3"), std::nullopt);
  EXPECT_EQ(holds("__CUDA_ARCH__ >= 900"), std::nullopt);
  EXPECT_EQ(holds("BM == 32 && MAX"), false);
  EXPECT_EQ(holds("MAX || BM == 64"), true);
  EXPECT_EQ(holds("BM == 64 && MAX"), std::nullopt);
  EXPECT_EQ(holds("!MAX"), std::nullopt);
  MacroTable after_a_header = macros();
  after_a_header.others_unknown = true;
  EXPECT_EQ(condition("BN", after_a_header), std::nullopt);
  EXPECT_EQ(condition("defined(AUTOTUNE_HOST)", after_a_header), false);
}

TEST(Condition, WhatItDoesNotComputeIsUnknown) {
  for (const char* const text : {"", "BM 64", "(BM", "BM ? 1 : 0", "1 << 2", "1 / 0", "1.5", "~0",
                                 "EMPTY", "__has_include(<a.h>)", "BM ==", "defined", "1'000"}) {
    EXPECT_EQ(holds(text), std::nullopt) << text;
  }
}

TEST(Condition, WhereSignsAndUnsignedNumbersMeetIsUnknown) {
  EXPECT_EQ(holds("BM > 32u"), true);
  EXPECT_EQ(holds("2u - 3 > 0"), std::nullopt);
  EXPECT_EQ(holds("-1 > 0u"), std::nullopt);  // true in C, where -1 becomes unsigned
  EXPECT_EQ(holds("-1 > 0"), false);
  EXPECT_EQ(holds("18446744073709551615 > 0"), std::nullopt);
}

TEST(Condition, MacrosThatNameThemselvesEnd) {
  EXPECT_EQ(holds("SELF"), std::nullopt);  // 2^32 tokens without a bound
}

PreprocessorOptions of(const std::vector<std::string>& options) {
  return preprocessor_options(options);
}

TEST(PreprocessorOptions, EverySpellingOfNvrtcsIsKnown) {
  EXPECT_THAT(of({"-Ia", "-I", "b", "-I=c", "--include-path=d", "--include-path", "e"}).folders,
              ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(of({"-include", "a", "-include=b", "--pre-include=c", "--pre-include", "d"}).headers,
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(of({"-DA=1", "-D", "B", "--define-macro=C=2", "--define-macro", "D"}).defined,
              ElementsAre("A=1", "B", "C=2", "D"));
  EXPECT_THAT(of({"-UA", "--undefine-macro=B"}).undefined, ElementsAre("A", "B"));
}

TEST(PreprocessorOptions, TheLastLanguageCounts) {
  for (const auto& options : std::vector<std::vector<std::string>>{
           {"-std=c++20"}, {"--std=c++20"}, {"-std", "c++20"}, {"--std=c++14", "--std", "c++20"}}) {
    EXPECT_EQ(of(options).language, "c++20");
    EXPECT_TRUE(of(options).others.empty());
  }
  EXPECT_EQ(of({"-DA"}).language, "");
}

TEST(PreprocessorOptions, EveryCompilerKnowsTheCommonForm) {
  EXPECT_THAT(common_options(of({"--include-path", "a", "--pre-include=b", "-D", "C"})),
              ElementsAre("-Ia", "-DC", "-include", "b"));
}

namespace fs = std::filesystem;

class ReadableFiles : public testing::Test {
 protected:
  ReadableFiles() {
    folder_.write("own/tile.cuh", "");
    folder_.write("own/sub/table.txt", "");
    folder_.write("common/tile.cuh", "");
    folder_.write("common/table.txt", "");
    fs::create_symlink(at("common/tile.cuh"), at("own/linked.cuh"));
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  bool may_read(const fs::path& file, const std::vector<fs::path>& data = {}) const {
    const std::vector<fs::path> files = {at("own/tile.cuh"), file}, folders = {at("own/")};
    const auto found = first_forbidden(files, folders, data);
    if (found) {
      EXPECT_EQ(*found, file);
    }
    return !found;
  }

  ScratchFolder folder_;
};

TEST_F(ReadableFiles, AreThoseBelowTheFolders) {
  EXPECT_TRUE(may_read(at("own/sub/table.txt")) && may_read(at("own/linked.cuh")));
  EXPECT_TRUE(may_read(at("own/sub/../tile.cuh")));
  EXPECT_FALSE(may_read(at("common/tile.cuh")) || may_read("/etc/passwd") ||
               may_read("/proc/self/maps") || may_read(at("own2/tile.cuh")));
}

TEST_F(ReadableFiles, AreHeadersThatTheFoldersReach) {
  EXPECT_TRUE(may_read(at("own/../common/tile.cuh")));
  EXPECT_FALSE(may_read(at("own/../common/table.txt")));
  EXPECT_FALSE(may_read(at("own/../../../../../etc/passwd")));
}

TEST_F(ReadableFiles, AreNoDataOfTheTarget) {
  EXPECT_FALSE(may_read(at("own/sub/table.txt"), {at("own/sub/../sub/table.txt")}));
  EXPECT_FALSE(may_read(at("own/linked.cuh"), {at("common/tile.cuh")})) << "by its link";
}

class IncludedText : public testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) { folder_.write(name, text); }
  Included included_by(const std::string& source, const std::vector<std::string>& options = {}) {
    return included(source, std::vector<fs::path>{folder_.path()}, options);
  }
  std::string text_of(const std::string& source, const std::vector<std::string>& options = {}) {
    return included_by(source, options).text();
  }

  const ScratchFolder folder_;
};

TEST_F(IncludedText, ACircleEnds) {
  write("a.cuh", "#include \"b.cuh\"\n");
  write("b.cuh", "#include \"a.cuh\"\n");
  EXPECT_EQ(text_of("#include \"a.cuh\"\n#include \"a.cuh\"").find("a.cuh\n#"), 0u);
}

/// Fingerprints of stored results hang on it: to the byte.
TEST_F(IncludedText, OfPlainIncludesIsAsItEverWas) {
  write("a.cuh", "#include <deep/b.cuh>\nint a;\n");
  write("deep/b.cuh", "#include \"c.cuh\"\n");
  write("deep/c.cuh", "int beside;");
  write("c.cuh", "int above;");
  using namespace std::string_literals;
  EXPECT_EQ(text_of("// #include \"d.cuh\"\n#include \"a.cuh\"\n#include <c.cuh>\n"),
            "a.cuh\n#include <deep/b.cuh>\nint a;\n\0"s
            "deep/b.cuh\n#include \"c.cuh\"\n\0"s
            "c.cuh\nint beside;\0"s
            "c.cuh\nint above;\0"s);
}

TEST_F(IncludedText, KnowsTheFoldersAndHeadersOfOptions) {
  write("other/x.cuh", "int x;");
  const std::string folder = (folder_ / "other").string();
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-I" + folder}, {"--include-path", folder}}) {
    EXPECT_EQ(text_of("#include \"x.cuh\"", options), std::string("x.cuh\nint x;\0", 13));
  }
  EXPECT_EQ(text_of("int y;", {"-I" + folder, "-include=x.cuh"}),
            std::string("x.cuh\nint x;\0", 13));
}

TEST_F(IncludedText, EveryHeaderThatAMacroCanNameIsInIt) {
  write("x.other", "int x;");
  write("deep/y.cuh", "int y;");
  write("notes.txt", "no header");
  for (const char* source :
       {"#define HEADER \"x.other\"\n#include HEADER\n", "#include STRING_OF(deep/y.cuh)\n"}) {
    const Included found = included_by(source);
    EXPECT_FALSE(found.complete);
    EXPECT_NE(found.text().find("int y;"), std::string::npos) << source;
    EXPECT_EQ(found.text().find("no header"), std::string::npos) << source;
  }
  EXPECT_NE(text_of("#define HEADER \"x.other\"\n#include HEADER\n").find("int x;"),
            std::string::npos);
  EXPECT_NE(text_of("#include HEADER\n", {"-DHEADER=\"x.other\""}).find("int x;"),
            std::string::npos);
  EXPECT_TRUE(included_by("#include \"deep/y.cuh\"").complete);
}

TEST_F(IncludedText, FoldersThatCannotBeReadHideNoOtherHeader) {
  for (char name = 'a'; name <= 'h'; ++name) {
    write(fs::path(std::string(1, name)) / "x.cuh", std::string("int ") + name + "1;");
  }
  fs::permissions(folder_.path(), fs::perms{0755});
  for (const char* const name : {"b", "d", "f"}) fs::permissions(folder_ / name, fs::perms::none);
  const bool is_root = geteuid() == 0;
  if (is_root && seteuid(65534) != 0) GTEST_SKIP() << "root can read every folder";
  const std::string text = text_of("#include HEADER\n");
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  for (const char* const name : {"b", "d", "f"}) {
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  for (const char name : {'a', 'c', 'e', 'g', 'h'}) {
    EXPECT_NE(text.find(std::string("int ") + name + "1;"), std::string::npos) << name;
  }
}

TEST_F(IncludedText, CoversWhatItHasRead) {
  write("a.cuh", "int a;");
  write("b.cuh", "int b;");
  write("kit/c.h", "int c;");
  const Included found = included_by("#include \"a.cuh\"");
  const std::vector<fs::path> kit = {folder_ / "kit"};
  using Files = std::vector<fs::path>;
  EXPECT_TRUE(found.covers(Files{folder_ / "kit/../a.cuh", folder_ / "kit/c.h"}, kit));
  EXPECT_FALSE(found.covers(Files{folder_ / "kit/c.h"}, {}));
  EXPECT_FALSE(found.covers(Files{folder_ / "a.cuh", folder_ / "b.cuh"}, kit));
  EXPECT_TRUE(found.covers(std::nullopt, {})) << "every name is known";
  EXPECT_FALSE(included_by("#include HEADER").covers(std::nullopt, {}));
}

TEST_F(IncludedText, IsEmptyWhereNothingIsIncludedFromTheFolders) {
  EXPECT_EQ(text_of("#include <cuda_fp16.h>\n#define include \"x\"\nint a;"), "");
}

TEST_F(IncludedText, IsReadAgainOnceAFileHasChanged) {
  write("a.cuh", "int a;");
  const std::vector<fs::path> folders = {folder_.path()};
  IncludedTexts texts;
  const std::string source = "#include \"a.cuh\"";
  const auto first = texts.unchanged(source, folders, {});
  EXPECT_EQ(texts.unchanged(source, folders, {}), first);
  write("a.cuh", "long a;");
  EXPECT_EQ(texts.of(source, folders, {}), first) << "a guess";
  EXPECT_NE(texts.unchanged(source, folders, {})->text.find("long a;"), std::string::npos);
  EXPECT_NE(texts.of(source, folders, {}), first);
}

}  // namespace
}  // namespace autotune
