// SPDX-License-Identifier: Apache-2.0
// What sources say in one of several usual ways: alternatives, macros, launches of several kernels.
#include "tests/support/matchers.hpp"
#include "tests/tuner/target/first_manifest_case.hpp"

namespace autotune {
namespace {

TEST(FirstManifest, OneVariableOfTheHostsForBothAxesIsThatOfEach) {
  const auto text = [](const std::string& row, const std::string& column) {
    return text_of("__global__ void k(const float* a, float* b, int n) {\n  int y = " + row +
                   ", x = " + column +
                   ";\n  if (x < n && y < n) b[y * n + x] = a[y * n + x];\n}\n"
                   "void run(float* a, float* b, int n) {\n  int side = 16;\n"
                   "  int count = (n + side - 1) / side;\n"
                   "  k<<<dim3(count, count), dim3(side, side)>>>(a, b, n);\n}\n");
  };
  const std::string x = "blockIdx.x * blockDim.x + threadIdx.x";
  EXPECT_THAT(text("blockIdx.y * blockDim.y + threadIdx.y", x),
              HasSubstr("\"(n + BLOCK_Y - 1) / BLOCK_Y\"]"));
  EXPECT_THAT(text("blockIdx.y * blockDim.x + threadIdx.y", x),
              HasSubstr("\nBLOCK_X == BLOCK_Y\n"));
}

TEST(FirstManifest, AnAxisOfTheGridThatTheKernelDoesNotReadHasOneBlock) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int w, int h) {\n"
      "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n  if (y >= h) return;\n"
      "  for (int x = threadIdx.x; x < w; x += blockDim.x) b[y * w + x] = a[y * w + x];\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [1, \"ceil_div(h, BLOCK_Y)\"]"));
}

TEST(FirstManifest, AVariableThatACallSetsIsNotTheZeroBeforeIt) {
  const std::string text =
      text_of(kernel("float* b, int n", "  if (i < n) b[i] = 1;\n") +
              "void run(float* b, int n) {\n  int blocks = 0, threads = 0;\n"
              "  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, k, 0, 0);\n"
              "  k<<<blocks, threads>>>(b, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("default = { BLOCK = 256 }"));
  EXPECT_THAT(text, HasSubstr("grid = \"ceil_div(n, BLOCK)\""));
}

TEST(FirstManifest, ANumberOfTheTemplateMayBeComputedByTheHost) {
  const std::string text = text_of(
      "template <int LANES, int ROWS> __global__ void k(float* b, int n) {\n"
      "  const int threads_per_block = LANES * ROWS;\n"
      "  int i = threads_per_block * blockIdx.x + threadIdx.x;\n  if (i < n) b[i] = 1;\n}\n"
      "void run(float* b, int n) {\n  const int lanes = 32;\n  const int rows = 128 / lanes;\n"
      "  k<lanes, rows><<<(n + 127) / 128, 128>>>(b, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("default = { LANES = 32, ROWS = 4 }"));
  EXPECT_THAT(text, HasSubstr("block = \"LANES * ROWS\""));
}

TEST(FirstManifest, AThreadThatIsRoundedDownDividesItsSize) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int n, int width) {\n"
      "  int i = blockIdx.x * width + 4 * threadIdx.x;\n"
      "  reinterpret_cast<float4*>(&b[i])[0] = reinterpret_cast<const float4*>(&a[i])[0];\n}\n"
      "void run(float* a, float* b, int n, int width) { k<<<n, width / 4>>>(a, b, n, width); }\n");
  EXPECT_THAT(text, HasSubstr("\nwidth % 4 == 0\n"));
}

TEST(FirstManifest, APlainKernelOfAnotherOneIsNoReference) {
  const std::string source =
      "#define TILE 32\n" +
      kernel("const float* a, float* b, int n", "  if (i < n) b[i] = a[i];\n") +
      "__global__ void flip(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * TILE + threadIdx.x;\n  if (i < n) b[n - 1 - i] = a[i];\n}\n"
      "__global__ void flip_naive(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[n - 1 - i] = a[i];\n}\n";
  EXPECT_THAT(first_manifest(source, "", "k.cu", "flip", {}).text,
              HasSubstr("[reference.kernels.flip_naive]"));
  EXPECT_THAT(first_manifest(source, "", "k.cu", "k", {}).text,
              HasSubstr("configuration = \"default\""));
}

TEST(FirstManifest, AlternativesOfAParameterAreOne) {
  const std::string text = text_of(
      "__global__ void k(const float* a,\n#if WIDE == 1\n  float* b,\n#else\n  float* b,\n#endif\n"
      "  int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = "
      "a[i];\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments = [\"a\", \"b\", \"n\"]"));
}

TEST(FirstManifest, AMacroThatIsComparedWithSeveralNumbersIsOneOfThem) {
  const std::string text = text_of(
      "#if WIDTH == 1\ntypedef float vec;\n#elif WIDTH == 2\ntypedef float2 vec;\n#endif\n"
      "#if LAST_THREADS >= 64\n#endif\n#if LAST_THREADS >= 128\n#endif\n" +
      kernel("float* b, int n", "  if (i < n / WIDTH) b[i * WIDTH] = LAST_THREADS;\n"));
  EXPECT_THAT(text, HasSubstr("parameters.WIDTH = [1"));
  EXPECT_THAT(text, HasSubstr("LAST_THREADS = 256"));
}

