// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/redefinitions.hpp"

#include <algorithm>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/source_pieces.hpp"

namespace autotune {
namespace {

TEST(UnguardedDefines, AreFoundHoweverTheyAreWritten) {
  EXPECT_THAT(unguarded_defines("#define A 1\n  #  define B(x) x\n#/**/define C\n%:define D 2\n"
                                "#def\\\nine \\\n E 5\n/* two\nlines */ # define F\n"),
              ElementsAre(SourceDefine{"A", 1}, SourceDefine{"B", 2}, SourceDefine{"C", 3},
                          SourceDefine{"D", 4}, SourceDefine{"E", 5}, SourceDefine{"F", 8}));
}

TEST(UnguardedDefines, AreWhereLineDirectivesPutThem) {
  EXPECT_THAT(unguarded_defines("\n#define A\n#line 1 \"b.cu\"\n\n#define B\n#line 7\n#define C\n"),
              ElementsAre(SourceDefine{"A", 2}, SourceDefine{"B", 2, "b.cu"},
                          SourceDefine{"C", 7, "b.cu"}));
}

TEST(UnguardedDefines, AreNotInCommentsAndTexts) {
  EXPECT_THAT(unguarded_defines("// #define A\n/*\n#define B\n*/\nint i; // \\\n#define C\n"
                                "char c = '\"'; /*\n#define D\n*/ int n = 1'000; /*\n"
                                "#define E\n*/\n"),
              IsEmpty());
  EXPECT_THAT(unguarded_defines("const char* t = \"/*\";\n#define A\nchar q = '\\''; /*\n"
                                "#define B\n*/"),
              ElementsAre(SourceDefine{"A", 2}));
}

TEST(UnguardedDefines, AskNotForTheirOwnName) {
  for (const char* condition : {"#ifndef N", "#if !defined(N)", "#if !defined N && M", "#if 0",
                                "#ifdef N\n#elif 1", "#ifdef N\n#else", "#ifndef N\n#if X"}) {
    EXPECT_THAT(unguarded_defines(std::string(condition) + "\n#define N 1\n"), IsEmpty())
        << condition;
  }
  for (const char* condition :
       {"#ifndef NN", "#if defined(X)", "#if 0\n#else", "#ifndef N\n#endif", "#endif"}) {
    EXPECT_EQ(unguarded_defines(std::string(condition) + "\n#define N 1\n").size(), 1u)
        << condition;
  }
}

TEST(UnguardedDefines, AreNotWhereTheSourceItselfTurnsThemOff) {
  const std::string guarded = "#ifndef TUNED\n#define N 1\n#endif\n";
  EXPECT_THAT(unguarded_defines("#define TUNED 1\n" + guarded),
              ElementsAre(SourceDefine{"TUNED", 1}));
  for (const char* before :
       {"", "#define TUNED\n#undef TUNED\n", "#if X\n#define TUNED\n#endif\n"}) {
    EXPECT_EQ(unguarded_defines(before + guarded).back().name, "N") << before;
  }
}

constexpr const char* kRedefined = R"toml(manifest = 2
name = "scale"
source = "scale.cu"
include = ["shared"]
sizes = ["N"]
settings.dtype = ["f32", "f64"]
parameters.BLOCK = [64, 128]
parameters.MODE = ["plain", "unrolled"]
parameters.SPLIT = { values = [1, 2], run_time = true }
defines.TILE = "2 * BLOCK"
bake_sizes = 1
arguments.y = { type = "dtype", length = "N", role = "output" }
kernels.scale = { grid = [1], block = ["BLOCK"], arguments = ["y"] }
reference.kernels = { scale = { grid = [1], block = [64], arguments = ["y"] } }
reference.outputs = "f64"
work.flops = "N"
)toml";

class Redefinitions : public testing::Test {
 protected:
  Redefinitions() { std::filesystem::create_directories(folder_.path() / "shared"); }

  void load(const std::string& source) {
    folder_.write("scale.cu", source);
    load_manifest(folder_.write("scale.target.toml", kRedefined));
  }

