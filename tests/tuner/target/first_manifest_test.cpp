// SPDX-License-Identifier: Apache-2.0
// What a kernel itself shows: buffers, lengths, parameters.
#include "tuner/target/first_manifest.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/target/first_manifest_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

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
                              "fill = { range = [0, \"nnz / (n + 1)\"] } }"));
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

TEST(FirstManifest, TheMiddleOfABisectionReachesAllElements) {
  for (const char* middle : {"(low + high) / 2", "low + (high - low) / 2", "(low + high) >> 1"}) {
    const std::string text = text_of(
        kernel("const float* keys, const float* x, int* b, int n",
               "  int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;\n"
               "  if (i >= n) return;\n  while (low < high) {\n    int middle = " +
                   std::string(middle) +
                   ";\n    if (keys[middle] < x[i]) low = middle + 1; else high = middle;\n  }\n"
                   "  b[i] = low;\n"));
    EXPECT_THAT(text, HasSubstr("arguments.keys = { type = \"f32\", length = \"n\"")) << middle;
  }
}

TEST(FirstManifest, WithoutABlockIndexThereIsOneBlockAndLoopsWithOneNameAreTwo) {
  const std::string text = text_of(
      "__global__ void k(const unsigned char* data, int* bins, int n) {\n"
      "  __shared__ int own[256];\n"
      "  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;\n"
      "  __syncthreads();\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&own[data[i]], 1);\n"
      "  __syncthreads();\n"
      "  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = own[i];\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("arguments.data = { type = \"u8\", length = \"n\""),
                          HasSubstr("arguments.bins = { type = \"i32\", length = \"256\""),
                          HasSubstr("grid = 1\n")));
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

TEST(FirstManifest, ATypeOfIndicesIsAnInteger) {
  const std::string text = text_of("template <class T, class IndexType> " +
                                   kernel("T* y, IndexType n", "  if (i < n) y[i] = 1;\n"));
  EXPECT_THAT(text, HasSubstr("entry = \"k<{dtype}, int>\""));
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

TEST(FirstManifest, AnArrayOfArraysIsOneBuffer) {
  const std::string text = text_of(
      "#define NX 512\n#define NY 256\n__constant__ float w[3][5];\n"
      "struct Grid { float spacing[2][3]; };\n"
      "__global__ void k(const float (*u)[NX], float v[NY][NX], Grid g) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n"
      "  if (x < NX && y < NY) v[y][x] = w[1][2] * u[y][x] * g.spacing[0][1];\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.u = { type = \"f32\", length = \"NY * NX\" }"));
  EXPECT_THAT(text, HasSubstr("arguments.v = { type = \"f32\", length = \"NY * NX\", role"));
  EXPECT_THAT(text, HasSubstr("arguments.w = { type = \"f32\", length = \"(3) * (5)\", constant"));
  EXPECT_THAT(text, HasSubstr("types.Grid = { spacing = \"f32[2][3]\" }"));
  EXPECT_THAT(text, HasSubstr("value = [[[1, 1, 1], [1, 1, 1]]] }"));
}

TEST(FirstManifest, ATextureHasABufferOfItsElements) {
  const std::string text =
      text_of(kernel("float* out, int w, int h, cudaTextureObject_t image",
                     "  int y = blockIdx.y;\n"
                     "  if (i < w && y < h) out[y * w + i] = tex2D<float4>(image, i, y).x;\n"));
  EXPECT_THAT(text, HasSubstr("arguments.image_texels = { type = \"f32x4\", length = \"w * h\" }"));
  EXPECT_THAT(text,
              HasSubstr("textures.image = { buffer = \"image_texels\", dims = [\"w\", \"h\"] }"));
  EXPECT_THAT(text, HasSubstr("arguments = [\"out\", \"w\", \"h\", \"image\"]"));
}

TEST(FirstManifest, AnUnknownLengthInASquareMatrixIsItsOwn) {
  EXPECT_THAT(text_of(kernel("float* m, int n",
                             "  int at = i * n;\n  for (int j = 0; j < 8; ++j) {\n"
                             "    m[at + threadIdx.x] = 1;\n    at += n;\n  }\n")),
              HasSubstr("length = \"n * n\""));
}

