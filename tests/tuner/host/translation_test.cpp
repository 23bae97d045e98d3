// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/translation.hpp"

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

/// The body of a function, translated.
std::string body(const std::string& text) {
  const std::string all = translated("void f() {\n" + text + "\n}\n");
  return all.substr(11, all.size() - 14);
}

TEST(Translation, PutsDynamicSharedMemoryAsAPointer) {
  EXPECT_EQ(body("extern __shared__ float tile[];"),
            "float* const tile = static_cast<float*>(autotune_host::dynamic_shared());");
  EXPECT_EQ(body("extern __shared__ __align__(16) unsigned char bytes[ ];"),
            "unsigned char* const bytes = static_cast<unsigned "
            "char*>(autotune_host::dynamic_shared());");
  EXPECT_THAT(body("extern volatile float __shared__ all[];"),
              HasSubstr("volatile float* const all ="));
  EXPECT_THAT(body("alignas(16) extern __shared__ T all[];"), HasSubstr("T* const all ="));
  EXPECT_THAT(body("extern __shared__ T rows[][2 * N];"), HasSubstr("T (*const rows)[2 * N] ="));
}

TEST(Translation, KnowsWhereFunctionsBegin) {
  const auto is_global = [](const std::string& before) {
    return translated(before + "extern __shared__ float tile[];").find("thread_local") !=
           std::string::npos;
  };
  for (const char* outside :
       {"", "namespace a::b {\n", "extern \"C\" {\n", "namespace { inline namespace x {\n",
        "struct S { int x; };\nvoid f() { if (1) {} }\n", "/* { */ // {\nconst char c = '{';\n",
        "const char* s = \"{\\\"{\";\n", "#define BEGIN {\n",
        "#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n"}) {
    EXPECT_TRUE(is_global(outside)) << outside;
  }
  for (const char* inside :
       {"void f() {\n", "extern \"C\" void f(int n) {\n", "namespace a { void f() { if (1) {}\n",
        "extern \"C\" void f() {\n", "#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n",
        "template <int n = 1'000> void f() {"}) {
    EXPECT_FALSE(is_global(inside)) << inside;
  }
}

TEST(Translation, LeavesOtherDeclarationsAlone) {
  for (const char* text :
       {"extern \"C\" __global__ void f(float* p) { p[0] = 1; }\n", "__shared__ float tile[16];\n",
        "extern int external;\n", "int externally = 1; // extern __shared__\n"}) {
    EXPECT_EQ(translated(text), text);
  }
}

TEST(Translation, PutsUnrollAsBothCompilersHaveIt) {
  EXPECT_EQ(translated("  # pragma  unroll 4 // four\n"), "AUTOTUNE_UNROLL(4)\n");
  EXPECT_EQ(translated("#pragma unroll\n"), "AUTOTUNE_UNROLL_ALL\n");
  EXPECT_EQ(translated("#pragma unroll 2 * TILE\n", "#define TILES 3\n#define TILE 8\n"),
            "AUTOTUNE_UNROLL(2 * TILE)\n");
  EXPECT_EQ(translated("#pragma unroll 2 * TILE\n", "#define TILES 3\n"),
            "AUTOTUNE_UNROLL_BY(2 * TILE)\n");
  EXPECT_EQ(translated("#pragma once\n"), "#pragma once\n");
}

TEST(Translation, KeepsLineNumbers) {
  EXPECT_THAT(translated("#pragma unroll\nfor (;;) {}\n"), HasSubstr("ALL\nfor (;;) {}"));
  EXPECT_THAT(translated("extern __shared__\nfloat tile[];\nint x;\n"), HasSubstr(";\n\nint x;\n"));
  EXPECT_THAT(body("extern __shared__\nfloat tile[];\nint x;\n"), HasSubstr(";\n\nint x;\n"));
}

TEST(Translation, ExportsOneFunctionAKernel) {
  SourceUnit unit;
  unit.name = "two.cu";
  unit.text = "text";
  unit.entries = {"first", "second"};
  const std::string source = host_source(unit);
  EXPECT_THAT(source, HasSubstr("#line 1 \"two.cu\"\ntext"));
  EXPECT_THAT(source, HasSubstr("unsigned long long autotune_run_first("));
  EXPECT_THAT(source, HasSubstr("Entry<&second>::run"));
}

TEST(Translation, ExportsKernelsWithCppNames) {
  SourceUnit unit;
  unit.entries = {"conv::filter<float, 128>", "conv::filter<float, 64>"};
  const std::string source = host_source(unit);
  EXPECT_THAT(source, HasSubstr("Entry<&conv::filter<float, 128>>::run"));
  EXPECT_NE(run_symbol(unit.entries[0]), run_symbol(unit.entries[1]));
  EXPECT_THAT(source, HasSubstr(run_symbol(unit.entries[0]) + "("));
}

}  // namespace
}  // namespace autotune
