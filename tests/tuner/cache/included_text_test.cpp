// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/included_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

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
  std::string text_of(const std::string& source) {
    return included_text(source, std::vector<fs::path>{folder_});
  }

  fs::path folder_;
};

TEST_F(IncludedText, FollowsIncludesOfIncludes) {
  write("a.cuh", "#include \"deep/b.cuh\"\n");
  write("deep/b.cuh", "  # include <c.cuh>\nint b;");
  write("c.cuh", "int c;");
  const std::string before = text_of("#include \"a.cuh\"");
  EXPECT_NE(before.find("int b;"), std::string::npos);
  EXPECT_NE(before.find("int c;"), std::string::npos);
  write("c.cuh", "int d;");
  EXPECT_NE(text_of("#include \"a.cuh\""), before);
}

TEST_F(IncludedText, AQuotedIncludeIsLookedForBesideItsFileFirst) {
  write("deep/a.cuh", "#include \"b.cuh\"");
  write("deep/b.cuh", "int beside;");
  write("b.cuh", "int above;");
  const std::string text = text_of("#include \"deep/a.cuh\"");
  EXPECT_NE(text.find("beside"), std::string::npos);
  EXPECT_EQ(text.find("above"), std::string::npos);
}

TEST_F(IncludedText, ACircleEnds) {
  write("a.cuh", "#include \"b.cuh\"\n");
  write("b.cuh", "#include \"a.cuh\"\n");
  EXPECT_EQ(text_of("#include \"a.cuh\"\n#include \"a.cuh\"").find("a.cuh\n#"), 0u);
}

TEST_F(IncludedText, IsEmptyWhereNothingIsIncludedFromTheFolders) {
  EXPECT_EQ(text_of("#include <cuda_fp16.h>\n#define include \"x\"\nint a;"), "");
}

}  // namespace
}  // namespace autotune
