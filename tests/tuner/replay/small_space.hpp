// SPDX-License-Identifier: Apache-2.0
// A file of recorded results with three configurations.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace autotune::testing {

inline constexpr const char* kT4 = R"({"schema_version": "1.0.0", "results": [
  {"configuration": {"a": 2, "b": "x"}, "invalidity": "compile", "measurements": []},
  {"configuration": {"a": 1, "b": "y"}, "invalidity": "correct", "objectives": ["time"],
   "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}]},
  {"configuration": {"a": 1, "b": "x"}, "invalidity": "correct",
   "measurements": [{"name": "time", "value": 4.0, "unit": "ms"}]}]})";

inline std::filesystem::path written(const std::string& name, const std::string& text) {
  static const ScratchFolder folder;
  return folder.write(name, text);
}

}  // namespace autotune::testing
