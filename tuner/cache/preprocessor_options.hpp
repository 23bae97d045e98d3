// SPDX-License-Identifier: Apache-2.0
// Those of NVRTC's options that speak to its preprocessor, however they are written.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace autotune {

struct PreprocessorOptions {
  std::vector<std::filesystem::path> folders;  // -I, --include-path
  std::vector<std::string> headers;            // -include, --pre-include
  std::vector<std::string> defined;            // -D, --define-macro: `NAME` or `NAME=text`
  std::vector<std::string> undefined;          // -U, --undefine-macro
};

PreprocessorOptions preprocessor_options(std::span<const std::string> options);

/// The same in the short form that every compiler understands.
std::vector<std::string> common_options(const PreprocessorOptions& options);

}  // namespace autotune