TEST(FirstManifest, ADeclarationMayHaveSeveralConstants) {
  const std::string text =
      text_of("__constant__ float left, right;\n__constant__ int at[4], of[8];\n" +
              kernel("float* b, int n", "  if (i < n) b[i] = left + right + at[0] + of[0];\n"));
  for (const std::string each : {"left", "right"}) {
    EXPECT_THAT(text, HasSubstr("arguments." + each + " = { type = \"f32\", length = \"1\""));
  }
  EXPECT_THAT(text, HasSubstr("arguments.at = { type = \"i32\", length = \"4\""));
  EXPECT_THAT(text, HasSubstr("arguments.of = { type = \"i32\", length = \"8\""));
}

TEST(FirstManifest, ALineMayContinueOutsideOfMacros) {
  EXPECT_THAT(text_of("__global__ void k(float* b, int n) {\n"
                      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; \\\n"
                      "       i < n; i += gridDim.x * blockDim.x) b[i] = 1;\n}\n"),
              HasSubstr("grid = \"ceil_div(n, BLOCK)\""));
}

TEST(FirstManifest, AProductMayBeAFunctionOf24Bits) {
  EXPECT_THAT(text_of("__global__ void k(float* b, int n) {\n"
                      "  int i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;\n"
                      "  if (i < n) b[i] = 1;\n}\n"),
              HasSubstr("grid = \"ceil_div(n, BLOCK)\""));
}

TEST(FirstManifest, AStartIsAddedToWhatAnIndexGoesOver) {
  const auto text = [](const std::string& body) {
    return text_of(kernel("float* b, int n, int m", body));
  };
  EXPECT_THAT(text("  if (i < n) b[i + n * 3] = m;\n"), HasSubstr("length = \"n * 3 + n\""));
  EXPECT_THAT(text("  if (i < n) b[i + n] = b[i + n * 3] = b[i + n * 2] = m;\n"),
              HasSubstr("length = \"n * 3 + n\""));
  EXPECT_THAT(text("  int y = blockIdx.y;\n  if (i < n && y < m) b[m * n + y * n + i] = 1;\n"),
              HasSubstr("length = \"m * n + m * n\""));
}

TEST(FirstManifest, WhereAFunctionGoesOnFromAnElementItsLengthIsAskedFor) {
  const std::string text = text_of(
      "__device__ void column(const float* a, float* b, int w, int h) {\n"
      "  for (int y = 0; y < h; ++y) b[y * w] = a[y * w];\n}\n"
      "__global__ void k(const float* a, float* b, int w, int h) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (x < w) column(&a[x], b + x, w, h);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"w * h\""));
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"f32\", length = \"w * h\""));
  EXPECT_THAT(text, HasSubstr("# ? lengths"));
}

TEST(FirstManifest, RowsThatAreGatheredAreIndicesOfRows) {
  const auto fill = [](const std::string& body) {
    return text_of(
        "__global__ void k(const int* at, const float* x, float* y, int n, int width) {\n"
        "  int i = threadIdx.x, row = blockIdx.x;\n" +
        body +
        "}\n"
        "void run(int* at, float* x, float* y, int n, int width) {\n"
        "  k<<<n, width>>>(at, x, y, n, width);\n}\n");
  };
  const std::string rows = "fill = { uniform = [0, \"n - 1\"] }";
  EXPECT_THAT(fill("  y[row * width + i] = x[at[row] * width + i];\n"), HasSubstr(rows));
  EXPECT_THAT(fill("  int from = at[row] * width;\n  y[row * width + i] = x[from + i];\n"),
              HasSubstr(rows));
  EXPECT_THAT(fill("  int from = row * width + at[row];\n  y[row * width + i] = x[from];\n"),
              HasSubstr("fill = { uniform = [0, \"width - 1\"] }"));
}

TEST(FirstManifest, BinsThatElementsChooseDoNotBoundTheBlock) {
  const std::string text = text_of(
      "#define BINS 8\n" +
      kernel("const int* a, int* sums, int n",
             "  __shared__ int own[BINS];\n  if (threadIdx.x < BINS) own[threadIdx.x] = 0;\n"
             "  __syncthreads();\n  int bin;\n  if (i < n) {\n    bin = a[i] / 4;\n"
             "    atomicAdd(&own[bin], 1);\n  }\n  __syncthreads();\n"
             "  if (threadIdx.x < BINS) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);\n"));
  EXPECT_THAT(text, HasSubstr("parameters.BLOCK = [32, 64, 128, 256, 512, 1024]"));
  EXPECT_THAT(text, HasSubstr("# ? lengths, and fills of indices"));
  EXPECT_THAT(text_of(kernel("const int* a, int* b, int n",
                             "  __shared__ int own[8];\n"
                             "  if (i < n) own[a[i]] = 1;\n  if (i < n) b[i] = own[0];\n")),
              Not(HasSubstr("# ? lengths, and fills of indices")));
}

TEST(FirstManifest, AHaloThatTheHostAllocatesIsInTheLength) {
  const std::string text =
      text_of("#define RADIUS 3\n" +
              kernel("const float* a, float* b, int n",
                     "  float sum = 0;\n  for (int j = 0; j <= 2 * RADIUS; ++j) sum += a[i + j];\n"
                     "  if (i < n) b[i] = sum;\n") +
              "void run(int n) {\n  float *x, *y;\n  int padded = n + 2 * RADIUS;\n"
              "  size_t bytes = padded * sizeof(float);\n  cudaMalloc(&x, bytes);\n"
              "  cudaMalloc(&y, n * sizeof(float));\n  k<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"n + 2 * 3\""));
}

}  // namespace
}  // namespace autotune
