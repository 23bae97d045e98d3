// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/preprocessor_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using testing::ElementsAre;

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

TEST(PreprocessorOptions, OthersAreListed) {
  const PreprocessorOptions none = of({"--use_fast_math", "-lineinfo", "-I"});
  EXPECT_TRUE(none.folders.empty() && none.defined.empty() && none.headers.empty());
  EXPECT_THAT(none.others, ElementsAre("--use_fast_math", "-lineinfo", "-I"));
}

TEST(PreprocessorOptions, EveryCompilerKnowsTheCommonForm) {
  EXPECT_THAT(common_options(of({"--include-path", "a", "--pre-include=b", "-D", "C"})),
              ElementsAre("-Ia", "-DC", "-include", "b"));
}

}  // namespace
}  // namespace autotune
