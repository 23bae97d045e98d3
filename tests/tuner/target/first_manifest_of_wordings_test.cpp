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

TEST(FirstManifest, ARadiusIsNeitherASizeNorTuned) {
  const auto text = [](const std::string& first, const std::string& more) {
    return text_of(first + kernel("const float* a, float* b, int n" + more,
                                  "  if (i >= n) return;\n  float sum = 0;\n"
                                  "  for (int j = -r; j <= r; ++j)\n"
                                  "    sum += a[min(max(i + j, 0), n - 1)];\n  b[i] = sum;\n"));
  };
  EXPECT_THAT(text("", ", int r"), AllOf(HasSubstr("sizes = [\"n\"]"), HasSubstr("arguments.r")));
  EXPECT_THAT(text("template <int r> ", ""), HasSubstr("parameters.r = [1]\n"));
}

TEST(FirstManifest, WhatDecidesTheLengthOfABufferIsNotTuned) {
  const std::string text =
      text_of("template <int TAPS> " +
              kernel("const float* w, float* b, int n",
                     "  if (i >= n) return;\n  float sum = 0;\n"
                     "  for (int k = 0; k < TAPS; ++k) sum += w[k];\n"
                     "  b[i] = sum;\n") +
              "void run(float* w, float* b, int n) { k<8><<<(n + 255) / 256, 256>>>(w, b, n); }\n");
  EXPECT_THAT(text, HasSubstr("parameters.TAPS = [8]"));
  EXPECT_THAT(text_of("#define SYSTEM_BLOCK 128\n"
                      "__global__ void k(const float* a, float* b) {\n"
                      "  int i = blockIdx.x * SYSTEM_BLOCK + threadIdx.x;\n"
                      "  b[i] = a[blockIdx.x * SYSTEM_BLOCK + SYSTEM_BLOCK - 1 - threadIdx.x];\n}\n"
                      "void run(float* a, float* b, int systems) {\n"
                      "  k<<<systems, SYSTEM_BLOCK>>>(a, b);\n}\n"),
              HasSubstr("parameters.SYSTEM_BLOCK = [128]"));
}

TEST(FirstManifest, VariablesOfSeveralBlocksHaveTheirOwnEnds) {
  const std::string text = text_of(
      "__global__ void k(const float* code, const float* a, float* b, int n) {\n"
      "  for (int i = threadIdx.x; i < 16; i += blockDim.x) b[i] = code[i];\n"
      "  for (int j = 0; j < 4; ++j) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "    if (i < n) b[i] += a[i];\n  }\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.code = { type = \"f32\", length = \"16\""));
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"n\""));
}

TEST(FirstManifest, AChoiceMayRoundAQuotientUp) {
  EXPECT_THAT(
      text_of(kernel("float* b, int n", "  if (i < n) b[i] = 1;\n") +
              "void run(float* b, int n) {\n  int blocks = n / 256;\n"
              "  blocks = n % 256 == 0 ? blocks : blocks + 1;\n  k<<<blocks, 256>>>(b, n);\n}\n"),
      Not(HasSubstr("% ")));
}

TEST(FirstManifest, AQuotientWithinTheGridHasNoRest) {
  EXPECT_THAT(text_of("__global__ void k(float* b, int rows, int columns) {\n"
                      "  int j = blockIdx.x % (columns / 128) * 128 + threadIdx.x;\n"
                      "  int i = blockIdx.x / (columns / 128);\n"
                      "  if (i < rows && j < columns) b[i * columns + j] = 1;\n}\n"
                      "void run(float* b, int rows, int columns) {\n"
                      "  int across = columns / 128 / 1;\n"
                      "  k<<<rows * across, 128>>>(b, rows, columns);\n}\n"),
              HasSubstr("\ncolumns % 128 == 0\n"));
}

TEST(FirstManifest, AnAxisOfOneThreadStaysOne) {
  const std::string text = text_of(
      "__global__ void k(float* b, int columns) {\n"
      "  int row = blockDim.x * blockIdx.x + threadIdx.x;\n"
      "  int column = blockDim.y * blockIdx.y + threadIdx.y;\n"
      "  if (column < columns) b[row * columns + column] = 1;\n}\n"
      "void run(float* b, int columns, int rows) {\n  dim3 block(1, 32, 1);\n"
      "  dim3 grid(rows, (columns + 31) / 32, 1);\n"
      "  k<<<grid, block>>>(b, columns);\n}\n");
  EXPECT_THAT(text, HasSubstr("block = [1, \"BLOCK_Y\"]"));
}

TEST(FirstManifest, AShortNumberOfTheHostIsPassedInEveryCall) {
  const std::string text = text_of(kernel("const float* a, float* b, int n, int step",
                                          "  if (i * step < n) b[i] = a[i * step];\n") +
                                   "void run(float* a, float* b, int n) {\n  int step = 3;\n"
                                   "  k<<<(n + 255) / 256, 256>>>(a, b, n, step);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.step = { type = \"i32\", value = 3 }"));
}

