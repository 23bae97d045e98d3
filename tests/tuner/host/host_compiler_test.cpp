// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "tests/support/hidden_headers.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/temporary_folder.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

/// $AUTOTUNE_HOST_CXX for as long as it lives.
class ChosenCompiler {
 public:
  explicit ChosenCompiler(const std::string& program) {
    setenv("AUTOTUNE_HOST_CXX", program.c_str(), 1);
  }
  ~ChosenCompiler() { unsetenv("AUTOTUNE_HOST_CXX"); }
};

/// A compiler that answers --version and never ends otherwise.
std::string hanging_compiler(const TemporaryFolder& folder) {
  const auto path = folder.path() / "hanging";
  std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && echo hanging 1.0 && exit\n"
                         "while :; do sleep 1; done\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

constexpr const char* kNothing = "extern \"C\" __global__ void kernel() {}\n";

TEST(HostCompiler, ACompilerThatHangsIsATimeoutAndNotKept) {
  const TemporaryFolder folder;
  const ChosenCompiler chosen(hanging_compiler(folder));
  const HostCompiler compiler(std::make_shared<BuildCache>(folder.path() / "cache"),
                              programs_of_this_process(0.3));
  EXPECT_EQ(compiler.version(), "hanging 1.0");
  for (int i = 0; i < 2; ++i) {
    const CompiledKernel kernel = compiler.compile(KernelCase{.text = kNothing}.unit());
    EXPECT_EQ(kernel.outcome, Outcome::timeout);
    EXPECT_FALSE(kernel.cached);
    EXPECT_THAT(kernel.log, HasSubstr("killed after 0.3 s"));
  }
}

TEST(HostCompiler, AChosenCompilerThatIsNotThereIsAnError) {
  const ChosenCompiler chosen("no-such-compiler");
  try {
    HostCompiler(test_cache(), programs_of_this_process(60));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("AUTOTUNE_HOST_CXX: there is no program no-such-compiler"));
  }
}

TEST(HostCompiler, AProgramThatIsNoCompilerIsAnError) {
  const ChosenCompiler chosen("/bin/false");
  EXPECT_THROW(HostCompiler(test_cache(), programs_of_this_process(60)), Error);
}

TEST(HostCompiler, TheKeyDependsOnPreludeAndIncludedFiles) {
  const TemporaryFolder folder;
  const HostCompiler compiler(test_cache(), programs_of_this_process(60));
  SourceUnit unit = KernelCase{.text = std::string("#include \"value.h\"\n") + kNothing}.unit();
  unit.include_folders = {folder.path()};
  const auto key_with = [&](const std::string& header, const std::string& prelude) {
    std::ofstream(folder.path() / "value.h") << header;
    unit.prelude = prelude;
    return compiler.compile(unit).key;
  };
  const std::string key = key_with("#define VALUE 1\n", "#define A 1\n");
  EXPECT_EQ(key_with("#define VALUE 1\n", "#define A 1\n"), key);
  EXPECT_NE(key_with("#define VALUE 2\n", "#define A 1\n"), key);
  EXPECT_NE(key_with("#define VALUE 1\n", "#define A 2\n"), key);
}

/// However it is read, a header that has changed is noticed.
TEST(HostCompiler, EveryHeaderIsInTheKeyOrTheBuildIsNotKept) {
  const TemporaryFolder folder;
  const HiddenHeaders headers(folder.path());
  const HostCompiler compiler(std::make_shared<BuildCache>(folder.path() / "cache"),
                              programs_of_this_process(60), "-O0");
  for (const auto& way : headers.ways()) {
    SourceUnit unit = KernelCase{.text = way.text + "int value = VALUE;\n" + kNothing}.unit();
    unit.include_folders = headers.folders();
    unit.options = way.options;
    headers.write("#define VALUE 1\n");
    const CompiledKernel kernel = compiler.compile(unit);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << way.text << kernel.log;
    headers.write("#error gone\n");
    EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error) << way.text;
  }
}

TEST(HostCompiler, AFileThatNoKeyKnowsIsNotKept) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "value.h") << "#define VALUE 1\n";
  setenv("CPATH", folder.path().c_str(), 1);
  const HostCompiler compiler(std::make_shared<BuildCache>(folder.path() / "cache"),
                              programs_of_this_process(60), "-O0");
  const auto unit = KernelCase{.text = std::string("#include \"value.h\"\n") + kNothing}.unit();
  EXPECT_EQ(compiler.compile(unit).outcome, Outcome::ok);
  EXPECT_FALSE(compiler.compile(unit).cached);
  unsetenv("CPATH");
}

TEST(HostCompiler, SaysWhatTheCacheHoldsWithoutCompiling) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "value.h") << "#define VALUE 1\n";
  HostCompiler compiler(std::make_shared<BuildCache>(folder.path() / "cache"),
                        programs_of_this_process(60));
  SourceUnit unit = KernelCase{.text = std::string("#include \"value.h\"\n") + kNothing}.unit();
  unit.include_folders = {folder.path()};
  EXPECT_FALSE(compiler.is_cached(unit));
  compiler.compile(unit);
  EXPECT_TRUE(compiler.is_cached(unit));
  unit.prelude = "#define A 2\n";
  EXPECT_FALSE(compiler.is_cached(unit));
}

TEST(HostCompiler, OptionsOfAnotherCompilerAreLeftOut) {
  SourceUnit unit = KernelCase{.text = kNothing}.unit();
  unit.text = "#if VALUE != 7\n#error VALUE\n#endif\n" + unit.text;
  unit.options = {"--use_fast_math", "-DVALUE=7"};
  const CompiledKernel kernel =
      HostCompiler(test_cache(), programs_of_this_process(60)).compile(unit);
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
}

TEST(HostCompiler, ClustersOfAnIncludedKernelAreACompilerErrorInPlainWords) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "clustered.cuh")
      << "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) kernel(int* out) { *out = 1; }\n";
  SourceUnit unit = KernelCase{.text = "#include \"clustered.cuh\"\n"}.unit();
  unit.include_folders = {folder.path()};
  const CompiledKernel kernel =
      HostCompiler(test_cache(), programs_of_this_process(60)).compile(unit);
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, HasSubstr("give the cluster in the manifest"));
}

}  // namespace
}  // namespace autotune
