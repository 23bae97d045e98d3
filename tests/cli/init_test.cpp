// SPDX-License-Identifier: Apache-2.0
// autotune init: kernels as programs have them, in the styles of public collections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"

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
    {"softmax", "softmax_rows", 3},
    {"spmv", "spmv_csr", 2},
    {"stencil3d", "stencil", 2},
    {"transpose", "transpose", 1},
    {"vector_add", "vectorAdd", 1},
};

class KernelAsItIs : public ::testing::TestWithParam<Given> {
 protected:
  void is_described_for(const std::string& device) const {
    const Sandbox sandbox;
    const std::string file = GetParam().file + ".cu";
    sandbox.write(
        file, file_bytes(std::filesystem::path(AUTOTUNE_SOURCE_DIR) / "tests/cli/kernels" / file));
    const Ended init = sandbox.run({"init", file, "--entry", GetParam().entry, "--device", device});
    const std::string manifest = GetParam().entry + ".target.toml";
    const std::string text = file_bytes(sandbox.folder() / manifest);
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

struct Ported {
  std::string file, entry, sizes;
  std::size_t lines = 0;  // that a person writes
};

const Ported kPorted[] = {
    {"correlation", "mean_kernel", "512x256", 0},
    {"dequant_matvec", "mul_mat_vec_q4_0", "256x64", 4},
    {"fft", "fft_radix2", "4096", 3},
    {"flash", "flash_forward", "64x32", 10},
    {"mm2", "mm2_kernel1", "64x48x32", 1},
    {"nbody4", "integrateBodies", "1024", 3},
    {"reduce_samples", "reduce6", "65536", 8},
    {"rmsnorm", "rms_norm_kernel", "16x512", 2},
    {"scan", "scan_blocks", "65536", 2},
    {"srad", "srad_coefficients", "64x48", 0},
    {"column_sums", "column_sums", "64x96", 0},
    {"eliminate", "eliminate", "48", 0},
    {"filter_rows", "filter_rows", "256x32", 0},
    {"log_returns", "log_returns", "5000", 0},
    {"masked_rows", "masked_rows", "100x4x8", 0},
    {"springs", "springs", "16x2048", 1},
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// What a person writes: each line replaces that of its key, or is new.
std::string answered(const std::string& manifest, const std::vector<std::string>& answers) {
  std::vector<std::string> lines = lines_of(manifest);
  for (const std::string& answer : answers) {
    const std::string key = answer.substr(0, answer.find(" = ") + 3);
    const auto line =
        std::ranges::find_if(lines, [&](const std::string& each) { return each.starts_with(key); });
    if (line == lines.end()) {
      lines.insert(lines.begin() + 4, answer);  // behind the source
      continue;
    }
    if (line->ends_with("'''")) lines.erase(line + 1, std::find(line, lines.end(), "'''") + 1);
    *line = answer;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class KernelOfSomebody : public ::testing::TestWithParam<Ported> {};

TEST_P(KernelOfSomebody, IsTunedAndVerifiedWithinTenLinesOfTheUsersOwn) {
  const auto& [name, entry, sizes, count] = GetParam();
  const std::filesystem::path kernels =
      std::filesystem::path(AUTOTUNE_SOURCE_DIR) / "tests/cli/kernels";
  const Sandbox sandbox;
  for (const std::string& file : {name + ".cu", std::string("add_up.cu")}) {
    sandbox.write(file, file_bytes(kernels / file));
  }
  const std::string manifest = entry + ".target.toml";
  const Ended init = sandbox.run({"init", name + ".cu", "--entry", entry, "--device", "host"});
  const std::string first = file_bytes(sandbox.folder() / manifest);
  ASSERT_FALSE(first.empty()) << init.err;
  const std::vector<std::string> answers = lines_of(file_bytes(kernels / (name + ".answers")));
  ASSERT_EQ(answers.size(), count);
  ASSERT_LE(answers.size(), 10u);
  sandbox.write(manifest, answered(first, answers));
  const std::vector<std::string> target = {"--sizes", sizes, "--device", "host"};
  std::vector<std::string> tune = {"tune", "--target", "./" + manifest, "--budget", "2"};
  tune.insert(tune.end(), target.begin(), target.end());
  const Ended tuned = sandbox.run(tune);
  EXPECT_EQ(tuned.status, 0) << tuned.out << tuned.err << file_bytes(sandbox.folder() / manifest);
  EXPECT_THAT(tuned.out, HasSubstr(entry + " ")) << tuned.err;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelOfSomebody, ::testing::ValuesIn(kPorted),
                         [](const auto& each) { return each.param.file; });

using Init = InSandbox;

TEST_F(Init, AProgramForKernelTunerBecomesAManifestThatPassesItsCheck) {
  const std::filesystem::path root = AUTOTUNE_SOURCE_DIR;
  sandbox.write("axpy.cu",
                "extern \"C\" __global__ void axpy(float* y, const float* x, float a, int n) {\n"
                "  const int first = blockIdx.x * block_size_x * items + threadIdx.x;\n"
                "  for (int i = 0; i < items; ++i) {\n"
                "    const int at = first + i * block_size_x;\n"
                "    if (at < n) y[at] = a * x[at] + 1;\n"
                "  }\n"
                "}\n");
  const std::string problem = (sandbox.folder() / "axpy.json").string();
  const std::string script = (root / "scripts/kernel_tuner_problem").string();
  const std::string program = (root / "tests/cli/kernels/kernel_tuner_axpy.py").string();
  ASSERT_EQ(std::system(("python3 " + script + " " + program + " --output " + problem).c_str()), 0);
  sandbox.done({"import", "t1", problem, "--output", "axpy.target.toml"});
  const Ended check = sandbox.run({"check", "./axpy.target.toml", "--device", "host"});
  EXPECT_EQ(check.status, 0) << check.err << check.out;
  EXPECT_THAT(check.out, AllOf(HasSubstr("20 of 24 combinations are valid"),
                               HasSubstr("configurations and the reference are fine")));
}

TEST_F(Init, AProgramForKttBecomesAManifestThatPassesItsCheckAndTheRestIsListed) {
  const std::filesystem::path root = AUTOTUNE_SOURCE_DIR;
  sandbox.write("ktt_scale_rows.cu",
                "extern \"C\" __global__ void scaleRows(const float* source, float* result, float "
                "factor, unsigned int width) {\n"
                "  const unsigned x = blockIdx.x * BLOCK_X + threadIdx.x;\n"
                "  const unsigned y = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS_SIZE;\n"
                "  for (int row = 0; row < ROWS_SIZE; ++row)\n"
                "    result[(y + row) * width + x] = factor * source[(y + row) * width + x];\n"
                "}\n");
  const std::string problem = (sandbox.folder() / "scale.json").string();
  const std::string notes = (sandbox.folder() / "notes").string();
  const std::string script = (root / "scripts/ktt_problem").string();
  const std::string program = (root / "tests/cli/kernels/ktt_scale_rows.cpp").string();
  const std::string command = script + " " + program + " --output " + problem + " 2>" + notes;
  ASSERT_EQ(std::system(("python3 " + command).c_str()), 0);
  EXPECT_THAT(file_bytes(notes),
              AllOf(HasSubstr("a constraint over ROWS_SIZE: write"), HasSubstr("if (v[0] > 2)"),
                    HasSubstr("the reference of resultId is computed on the host"),
                    HasSubstr("SideBySideComparison, 0.001: give the outputs a tolerance")));
  sandbox.done({"import", "t1", problem, "--output", "scale.target.toml"});
  const std::string text = file_bytes(sandbox.folder() / "scale.target.toml");
  const Ended check = sandbox.run({"check", "./scale.target.toml", "--device", "host"});
  EXPECT_EQ(check.status, 0) << check.err << check.out << text;
  EXPECT_THAT(check.out, AllOf(HasSubstr("25 of 36 combinations are valid"),
                               HasSubstr("configurations and the reference are fine")))
      << text;
}

TEST_F(Init, AHeaderThatIsNotThereIsTakenAsEmptyAndOneElsewhereIsIncluded) {
  std::filesystem::create_directory(sandbox.folder() / "inc");
  sandbox.write("inc/weight.h",
                "#pragma once\n#include <memory>\n#include \"absent.h\"\n"
                "class Plan : public Base<float> { float operator()(int) const; };\n"
                "inline __device__ float weight(int i) { return i; }\n");
  sandbox.write("k.cu",
                "#include <torch/types.h>\n#include \"weight.h\"\n"
                "__global__ void k(float* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (i < n) y[i] = weight(i);\n}\n"
                "torch::Tensor run(torch::Tensor y) { k<<<1, 64>>>(y.data_ptr<float>(), 64); }\n");
  const Ended without = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err, AllOf(HasSubstr("'weight' was not declared"),
                                 HasSubstr("give the folder of torch/types.h, weight.h by "
                                           "--include")));
  const Ended init = sandbox.run({"init", "k.cu", "--include", "inc", "--device", "host"});
  EXPECT_EQ(init.status, 0) << init.err;
  EXPECT_THAT(init.out,
              HasSubstr("taken as empty, because they are not there: torch/types.h, absent.h\n"));
  EXPECT_THAT(file_bytes(sandbox.folder() / "k.target.toml"),
              AllOf(HasSubstr("include = [\"inc\"]\n"),
                    HasSubstr("empty_headers = [\"torch/types.h\", \"absent.h\"]\n")));
  const Ended tuned = sandbox.run({"tune", "--target", "./k.target.toml", "--sizes", "1000",
                                   "--device", "host", "--budget", "1"});
  EXPECT_EQ(tuned.status, 0) << tuned.err;
}

TEST_F(Init, ComplexNumbersOfCufftAreKnown) {
  sandbox.write("k.cu",
                "#include <cufft.h>\n"
                "__global__ void turn(cufftComplex* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (i < n) y[i] = make_cuComplex(i, cuCabsf(make_cuComplex(3, 4)));\n}\n");
  const Ended init = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(init.status, 0) << init.err;
}

TEST_F(Init, AReadBeyondABufferIsToldWithWhatToCorrect) {
  sandbox.write("k.cu",
                "__global__ void far(const int* at, float* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (i < n) y[i] = at[(i + 1L) << 40];\n}\n");
  const Ended init = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(init.status, 1);
  EXPECT_THAT(init.err, AllOf(HasSubstr("illegal memory access"),
                              HasSubstr("correct lengths and fills of indices, or let a constraint "
                                        "say which sizes it takes")));
}

TEST_F(Init, AKernelThatTakesWholeBlocksOnlyIsGivenNoOthers) {
  sandbox.write("k.cu",
                "__global__ void k(const float* x, float* y, int n) {\n"
                "  __shared__ float tile[64];\n  int i = blockIdx.x * 64 + threadIdx.x;\n"
                "  tile[threadIdx.x] = x[i];\n  __syncthreads();\n"
                "  if (i < n) y[i] = tile[63 - threadIdx.x];\n}\n"
                "void run(float* x, float* y, int n) { k<<<(n + 63) / 64, 64>>>(x, y, n); }\n");
  const Ended init = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(init.status, 0) << init.err;
  EXPECT_THAT(file_bytes(sandbox.folder() / "k.target.toml"),
              AllOf(HasSubstr("# ? only whole blocks"), HasSubstr("n % 64 == 0\n")));
}

TEST_F(Init, SizesOfAnExampleAreAmongThoseThatConstraintsAllow) {
  sandbox.write("whole.cu",
                "__global__ void whole(const float* a, float* b) {\n"
                "  int i = blockIdx.x * 1024 + threadIdx.x;\n"
                "  for (int k = 0; k < 1024; k += 256) b[i + k] = 2 * a[i + k];\n}\n"
                "void run(float* a, float* b, int n) { whole<<<n / 1024, 256>>>(a, b); }\n");
  const Ended init = sandbox.run({"init", "whole.cu", "--device", "host"});
  EXPECT_EQ(init.status, 0) << init.err;
  const Ended check =
      sandbox.run({"check", "./whole.target.toml", "--sizes", "1000", "--device", "host"});
  EXPECT_THAT(check.err, AllOf(HasSubstr("at n=1000"), HasSubstr("try --sizes 1024")));
}

#ifdef __x86_64__
TEST_F(Init, AVectorAtAnAddressThatIsNoMultipleOfItsSizeIsCalledMisaligned) {
  sandbox.write("k.cu",
                "__global__ void k(const float* x, float4* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (i < n) y[i] = *(const float4*)(x + 4 * i + 1);\n}\n");
  const Ended init = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(init.status, 1);
  EXPECT_THAT(init.err, HasSubstr("illegal memory access: misaligned"));
}
#endif

TEST_F(Init, AnOutputThatIsWrittenInPartIsSeenWhereSizesAreMultiples) {
  sandbox.write("k.cu",
                "__global__ void k(const float* x, float* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (x[i] > 0) y[i] = n;\n}\n");
  const Ended init = sandbox.run({"init", "k.cu", "--device", "host"});
  EXPECT_EQ(init.status, 0) << init.err;
  EXPECT_THAT(file_bytes(sandbox.folder() / "k.target.toml"),
              AllOf(HasSubstr("n % BLOCK == 0"),
                    HasSubstr("arguments.y = { type = \"f32\", length = \"n\", role = \"inout\"")));
}

TEST_F(Init, ACommandToCopyHasItsPathInQuotes) {
  std::filesystem::create_directory(sandbox.folder() / "my kernels");
  sandbox.write("my kernels/k.cu",
                "__global__ void k(float* y, int n) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 1;\n}\n");
  const Ended init = sandbox.run({"init", "my kernels/k.cu", "--device", "host"});
  EXPECT_THAT(init.out, HasSubstr("autotune check 'my kernels/k.target.toml'\n")) << init.err;
}

TEST_F(Init, OfWhatCannotBeDescribedSaysWhy) {
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
  sandbox.write("a\xff.cu", "__global__ void a(float* x) { x[0] = 1; }\n");
  refuses({"a\xff.cu"}, 2, ".cu: no manifest can name it", "rename the file");
  sandbox.write("host.cu", "int main() { return 0; }\n");
  refuses({"host.cu"}, 2, "host.cu: there is no kernel in it", "name the file that has it");
  sandbox.write("two.cu",
                "__global__ void a(float* x) { x[0] = 1; }\n"
                "__global__ void b(float* x) { x[0] = 2; }\n");
  refuses({"two.cu"}, 2, "two.cu has several kernels", "--entry: a, b");
  refuses({"two.cu", "--entry", "c"}, 2, "there is no kernel c", "did you mean a or b?");
  sandbox.write("call.cu", "#include \"two.cu\"\nint main() { a<<<1, 1>>>(0); }\n");
  refuses({"call.cu"}, 2, "call.cu has several kernels", "--entry: a, b");
  sandbox.write("tune.py", "tune_kernel('k', 'k.cu', n, args, params)\n");
  refuses({"tune.py"}, 2, "a program for Kernel Tuner", "scripts/kernel_tuner_problem tune.py");
  sandbox.write("raw.py",
                "import cupy\nk = cupy.RawKernel(r'''\n"
                "__global__ void k(float* x) { x[0] = 1; }\n''', 'k')\n");
  refuses({"raw.py"}, 2, "it is a program in Python", "into a .cu file");
  sandbox.write("wide.cu", "\xff\xfe_\n");
  refuses({"wide.cu"}, 2, "it is in UTF-16", "save it as UTF-8");
  sandbox.write("tune.cpp", "int main() { ktt::Tuner tuner(0, 0, ktt::ComputeApi::CUDA); }\n");
  refuses({"tune.cpp"}, 2, "a program for KTT", "scripts/ktt_problem tune.cpp");
  sandbox.write("k.cl", "__kernel void k(__global float* x) { x[0] = 1; }\n");
  refuses({"k.cl"}, 2, "its kernels are in OpenCL", "port them to CUDA");
  sandbox.write("broken.cu", "__global__ void k(float* x, int n) { x[0] = missing(n); }\n");
  refuses({"broken.cu"}, 1, "broken.cu does not compile", "missing");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "k.target.toml"));
  sandbox.write("k.target.toml", "");
  refuses({"broken.cu"}, 1, "k.target.toml already exists", "move the file");
}

// Kernels as people write them: each passes its check on both devices, or the message says what to
// do.

/// In `body`, `i` is the thread's number in the grid.
struct Feature {
  std::string name, before, body;
};

const Feature kFeatures[] = {
    {"complex", "#include <cuComplex.h>\n",
     "cuFloatComplex c = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));"
     "c = cuCdivf(cuCaddf(c, cuConjf(c)), c); if (i < n) y[i] = x[i] + cuCrealf(c) + cuCabsf(c);"},
    {"dynamic_tile", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
     "cg::thread_group g = cg::tiled_partition(cg::this_thread_block(), 16); g.sync();"
     "if (i < n) y[i] = x[i] + g.thread_rank() + g.size();"},
    {"tile_by_its_type", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
     "cg::thread_block block = cg::this_thread_block();"
     "cg::thread_block_tile<32> t = cg::tiled_partition<32>(block);"
     "float v = i < n ? x[i] : 0; v += t.shfl_down(v, 1); if (i < n) y[i] = v;"},
    {"match_and_reduce", "",
     "unsigned same = __match_any_sync(~0u, i & 3); unsigned most = __reduce_max_sync(~0u, i & 7u);"
     "if (i < n) y[i] = x[i] + __popc(same) + most + __reduce_add_sync(~0u, 1u);"},
    {"mathematics", "",
     "if (i < n) y[i] = norm3df(1, 2, x[i]) + cospif(x[i]) + rhypotf(3, 4) + __dp4a(257, 2, 3);"},
    {"pipeline", "#include <cuda_pipeline.h>\n",
     "__shared__ float s[128]; if (i < n) { __pipeline_memcpy_async(&s[threadIdx.x], x + i, 4);"
     "__pipeline_commit(); __pipeline_wait_prior(0); y[i] = s[threadIdx.x]; }"},
    {"heap", "", "float* p = (float*)malloc(4); *p = 2; if (i < n) y[i] = x[i] * *p; free(p);"},
    {"sleep_and_managed", "__managed__ int flag;\n",
     "__nanosleep(1); if (n < 0) __trap(); if (i < n) y[i] = x[i];"},
    {"names_of_nvcc", "\xef\xbb\xbf",
     "uint a = 1; const int64_t b = 2; if (i < n) y[i] = fminf(x[i] + a + b, INFINITY);"},
    {"aligned_tile", "",
     "__shared__ alignas(16) float s[128]; s[threadIdx.x] = i < n ? x[i] : 0;"
     "if (i < n) y[i] = s[threadIdx.x];"},
    {"short_names", "#include <cuda_runtime.h>\n",
     "uint a = 1; ushort b = 2; ulong c = 3; if (i < n) y[i] = x[i] + a + b + c;"},
};

class KernelFeature : public ::testing::TestWithParam<Feature> {};

/// What `check` of the kernel says.
Ended checked(const std::string& source, const std::string& device) {
  const Sandbox sandbox;
  sandbox.write("k.cu", source);
  sandbox.write("k.target.toml", R"toml(manifest = 2
name = "k"
source = "k.cu"
sizes = ["n"]
parameters.B = [32, 64]
arguments.x = { type = "f32", length = "n" }
arguments.y = { type = "f32", length = "n", role = "output", tolerance = 8 }
kernels.k = { grid = "ceil_div(n, B)", block = "B", arguments = ["x", "y", "n"] }
reference.configuration = "default"
)toml");
  return sandbox.run({"check", "./k.target.toml", "--sizes", "100", "--device", device});
}

std::string kernel_of(const Feature& feature) {
  return feature.before +
         "__global__ void __maxnreg__(32) k(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         feature.body + "\n}\n";
}

TEST_P(KernelFeature, PassesTheCheckOnTheHost) {
  const Ended check = checked(kernel_of(GetParam()), "host");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
}

TEST_P(KernelFeature, PassesTheCheckForAnH200) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended check = checked(kernel_of(GetParam()), "model:h200");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelFeature, ::testing::ValuesIn(kFeatures),
                         [](const auto& each) { return each.param.name; });

