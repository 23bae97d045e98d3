// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/redefinitions.hpp"

#include <gmock/gmock.h>

#include "tests/support/source_folder.hpp"
#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

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
  folder_.write("shared/sizes.cuh", "\n\n#define BLOCK 16\n");
  EXPECT_THAT([&] { load("#include \"sizes.cuh\"\n"); },
              ThrowsMessage<Error>(HasSubstr("sizes.cuh:3 has a #define BLOCK")));
}

TEST_F(Redefinitions, ThatAreGuardedOrOfOtherNamesAreNone) {
  EXPECT_NO_THROW(
      load("#ifndef BLOCK\n#define BLOCK 64\n#endif\n#define SPLIT 2\n#define N 5\n"
           "#undef MODE_PLAIN\n"));
}

}  // namespace
}  // namespace autotune
