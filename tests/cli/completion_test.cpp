// SPDX-License-Identifier: Apache-2.0
// Completion of the shells, by the shells themselves.

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

#include "tests/cli/sentences.hpp"
#include "tests/cli/tool.hpp"
#include "tests/support/how_often.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::testing {
namespace {

using Lines = std::vector<std::string>;

/// A user with one shell, in which the tool is on the path.
class Completion : public ::testing::Test {
 protected:
  /// Skips the test where there is no such shell.
  void use(const std::string& shell) {
    if (sandbox_.run_program({"/bin/sh", "-c", "command -v " + shell}).status != 0) {
      GTEST_SKIP() << "there is no " << shell << " here";
    }
    sandbox_.set("PATH", std::string(AUTOTUNE_BINARY_DIR "/bin:") + std::getenv("PATH"));
    const std::string ended = sandbox_.done(format("help --completion {}", shell));
    script_ = sandbox_.write("completion", ended).string();
  }

  Lines lines_of(const Words& command) const {
    const Ended ended = sandbox_.run_program(command);
    EXPECT_EQ(ended.err, "");
    Lines lines;
    for (const std::string_view line : split(ended.out, '\n')) {
      if (!line.empty()) lines.emplace_back(line.substr(0, line.find('\t')));
    }
    return lines;
  }

  Lines in_bash(const std::string& line) const {
    return lines_of({"/usr/bin/env", "bash", "-c",
                     "source \"$0\"; COMP_LINE=$1 COMP_POINT=${#1}; _autotune; "
                     "printf '%s\\n' \"${COMPREPLY[@]}\"",
                     script_, line});
  }

  Lines in_fish(const std::string& line) const {
    return lines_of(
        {"/usr/bin/env", "fish", "-c", "source $argv[1]; complete -C $argv[2]", script_, line});
  }

  /// The line after Tab.
  std::string in_zsh(const std::string& line) const {
    const std::string output = (sandbox_.folder() / "line").string();
    std::filesystem::remove(output);
    lines_of({"/usr/bin/env", "zsh", "-f", AUTOTUNE_SOURCE_DIR "/tests/cli/completion.zsh", script_,
              output, line});
    std::ifstream stream(output);
    std::string shown;
    std::getline(stream, shown);
    return shown;
  }

