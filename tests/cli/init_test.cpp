// SPDX-License-Identifier: Apache-2.0
// autotune init: kernels as programs have them, in the styles of public collections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/tool.hpp"

namespace autotune::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Given {
  std::string file, entry;
  int questions = 0;  // lines of a manifest that a person must look at
};

const Given kKernels[] = {
    {"block_sum", "block_sum", 4},
    {"blur_u8", "blur", 2},
    {"convolution_kt", "convolution_kernel", 2},
    {"histogram", "histogram", 1},
    {"hotspot_rodinia", "hotspot_step", 1},
    {"matmul_samples", "MatrixMulTiles", 3},
    {"nbody_bat", "nbody", 2},
    {"reduction_ktt", "rowSums", 2},
    {"saxpy_template", "axpy", 3},
    {"scale_struct", "scale", 2},
    {"smooth", "smooth", 0},
    {"softmax", "softmax_rows", 4},
    {"spmv", "spmv_csr", 2},
    {"stencil3d", "stencil", 2},
    {"transpose", "transpose", 2},
    {"vector_add", "vectorAdd", 1},
};

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class KernelAsItIs : public ::testing::TestWithParam<Given> {
 protected:
  void is_described_for(const std::string& device) const {
    const Sandbox sandbox;
    const std::string file = GetParam().file + ".cu";
    sandbox.write(file,
                  text_of(std::filesystem::path(AUTOTUNE_SOURCE_DIR) / "tests/cli/kernels" / file));
    const Ended init = sandbox.run({"init", file, "--entry", GetParam().entry, "--device", device});
    const std::string manifest = GetParam().entry + ".target.toml";
    const std::string text = text_of(sandbox.folder() / manifest);
    ASSERT_EQ(init.status, 0) << init.err << text;
    int questions = 0;
    for (auto at = text.find("# ? "); at != std::string::npos; at = text.find("# ? ", at + 1)) {
      ++questions;
    }
    EXPECT_EQ(questions, GetParam().questions) << text;
    const Ended check = sandbox.run({"check", "./" + manifest, "--device", device});
    EXPECT_EQ(check.status, 0) << check.err << check.out << text;
  }
};

TEST_P(KernelAsItIs, GetsAManifestThatPassesItsCheckOnTheHost) { is_described_for("host"); }

TEST_P(KernelAsItIs, GetsAManifestThatPassesItsCheckForAnH200) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  is_described_for("model:h200");
}

INSTANTIATE_TEST_SUITE_P(Styles, KernelAsItIs, ::testing::ValuesIn(kKernels),
                         [](const auto& each) { return each.param.file; });

TEST(Init, OfWhatCannotBeDescribedSaysWhy) {
  const Sandbox sandbox;
  const auto refuses = [&](const std::vector<std::string>& words, int status,
                           const std::string& what, const std::string& cure) {
    std::vector<std::string> all = {"init", "--device", "host"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = sandbox.run(all);
    EXPECT_EQ(ended.status, status) << ended.out;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(what), HasSubstr(cure)));
  };
  refuses({}, 2, "init needs one file", "autotune init kernel.cu");
  refuses({"none.cu"}, 2, "none.cu", "name a .cu file");
  sandbox.write("host.cu", "int main() { return 0; }\n");
  refuses({"host.cu"}, 2, "host.cu: there is no kernel in it", "name the file that has it");
  sandbox.write("two.cu",
                "__global__ void a(float* x) { x[0] = 1; }\n"
                "__global__ void b(float* x) { x[0] = 2; }\n");
  refuses({"two.cu"}, 2, "two.cu has several kernels", "--entry: a, b");
  refuses({"two.cu", "--entry", "c"}, 2, "there is no kernel c", "did you mean a or b?");
  sandbox.write("broken.cu", "__global__ void k(float* x, int n) { x[0] = missing(n); }\n");
  refuses({"broken.cu"}, 1, "broken.cu does not compile", "missing");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "k.target.toml"));
  sandbox.write("k.target.toml", "");
  refuses({"broken.cu"}, 1, "k.target.toml already exists", "move the file");
}

}  // namespace
}  // namespace autotune::testing
