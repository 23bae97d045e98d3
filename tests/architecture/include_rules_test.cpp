// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/include_rules.hpp"
#include "tests/support/scratch_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <utility>

#include "tests/architecture/precompiled_names.hpp"
#include "tests/architecture/source_text.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::architecture {
namespace {

/// A tree with one file in it, removed at the end.
class Planted {
 public:
  Planted(const std::string& file, const std::string& text) { add(file, text); }

  void add(const std::string& file, const std::string& text) const {
    folder_.write(file, text + '\n');
  }
  const std::filesystem::path& root() const { return folder_.path(); }

 private:
  const ScratchFolder folder_;
};

namespace fs = std::filesystem;

const fs::path kRoot = AUTOTUNE_SOURCE_DIR;

std::map<std::string, Rule> table() { return read_table(kRoot / "docs/architecture.md"); }

TEST(IncludeRules, TheTreeObeysTheTable) { EXPECT_THAT(violations(kRoot, table()), IsEmpty()); }

TEST(IncludeRules, NoTwoTypesHaveOneName) {
  EXPECT_THAT(types_of_one_name(kRoot), IsEmpty());
  const Planted planted("tuner/gpu/plan.hpp", "namespace autotune {\nclass Plan : public Work {");
  EXPECT_THAT(types_of_one_name(planted.root()), IsEmpty());
  fs::create_directories(planted.root() / "tuner/host");
  fs::copy_file(planted.root() / "tuner/gpu/plan.hpp", planted.root() / "tuner/host/plan.hpp");
  EXPECT_THAT(types_of_one_name(planted.root()), ElementsAre(HasSubstr("autotune::Plan is in")));
}

TEST(IncludeRules, EveryFolderOfTheTableIsThere) {
  for (const auto& [folder, rule] : table()) {
    const bool placeholder = folder.find("NAME") != std::string::npos;
    EXPECT_TRUE(placeholder || fs::exists(kRoot / folder)) << folder;
  }
}

TEST(IncludeRules, FoldersStayWithinTheirBudgets) {
  EXPECT_THAT(overspent(kRoot, table()), IsEmpty());
  const Planted planted("tuner/hash/long.cpp", "int a;\nint b;\nint c;");
  Rule two_lines;
  two_lines.lines = 2;
  EXPECT_THAT(overspent(planted.root(), {{"tuner/hash", two_lines}}),
              ElementsAre(HasSubstr("has 3 lines, more than its budget of 2")));
}

TEST(IncludeRules, AnIncludeAgainstTheDirectionIsFound) {
  const Planted planted("tuner/core/wrong.cpp", "#include \"tuner/session/tuning_session.hpp\"");
  EXPECT_THAT(violations(planted.root(), table()),
              ElementsAre(HasSubstr("tuner/core may not include tuner/session")));
}

TEST(IncludeRules, AThirdPartyOutsideItsFolderIsFound) {
  for (const auto& [header, party] : {std::pair{"sqlite3.h", "SQLite3"},
                                      {"cuda_runtime.h", "CUDA runtime"},
                                      {"boost/program_options.hpp", "Boost.Program_options"},
                                      {"nlohmann/json.hpp", "nlohmann"}}) {
    const Planted planted("tuner/search/wrong.hpp", "#include <" + std::string(header) + ">");
    EXPECT_THAT(violations(planted.root(), table()), ElementsAre(HasSubstr(party)));
  }
}

TEST(IncludeRules, TheDatabaseKnowsNothingOfTheTuner) {
  const Planted planted("db/wrong.cpp", "#include \"tuner/core/problem.hpp\"");
  EXPECT_THAT(violations(planted.root(), table()), ElementsAre(HasSubstr("may not include")));
}

// Layers that programs load read the environment in one place, which obeys it in setuid programs
// only as far as is safe.

/// Files of the layers that programs load which read the environment themselves.
std::vector<std::string> readers_of_environment(const Sources& sources) {
  constexpr std::array<std::string_view, 7> kOthers{"tuner/text/environment.hpp",
                                                    "tuner/cli/",
                                                    "tuner/mpi/",
                                                    "tuner/worker/",
                                                    "tests/",
                                                    "plugins/",
                                                    "bench/"};
  std::vector<std::string> readers;
  for (const auto& [file, source] : sources) {
    const bool may_read = std::ranges::any_of(
        kOthers, [&file = file](std::string_view other) { return file.starts_with(other); });
    const bool reads = std::ranges::any_of(source.lines, [](const std::string& line) {
      return line.find("getenv") != std::string::npos || line.find("environ[") != std::string::npos;
    });
    if (reads && !may_read) readers.push_back(file);
  }
  return readers;
}

TEST(EnvironmentRule, LayersThatProgramsLoadReadItInOnePlace) {
  EXPECT_THAT(readers_of_environment(read_sources(AUTOTUNE_SOURCE_DIR)), IsEmpty());
}

TEST(EnvironmentRule, ALayerThatReadsItItselfIsFound) {
  const Planted planted("tuner/gpu/wrong.cpp", "const char* folder = std::getenv(\"CUDA_HOME\");");
  planted.add("tuner/cli/right.cpp", "const char* folder = std::getenv(\"CUDA_HOME\");");
  EXPECT_THAT(readers_of_environment(read_sources(planted.root())),
              ElementsAre("tuner/gpu/wrong.cpp"));
}

TEST(PrecompiledNames, AreIncludedWhereTheyAreUsed) {
  EXPECT_THAT(missing_includes(AUTOTUNE_SOURCE_DIR), IsEmpty());
}

TEST(PrecompiledNames, WithoutTheirHeaderAreFound) {
  for (const auto& [line, header] : {std::pair{"const std::vector<int> values;", "<vector>"},
                                     {"x = std::ranges::find(values, 3);", "<algorithm>"},
                                     {"nlohmann::json document;", "<nlohmann/json.hpp>"},
                                     {"  EXPECT_THAT(values, IsEmpty());", "<gmock/gmock.h>"}}) {
    const Planted planted("tuner/core/wrong.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()), ElementsAre(HasSubstr(header)));
  }
}

TEST(PrecompiledNames, MayComeThroughAHeaderOfTheTree) {
  const Planted planted("tuner/core/values.hpp", "#include <vector>\nstd::vector<int> values();");
  planted.add("tuner/core/values.cpp", "#include \"tuner/core/values.hpp\"\nstd::vector<int> v;");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
}

TEST(PrecompiledNames, InTextOfSeveralLinesAreNone) {
  const Planted planted("tuner/core/text.cpp", "text = R\"cpp(x\nstd::vector<int> v;\n)cpp\";");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
  planted.add("tuner/core/text.cpp", "text = R\"(x\n)\";\nstd::vector<int> v;");
  EXPECT_THAT(missing_includes(planted.root()), ElementsAre(HasSubstr("<vector>")));
}

TEST(PrecompiledNames, OfOtherNamespacesAndInCommentsAreNone) {
  const Planted planted("tuner/core/other.cpp", "my_std::vector<int> v;  // not std::vector<int>");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
}

TEST(OwnNames, WithoutTheirHeaderAreFound) {
  const Planted planted("tuner/core/shape.hpp",
                        "namespace autotune::shapes {\nstruct Shape { int n; };\n"
                        "constexpr int kSides = 4;\nint area_of(const Shape& shape);\n}");
  planted.add("tuner/core/other.hpp", "#include \"tuner/core/shape.hpp\"\n");
  for (const char* line :
       {"shapes::Shape shape;", "int sides = kSides;", "  return shapes::area_of(2);"}) {
    planted.add("tuner/core/user.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()),
                ElementsAre(HasSubstr("\"tuner/core/shape.hpp\"")))
        << line;
    planted.add("tuner/core/user.cpp", std::string("#include \"tuner/core/other.hpp\"\n") + line);
    EXPECT_THAT(missing_includes(planted.root()), IsEmpty()) << line;
  }
}

TEST(OwnNames, AreNotThoseThatASourceMayHaveFromElsewhere) {
  const Planted planted("tuner/core/shape.hpp", "struct Shape {\n};\nint area_of(int sides);");
  for (const char* line :
       {"void turn(Shape Shape);", "class Shape;", "theirs::area_of(2);", "area = tile.area_of(2);",
        "text = \"a Shape\";  // a Shape", "int area_of(long sides) { return area_of(1); }"}) {
    planted.add("tuner/core/user.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()), IsEmpty()) << line;
  }
}

}  // namespace
}  // namespace autotune::architecture
