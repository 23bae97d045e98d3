// SPDX-License-Identifier: Apache-2.0
// Ways to read a header that are not plain `#include "…"` lines.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace autotune {

/// Files of a target whose source reads VALUE from a header in one of these ways.
class HiddenHeaders {
 public:
  struct Way {
    std::string text;                  // start of the source
    std::vector<std::string> options;  // of the manifest
  };

  /// Headers are in two folders below this one; the first is among the source's.
  explicit HiddenHeaders(const std::filesystem::path& folder)
      : near_(folder / "near"), far_(folder / "far") {
    for (const auto& one : {near_, far_, near_ / "first"}) std::filesystem::create_directories(one);
    std::ofstream(near_ / "first/next.cuh") << "#include_next <next.cuh>\n";
    write("#define VALUE 1\n");
  }

  std::vector<std::filesystem::path> folders() const { return {near_ / "first", near_}; }

  std::vector<Way> ways() const {
    return {{"#include \"only_far.cuh\"\n", {"-I" + far_.string()}},
            {"#include <only_far.cuh>\n", {"--include-path", far_.string()}},
            {"#define HEADER \"value.cuh\"\n#include HEADER\n", {}},
            {"#define STRING(name) #name\n#include STRING(value.cuh)\n", {}},
            {"#include HEADER\n", {"-DHEADER=<value.cuh>"}},
            {"", {"-include", "value.cuh"}},
            {"#include /*c*/ \"value.cuh\"\n", {}},
            {"#/**/include <value.cuh>\n", {}},
            {"#include \\\n  \"value.cuh\"\n", {}},
            {"%:include \"value.cuh\"\n", {}},
            {"#import \"value.cuh\"\n", {}},
            {"#include \"next.cuh\"\n", {}}};
  }

  /// The text of every header.
  void write(const std::string& text) const {
    for (const auto& file : {near_ / "value.cuh", near_ / "next.cuh", far_ / "only_far.cuh"}) {
      std::ofstream(file) << text;
    }
  }

 private:
  std::filesystem::path near_, far_;
};

}  // namespace autotune
