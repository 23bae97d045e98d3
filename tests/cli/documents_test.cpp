// SPDX-License-Identifier: Apache-2.0
// Every command `autotune …` of the pages for a need runs on the host device as it stands there.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

#include "tests/cli/tool.hpp"
#include "tests/support/how_often.hpp"
#include "tests/support/source_folder.hpp"

namespace autotune::testing {
namespace {

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
    sandbox_.run(tune("tiny", "100", {"--db", "part-1.db", "--budget", "2"}));
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