TEST(FirstManifest, ComplexNumbersAreVectors) {
  EXPECT_THAT(text_of(kernel("cufftComplex* a, const cuDoubleComplex* b, int n",
                             "  if (i < n) a[i].x = b[i].x;\n")),
              AllOf(HasSubstr("arguments.a = { type = \"f32x2\""),
                    HasSubstr("arguments.b = { type = \"f64x2\"")));
}

TEST(FirstManifest, WhatAMacroCastsAndSetsIsWritten) {
  for (const std::string body : {"FLOAT4(b[4 * i]) = FLOAT4(a[4 * i]);", "(b[4 * i]).x = a[4 * i];",
                                 "reinterpret_cast<float4*>(&(b[4 * i]))[0].x = a[4 * i];"}) {
    const std::string text =
        text_of("#define FLOAT4(value) (reinterpret_cast<float4*>(&(value))[0])\n" +
                kernel("float* a, float* b, int n", "  if (4 * i < n) " + body + "\n"));
    EXPECT_THAT(text, AllOf(ContainsRegex("arguments.b = [^\n]* role = \"(in)?out"),
                            Not(ContainsRegex("arguments.a = [^\n]* role"))))
        << body;
  }
}

TEST(FirstManifest, AnAssertionIsAConstraint) {
  EXPECT_THAT(text_of(kernel("float* b, int n", "  assert(n % 4 == 0);\n  if (i < n) b[i] = 1;\n")),
              HasSubstr("\nn % 4 == 0\n"));
}

TEST(FirstManifest, NumbersOfEightBitsInAStructAreNoIndices) {
  const std::string text = text_of("struct node { int next; bool is_leaf; };\n" +
                                   kernel("const node* a, const float* c, float* b, int n",
                                          "  if (i < n) b[i] = c[a[i].next];\n"));
  EXPECT_THAT(text, Not(HasSubstr("fill = ")));
}

TEST(FirstManifest, AResultInAVariableOfTheDeviceIsNamed) {
  const std::string sum = "__device__ float total;\n__device__ const float kTwo = 2;\n";
  EXPECT_THAT(
      [&] {
        text_of(sum + kernel("const float* a, int n", "  if (i < n) atomicAdd(&total, a[i]);\n"));
      },
      ThrowsMessage<Error>(HasSubstr("k writes its result to total, a variable with __device__")));
  const std::string both = "  if (i < n) { b[i] = kTwo; total += 1; }\n";
  EXPECT_THAT(text_of(sum + kernel("float* b, int n", both)),
              HasSubstr("# ? total: the kernel changes it"));
  EXPECT_THAT(text_of(sum + kernel("float* b, int n", "  if (i < n) b[i] = total * kTwo;\n")),
              Not(HasSubstr("the kernel changes it")));
}

TEST(FirstManifest, AnExpressionOfAnotherLaunchStandsForTheArgumentInItsPlace) {
  const GivenArguments given{.launched = {"x", "rows * cols", "cols"},
                             .all = {"x", "rows", "cols"},
                             .sizes = {"rows", "cols"},
                             .buffers = {"x"}};
  const auto compared = [&](const std::string& parameters, const std::string& body) {
    return first_manifest(kernel(parameters, body), "", "k.cu", "", {}, &given).text;
  };
  EXPECT_THAT(compared("float* y, int total, int w", "  if (i < total) y[i] += i % w;\n"),
              AllOf(HasSubstr("arguments = [\"x\", \"rows * cols\", \"cols\"]"),
                    HasSubstr("sizes = [\"cols\", \"rows\"]"),
                    HasSubstr("grid = \"ceil_div((rows * cols), BLOCK)\"")));
  EXPECT_THAT(compared("float* y, int rows, int w", "  if (i < w) y[blockIdx.y * w + i] += 1;\n"),
              HasSubstr("arguments = [\"x\", \"rows\", \"cols\"]"))
      << "a name of there stands for itself";
}

