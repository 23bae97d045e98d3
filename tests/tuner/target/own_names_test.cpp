// SPDX-License-Identifier: Apache-2.0
// A source that was not written to be tuned has names of its own for what the manifest names.
#include "tuner/target/redefinitions.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  EXPECT_EQ(target.system_includes,
            "#include <cub/cub.cuh>\n#include \"cuda.h\"\n#include <math.h>\n");
  EXPECT_THAT(prelude(target), HasSubstr("#include <math.h>\n#define BLOCK 128\n"));
  EXPECT_THAT(load("#define X\n#include <math.h>\n").system_includes, IsEmpty());
}

}  // namespace
}  // namespace autotune
