// SPDX-License-Identifier: Apache-2.0
// Each header of a kernel stands alone: it compiles by itself for the host, includes what it needs
// before its first line of code, and leaves macros to the headers that read them.
// tests/tuner/gpu/kernel_headers_test.cpp compiles them for a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "tests/support/kernel_headers.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/host_compiler.hpp"

namespace autotune::headers_test {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& header) {
  std::ifstream file(source_folder() / "kernel_sources" / header);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class KernelHeader : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(KernelHeader, CompilesByItselfForTheHost) {
  const HostCompiler compiler(std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"),
                              programs_of_this_process(120), "-O0");
  const CompiledKernel kernel = compiler.compile(unit_of_header(GetParam()));
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
}

TEST_P(KernelHeader, IncludesBeforeItsFirstLineOfCode) {
  bool code = false;
  for (const std::string& line : lines_of(GetParam())) {
    if (line.starts_with("#include")) {
      EXPECT_FALSE(code) << line;
    }
    code = code || !(line.empty() || line[0] == '#' || line.starts_with("//"));
  }
}

/// Compiled without macros it names none as constants; what is left are conditions.
TEST_P(KernelHeader, ReadsNoMacrosOfAManifest) {
  if (GetParam().filename().string().ends_with("configuration.cuh")) return;
  const auto name = GetParam().filename();
  if (name == "element.cuh" || name == "number.cuh") return;  // the setting dtype
  if (name == "batched.cuh") return;                          // a part of gemm.cu
  static const std::regex condition("#(if|ifdef|ifndef|elif) .*");
  static const std::regex known(".*(AUTOTUNE_HOST|__CUDA_ARCH__).*");
  for (const std::string& line : lines_of(GetParam())) {
    if (!std::regex_match(line, condition)) continue;
    EXPECT_TRUE(std::regex_match(line, known)) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelHeader, testing::ValuesIn(kernel_headers()),
                         [](const auto& each) {
                           std::string name = each.param.string();
                           std::ranges::replace_if(
                               name, [](char c) { return c == '/' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace autotune::headers_test