  ScratchFolder folder_;
};

TEST_F(Redefinitions, OfMacrosThatAreNoParametersAreRefusedWithBothPlaces) {
  const std::pair<const char*, const char*> macros[] = {
      {"MODE_PLAIN", "parameter MODE"}, {"DTYPE", "setting dtype"}, {"DTYPE_F64", "setting dtype"},
      {"TILE", "define TILE"},          {"SIZE_N", "bake_sizes"},
  };
  for (const auto& [macro, owner] : macros) {
    const std::string name = macro;
    EXPECT_THAT([&] { load(std::string("// The kernel.\n#define ") + name + " 64\n"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("scale.target.toml: "), HasSubstr(owner),
                                           HasSubstr("scale.cu:2 has a #define"))))
        << name;
  }
}

TEST_F(Redefinitions, InAnIncludedFileAreRefused) {
  folder_.write("shared/sizes.cuh", "\n\n#define TILE 16\n");
  EXPECT_REFUSAL(Error, load("#include \"sizes.cuh\"\n"), "sizes.cuh:3 has a #define TILE");
}

TEST_F(Redefinitions, ThatAreGuardedOrOfOtherNamesAreNone) {
  EXPECT_NO_THROW(
      load("#ifndef BLOCK\n#define BLOCK 64\n#endif\n#define SPLIT 2\n#define N 5\n"
           "#undef MODE_PLAIN\n"));
}

TEST_F(Redefinitions, HostCodeOfOwnHeadersIsLeftOutToo) {
  folder_.write("shared/check.h",
                "#pragma once\n#include \"more.h\"\nvoid check(cudaError_t e) { exit(e); }\n"
                "__device__ float twice(float x) { return 2 * x; }\n");
  folder_.write("shared/more.h", "#define HALF 0.5f\n");
  folder_.write("scale.cu",
                "#include \"check.h\"\n#include \"check.h\"\n"
                "__global__ void scale(float* y) { y[0] = twice(HALF); }\n"
                "int main() { check(cudaSuccess); }\n");
  const Target target = load_manifest(folder_.write("scale.target.toml", kRedefined));
  EXPECT_THAT(target.source_text,
              AllOf(HasSubstr("float twice("), HasSubstr("#include \"more.h\""),
                    HasSubstr("#line 1 \"check.h\""), HasSubstr("#line 2 \"scale.cu\""),
                    Not(HasSubstr("cudaError_t")), Not(HasSubstr("main"))));
  EXPECT_THAT(target.host_code, ElementsAre("check (check.h:3)", "main (scale.cu:4)"));
}

TEST_F(Redefinitions, AHeadersValueOfAParameterIsReplacedToo) {
  folder_.write("shared/tile.h", "#pragma once\n#define BLOCK 16\n#define HALF 0.5f\n");
  folder_.write("scale.cu",
                "#include \"tile.h\"\n"
                "__global__ void scale(float* y) { y[0] = BLOCK * HALF; }\n");
  const Target target = load_manifest(folder_.write("scale.target.toml", kRedefined));
  EXPECT_THAT(target.source_text,
              AllOf(HasSubstr("#define HALF 0.5f"), Not(HasSubstr("#define BLOCK 16"))));
  EXPECT_THAT(target.own_values, ElementsAre("BLOCK (tile.h:2)"));
}

// A source that was not written to be tuned has names of its own for what the manifest names.

class OwnNames : public testing::Test {
 protected:
  Target load(const std::string& source, const std::string& entry = "") const {
    folder_.write("scale.cu", source);
    folder_.write("detail.cuh",
                  "#pragma once\nnamespace a { namespace b {\n"
                  "__global__ void inner(float* y) {}\n} }\n");
    return load_manifest(folder_.write("scale.target.toml", R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
parameters.BLOCK = [64, 128]
parameters.ITEMS = [1, 2]
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.scale = { )toml" + entry + R"toml(grid = 1, block = "BLOCK * ITEMS", arguments = ["y"] }
reference.kernels.inner = { grid = 1, block = 64, arguments = ["y"] }
)toml"));
  }
  std::string prelude(const Target& target) const {
    DeviceInfo device;
    return source_unit(target, problem_of(target, {{"N", 8}}, {}), {{"BLOCK", 128}, {"ITEMS", 2}},
                       device)
        .prelude;
  }

  ScratchFolder folder_;
};

TEST_F(OwnNames, HaveTheManifestsValues) {
  const Target target = load(
      "#pragma once\n#define BLOCK \\\n  16  // threads\nstatic const int ITEMS = 2;\n"
      "const int OTHER = ITEMS;\nvoid f() { const int ITEMS_2 = 3; }\n");
  EXPECT_THAT(target.own_values, ElementsAre("BLOCK (scale.cu:2)", "ITEMS (scale.cu:4)"));
  EXPECT_EQ(target.source_text,
            "#pragma once\n\n\n                           \n"
            "const int OTHER = ITEMS;\nvoid f() { const int ITEMS_2 = 3; }\n");
}

TEST_F(OwnNames, OfTemplateParametersAreNoMacros) {
  const std::string source =
      "template <class T, int BLOCK = 64, int OTHER = (2 > 1)>\n__global__ void scale(T* y) {}\n";
  const Target target = load(source, R"(entry = "scale<float, {BLOCK}>", )");
  EXPECT_EQ(prelude(target), "#define ITEMS 2\n");
  EXPECT_EQ(prelude(load(source)), "#define BLOCK 128\n#define ITEMS 2\n") << "not passed";
}

TEST_F(OwnNames, OfKernelsThatAreNotExternCAreQualified) {
  const std::string include = "#include \"detail.cuh\"\n";
  const Target target = load(include + "__global__ void scale(float* y) {}\n");
  EXPECT_EQ(target.kernels.at(0).entry, "::scale");
  EXPECT_EQ(target.reference.kernels.at(0).entry, "::a::b::inner");
  for (const char* source : {"extern \"C\" __global__ void scale(float* y) {}",
                             "extern \"C\" {\n__global__ void scale(float* y) {}\n}",
                             "template <int N> __global__ void scale(float* y) {}",
                             "namespace a { __global__ void scale(float* y) {} }\n"
                             "namespace b { __global__ void scale(float* y) {} }"}) {
    EXPECT_EQ(load(source).kernels.at(0).entry, "scale") << source;
  }
}

TEST_F(OwnNames, StandBehindTheHeadersOfLibraries) {
  const Target target = load(
      "// Sums.\n#include <cub/cub.cuh>\n#include \"detail.cuh\"\n"
      "#include <detail.cuh>\n#include \"cuda.h\"\n#include <math.h>\nint i;\n#include <string>\n");
  const std::string file = '"' + target.source_path.filename().string() + "\"\n";
  EXPECT_EQ(target.system_includes, "#line 2 " + file + "#include <cub/cub.cuh>\n" +   //
                                        "#line 5 " + file + "#include \"cuda.h\"\n" +  //
                                        "#line 6 " + file + "#include <math.h>\n" +    //
                                        "#line 1 \"prelude\"\n");
  EXPECT_THAT(prelude(target), HasSubstr("#line 1 \"prelude\"\n#define BLOCK 128\n"));
  EXPECT_THAT(load("#define X\n#include <math.h>\n").system_includes, IsEmpty());
}

std::vector<std::string> left_out(const std::string& source) {
  std::vector<std::string> names;
  for (const LeftOut& each : without_host_code(source).left_out) {
    names.push_back(each.name + ":" + std::to_string(each.line));
  }
  return names;
}

constexpr const char* kProgram = R"(#include <vector>
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)
#define DEV __device__ __forceinline__
using namespace std;
struct Timer {
  cudaEvent_t start;
  Timer() { cudaEventCreate(&start); }
};
std::vector<float> data;
DEV float twice(float x) { return 2 * x; }  // } and "<<<"
inline float plus_one(float x) { return x + 1; }
namespace detail {
extern "C" {
__global__ void scale(const float* x, float* y) { y[0] = twice(plus_one(x[0])); }
}
void fill(float* x, int n = 3) { for (int i = 0; i < n; ++i) x[i] = rand(); }
}  // namespace detail
int run();
template <class T, int N = 4>
bool launch(T* x) {
  scale<<<1, N>>>(x, x);
  return true;
}
bool verify(const float* x) { return plus_one(x[0]) == 3; }
int run() { Timer timer; launch(new float[3]); return 0; }

int main(int argc, char** argv)
{
#ifdef SLOW
  printf("}");
#endif
  return run();
}
__device__ float after;
)";

