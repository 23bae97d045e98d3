// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/toolkit.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/target/scratch.hpp"

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

/// The key of a cubin has it, so that nothing compiled with other headers is used.
TEST(ToolkitHeaders, TheStampOfAFolderChangesWithAnyFile) {
  const ScratchFolder folder;
  folder.write("cuda_fp16.h", "#define A 1\n");
  folder.write("cccl/cub/cub.cuh", "#define B 1\n");
  const std::string stamp = stamp_of(folder.path());
  EXPECT_EQ(stamp_of(folder.path()), stamp);
  folder.write("cccl/cub/cub.cuh", "#define B 2\n");
  const std::string changed = stamp_of(folder.path());
  EXPECT_NE(changed, stamp);
  folder.write("cccl/cub/more.cuh", "");
  EXPECT_NE(stamp_of(folder.path()), changed);
  if (!toolkit_headers().empty()) {
    EXPECT_EQ(toolkit_stamp(), stamp_of(toolkit_headers().front()));
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
