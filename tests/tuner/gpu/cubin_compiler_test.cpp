// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin_compiler.hpp"

#include <gmock/gmock.h>

#include "tests/support/hidden_headers.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

/// What failed for want of a folder is compiled again once the unit names it.
TEST(CubinCompiler, AFolderThatTheUnitNamesIsInTheKey) {
  const ScratchFolder folder;
  folder.write("one/value.cuh", "#define VALUE 1\n");
  folder.write("two/value.cuh", "#define VALUE 2\n");
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  SourceUnit unit{"k.cu",
                  "",
                  "#include <value.cuh>\n"
                  "extern \"C\" __global__ void k(int* to) { *to = VALUE; }\n",
                  {"k"},
                  {},
                  {}};
  EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error);
  unit.options = {"-I" + (folder.path() / "one").string()};
  const CompiledKernel one = compiler.compile(unit);
  ASSERT_EQ(one.outcome, Outcome::ok) << one.log;
  unit.options = {"-I" + (folder.path() / "two").string()};
  const CompiledKernel two = compiler.compile(unit);
  ASSERT_EQ(two.outcome, Outcome::ok) << two.log;
  EXPECT_NE(*one.binary, *two.binary);
}

/// However it is read, a header that has changed is noticed.
TEST(CubinCompiler, EveryHeaderIsInTheKeyOrTheBuildIsNotKept) {
  const ScratchFolder folder;
  const HiddenHeaders headers(folder.path());
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  for (const auto& way : headers.ways()) {
    if (way.text.starts_with("#import")) continue;  // NVRTC has none
    const SourceUnit unit{"k.cu",
                          "",
                          way.text + "extern \"C\" __global__ void k(int* to) { *to = VALUE; }\n",
                          headers.folders(),
                          way.options,
                          {"k"}};
    headers.write("#define VALUE 1\n");
    const CompiledKernel kernel = compiler.compile(unit);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << way.text << kernel.log;
    headers.write("#error gone\n");
    EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error) << way.text;
  }
}

/// Sums are touched between multiplications, so each has to wait for the one before.
TEST(CubinCompiler, SerializedTensorCoresAreInvalid) {
  const ScratchFolder folder;
  const CubinCompiler compiler(90, std::make_shared<BuildCache>(folder.path() / "cache"));
  const auto with = [&](const std::string& touch) {
    return compiler.compile(
        {"k.cu",
         "",
         "#include \"device/wgmma.cuh\"\n"
         "extern \"C\" __global__ void k(float* out, unsigned at, int n) {\n"
         "  float sums[8];\n"
         "  for (int i = 0; i < n; ++i) {\n"
         "    wgmma_fence();\n"
         "    const MatrixDescriptor rows(at, kAtomBytes);\n"
         "    Wgmma<16>::multiply(sums, rows, rows, i > 0);\n" +
             touch +
             "    wgmma_commit();\n"
             "  }\n"
             "  wgmma_wait();\n"
             "  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = sums[i];\n"
             "}\n",
         {source_folder() / "kernel_sources"},
         {},
         {"k"}});
  };
  const CompiledKernel touched = with("if (out[i] > 0) sums[3] += 1;\n");
  EXPECT_EQ(touched.outcome, Outcome::invalid);
  EXPECT_THAT(touched.log, testing::HasSubstr("serialized"));
  const CompiledKernel kept = with("");
  EXPECT_EQ(kept.outcome, Outcome::ok) << kept.log;
}

TEST(CubinCompiler, HostCodeOfThrustIsAdvisedAgainst) {
  const ScratchFolder folder;
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const CompiledKernel whole =
      compiler.compile({"k.cu", "", "#include <cub/device/device_reduce.cuh>\n", {}, {}, {}});
  EXPECT_EQ(whole.outcome, Outcome::compile_error);
  EXPECT_THAT(whole.log, testing::StartsWith("k.cu: error: it includes parts of "));
  EXPECT_THAT(whole.log, testing::HasSubstr("such as <cub/block/block_reduce.cuh>"));
  const CompiledKernel part =
      compiler.compile({"k.cu", "", "#include <cub/cub.cuh>\n", {}, {}, {}});
  EXPECT_EQ(part.outcome, Outcome::ok) << part.log;
}

/// Files elsewhere may hold results.
TEST(CubinCompiler, ASourceReadsItsOwnFoldersAndTheToolkitOnly) {
  const ScratchFolder folder;
  folder.write("own/value.cuh", "#define VALUE 1\n");
  folder.write("own/table.txt", "1, 2\n");
  folder.write("common/value.cuh", "#define VALUE 2\n");
  folder.write("other/table.txt", "3, 4\n");
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const auto with = [&](const std::string& included) {
    return compiler.compile({"k.cu",
                             "",
                             "#include " + included +
                                 "\n#ifdef VALUE\n__constant__ int a[] = {VALUE};\n#endif\n"
                                 "extern \"C\" __global__ void k(int* to) { *to = 1; }\n",
                             {folder.path() / "own"},
                             {},
                             {"k"},
                             {folder.path() / "own/result.cuh"}});
  };
  for (const char* mine : {"\"value.cuh\"", "<cuda_fp16.h>", "\"../common/value.cuh\""}) {
    const CompiledKernel kernel = with(mine);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  }
  folder.write("own/result.cuh", "#define VALUE 7\n");
  folder.write("other/result.h", "#define VALUE 7\n");
  const std::string here = folder.path().string();
  for (const std::string& other :
       {here + "/other/result.h", std::string("result.cuh"), std::string("/proc/self/cmdline")}) {
    const CompiledKernel kernel = with('"' + other + '"');
    EXPECT_EQ(kernel.outcome, Outcome::compile_error) << other;
    if (other.starts_with("/proc")) continue;  // no C++
    EXPECT_THAT(kernel.log, testing::HasSubstr("k.cu: error: it reads "));
    EXPECT_THAT(kernel.log, testing::HasSubstr(other));
  }
}

/// A header there would be in no key.
TEST(CubinCompiler, TheCurrentFolderIsNotSearched) {
  const ScratchFolder folder;
  folder.write("value.cuh", "#define VALUE 1\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const CompiledKernel kernel =
      compiler.compile({"k.cu", "", "#include \"value.cuh\"\n", {}, {}, {}});
  std::filesystem::current_path(before);
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
}

}  // namespace
}  // namespace autotune
