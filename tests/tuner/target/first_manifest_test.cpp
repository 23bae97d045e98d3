// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/first_manifest.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

std::string text_of(const std::string& source, const Corrections& corrections = {}) {
  return first_manifest(source, "", "k.cu", "", corrections).text;
}

/// `k` with these parameters and this body.
std::string kernel(const std::string& parameters, const std::string& body) {
  return "__global__ void k(" + parameters +
         ") {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "}\n";
}

TEST(FirstManifest, RolesFollowFromWhatIsReadAndWritten) {
  const std::string text = text_of(kernel(
      "const float* a, float* b, float* c, unsigned* d, const double* e, int n",
      "  if (i >= n) return;\n  b[i] = a[i]; c[i] += 1; atomicAdd(&d[i], 1u); b[i] = e[i];\n"));
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"n\" }"));
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"f32\", length = \"n\", role = \"output\""));
  EXPECT_THAT(text, HasSubstr("arguments.c = { type = \"f32\", length = \"n\", role = \"inout\""));
  EXPECT_THAT(text, HasSubstr("role = \"inout\", fill = \"zero\" }"));
  EXPECT_THAT(text, HasSubstr("arguments.e = { type = \"f64\", length = \"n\" }"));
  EXPECT_THAT(text_of(kernel("float* b, int n", "  if (i < n) b[i] = 1;\n"), {.in_part = {"b"}}),
              HasSubstr("role = \"inout\""));
}

TEST(FirstManifest, LengthsFollowFromIndicesAndTheirEnds) {
  const auto length = [](const std::string& body) {
    const std::string text = text_of(kernel("float* b, int w, int h", body));
    const std::size_t from = text.find("length = \"") + 10;
    return text.substr(from, text.find('"', from) - from);
  };
  EXPECT_EQ(length("  int y = blockIdx.y;\n  if (i < w && y < h) b[y * w + i] = 1;\n"), "h * w");
  EXPECT_EQ(length("  for (int y = 0; y < h - 1; ++y) if (i < w) b[(y + 1) * w + i] = 1;\n"),
            "h * w");
  EXPECT_EQ(length("  if (i < w) b[i + 2] = 1;\n"), "w + 2");
  EXPECT_EQ(length("  if (i < w) b[3 * i + 1] = 1;\n"), "3 * w + 1");
  EXPECT_EQ(length("  if (i < w) b[i / 2] = 1;\n"), "ceil_div(w, 2)");
  EXPECT_EQ(length("  b[w * h - 1 - i] = 1;\n"), "w * h");
}

TEST(FirstManifest, LaunchesFollowFromTheHostsCode) {
  const std::string text = text_of(
      "#define BLOCK 128\n" + kernel("float* b, int n, float f", "  if (i < n) b[i] = f;\n") +
      "void run(float* x, int count) {\n  float factor = 2.5f;\n"
      "  k<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(x, count, factor);\n"
      "  cudaDeviceSynchronize();\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = \"(n + BLOCK - 1) / BLOCK\""));
  EXPECT_THAT(text, HasSubstr("block = \"BLOCK\""));
  EXPECT_THAT(text, HasSubstr("default = { BLOCK = 128 }"));
  EXPECT_THAT(text, HasSubstr("arguments.f = { type = \"f32\", value = 2.5 }"));
}

TEST(FirstManifest, ASmallConstantOfTheHostIsAParameterUnlessABufferHasItsLength) {
  const auto text = [](const std::string& host) {
    return text_of(kernel("const float* a, float* b, int n, int q",
                          "  if (i < n) for (int j = 0; j < q; ++j) b[i] += a[i * q + j];\n") +
                   "int main() {\n  float *x, *y;\n  int count = 4096, each = 64;\n" + host +
                   "  k<<<(count + 255) / 256, 256>>>(x, y, count, each);\n}\n");
  };
  EXPECT_THAT(text(""), HasSubstr("parameters.q = "));
  const std::string of_lengths = text("  cudaMalloc(&x, sizeof(float) * count * each);\n");
  EXPECT_THAT(of_lengths, HasSubstr("sizes = [\"n\", \"q\"]"));
  EXPECT_THAT(of_lengths, Not(HasSubstr("parameters.q = ")));
}

TEST(FirstManifest, ASmallNumberOfTheHostsLaunchIsNoSize) {
  const std::string text = text_of(
      kernel("const float* x, const float* w, float* y, int n, int radius",
             "  if (i >= n) return;\n  float sum = 0;\n"
             "  for (int d = -radius; d <= radius; ++d) sum += w[d + radius] * x[i];\n"
             "  y[i] = sum;\n") +
      "void run(float* x, float* w, float* y, int n) { k<<<n / 256, 256>>>(x, w, y, n, 4); }\n");
  EXPECT_THAT(text, HasSubstr("sizes = [\"n\"]"));
  EXPECT_THAT(text, HasSubstr("arguments.radius = { type = \"i32\", value = 4 }"));
}

