// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/toolkit_headers.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(ToolkitHeaders, AreThoseOfAToolkit) {
  for (const std::filesystem::path& folder : toolkit_headers()) {
    EXPECT_TRUE(std::filesystem::is_directory(folder)) << folder;
  }
  if (!toolkit_headers().empty()) {
    EXPECT_TRUE(std::filesystem::exists(toolkit_headers().front() / "cuda_fp16.h"));
  }
}

TEST(ToolkitHeaders, AdviceStandsInTheLineThatMissesOne) {
  const std::string log =
      "k.cu(1): error: cannot open source file \"cuda_fp16.h\"\n#include <cuda_fp16.h>\n";
  EXPECT_EQ(
      with_advice(log, false),
      "k.cu(1): error: cannot open source file \"cuda_fp16.h\" (CUDA's headers are not found: "
      "set CUDA_HOME to the toolkit's folder)\n#include <cuda_fp16.h>\n");
  const std::string cut = log.substr(0, log.find('\n'));
  EXPECT_TRUE(with_advice(cut, false).starts_with(cut + " (CUDA's headers"))
      << "without a line end";
}

TEST(ToolkitHeaders, OtherLogsStay) {
  const std::string own = "k.cu(1): error: cannot open source file \"mine.cuh\"\n";
  EXPECT_EQ(with_advice(own, false), own);
  const std::string known = "k.cu(1): error: cannot open source file \"cuda_fp16.h\"\n";
  EXPECT_EQ(with_advice(known, true), known) << "the headers were found";
  EXPECT_EQ(with_advice("", false), "");
}

}  // namespace
}  // namespace autotune