TEST(HostCode, IsLeftOutWithWhatUsesIt) {
  EXPECT_THAT(left_out(kProgram),
              ElementsAre("fill:16", "launch:19", "verify:24", "run:25", "main:27"));
}

TEST(HostCode, LeavesKernelsTheirHelpersAndLines) {
  const std::string text = without_host_code(kProgram).text;
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(std::string(kProgram), '\n'));
  for (const char* kept :
       {"DEV float twice(float x) { return 2 * x; }", "plus_one(float x)", "__global__ void scale(",
        "#ifdef SLOW", "__device__ float after;", "using namespace std;", "#define CHECK(call)"}) {
    EXPECT_THAT(text, HasSubstr(kept));
  }
  for (const char* gone :
       {"<<<1", "Timer", "std::vector<float> data", "return run()", "int run()", "rand()"}) {
    EXPECT_THAT(text, Not(HasSubstr(gone)));
  }
}

TEST(HostCode, IsAnAliasOfItsTypes) {
  const std::string text = without_host_code(
                               "template <class T> using convert_t = void (*)(T*, cudaStream_t);\n"
                               "typedef convert_t<float> floats_t;\nfloats_t converter;\n"
                               "typedef float real;\n__global__ void f(real* x) {}\n")
                               .text;
  EXPECT_THAT(text, AllOf(HasSubstr("typedef float real;"), Not(HasSubstr("convert_t")),
                          Not(HasSubstr("floats_t"))));
}

