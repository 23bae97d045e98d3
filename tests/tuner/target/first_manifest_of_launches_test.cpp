// SPDX-License-Identifier: Apache-2.0
// What the host code around a launch shows: sizes, grids, values of arguments.
#include "tests/support/matchers.hpp"
#include "tests/tuner/target/first_manifest_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

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

TEST(FirstManifest, ABlockIsThatOfTheLaunchNotTheElementsOfABlock) {
  const std::string text = text_of(
      "__global__ void k(float* b, int n) {\n"
      "  int i = blockIdx.x * 512 + threadIdx.y * 64 + threadIdx.x;\n  if (i < n) b[i] = 1;\n}\n"
      "void run(float* b, int n) { k<<<(n + 511) / 512, dim3(64, 8)>>>(b, n); }\n");
  EXPECT_THAT(text, HasSubstr("block = [64, 8]"));
}

TEST(FirstManifest, AnInstanceOfATemplateIsItsDefault) {
  const std::string text = text_of("template <int ROWS, int EACH> " +
                                   kernel("float* b, int n", "  if (i < n) b[i] = ROWS * EACH;\n") +
                                   "template __global__ void k<16, 2>(float* b, int n);\n");
  EXPECT_THAT(text, HasSubstr("default = { ROWS = 16, EACH = 2,"));
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

TEST(FirstManifest, AGuardAgainstNoElementsIsNoEnd) {
  const std::string text = text_of(
      kernel("float* b, int c, int n", "  int z = blockIdx.z;\n  if (i < n) b[z * n + i] = 1;\n") +
      "void run(float* x, int c, int n) {\n  int length = n - 2 + 1;\n  if (length <= 0) return;\n"
      "  dim3 blockDim(64);\n  dim3 gridDim((length + blockDim.x - 1) / blockDim.x, 1, 2 * c);\n"
      "  k<<<gridDim, blockDim>>>(x, c, n);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("\"2 * c\"]"), Not(HasSubstr("? the launch")))) << text;
}

TEST(FirstManifest, AnEnumerationIsAnInteger) {
  const std::string text = text_of(
      "typedef enum { PLAIN = 0, FAST = 5, LAST } mode_t;\nenum class Kind : short { a, b };\n" +
      kernel("float* y, mode_t mode, const enum Kind kind, int n",
             "  if (i < n && mode == FAST) y[i] = 1;\n") +
      "void run(float* y, int n) { mode_t mode = LAST;\n  k<<<1, 32>>>(y, mode, Kind::b, n); }\n");
  EXPECT_THAT(text, HasSubstr("arguments.mode = { type = \"i32\", value = 6 }"));
  EXPECT_THAT(text, HasSubstr("arguments.kind = { type = \"i16\", value = 1 }"));
}

TEST(FirstManifest, MacrosAndFunctionsThatStandForCodeAreReadAsIt) {
  const std::string text = text_of(
      "#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += 1)\n"
      "#define BOUND(x, y) y\n#define WIDTH BOUND(W, w)\nconst int THREADS = 512;\n"
      "int blocks(int n) { return (n + THREADS - 1) / THREADS; }\n"
      "__device__ int at(int x, int y, int w) { return y * w + x; }\n"
      "#define LAUNCH(kernel, n, ...) do { kernel<<<blocks(n), THREADS>>>(__VA_ARGS__); } while "
      "(0)\n"
      "template <class T> __global__ void k(const T* a, T* b, int n, int w) {\n"
      "  LOOP(i, n) for (int x = 0; x < WIDTH; ++x) b[at(x, i, w)] = a[i];\n}\n"
      "void run(float* a, float* b, int n, int w) { LAUNCH(k<float>, n, a, b, n, w); }\n");
  EXPECT_THAT(text, HasSubstr("sizes = [\"n\", \"w\"]"));
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"dtype\", length = \"n\" }"));
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"dtype\", length = \"n * w\", role"));
  EXPECT_THAT(text, HasSubstr("block = \"THREADS\""));
  EXPECT_THAT(text, HasSubstr("entry = \"k<{dtype}>\""));
}

