// SPDX-License-Identifier: Apache-2.0
// Layers that programs load read the environment in one place, which obeys it in setuid programs
// only as far as is safe.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/planted.hpp"
#include "tests/architecture/source_text.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::architecture {
namespace {

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

}  // namespace
}  // namespace autotune::architecture