TEST(FirstManifest, ANumberOfRowsThatTheHostAllocatesIsASize) {
  EXPECT_THAT(text_of("__global__ void k(const float* a, float* b, int n) {\n"
                      "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
                      "    b[blockIdx.x * n + i] = a[blockIdx.x * n + i];\n}\n"
                      "int main() {\n  int n = 1000, rows = 400;\n  float *a, *b;\n"
                      "  cudaMalloc(&a, n * rows * sizeof(float));\n"
                      "  cudaMalloc(&b, n * rows * sizeof(float));\n"
                      "  k<<<rows, 256>>>(a, b, n);\n}\n"),
              AllOf(HasSubstr("sizes = [\"n\", \"rows\"]"), HasSubstr("grid = \"rows\"")));
}

TEST(FirstManifest, AStructOfNumbersAndOthersKeepsTheNumbers) {
  EXPECT_THAT(text_of("struct Rates { float first, second; int step; };\n" +
                      kernel("float* b, int n, Rates r",
                             "  if (i < n) b[i] *= r.first - r.second * r.step;\n") +
                      "void run(float* b, int n, float rate) {\n  Rates r{rate, 0.5f, 3};\n"
                      "  k<<<(n + 255) / 256, 256>>>(b, n, r);\n}\n"),
              AllOf(HasSubstr("# ? values that are passed"), HasSubstr("value = [1, 0.5, 3]")));
}

TEST(FirstManifest, TheSecondVariableOfADeclarationIsPassed) {
  EXPECT_THAT(text_of("__global__ void k(float* b, int2 from, int2 to) {\n"
                      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;\n"
                      "  if (x < to.x && y < to.y) b[y * to.x + x] = from.x;\n}\n"
                      "void run(float* b, int w, int h) {\n"
                      "  int2 from = make_int2(w, h), to = make_int2(2 * w, 2 * h);\n"
                      "  k<<<dim3((2 * w + 255) / 256, 2 * h), 256>>>(b, from, to);\n}\n"),
              HasSubstr("arguments.to = { type = \"i32x2\", value = [\"2 * w\", \"2 * h\"] }"));
}

TEST(FirstManifest, StridesInBytesAreThoseOfRowsWithoutGaps) {
  const std::string text = text_of(
      "__global__ void k(const void* x, float* y, int ne00, int nb01, int rows) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;\n"
      "  if (i >= ne00 || row >= rows) return;\n"
      "  const float* from = (const float*)((const char*)x + row * nb01);\n"
      "  y[row * ne00 + i] = from[i];\n}\n");
  EXPECT_THAT(text, HasSubstr("sizes = [\"ne00\", \"rows\"]"));
  EXPECT_THAT(text, HasSubstr("arguments.x = { type = \"f32\""));
  EXPECT_THAT(text, HasSubstr("arguments = [\"x\", \"y\", \"ne00\", \"4 * ne00\", \"rows\"]"));
}

TEST(FirstManifest, ASizeThatOnlyTheHostKnowsIsThatOfTheOtherKernel) {
  const std::string source =
      "__global__ void k(const float* a, float* b, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
      "    b[blockIdx.x * n + i] = a[blockIdx.x * n + i];\n}\n"
      "void run(float* a, float* b, int n, int rows) { k<<<rows, 256>>>(a, b, n); }\n";
  const GivenArguments given{.launched = {"a", "b", "n"},
                             .all = {"a", "b", "n", "rows"},
                             .sizes = {"n", "rows"},
                             .buffers = {"a", "b"}};
  EXPECT_THAT(first_manifest(source, "", "k.cu", "", {}, &given).text,
              HasSubstr("grid = \"rows\""));
}

TEST(FirstManifest, ASizeThatIsPassedForSeveralParametersIsOne) {
  const GivenArguments given{.launched = {"a", "n", "b", "n"},
                             .all = {"a", "b", "n"},
                             .sizes = {"n"},
                             .buffers = {"a", "b"}};
  EXPECT_THAT(first_manifest(kernel("const float* a, int pitch, float* b, int n",
                                    "  if (i < n) b[i] = a[i * pitch];\n"),
                             "", "k.cu", "", {}, &given)
                  .text,
              HasSubstr("sizes = [\"n\"]"));
}

TEST(FirstManifest, MembersOfAVectorAreSizes) {
  EXPECT_THAT(text_of("__global__ void k(float* b, int2 to) {\n"
                      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;\n"
                      "  if (x < to.x && y < to.y) b[y * to.x + x] = 1;\n}\n"
                      "void run(float* b, int w, int h) {\n"
                      "  int2 to = make_int2(2 * w, h);\n"
                      "  k<<<dim3((2 * w + 255) / 256, h), 256>>>(b, to);\n}\n"),
              HasSubstr("length = \"h * 2 * w\""));
}

}  // namespace
}  // namespace autotune