TEST(Check, OfAKernelThatIsNotSupportedSaysWhatToDo) {
  const auto says = [](const std::string& before, const std::string& body,
                       const std::string& cure) {
    const Ended check = checked(kernel_of({"", before, body}), "host");
    EXPECT_NE(check.status, 0) << check.out;
    EXPECT_THAT(check.out + check.err, HasSubstr(cure));
  };
  says("texture<float> tex;\n", "y[i] = 0;", "take a cudaTextureObject_t as an argument");
  says("", "y[i] = __shfl_down(x[i], 1);", "write __shfl_down_sync(0xffffffff, ...)");
  says("__global__ void k(double* y) { y[0] = 1; }\n", "y[i] = 0;",
       "give the kernel that is launched a name of its own");
  says("", "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(n)); y[i] = n;",
       "put it between #ifndef AUTOTUNE_HOST and #endif");
  says("", "y[i] = clock64();", "the host device has no clock");
}

TEST(Check, NotesDynamicSharedMemoryThatNoLaunchGives) {
  const Ended check =
      checked(kernel_of({"", "extern __shared__ float s[];\n", "y[i] = x[i];"}), "host");
  EXPECT_THAT(check.out, HasSubstr("no kernel has dynamic_shared_bytes"));
}

}  // namespace
}  // namespace autotune::testing