TEST(FirstManifest, VectorsAndTypesOfTheStandardLibraryAreKnown) {
  const std::string text = text_of(
      "using index_t = std::int64_t;\n" +
      kernel("const half2* a, __nv_bfloat162* b, index_t n, cuda::std::uint32_t m",
             "  for (index_t j = (index_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; ++j)\n"
             "    if (j < m) b[j] = f(a[j]);\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("arguments.a = { type = \"f16x2\""),
                          HasSubstr("arguments.b = { type = \"bf16x2\""),
                          HasSubstr("{ type = \"i64\", value = \"n\" }"),
                          HasSubstr("grid = \"ceil_div(n, BLOCK)\"")));
}

TEST(FirstManifest, ARowThatIsReadInVectorsHasAMultipleOfThem) {
  const std::string body =
      "  const float4* r = reinterpret_cast<const float4*>(a + i * n);\n"
      "  for (int j = 0; j < n / 4; ++j) b[i * n + j] = r[j].x;\n";
  EXPECT_THAT(text_of(kernel("const float* a, float* b, int n", body)), HasSubstr("n % 4 == 0"));
  EXPECT_THAT(text_of(kernel("const float* a, float* b, int n", "  if (i < n / 4) b[i] = a[i];\n")),
              Not(HasSubstr("n % 4")));
}

TEST(FirstManifest, WhatTheHostCopiesToSymbolsIsAnInputWhereverItIsUsed) {
  const std::string text = text_of(
      "struct Params { float2 origin; unsigned side; };\n__constant__ Params params;\n"
      "__constant__ float weights[4];\n__constant__ float unused[4];\n"
      "__device__ float table[8];\n__device__ float own = 2;\n"
      "__device__ float f(float x) { return x * params.side + weights[0] + table[1] + own; }\n" +
      kernel("float* b, int n", "  if (i < n) b[i] = f(i);\n") +
      "void set(Params& p) { cudaMemcpyToSymbol(params, &p, sizeof p);\n"
      "  CHECK(cudaMemcpyToSymbolAsync(table, t, 32, 0, s)); }\n");
  EXPECT_THAT(
      text, HasSubstr("arguments.params = { type = \"Params\", length = \"1\", constant = true }"));
  EXPECT_THAT(text,
              HasSubstr("arguments.weights = { type = \"f32\", length = \"4\", constant = true }"));
  EXPECT_THAT(text, AllOf(HasSubstr("# ? table: the host fills it"), Not(HasSubstr("unused")),
                          Not(HasSubstr("own:"))));
}

TEST(FirstManifest, AVariableOfAListIsNoMacro) {
  const std::string text = text_of(kernel(
      "float* b, int n", "  float FIRST = 1, SECOND = 2;\n  if (i < n) b[i] = FIRST + SECOND;\n"));
  EXPECT_THAT(text, Not(HasSubstr("parameters.SECOND")));
}

TEST(FirstManifest, AVariableOfTheFileIsNoMacro) {
  const std::string text = text_of(
      "__device__ const int OFFSETS[2] = {1, 2};\n__device__ unsigned block_counter{0}, TURNS;\n" +
      kernel("float* b, int n",
             "  block_counter = 0; TURNS = 0;\n  if (i < n) b[i] = OFFSETS[i & 1] + LEFT_OUT;\n"));
  EXPECT_THAT(text, HasSubstr("parameters.LEFT_OUT"));
  for (const char* const name : {"OFFSETS", "block_counter", "TURNS"}) {
    EXPECT_THAT(text, Not(HasSubstr("parameters." + std::string(name))));
  }
}

TEST(FirstManifest, ABlockForEachRowIsNoBlockForManyRows) {
  const std::string body =
      "  for (int i = threadIdx.x; i < N; i += blockDim.x)\n"
      "    y[blockIdx.x * N + i] = x[blockIdx.x * N + i];\n}\n";
  const std::string text =
      text_of("__global__ void k(const float* x, float* y, int rows, int N) {\n" + body);
  EXPECT_THAT(text, HasSubstr("grid = \"rows\""));
  EXPECT_THAT(text, HasSubstr("arguments.y = { type = \"f32\", length = \"rows * N\""));
  const std::string square =
      text_of("#define N 1024\n__global__ void k(const float* x, float* y) {\n" + body);
  EXPECT_THAT(square, AllOf(HasSubstr("grid = \"N\""), HasSubstr("block = \"BLOCK\""),
                            HasSubstr("length = \"N * N\"")));
}