TEST(FirstManifest, AKernelOfAnIncludedFileIsFoundWithItsLaunch) {
  const std::string header =
      "template <int ROWS> " + kernel("float* b, int n", "  if (i < n) b[i] = ROWS;\n");
  const std::string source =
      "#include \"k.cuh\"\nvoid run(float* b, int n) {\n  const unsigned EACH = 4;\n"
      "  k<EACH><<<(n + 63) / 64, 64>>>(b, n);\n}\n";
  const std::string text = first_manifest(source, header, "run.cu", "").text;
  EXPECT_THAT(text, HasSubstr("source = \"run.cu\""));
  EXPECT_THAT(text, HasSubstr("default = { ROWS = 4, BLOCK = 64 }"));
}

TEST(FirstManifest, ACallOfTheRuntimeIsALaunch) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int n) {\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    b[i] = a[i];\n  cooperative_groups::this_grid().sync();\n}\n"
      "void run(float* x, float* y, int count) {\n  void* given[] = {(void*)&x, &y, &count};\n"
      "  cudaLaunchCooperativeKernel((void*)k, dim3(80), dim3(128), given, 0, 0);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("grid = 80\nblock = \"BLOCK\"\ncooperative = true\n"),
                          HasSubstr("default = { BLOCK = 128 }")));
  EXPECT_THAT(text_of("template <int N> " + kernel("float* b, int n", "  if (i < n) b[i] = N;\n") +
                      "void run(float* b, int n) {\n  auto f = k<8>;\n  f<<<n, 32>>>(b, n);\n}\n"),
              HasSubstr("default = { N = 8 }"));
}

TEST(FirstManifest, ALengthThatIndicesDoNotShowIsWhatTheHostAllocates) {
  const std::string text = text_of(
      kernel("const int* start, const float* x, float* y, int n",
             "  if (i >= n) return;\n  for (int j = start[i]; j < start[i + 1]; ++j) y[i] = "
             "x[j];\n") +
      "int main(int argc, char** argv) {\n  int rows = atoi(argv[1]);\n"
      "  size_t bytes = 7 * rows * sizeof(float);\n  float* values;\n"
      "  cudaMalloc((void**)&values, bytes);\n  int* starts; float* sums;\n"
      "  k<<<(rows + 63) / 64, 64>>>(starts, values, sums, rows);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.x = { type = \"f32\", length = \"7 * n\" }"));
}

TEST(FirstManifest, ABlockOfAConstantThatTheKernelHasTooStays) {
  const std::string text = text_of(
      "#define WARPS 6\n#define LOG 5U\n#define SIZE (1U << LOG)\n#define THREADS (WARPS * SIZE)\n"
      "__global__ void k(const unsigned* x, unsigned* y, unsigned n) {\n"
      "  __shared__ unsigned all[THREADS];\n  unsigned sum = 0;\n"
      "  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
      "gridDim.x) sum += x[i];\n  all[threadIdx.x] = sum;\n  if (threadIdx.x < 1) "
      "y[blockIdx.x] = all[0];\n}\n"
      "void run(unsigned* x, unsigned* y, unsigned n) { k<<<240, THREADS>>>(x, y, n); }\n");
  EXPECT_THAT(text, HasSubstr("grid = 240\nblock = 192\n"));
  EXPECT_THAT(text, HasSubstr("arguments.y = { type = \"u32\", length = \"240\", role"));
}

TEST(FirstManifest, AConstantOfTheGridIsNoneOfTheBlock) {
  EXPECT_THAT(text_of("#define NX 1024\n" + kernel("float* b", "  if (i < NX) b[i] = 1;\n") +
                      "void run(float* b) { dim3 block(64), grid(NX / 64); k<<<grid, "
                      "block>>>(b); }\n"),
              HasSubstr("sizes = [\"NX\"]"));
}

