// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_compiler.hpp"

#include <signal.h>

#include <cstdlib>

#include "tests/support/hidden_headers.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/process.hpp"
#include "tuner/host/translation.hpp"

namespace autotune {
namespace {

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
                         "[ \"$1\" = -dumpversion ] && echo 1 && exit\n"
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
  EXPECT_REFUSAL(Error, HostCompiler(test_cache(), programs_of_this_process(60)),
                 "AUTOTUNE_HOST_CXX: there is no program no-such-compiler");
}

TEST(HostCompiler, AProgramThatIsNoCompilerIsAnError) {
  for (const char* const program : {"/bin/false", "/bin/true", "/bin/echo", "/bin/cat"}) {
    SCOPED_TRACE(program);
    const ChosenCompiler chosen(program);
    EXPECT_THROW(HostCompiler(test_cache(), programs_of_this_process(60)), Error);
  }
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

CompiledKernel compiled(const SourceUnit& unit) {
  return HostCompiler(test_cache(), programs_of_this_process(60)).compile(unit);
}

TEST(HostCompiler, OptionsOfNvrtcAloneAreLeftOut) {
  SourceUnit unit = KernelCase{.text = kNothing}.unit();
  unit.text = "#if VALUE != 7\n#error VALUE\n#endif\n" + unit.text;
  unit.options = {"--use_fast_math", "-DVALUE=7", "-fmad=false", "-maxrregcount=32", "-std=c++20"};
  const CompiledKernel kernel = compiled(unit);
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  EXPECT_THAT(options_not_for_host(unit.options),
              testing::ElementsAre("--use_fast_math", "-maxrregcount=32"));
}

TEST(HostCompiler, TheManifestsLanguageIsTheCompilers) {
  SourceUnit unit = KernelCase{.text = std::string(R"(
template <typename T> concept Number = requires(T a) { a + a; };
template <Number T> T twice(T a) { return a + a; }
)") + kNothing}
                        .unit();
  EXPECT_EQ(compiled(unit).outcome, Outcome::compile_error);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-std=c++20"}, {"--std", "c++20"}, {"--std=c++20", "-DA"}}) {
    unit.options = options;
    const CompiledKernel kernel = compiled(unit);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  }
  unit = KernelCase{.text = kNothing}.unit();
  unit.options = {"-std=c++14"};  // the shim's own text is C++17
  EXPECT_EQ(compiled(unit).outcome, Outcome::ok);
}

/// 1 + 2^-12 squared is rounded to 1 + 2^-11, or its last bit goes into the difference.
TEST(HostCompiler, ProductsAndSumsAreRoundedApartIfTheManifestSaysSo) {
  const KernelCase apart{.text = R"(
    extern "C" __global__ void kernel(const float* in, float* out, int n) {
      volatile float factor = 1.000244140625f;
      const float one = factor;
      out[threadIdx.x] = one * one - 1.00048828125f;
    })",
                         .expected = "0",
                         .block = {64},
                         .type = ElementType::f32};
  SourceUnit unit = apart.unit();
  unit.options = {"-fmad=false"};
  const auto device = make_host_device(test_cache());
  const CompiledKernel kernel = device->compile(unit);
  ASSERT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  expect_right_verdict(device->open(apart.workload())->load(kernel, apart.plan())->verify());
}

/// Files elsewhere may hold results.
TEST(HostCompiler, ASourceReadsItsOwnFoldersAndSystemHeadersOnly) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  write("own/value.cuh", "static const int own = 1;\n");
  write("common/value.cuh", "static const int common = 1;\n");
  const std::string data = write("own/result.inc", "static const int result = 1;\n");
  const std::string other = write("other/result.h", "static const int result = 1;\n");
  write("own/inner.h", "#pragma GCC system_header\n#include \"" + other + "\"\n");
  const auto with = [&](const std::string& text) {
    SourceUnit unit = KernelCase{.text = text + '\n' + kNothing}.unit();
    unit.include_folders = {folder.path() / "own"};
    unit.data_files = {data};
    return compiled(unit);
  };
  for (const char* mine : {"#include \"value.cuh\"", "#include <stddef.h>\n#include <limits>",
                           "#include \"../common/value.cuh\"",
                           "inline void nothing() { asm volatile(\"\"); }\nint x = (nothing(), 1);",
                           "asm(\".globl here\\nhere: .long 1\");"}) {
    const CompiledKernel kernel = with(mine);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << mine << kernel.log;
  }
  const std::string section = "asm(\".pushsection .rodata\\nread: ";
  for (const auto& [text, file] : std::map<std::string, std::string>{
           {"#include \"" + other + "\"", other},
           {"#include \"result.inc\"", "result.inc"},
           {"#include \"inner.h\"", other},
           {"#define NAME(x) #x\n#define FILE NAME(" + other + ")\n#include FILE", other},
           {section + ".incbin \\\"" + other + "\\\"\\n.popsection\");", other},
           {section + ".inc\" \"bin \\\"/proc/self/cmdline\\\"\\n.popsection\");",
            "/proc/self/cmdline"},
           {section + ".incbin \\\"" + data + "\\\"\\n.popsection\");", data}}) {
    const CompiledKernel kernel = with(text);
    EXPECT_EQ(kernel.outcome, Outcome::compile_error) << text;
    EXPECT_THAT(kernel.log, HasSubstr("case.cu: error: it reads "));
    EXPECT_THAT(kernel.log, HasSubstr(file));
  }
}