  Sandbox sandbox_;
  std::string script_;
};

TEST_F(Completion, OfBashKnowsVerbsOptionsValuesAndFiles) {
  use("bash");
  if (IsSkipped()) return;
  EXPECT_THAT(in_bash("autotune qu"), ElementsAre("query"));
  EXPECT_THAT(in_bash("autotune --dev"), ElementsAre("--device"));
  EXPECT_THAT(in_bash("autotune --ver"), ElementsAre("--version"));
  EXPECT_THAT(in_bash("autotune query --ver"), IsEmpty());
  EXPECT_THAT(in_bash("autotune tune --l2 "), ElementsAre("hot", "cold"));
  EXPECT_THAT(in_bash("autotune --l2=h"), ElementsAre("hot"));
  EXPECT_THAT(in_bash("autotune db export --format sq"), ElementsAre("sqlite"));
  EXPECT_THAT(in_bash("autotune db ret"), ElementsAre("retract"));
  EXPECT_THAT(in_bash("autotune help occ"), ElementsAre("occupancy"));
  EXPECT_THAT(in_bash("autotune tune --seed "), IsEmpty());
  EXPECT_THAT(in_bash("autotune nosuch "), IsEmpty());
  EXPECT_THAT(in_bash("autotune tune --device model:h2"), ElementsAre("h200")) << "what follows :";
  EXPECT_THAT(in_bash("autotune --target gem"), ElementsAre("gemm", "gemm_grouped"));
  EXPECT_THAT(in_bash("autotune --strategy gui"), ElementsAre("guided"));
  const std::string begin = (sandbox_.folder() / "complet").string();
  EXPECT_THAT(in_bash("autotune db import " + begin), ElementsAre(script_));
  EXPECT_THAT(in_bash("autotune --target " + begin), ElementsAre(script_));
  EXPECT_THAT(in_bash("autotune list targets " + begin), IsEmpty());
  EXPECT_THAT(in_bash("autotune run -- bas"), Contains("bash"));
}

TEST_F(Completion, OfFishKnowsVerbsOptionsAndValues) {
  use("fish");
  if (IsSkipped()) return;
  EXPECT_THAT(in_fish("autotune qu"), ElementsAre("query"));
  EXPECT_THAT(in_fish("autotune --dev"), ElementsAre("--device"));
  EXPECT_THAT(in_fish("autotune tune --l2 "), ElementsAre("cold", "hot"));
  EXPECT_THAT(in_fish("autotune tune --device model:h2"), ElementsAre("model:h200"));
  EXPECT_THAT(in_fish("autotune --target gem"), Contains("gemm"));
  EXPECT_THAT(in_fish("autotune db ret"), Contains("retract"));
  EXPECT_THAT(in_fish("autotune query --l"), Not(Contains("--l2")));
}

TEST_F(Completion, OfZshKnowsVerbsOptionsAndValues) {
  use("zsh");
  if (IsSkipped()) return;
  EXPECT_EQ(in_zsh("autotune qu"), "autotune query ");
  EXPECT_EQ(in_zsh("autotune --l2 h"), "autotune --l2 hot ");
  EXPECT_EQ(in_zsh("autotune tune --device=model:h2"), "autotune tune --device=model:h200 ");
  EXPECT_EQ(in_zsh("autotune tune --strategy gui"), "autotune tune --strategy guided ");
  EXPECT_EQ(in_zsh("autotune db ret"), "autotune db retract ");
}

TEST(CompletionScript, OfAnotherShellIsRefused) {
  expect_refused(Sandbox().run("help --completion fsh"), 2, {"not \"fsh\"", "fish"});
}

bool is_here(const Sandbox& sandbox, const std::string& program) {
  return sandbox.run_program({"/bin/sh", "-c", "command -v " + program}).status == 0;
}

TEST(Help, OnATerminalDocumentsArePathsAndNoLinks) {
  const std::string text = Sandbox().run("help check").out;
  EXPECT_THAT(text, HasSubstr("docs/manifest.md"));
  EXPECT_THAT(text, Not(HasSubstr("](")));
}

TEST(ManPage, HasEveryVerbAndIsAscii) {
  const std::string page = Sandbox().run("help --man").out;
  for (const char* verb : {"tune", "query", "db", "help"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n.SS ") + verb + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("\n.SH EXIT STATUS\n"));
  EXPECT_THAT(page, HasSubstr("AUTOTUNE_DB"));
  for (const char c : page) ASSERT_GT(c, 0);
}

TEST(ManPage, IsFormattedWithoutAWarning) {
  const Sandbox sandbox;
  const std::string page = sandbox.write("autotune.1", sandbox.run("help --man").out).string();
  if (!is_here(sandbox, "groff")) GTEST_SKIP() << "there is no groff here";
  const Ended ended = sandbox.run_program("/usr/bin/env groff -ww -man -Tutf8 -P-cbou " + page);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("--sizes"));
  EXPECT_EQ(ended.out.find('`'), std::string::npos) << "Markdown is left";
  if (!is_here(sandbox, "man")) GTEST_SKIP() << "there is no man here";
  const Ended shown = sandbox.run_program("/usr/bin/env man --warnings -l " + page);
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err, "");
}

// Every command `autotune …` of the pages for a need runs on the host device as it stands there.

namespace fs = std::filesystem;

/// The command for a shell, with fewer evaluations, for the time of the test.
std::string command_of(std::string line) {
  constexpr std::string_view kTool = "autotune ";
  line.erase(0, line.find(kTool) + kTool.size());
  const bool is_tuning = line.starts_with("--target") || line.starts_with("tune ");
  if (line.starts_with("tune ")) line.erase(0, 5);
  if (is_tuning) {
    line = "tune --budget 4 " + std::regex_replace(line, std::regex(" --budget \\S+"), "");
  }
  return AUTOTUNE_BINARY_DIR "/bin/autotune " + line;
}

class Page : public ::testing::TestWithParam<const char*> {
 protected:
  Page() {
    const fs::path folder = sandbox_.folder();
    for (const char* const name : {"kernel.cu", "fast.cu", "plain.cu"}) {
      fs::copy_file(source_folder() / "tests/cli/kernels/smooth.cu", folder / name);
    }
    const fs::path program = sandbox_.write(
        "program", "#!/bin/sh\nexec " AUTOTUNE_BINARY_DIR "/tests/blas_stub/blas_caller same 3\n");
    fs::permissions(program, fs::perms::owner_all);
    sandbox_.write("list.jsonl",
                   R"({"candidate": "fast.cu", "against": "plain.cu", "sizes": "5000"})");
    sandbox_.set("AUTOTUNE_BLAS_LIBRARY",
                 AUTOTUNE_BINARY_DIR "/tests/blas_stub/libfake_autotune.so");
    sandbox_.run(tune("tiny", "100", "--db part-1.db --budget 2"));
  }

  Sandbox sandbox_;
};

TEST_P(Page, HasCommandsThatRun) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  std::ifstream page(source_folder() / GetParam());
  std::size_t words = 0;
  for (std::string line, word; std::getline(page, line);) {
    for (std::istringstream text(line); text >> word;) ++words;
    if (!line.starts_with("    autotune ")) continue;
    const Ended ended = sandbox_.run_program({"/bin/sh", "-c", command_of(line)});
    const bool is_judged = line.starts_with("    autotune judge ");  // 4: right and not faster
    if (is_judged && ended.status == 4) continue;
    EXPECT_EQ(ended.status, 0) << line << '\n' << ended.out << ended.err;
  }
  EXPECT_LE(words, GetParam() == std::string("README.md") ? 600u : 900u);
}

INSTANTIATE_TEST_SUITE_P(Documents, Page,
                         ::testing::Values("README.md", "docs/guide.md", "docs/call_cublas.md",
                                           "docs/library.md", "docs/clusters.md", "docs/deploy.md",
                                           "docs/study_search.md", "docs/judge.md"));

}  // namespace
}  // namespace autotune::testing