TEST(FirstManifest, AClassThatIsNoElementIsPassedAsItIs) {
  const std::string text = text_of(
      "struct Rows { static __device__ int at(int i, int n) { return i < n ? i : 0; } };\n"
      "template <typename T, typename Layout> " +
      kernel("T* b, int n", "  if (i < n) b[Layout::at(i, n)] = 1;\n") +
      "void run(float* b, int n) { k<float, Rows><<<n, 64>>>(b, n); }\n");
  EXPECT_THAT(text, HasSubstr("entry = \"k<{dtype}, Rows>\""));
}

TEST(FirstManifest, ThePointerThatIsSetToItsSuccessorIsStillTheBuffer) {
  const std::string text = text_of(
      kernel("const float* a, float* b, int n",
             "  a = a + 4 * blockIdx.y;\n  b = b + n * blockIdx.y;\n  if (i < n) b[i] = a[2];\n") +
      "void run(float* a, float* b, int n, int rows) {\n"
      "  dim3 grid((n + 63) / 64, rows);\n  k<<<grid, 64>>>(a, b, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"f32\", length = \"n * rows\", role = "
                              "\"output\""));
}

TEST(FirstManifest, TheFirstTurnOfTheHostsLoopIsInItsGrid) {
  EXPECT_THAT(text_of("#define B 16\n__global__ void k(float* m, int n, int at) {\n"
                      "  m[at * n + blockIdx.x * B + threadIdx.x] = B;\n}\n"
                      "void run(float* m, int n) {\n  int i = 0;\n"
                      "  for (i = 0; i < n; i += B) k<<<(n - i) / B - 1, B>>>(m, n, i);\n}\n"),
              HasSubstr("grid = \"n / B - 1\""));
}

TEST(FirstManifest, MembersOfTheHostsGridAreNumbersOfBlocks) {
  const std::string text = text_of(
      "__global__ void k(uchar4* b, int w, int h, int across, int all, uchar4 color) {\n"
      "  for (int at = blockIdx.x; at < all; at += gridDim.x) {\n"
      "    int x = at % across * blockDim.x + threadIdx.x, y = at / across;\n"
      "    if (x < w && y < h) b[y * w + x] = color;\n  }\n}\n"
      "void run(uchar4* b, int w, int h, uchar4 color, int workers) {\n"
      "  const int threads = 128;\n  dim3 grid((w + threads - 1) / threads, h);\n"
      "  k<<<workers, threads>>>(b, w, h, grid.x, grid.x * grid.y, color);\n}\n");
  const std::string whole = text_of(
      "__global__ void k(float* b, int w, int h, int across) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (x < w) b[blockIdx.y * w + x] = across;\n}\n"
      "void run(float* b, int w, int h) {\n  dim3 grid((w + 127) / 128, h);\n"
      "  k<<<grid, 128>>>(b, w, h, grid.x);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("sizes = [\"w\", \"h\""), Not(HasSubstr("\"across\"")),
                          Not(HasSubstr("\"all\""))));
  EXPECT_THAT(text, HasSubstr("arguments.color = { type = \"u8x4\", value = [1, 1, 1, 1] }"));
  EXPECT_THAT(whole, Not(HasSubstr("\"across\"")));
}

TEST(FirstManifest, AFunctionThatATemplateTakesIsTheOneThatIsGiven) {
  const std::string code =
      "__device__ float half_of(float x) { return x / 2; }\n"
      "typedef float (*function_t)(float);\n";
  const std::string body =
      "__global__ void k(float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = f(i);\n}\n";
  const std::string host =
      "void run(float* b, int n) {\n  k<half_of><<<(n + 255) / 256, 256>>>(b, n);\n}\n";
  EXPECT_THAT(text_of(code + "template <function_t f>\n" + body + host),
              AllOf(HasSubstr("entry = \"k<half_of>\""), Not(HasSubstr("parameters.f"))));
  EXPECT_THAT(text_of(code + "template <float (*f)(float)>\n" + body +
                      "template <float (*f)(float)>\nstruct with {\n  void run(float* b, int n) "
                      "{\n    k<f><<<(n + 255) / 256, 256>>>(b, n);\n  }\n};\n"
                      "void run(float* b, int n) { with<half_of>().run(b, n); }\n"),
              HasSubstr("entry = \"k<half_of>\""));
}