TEST(HostCompiler, AKernelThatWaitsForItsGridIsRefusedInASentence) {
  const CompiledKernel kernel = compiled(KernelCase{.text = R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void kernel(float* y) { cooperative_groups::this_grid().sync(); })"}
                                             .unit());
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, testing::StartsWith("case.cu: error: it waits for the whole grid"));
  EXPECT_THAT(kernel.log, HasSubstr("needs a cooperative launch"));
  for (const char* text : {"// this_grid\nint x = gone;\n",
                           "#include <cooperative_groups.h>\n"
                           "__device__ int rank() { return "
                           "cooperative_groups::this_grid().thread_rank() + gone; }\n"}) {
    const CompiledKernel other = compiled(KernelCase{.text = text}.unit());
    EXPECT_THAT(other.log, AllOf(HasSubstr("gone"), testing::Not(HasSubstr("cooperative launch"))));
  }
}

TEST(HostCompiler, KnowsTheTypesOfParameters) {
  SourceUnit unit;
  unit.name = "k.cu";
  unit.text = R"(
    namespace ns { template <class T> __global__ void set(T* a, const T b) { a[0] = b; } }
    extern "C" __global__ void plain(const float* __restrict__ x, float4* y, bool z) {})";
  unit.entries = {"ns::set<double>", "plain"};
  const CompiledKernel kernel = compiled(unit);
  ASSERT_EQ(kernel.resources.size(), 2u) << kernel.log;
  EXPECT_THAT(kernel.resources[0].parameter_types, testing::ElementsAre("double*", "double"));
  EXPECT_THAT(kernel.resources[1].parameter_types,
              testing::ElementsAre("float const*", "float4*", "bool"));
}

TEST(HostCompiler, ClustersOfAnIncludedKernelAreACompilerErrorInPlainWords) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "clustered.cuh")
      << "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) kernel(int* out) { *out = 1; }\n";
  SourceUnit unit = KernelCase{.text = "#include \"clustered.cuh\"\n"}.unit();
  unit.include_folders = {folder.path()};
  const CompiledKernel kernel = compiled(unit);
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, HasSubstr("give the cluster in the manifest"));
}

