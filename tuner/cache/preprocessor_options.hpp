// SPDX-License-Identifier: Apache-2.0
// NVRTC's options that every compiler has, in all their spellings.
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
  std::string language = {};                   // -std, --std: `c++20`; empty if there is none
  std::vector<std::string> others = {};        // all other words
};

PreprocessorOptions preprocessor_options(std::span<const std::string> options);

/// The preprocessor's in the short form of every compiler.
std::vector<std::string> common_options(const PreprocessorOptions& options);

}  // namespace autotune
