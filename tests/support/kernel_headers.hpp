// SPDX-License-Identifier: Apache-2.0
// The headers of shipped kernels, each as a source of its own.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/support/source_folder.hpp"
#include "tuner/core/launch.hpp"

namespace autotune {

/// Paths from kernel_sources: `device/element.cuh`.
inline std::vector<std::filesystem::path> kernel_headers() {
  const auto folder = source_folder() / "kernel_sources";
  std::vector<std::filesystem::path> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cuh") headers.push_back(relative(entry.path(), folder));
  }
  std::ranges::sort(headers);
  return headers;
}

/// Macros of gemm's manifest for its plainest kernel and for small products, as far as its
/// configuration and batched.cuh read them.
inline constexpr const char* kGemmMacros =
    "#define LAYOUT_NN 0\n#define LAYOUT_NT 1\n#define LAYOUT_TN 2\n#define LAYOUT_TT 3\n"
    "#define LAYOUT LAYOUT_TN\n"
    "#define SCALE_NONE 0\n#define SCALE_ALPHA 1\n#define SCALE_BETA 2\n#define SCALE SCALE_BETA\n"
    "#define KERNEL_NAIVE 1\n#define KERNEL KERNEL_NAIVE\n"
    "#define EPILOGUE 0\n#define BATCHED 0\n#define STRIDED 0\n#define BLOCK_SIZE 16\n"
    "#define TILE_SIZE 2\n#define METHOD_SHARED 1\n#define METHOD METHOD_SHARED\n"
    "#define BLOCK_X 16\n#define BLOCK_Y 16\n#define TM 2\n#define TN 2\n#define BK 8\n"
    "#define STAGES 2\n#define VECTOR_A 1\n#define VECTOR_B 1\n#define VECTOR_D 1\n";

/// A unit that only includes the header. Macros are defined only for headers that read a
/// manifest's macros.
inline SourceUnit unit_of_header(const std::filesystem::path& header) {
  const std::string name = header.filename().string();
  const bool reads_macros = name.ends_with("configuration.cuh") || name == "batched.cuh";
  return {.name = header.filename().string() + ".cu",
          .prelude = reads_macros ? kGemmMacros : "",
          .text = "#include \"" + header.string() + "\"\n",
          .include_folders = {source_folder() / "kernel_sources"},
          .options = {},
          .entries = {}};
}

}  // namespace autotune