TEST(FirstManifest, APromiseThatTheHostGivesForSomeSizesIsNotGiven) {
  const auto text = [](const std::string& others) {
    return text_of(
        "template <bool kEven>\n__global__ void k(float* b, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (kEven || i < n) b[i] = 1;\n}\n"
        "void run(float* b, int n) {\n  k<true><<<(n + 255) / 256, 256>>>(b, n);\n" +
        others + "}\n");
  };
  EXPECT_THAT(text(""), HasSubstr("parameters.kEven = [1]"));
  EXPECT_THAT(text("  k<false><<<(n + 255) / 256, 256>>>(b, n);\n"),
              HasSubstr("parameters.kEven = [0]"));
}

TEST(FirstManifest, ThreadsMayBeCountedInAFunctionOrByAGroup) {
  for (const std::string body :
       {"  step(b, n);\n",
        "  int i = blockIdx.x * warp.meta_group_size();\n  if (i < n) b[i] = 1;\n"}) {
    EXPECT_THAT(text_of("__device__ void step(float* b, int n) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = 1;\n"
                        "}\n__global__ void k(float* b, int n) {\n" +
                        body +
                        "}\nvoid run(float* b, int n) {\n  int threads = 512;\n"
                        "  k<<<(n + threads - 1) / threads, threads>>>(b, n);\n}\n"),
                HasSubstr("block = \"BLOCK\""));
  }
}

TEST(FirstManifest, TheEndOfALoopOfAMacroIsASize) {
  const std::string text = text_of(
      "#define EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); \\\n"
      "                        i += blockDim.x * gridDim.x)\n"
      "__global__ void k(const int elements_of_all, float* b) {\n"
      "  EACH(j, elements_of_all) { b[j] = 1; }\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("sizes = [\"elements_of_all\"]"),
                          HasSubstr("grid = \"ceil_div(elements_of_all, BLOCK)\"")));
}

TEST(FirstManifest, ALimitOfTheHostsIsNoNumberOfBlocks) {
  for (const std::string limit :
       {"if (blocks == 0) blocks = 1;", "if (blocks > 65535) { blocks = 65535; }"}) {
    const std::string text =
        text_of(kernel("const float* a, float* b, int n", "  if (i < n) b[i] = a[i];\n") +
                "void run(float* a, float* b, int n) {\n  const int threads = 256;\n"
                "  int blocks = (n + threads - 1) / threads;\n  " +
                limit + "\n  k<<<blocks, threads>>>(a, b, n);\n}\n");
    EXPECT_THAT(text, HasSubstr("grid = \"(n + BLOCK - 1) / BLOCK\"")) << limit;
  }
  EXPECT_THAT(text_of(kernel("float* b, int n", "  if (i < n) b[i] = 1;\n") +
                      "void run(float* b, int n) {\n  dim3 grid((n + 255) / 256);\n"
                      "  if (grid.x > 1024) grid.x = 1024;\n  k<<<grid, 256>>>(b, n);\n}\n"),
              HasSubstr("grid = \"ceil_div(n, BLOCK)\""));
}

TEST(FirstManifest, ThreadsOfAGroupByItsOwnNamesAreThoseOfTheLanguage) {
  const auto text = [](const std::string& index) {
    return text_of("__global__ void k(float* b, int n) {\n" + index +
                   "  if (i < n) b[i] = 1;\n}\n"
                   "void run(float* b, int n) { k<<<(n + 255) / 256, 256>>>(b, n); }\n");
  };
  for (const std::string index :
       {"  int i = cg::this_grid().thread_rank();\n",
        "  auto all = cooperative_groups::this_grid();\n  int i = all.thread_rank();\n",
        "  auto block = cg::this_thread_block();\n"
        "  int i = block.group_index().x * blockDim.x + block.thread_rank();\n"}) {
    EXPECT_THAT(text(index), AllOf(HasSubstr("grid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\""),
                                   HasSubstr("arguments.b = { type = \"f32\", length = \"n\""),
                                   Not(HasSubstr("cooperative"))))
        << index;
  }
  EXPECT_THAT(text("  cg::grid_group all = cg::this_grid();\n  int i = all.thread_rank();\n"
                   "  all.sync();\n"),
              HasSubstr("cooperative = true"));
}