TEST(FirstManifest, ABlockHasItsThreadsAndNotWhatEachOfThemDoes) {
  for (const std::string threads : {"THREADS", "THREADS_PER_BLOCK", "BLOCK_SIZE"}) {
    const std::string text = text_of("#define " + threads + " 256\n#define PER_THREAD 8\n" +
                                     "__global__ void k(const float* a, float* b, int n) {\n"
                                     "  int start = (blockIdx.x * " +
                                     threads +
                                     " + threadIdx.x) * PER_THREAD;\n"
                                     "  for (int k = 0; k < PER_THREAD; ++k) if (start + k < n) "
                                     "b[start + k] = a[start + k];\n}\n");
    EXPECT_THAT(text, HasSubstr("block = \"" + threads + "\""));
    EXPECT_THAT(text, HasSubstr("parameters.PER_THREAD = [2, 4, 8, 16, 32]"));
  }
}

TEST(FirstManifest, ParametersAreMacrosOfTheWorkAndWhatTheSourceDoesNotDefine) {
  const FirstManifest made = first_manifest(
      "#define MDIMC 8\n#define ROWS (2 * MDIMC)\n#define UNROLL 4\n#define RADIUS 3\n#if USE_LDG "
      "== 1\n#endif\n" +
          kernel(
              "float* b, int n",
              "  for (int j = 0; j < UNROLL; ++j) if (i < n) b[i] = RADIUS * WORK_SIZE + ROWS;\n"),
      "", "k.cu", "");
  EXPECT_THAT(made.text,
              AllOf(HasSubstr("parameters.UNROLL = [1, 2, 4, 8, 16]"),
                    HasSubstr("parameters.MDIMC"), HasSubstr("parameters.USE_LDG = [0, 1]"),
                    HasSubstr("parameters.WORK_SIZE = "), Not(HasSubstr("RADIUS"))));
  EXPECT_THAT(made.kept, testing::ElementsAre("RADIUS = 3"));
}

TEST(FirstManifest, RowsOfBlocksAndOneSumAreSeen) {
  const std::string text = text_of(
      "__launch_bounds__(128) __global__ void k(float* sum, const float* x, int optN) {\n"
      "  int i = (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x + threadIdx.x;\n"
      "  if (i < optN) atomicAdd(sum, x[i]);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("parameters.BLOCK = [32, 64, 128]\n"),
                          HasSubstr("grid = [\"ceil_div(optN, BLOCK)\", 1]\nblock = \"BLOCK\"\n")));
  EXPECT_THAT(text, HasSubstr("arguments.sum = { type = \"f32\", length = \"1\", role = \"inout\", "
                              "fill = \"zero\""));
}

TEST(FirstManifest, NamesOfExpressionsAreNoNamesOfArguments) {
  EXPECT_THAT(
      text_of(kernel("const float* in, float* out, int n", "  if (i < n) out[i] = in[i];\n")),
      HasSubstr("arguments = [\"in_\", \"out\", \"n\"]"));
}

TEST(FirstManifest, AKernelWithALaunchBoundHasItsName) {
  const FirstManifest made = first_manifest(
      "__global__ void __launch_bounds__(64) half(float* x, int n) { x[threadIdx.x] = n; }\n", "",
      "k.cu", "");
  EXPECT_EQ(made.name, "half");
  EXPECT_THAT(made.text, HasSubstr("block = 64"));
}

TEST(FirstManifest, IndicesStayWithinWhatTheyIndex) {
  const std::string text = text_of(
      kernel("const int* rows, const int* columns, const float* x, float* y, int n, int nnz",
             "  if (i >= n) return;\n  int end = rows[i + 1];\n"
             "  for (int k = rows[i]; k < end; ++k) y[i] += x[columns[k]];\n"));
  EXPECT_THAT(text, HasSubstr("arguments.rows = { type = \"i32\", length = \"n + 1\", "
                              "fill = { uniform = [0, \"nnz - 1\"] } }"));
  EXPECT_THAT(text, HasSubstr("arguments.columns = { type = \"i32\", length = \"nnz\", fill = "));
}

TEST(FirstManifest, APlainKernelIsTheReference) {
  const std::string body = "  if (i < n) b[i] = N;\n";
  std::string plain = kernel("float* b, int n", body);
  plain.replace(plain.find("k("), 1, "naive_k");
  const FirstManifest made =
      first_manifest(plain + kernel("float* b, int n", body), "#define N 3\n", "k.cu", "");
  EXPECT_EQ(made.name, "k");
  EXPECT_THAT(made.text, HasSubstr("[reference.kernels.naive_k]\ngrid = \"ceil_div(n, 256)\""));
  EXPECT_THAT(made.questions, testing::IsEmpty());
}