TEST(HostCode, MayUseANamespaceThatIsNotThere) {
  const std::string source =
      "#include \"tensors.h\"\nnamespace short_name = std;\nusing namespace tensors::types;\n"
      "using namespace std;\nusing namespace short_name;\nusing at::Tensor;\n"
      "namespace own {\nstruct T;\n}\nusing own::T;\n__global__ void f(float* x) {}\n";
  EXPECT_EQ(without_host_code(source).text,
            "#include \"tensors.h\"\nnamespace short_name = std;\n"
            "namespace tensors::types {} using namespace tensors::types;\n"
            "using namespace std;\nusing namespace short_name;\n"
            "namespace at { struct Tensor; } using at::Tensor;\n"
            "namespace own {\nstruct T;\n}\nusing own::T;\n__global__ void f(float* x) {}\n");
}

TEST(HostCode, IsNoStructOfAKernelWithAnAlignment) {
  for (const std::string alignment : {"alignas(2 * sizeof(T))", "__align__(8)"}) {
    const std::string text =
        without_host_code("template <class T> struct " + alignment +
                          " Pair { T x, y; };\n"
                          "__global__ void f(Pair<float>* x) {}\nint main() { f<<<1, 1>>>(0); }\n")
            .text;
    EXPECT_THAT(text, HasSubstr("Pair { T x, y; };"));
  }
}

TEST(HostCode, NamesTheDriver) {
  EXPECT_THAT(left_out("const char* text_of(CUresult error) { return \"\"; }\n"
                       "__global__ void f(CUtensorMap map) {}\n"),
              ElementsAre("text_of:1"));
}

TEST(HostCode, IsNotWhatAnIncludedKernelUses) {
  Words named;
  add_device_words("float only_on_host(float x);", named);
  EXPECT_THAT(named, IsEmpty());
  add_device_words("__global__ void k(float* x) { x[0] = helper(x[1]); }", named);
  const std::string source = "float helper(float x) { return x; }\nint main() { helper(1); }";
  EXPECT_THAT(without_host_code(source, named).text, HasSubstr("helper(float x)"));
  EXPECT_THAT(without_host_code(source).text, Not(HasSubstr("helper(float x)")));
}

TEST(HostCode, IsNotWhatOnlyLooksLikeIt) {
  for (const char* source :
       {"__global__ void f(cudaTextureObject_t t) {}",
        "float rand(int i) { return i; }\nfloat f(int i) { return rand(i); }",
        "float f(float x) { return sqrtf(x); }",
        "__device__ int operator==(const A& a, const A& b) { return 1; }\nint x = 3;",
        "const char* t = R\"(int main() { f<<<1, 1>>>(); })\";",
        "// int main() { f<<<1, 1>>>(); }\n/* cudaMalloc */ int i;",
        "int main() { f<<<1, 1>>>(); }}}"}) {  // braces do not match
    EXPECT_THAT(left_out(source), IsEmpty()) << source;
    EXPECT_EQ(without_host_code(source).text, source);
  }
}

}  // namespace
}  // namespace autotune