TEST(FirstManifest, AParameterForBlocksIsTheBlockAndNotTheLengthOfARow) {
  const std::string text = text_of(
      "template <unsigned int block_size> __global__ void k(const float* a, float* b, int n) {\n"
      "  a += blockIdx.x * n * 3;\n"
      "  for (int j = threadIdx.x; j < n; j += block_size) b[blockIdx.x * n + j] = a[j * 3];\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("\nblock = \"block_size\""), Not(HasSubstr("n % 3 == 0"))));
}

TEST(FirstManifest, TheHostsAllocationSaysMoreThanAnIndexThatLeavesOutADimension) {
  const std::string text = text_of(
      "#define W 512\n#define H 512\n__global__ void k(const float* a, float* b, int y) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (x > 0 && x < W - 1 && y < H - 1) b[y * W + x] = a[(y - 1) * W + x];\n}\n"
      "int main() {\n  float *a, *b;\n  cudaMalloc(&a, W * H * sizeof(float));\n"
      "  cudaMalloc(&b, W * H * sizeof(float));\n"
      "  for (int y = 1; y < H - 1; ++y) k<<<W / 256, 256>>>(a, b, y);\n}\n");
  EXPECT_THAT(text, HasSubstr("arguments.a = { type = \"f32\", length = \"W * H\" }"));
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"f32\", length = \"W * H\""));
}

TEST(FirstManifest, AGridThatFollowsTheThreadsIsTheHosts) {
  const std::string text = text_of(
      "__global__ void k(float* b, int n) {\n"
      "  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
      "  if (row < n) b[row] = 1;\n}\n"
      "void run(torch::Tensor x, float* b, int m) {\n  const int threads = 256;\n"
      "  const auto n = x.size(0), heads = x.size(1);\n"
      "  dim3 grid((n * 32 + threads - 1) / threads, heads);\n"
      "  k<<<grid, threads>>>(b, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"(n * 32 + BLOCK - 1) / BLOCK\", \"heads\"]"));
  EXPECT_THAT(text, HasSubstr("sizes = [\"n\", \"heads\"]"));
}

TEST(FirstManifest, AnAxisOfTheGridWithoutNumbersOfThreadsIsTheHosts) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int n, int d) {\n"
      "  int row = blockIdx.x * blockDim.y + threadIdx.y;\n  if (row >= d) return;\n"
      "  float sum = 0;\n  for (int j = threadIdx.x; j < n; j += 32) sum += a[row * n + j];\n"
      "  if (threadIdx.x == 0) b[blockIdx.y * d + row] = sum;\n}\n"
      "void run(float* a, float* b, int n, int d, int batch) {\n  dim3 block(32, 4);\n"
      "  dim3 grid((d + 3) / 4, batch);\n  k<<<grid, block>>>(a, b, n, d);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(d, BLOCK_Y)\", \"batch\"]"));
  EXPECT_THAT(text, HasSubstr("arguments.b = { type = \"f32\", length = \"batch * d\""));
}

TEST(FirstManifest, TheLesserOfANumberAndTheThreadsIsTheBlock) {
  const std::string text = text_of(
      "const unsigned BLOCK_SIZE = 256;\n" + kernel("float* b, int n", "  if (i < n) b[i] = 1;\n") +
      "void run(float* b, int n) {\n  int block = n < BLOCK_SIZE ? n : BLOCK_SIZE;\n"
      "  k<<<(n + block - 1) / block, block>>>(b, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("block = \"min(n, BLOCK_SIZE)\""));
}

