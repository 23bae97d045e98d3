// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/include_rules.hpp"

#include <utility>

#include "tests/architecture/planted.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::architecture {
namespace {

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

}  // namespace
}  // namespace autotune::architecture