TEST(CompilerBlame, WhatNamesAPlaceIsTheSources) {
  for (const char* log :
       {"k.cu:3:5: error: 'x' was not declared in this scope\n",
        "In file included from a.h:1,\nb.h:2:2: error: #error gone\n",
        "k.cu:1:10: fatal error: gone.h: No such file or directory\ncompilation terminated.\n",
        "<command-line>: error: macro names must be identifiers\n",
        "{standard input}: Assembler messages:\n{standard input}:7: Error: no such instruction\n",
        "<inline asm>:1:2: error: invalid instruction mnemonic 'nonsense'\n",
        "/usr/bin/ld: /tmp/cc.o: in function `f':\nk.cu:(.text+0x5): undefined reference to `g'\n"
        "collect2: error: ld returned 1 exit status\n",
        "k.cu:9:1: error: expected ';'\n    9 | puts(\"out of memory, Aborted\")\n",
        "k.cu:9:1: internal compiler error: in expand_expr, at expr.cc:1234\n"}) {
    EXPECT_EQ(blame(1, log), Blame::source) << log;
  }
}

TEST(CompilerBlame, WhatTheMachineLacksIsNot) {
  for (const char* log :
       {"", "g++: fatal error: Killed signal terminated program cc1plus\n",
        "collect2: fatal error: ld terminated with signal 9 [Killed]\n",
        "clang: error: unable to execute command: Killed\n",
        "cc1plus: out of memory allocating 65536 bytes after a total of 9154560 bytes\n",
        "virtual memory exhausted: Cannot allocate memory\n",
        "/usr/bin/ld: cannot find -lm: Too many open files\ncollect2: error: ld returned 1\n",
        "k.cu:1:10: fatal error: value.h: Too many open files\n",
        "g++: error: libcc1plus.so: failed to map segment from shared object\n",
        "g++: fatal error: cannot execute 'cc1plus': posix_spawn: Resource temporarily "
        "unavailable\n"}) {
    EXPECT_EQ(blame(1, log), Blame::machine) << log;
  }
  EXPECT_EQ(blame(128 + SIGKILL, ""), Blame::machine);
  EXPECT_EQ(blame(128 + SIGTERM, ""), Blame::machine);
}

TEST(CompilerBlame, ACrashIsTold) {
  EXPECT_EQ(blame(128 + SIGSEGV, ""), Blame::crash);
  EXPECT_EQ(blame(4,
                  "g++: internal compiler error: Segmentation fault signal terminated program "
                  "cc1plus\n"),
            Blame::crash);
  EXPECT_EQ(blame(1, "k.cu:3:5: internal compiler error: Segmentation fault\n"), Blame::crash);
}

TEST(Translation, LeavesOtherDeclarationsAlone) {
  for (const char* text :
       {"extern \"C\" __global__ void f(float* p) { p[0] = 1; }\n", "__shared__ float tile[16];\n",
        "extern int external;\n", "int externally = 1; // extern __shared__\n"}) {
    EXPECT_EQ(translated(text), text);
  }
}

TEST(Translation, PutsAnAlignmentWhereBothCompilersTakeIt) {
  EXPECT_EQ(translated("  __shared__ alignas(sizeof(float4)) float tile[16];\n"),
            "  alignas(sizeof(float4)) __shared__ float tile[16];\n");
}

TEST(Translation, PutsUnrollAsBothCompilersHaveIt) {
  EXPECT_EQ(translated("  # pragma  unroll 4 // four\n"), "AUTOTUNE_UNROLL(4)\n");
  EXPECT_EQ(translated("#pragma unroll\n"), "AUTOTUNE_UNROLL_ALL\n");
  EXPECT_EQ(translated("#pragma unroll 2 * TILE\n", "#define TILES 3\n#define TILE 8\n"),
            "AUTOTUNE_UNROLL(2 * TILE)\n");
  EXPECT_EQ(translated("#pragma unroll 2 * TILE\n", "#define TILES 3\n"),
            "AUTOTUNE_UNROLL_BY(2 * TILE)\n");
  EXPECT_EQ(translated("#pragma once\n"), "#pragma once\n");
  EXPECT_EQ(translated("typedef unsigned long long int uint64_t; // own\n"),
            "typedef ::uint64_t uint64_t; // own\n");
}

}  // namespace
}  // namespace autotune