TEST(FirstManifest, ABlockIndexThatIsDividedHasSoManyTimesItsEnd) {
  const std::string text = text_of(
      "__global__ void k(float* y, int batch, int channels, int n) {\n"
      "  int b = blockIdx.y / channels, c = blockIdx.y % channels;\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n && b < batch) y[(b * channels + c) * n + i] = 1;\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(n, BLOCK)\", \"batch * channels\"]"));
}

TEST(FirstManifest, WhatDividesAnIndexIsNotTuned) {
  const std::string text =
      text_of("#define GROUP 32\n" + kernel("const float* scale, float* y, int n",
                                            "  if (i < n) y[i] = scale[i / GROUP];\n"));
  EXPECT_THAT(
      text, AllOf(HasSubstr("parameters.GROUP = [32]"), HasSubstr("length = \"ceil_div(n, 32)\"")));
}

TEST(FirstManifest, OfWhatNoManifestGivesSaysWhatToDo) {
  const auto refuses = [](const std::string& parameters, const std::string& what) {
    EXPECT_THAT([&] { text_of(kernel(parameters, "  x[i] = 1;\n")); },
                ThrowsMessage<Error>(HasSubstr(what)));
  };
  refuses("float** x, int n", "k.cu:1: k takes x, a pointer to pointers");
  refuses("float* x, cudaSurfaceObject_t t", "takes t of type cudaSurfaceObject_t");
  refuses("const float* y, int n", "writes to none of its arguments");
  refuses("float* x, float (*f)(float)", "takes f, a pointer to a function");
  EXPECT_THAT([] { text_of("__global__ void k(float* x) { x[0] = 1;\n"); },
              ThrowsMessage<Error>(HasSubstr("braces do not match")));
}

TEST(FirstManifest, BoundsOfALaunchCountItsThreads) {
  const std::string text = text_of(
      "template <int BM, int BN, int TM, int TN>\n"
      "__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1) k(float* b, int n) {\n"
      "  b += blockIdx.x * BN;\n  for (int j = 0; j < TN; ++j) b[threadIdx.x * TN + j] = n;\n}\n");
  EXPECT_THAT(text, HasSubstr("block = \"(BM * BN) / (TM * TN)\""));
}

TEST(FirstManifest, AnIndexThatBlocksMoveIsNotAsLongAsItsLoop) {
  const auto text = [](const std::string& store) {
    return text_of("#define EACH 2\n" +
                   kernel("const float* a, float* b, int n",
                          "  int first = EACH * (blockDim.x * blockIdx.x) + threadIdx.x;\n"
                          "  for (int j = 0; j < EACH; ++j) {\n" +
                              store + "  }\n"));
  };
  EXPECT_THAT(text("    if ((first + blockDim.x * j) < n) b[first + blockDim.x * j] = 1;\n"),
              HasSubstr("arguments.b = { type = \"f32\", length = \"n\""));
  EXPECT_THAT(text("    b[first + blockDim.x * j] = n;\n"), Not(HasSubstr("length = \"256 * 2\"")));
}

TEST(FirstManifest, APointerMayMoveInALoopOverTheGrid) {
  const auto text = [](const std::string& loop, const std::string& step) {
    return text_of("__global__ void k(const float* a, float* b, int n) {\n  " + loop +
                   " {\n    a += 3 * i;\n    b += " + step +
                   ";\n    b[0] = a[0] + a[1] + a[2];\n  }\n}\n");
  };
  const std::string grid =
      "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)";
  const std::string known = text(grid, "i");
  EXPECT_THAT(known, AllOf(HasSubstr("arguments.a = { type = \"f32\", length = \"3 * n"),
                           HasSubstr("arguments.b = { type = \"f32\", length = \"n\""),
                           Not(HasSubstr("# ? lengths"))));
  EXPECT_THAT(text(grid, "2"), HasSubstr("# ? lengths"));
  EXPECT_THAT(text("for (int i = 0; i < n; ++i)", "i"), HasSubstr("# ? lengths"));
}

}  // namespace
}  // namespace autotune