TEST(FirstManifest, WithoutSizesALengthIsNeverZeroAndAPlaneIsSmall) {
  const std::string row = text_of(
      kernel("const float* y, float* x",
             "  for (int b = 0; b < gridDim.x; b++) x[i] += y[b * blockDim.x + threadIdx.x];\n"));
  EXPECT_THAT(row, AllOf(HasSubstr("sizes.N = { fixed = 65536 }"), Not(HasSubstr("\"0 * "))));
  const std::string plane = text_of(
      "__global__ void k(float* x) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const int j = blockIdx.y * blockDim.y + threadIdx.y;\n  x[j * 1024 + i] = 1;\n}\n");
  EXPECT_THAT(plane, HasSubstr("sizes.N = { fixed = 256 }"));
}

TEST(FirstManifest, WithoutArgumentsForThemMacrosAreSizes) {
  const std::string text =
      text_of("#define NX 4096\n#define RADIUS 3\n" +
              kernel("float* x", "  if (i < NX - RADIUS) x[i] = x[i + RADIUS];\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("sizes = [\"NX\"]\nbake_sizes = true\nsize_macros = \"*\"\n"),
                          HasSubstr("arguments.x = { type = \"f32\", length = \"NX\"")));
}

TEST(FirstManifest, APointerIntoABufferIsAnElementOfIt) {
  const std::string moved = text_of(
      "__global__ void k(const float* x, float* y, int n) {\n  x += blockIdx.x * n;\n"
      "  float* row = y + blockIdx.x * n;\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = x[i];\n}\n"
      "void run(float* x, float* y, int n, int rows) { k<<<rows, 64>>>(x, y, n); }\n");
  EXPECT_THAT(
      moved,
      AllOf(HasSubstr("sizes = [\"n\", \"rows\"]"), HasSubstr("grid = \"rows\""),
            HasSubstr("arguments.x = { type = \"f32\", length = \"rows * n\" }"),
            HasSubstr("arguments.y = { type = \"f32\", length = \"rows * n\", role = \"output\"")));
  const std::string member =
      text_of("struct Pair { float a, b; };\n" +
              kernel("Pair* x, float* y, int n",
                     "  Pair* p = &x[i];\n  if (i < n) *(y + i) = p->a + p->b;\n"));
  EXPECT_THAT(member, AllOf(HasSubstr("arguments.x = { type = \"Pair\", length = \"n\" }"),
                            HasSubstr("arguments.y = { type = \"f32\", length = \"n\", role")));
}

TEST(FirstManifest, AHostsQuotientThatIsRoundedUpByHandIsOne) {
  const std::string body = "  if (i < n) x[i] = 1;\n";
  const char* const ways[] = {"int b = n / 64; if (n % 64 != 0) b++;",
                              "int b = n / 64 + (n % 64 == 0 ? 0 : 1);",
                              "int b = (int)ceil((float)n / (float)64);"};
  for (const char* const way : ways) {
    const std::string text =
        text_of("#define BLOCK 64\n" + kernel("float* x, int n", body) +
                "void run(float* x, int n) { " + std::string(way) + " k<<<b, BLOCK>>>(x, n); }\n");
    EXPECT_THAT(text, HasSubstr("grid = \"ceil_div(n, 64)\"")) << way;
  }
}

TEST(FirstManifest, AConstantArrayMayHaveAComputedLength) {
  const std::string text = text_of(
      "#define RADIUS 4U\n#define TAPS (2 * RADIUS + (1 << 3))\n__constant__ float taps[TAPS];\n" +
      kernel("float* x, int n", "  if (i < n) x[i] = taps[i % TAPS];\n"));
  EXPECT_THAT(text, HasSubstr("arguments.taps = { type = \"f32\", length = \"16\", constant"));
}

TEST(FirstManifest, WhereResultsAreNoNumbersInputsArePositive) {
  const std::string source = kernel("const float* x, const int* s, float* y, int n",
                                    "  if (i < n) y[i] = logf(x[i]) * s[i];\n");
  EXPECT_THAT(text_of(source), Not(HasSubstr("uniform")));
  EXPECT_THAT(
      text_of(source, {.is_positive = true}),
      AllOf(HasSubstr("x = { type = \"f32\", length = \"n\", fill = { uniform = [0.25, 1] } }"),
            HasSubstr("s = { type = \"i32\", length = \"n\" }")));
}

TEST(FirstManifest, AGuardAgainstNoElementsIsNoEnd) {
  const std::string text = text_of(
      kernel("float* b, int c, int n", "  int z = blockIdx.z;\n  if (i < n) b[z * n + i] = 1;\n") +
      "void run(float* x, int c, int n) {\n  int length = n - 2 + 1;\n  if (length <= 0) return;\n"
      "  dim3 blockDim(64);\n  dim3 gridDim((length + blockDim.x - 1) / blockDim.x, 1, 2 * c);\n"
      "  k<<<gridDim, blockDim>>>(x, c, n);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("\"2 * c\"]"), Not(HasSubstr("? the launch")))) << text;
}