TEST(FirstManifest, ALaunchMayHaveItsConfigurationInAStruct) {
  const std::string code = kernel("float* b, int n", "  if (i < n) b[i] = 1;\n");
  const std::string text = text_of(
      code +
      "void run(float* x, int count, cudaStream_t s) {\n  cudaLaunchConfig_t config = {};\n"
      "  config.gridDim = (count + 127) / 128;\n  config.blockDim = dim3(128);\n"
      "  config.dynamicSmemBytes = 4 * count;\n  cudaLaunchAttribute more[1];\n"
      "  more[0].id = cudaLaunchAttributeClusterDimension;\n  more[0].val.clusterDim.x = 2;\n"
      "  cudaLaunchKernelEx(&config, k, x, count);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("block = \"BLOCK\"\ncluster = 2\n"),
                          HasSubstr("grid = \"ceil_div(n, BLOCK)\""),
                          HasSubstr("default = { BLOCK = 128 }"),
                          HasSubstr("dynamic_shared_bytes = \"4 * n\"")));
  EXPECT_THAT(
      text_of("template <int N, typename T> " + kernel("T* b, int n", "  if (i < n) b[i] = N;\n") +
              "void run(float* b, int n) {\n  dim3 grid(n);\n"
              "  cudaLaunchConfig_t c{grid, 64};\n"
              "  cudaLaunchKernelEx(&c, k<8, float>, b, n);\n}\n"),
      AllOf(HasSubstr("default = { N = 8, BLOCK = 64 }"), HasSubstr("grid = \"n\"")));
}

TEST(FirstManifest, AnArgumentThatIsCalledIsOfTheClassThatTheHostMakes) {
  const std::string code =
      "template <typename U> struct Scale { U by, to;\n  explicit Scale(U b) : by{b}, to(b) {}\n"
      "  __device__ U operator()(U x) const { return by * x + to; } };\n"
      "struct Square { __device__ float operator()(float x) { return x * x; } };\n"
      "template <typename T, class Op> " +
      kernel("const T* a, T* b, int n, Op op", "  if (i < n) b[i] = op(a[i]);\n");
  const auto launched_with = [&](const std::string& op) {
    return text_of(code +
                   "template <class F> void apply(float* a, float* b, int n, F f) {\n"
                   "  k<<<(n + 63) / 64, 64>>>(a, b, n, f);\n}\n"
                   "void run(float* a, float* b, int n) { " +
                   op + " }\n");
  };
  EXPECT_THAT(launched_with("apply(a, b, n, Scale<float>{2.5f, -1});"),
              AllOf(HasSubstr("types.Scale_float = { by = \"f32\", to = \"f32\" }"),
                    HasSubstr("arguments.op = { type = \"Scale_float\", value = [2.5, -1] }"),
                    HasSubstr("entry = \"k<{dtype}, Scale < float >>\"")));
  EXPECT_THAT(launched_with("Square op; apply(a, b, n, op);"),
              AllOf(HasSubstr("types.Square = { unused = \"u8\" }"),
                    HasSubstr("arguments.op = { type = \"Square\", value = [1] }")));
  EXPECT_THAT([&] { launched_with("apply(a, b, n, [] __device__(float x) { return x; });"); },
              ThrowsMessage<Error>(HasSubstr("calls its argument op")));
}

TEST(FirstManifest, AStructOfATemplateIsOneOfItsArguments) {
  const std::string text = text_of(
      "template <typename T, int N> struct Box { T low[N]; T high; };\n"
      "template <typename T> " +
      kernel("T* b, int n, Box<T, 2> box", "  if (i < n) b[i] = box.low[0] + box.high;\n") +
      "void run(float* b, int n, Box<float, 2> box) { k<float><<<n, 64>>>(b, n, box); }\n");
  EXPECT_THAT(text,
              AllOf(HasSubstr("types.Box_T_2 = { low = \"dtype[2]\", high = \"dtype\" }"),
                    HasSubstr("arguments.box = { type = \"Box_T_2\", value = [[1, 1], 1] }")));
}

