// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/included_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace autotune {
namespace {

namespace fs = std::filesystem;

class IncludedText : public testing::Test {
 protected:
  IncludedText() {
    std::string name = (fs::temp_directory_path() / "autotune-include-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~IncludedText() override { fs::remove_all(folder_); }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Included included_by(const std::string& source, const std::vector<std::string>& options = {}) {
    return included(source, std::vector<fs::path>{folder_}, options);
  }
  std::string text_of(const std::string& source, const std::vector<std::string>& options = {}) {
    return included_by(source, options).text();
  }

  fs::path folder_;
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
  fs::permissions(folder_, fs::perms{0755});
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
  const std::vector<fs::path> folders = {folder_};
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