TEST(FirstManifest, AnIndexThatMovesIsAskedFor) {
  const std::string text = text_of(kernel(
      "const float* a, float* b, int n, int layers",
      "  if (i >= n) return;\n  for (int l = 0; l < layers; ++l) { b[i] = a[i]; i += n; }\n"));
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"n\" }"));  // i < n
  const std::string open = text_of(kernel(
      "const float* a, float* b, int n, int layers",
      "  int c = i + n;\n  for (int l = 0; l < layers; ++l) { b[c] = a[c] * n; c += n; }\n"));
  EXPECT_THAT(open, AllOf(HasSubstr("length = \"n * layers\""), HasSubstr("? lengths")));
}

TEST(FirstManifest, AnEndBelowAnotherIndexIsThatOfTheIndex) {
  const std::string text =
      text_of(kernel("const int* x, int* s, int n",
                     "  if (i >= n) return;\n  int t = 0;\n"
                     "  for (int k = 0; k <= i; ++k) t += x[k];\n  s[i] = t;\n"));
  EXPECT_THAT(text, HasSubstr("arguments.x = { type = \"i32\", length = \"n\" }"));
}

TEST(FirstManifest, WhatIsPassedToAFunctionMayBeWritten) {
  const std::string text = text_of(
      "__device__ void gpuAtomicAdd(int* at, int by) { atomicAdd(at, by); }\n"
      "__device__ void put(float* at) { *at = 1; }\n" +
      kernel("int* counts, float* y, const float* z, int n",
             "  if (i < n) { gpuAtomicAdd(&counts[i], 1); put(&y[i]); }\n"));
  EXPECT_THAT(text, HasSubstr("counts = { type = \"i32\", length = \"n\", role = \"inout\", fill = "
                              "\"zero\""));
  EXPECT_THAT(text, HasSubstr("y = { type = \"f32\", length = \"n\", role = \"inout\""));
}

TEST(FirstManifest, AnEnumerationIsAnInteger) {
  const std::string text = text_of(
      "typedef enum { PLAIN = 0, FAST = 5, LAST } mode_t;\nenum class Kind : short { a, b };\n" +
      kernel("float* y, mode_t mode, Kind kind, int n",
             "  if (i < n && mode == FAST) y[i] = 1;\n") +
      "void run(float* y, int n) { mode_t mode = LAST;\n  k<<<1, 32>>>(y, mode, Kind::b, n); }\n");
  EXPECT_THAT(text, HasSubstr("arguments.mode = { type = \"i32\", value = 6 }"));
  EXPECT_THAT(text, HasSubstr("arguments.kind = { type = \"i16\", value = 1 }"));
}

TEST(FirstManifest, ATypeOfIndicesIsAnInteger) {
  const std::string text = text_of("template <class T, class IndexType> " +
                                   kernel("T* y, IndexType n", "  if (i < n) y[i] = 1;\n"));
  EXPECT_THAT(text, HasSubstr("settings.dtype2 = { values = [\"i32\"], as = \"type\" }"));
}

TEST(FirstManifest, WhatTheFileExcludesItselfDoesNotCount) {
  const std::string text = text_of(
      "#define STANDARD\n#ifdef SMALL\n#define BLOCK 32\ntypedef double real;\n#elif "
      "defined(STANDARD)\n#define BLOCK 128\ntypedef float real;\n#else\n#define BLOCK "
      "64\ntypedef int real;\n#endif\n" +
      kernel("real* y, int n", "  if (i < n) y[i] = BLOCK;\n"));
  EXPECT_THAT(text, HasSubstr("default = { BLOCK = 128, "));
  EXPECT_THAT(text, HasSubstr("arguments.y = { type = \"f32\""));
}

TEST(FirstManifest, OfWhatNoManifestGivesSaysWhatToDo) {
  const auto refuses = [](const std::string& parameters, const std::string& what) {
    EXPECT_THAT([&] { text_of(kernel(parameters, "  x[i] = 1;\n")); },
                ThrowsMessage<Error>(HasSubstr(what)));
  };
  refuses("float** x, int n", "k.cu:1: k takes x, a pointer to pointers");
  refuses("float* x, cudaTextureObject_t t", "takes t of type cudaTextureObject_t");
  refuses("const float* y, int n", "writes to none of its arguments");
  EXPECT_THAT([] { text_of("__global__ void k(float* x) { x[0] = 1;\n"); },
              ThrowsMessage<Error>(HasSubstr("braces do not match")));
}

}  // namespace
}  // namespace autotune