TEST(FirstManifest, WhatTheHostSetsLastIsLaunched) {
  const std::string text =
      text_of("#define MOST 512\n" + kernel("float* b, int n", "  if (i < n) b[i] = 1;\n") +
              "void run(float* b, int n) {\n  int blocks = 1, threads = n;\n  if (n > MOST) {\n"
              "    blocks = (int)ceil(n / (double)MOST);\n    threads = MOST;\n  }\n"
              "  dim3 grid(blocks, 1, 1), block(threads, 1, 1);\n  k<<<grid, block, 0>>>(b, n);\n"
              "  threads = 7;\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("grid = [\"ceil_div(n, MOST)\", 1, 1]"),
                          HasSubstr("block = [\"MOST\", 1, 1]"), Not(HasSubstr("# ? the launch"))));
}

TEST(FirstManifest, APitchIsThatOfRowsWithoutGaps) {
  const std::string text = text_of(
      "__global__ void k(const uchar4* a, size_t pitch, unsigned char* b, int w, int h) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;\n"
      "  if (x < w && y < h) b[y * w + x] = ((const uchar4*)((const char*)a + y * "
      "pitch))[x].x;\n}\n"
      "void run(unsigned char* b, int w, int h) {\n  uchar4* a; size_t pitch;\n"
      "  CHECK(cudaMallocPitch((void**)&a, &pitch, w * sizeof(uchar4), h));\n"
      "  k<<<dim3((w + 63) / 64, h), 64>>>(a, pitch, b, w, h);\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("sizes = [\"w\", \"h\"]"),
                          HasSubstr("{ type = \"u64\", value = \"w * 4\" }")));
}

TEST(FirstManifest, SizesInAStructAreSizes) {
  const std::string code =
      "struct Shape { int rows, cols; float scale; };\n" +
      kernel("float* b, Shape s", "  if (i < s.rows * s.cols) b[i] = s.scale;\n");
  for (const char* const made :
       {"  Shape s{h, w, 2};\n", "  Shape s;\n  s.rows = h;\n  s.cols = w;\n  s.scale = 2;\n"}) {
    EXPECT_THAT(text_of(code + "void run(float* b, int w, int h) {\n" + made +
                        "  k<<<(w * h + 255) / 256, 256>>>(b, s);\n}\n"),
                AllOf(HasSubstr("arguments.b = { type = \"f32\", length = \"h * w\""),
                      HasSubstr("arguments.s = { type = \"Shape\", value = [\"h\", \"w\", 2] }")))
        << made;
  }
}

TEST(FirstManifest, ANumberInTheGridThatIsNotTheBlocksIsNoNumberOfThreads) {
  const std::string text = text_of(
      "__global__ void k(const float* x, float* y, int w, int m) {\n"
      "  int c = blockIdx.y * blockDim.x + threadIdx.x;\n"
      "  if (c < m) y[blockIdx.x * m + c] = x[2 * blockIdx.x * m + c];\n}\n"
      "void run(float* x, float* y, int w, int m) {\n"
      "  k<<<dim3((w - 3) / 2 + 1, (m + 63) / 64), 64>>>(x, y, w, m);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"(w - 3) / 2 + 1\", \"ceil_div(m, BLOCK)\"]"));
  EXPECT_THAT(text,
              HasSubstr("arguments.y = { type = \"f32\", length = \"((w - 3) / 2 + 1) * m\""));
}

TEST(FirstManifest, AChoiceOfWhatIsComputedStays) {
  const std::string text =
      text_of("enum class Way { Sum, Most };\ntemplate <Way WAY> " +
              kernel("float* b, int n", "  if (i < n) b[i] = WAY == Way::Sum;\n") +
              "void run(float* b, int n) { k<Way::Most><<<(n + 63) / 64, 64>>>(b, n); }\n");
  EXPECT_THAT(text, HasSubstr("parameters.WAY = [1]"));
}

}  // namespace
}  // namespace autotune
