// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/environment.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace autotune {
namespace {

namespace fs = std::filesystem;

const fs::path kProgram = AUTOTUNE_BINARY_DIR "/tests/print_variable";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const output = popen(command.c_str(), "r");
  if (!output) return "nothing was started";
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  pclose(output);
  return text;
}

TEST(Environment, WhatIsNotSetIsEmpty) {
  unsetenv("AUTOTUNE_TEST_VARIABLE");
  EXPECT_EQ(environment_variable("AUTOTUNE_TEST_VARIABLE"), "");
  setenv("AUTOTUNE_TEST_VARIABLE", "value", 1);
  EXPECT_EQ(environment_variable("AUTOTUNE_TEST_VARIABLE"), "value");
  EXPECT_EQ(output_of(kProgram.string() + " AUTOTUNE_TEST_VARIABLE"), "value\n");
}

TEST(Environment, IsIgnoredInAProgramWithMoreRightsThanItsUser) {
  constexpr uid_t kNobody = 65534;
  setenv("AUTOTUNE_TEST_VARIABLE", "value", 1);
  const fs::path copy =
      fs::path(::testing::TempDir()) / ("print_variable_" + std::to_string(getpid()));
  fs::copy_file(kProgram, copy);
  const bool is_made =
      chown(copy.c_str(), kNobody, kNobody) == 0 && chmod(copy.c_str(), 04755) == 0;
  const std::string printed =
      is_made ? output_of(copy.string() + " AUTOTUNE_TEST_VARIABLE") : "value\n";
  fs::remove(copy);
  if (printed == "value\n") GTEST_SKIP() << "programs cannot be given other rights here";
  EXPECT_EQ(printed, "secure \n");
}

}  // namespace
}  // namespace autotune
