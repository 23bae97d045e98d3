// SPDX-License-Identifier: Apache-2.0
// What shared memory, and indices into it, show of the block and of the data.
#include "tests/support/matchers.hpp"
#include "tests/tuner/target/first_manifest_case.hpp"

namespace autotune {
namespace {

TEST(FirstManifest, IndicesOfSharedArraysBoundTheBlock) {
  const auto constraints = [](const std::string& declared, const std::string& used,
                              const std::string& block = "256") {
    const std::string text =
        text_of("#define LENGTH 256\n" +
                kernel("const float* a, float* b, int n",
                       "  const int tid = threadIdx.x;\n  __shared__ float " + declared + ";\n" +
                           used + "  if (i < n) b[i] = a[i];\n") +
                "void run(float* a, float* b, int n) { k<<<(n + " + block + " - 1) / " + block +
                ", " + block + ">>>(a, b, n); }\n");
    return text.substr(0, text.find("arguments."));
  };
  EXPECT_THAT(constraints("s[256]", "s[threadIdx.x] = 1;\n"), HasSubstr("\nBLOCK <= 256\n"));
  EXPECT_THAT(constraints("s[LENGTH]", "s[tid] = 1;\n"), HasSubstr("\nBLOCK <= 256\n"));
  EXPECT_THAT(constraints("s[257]", "s[tid + 1] = 1;\n"), HasSubstr("\nBLOCK <= 256\n"));
  EXPECT_THAT(constraints("s[512]", "s[2 * tid + 1] = 1;\n"),
              HasSubstr("\n2 * (BLOCK - 1) <= 510\n"));
  EXPECT_THAT(constraints("x, s[8]", "int warp = tid / 32;\n  s[warp] = 1;\n"),
              HasSubstr("\n(BLOCK - 1) / 32 <= 7\n"));
  EXPECT_THAT(constraints("s[8]", "s[tid >> 5] = 1;\n"), HasSubstr("\n(BLOCK - 1) / 32 <= 7\n"));
  for (const char* const always : {"s[tid / 32] = 1;\n", "if (tid < 32) s[tid] = 1;\n",
                                   "s[tid & 31] = 1;\n", "s[tid % 32] = 1;\n"}) {
    EXPECT_THAT(constraints("s[32]", always), Not(HasSubstr("<= 31"))) << always;
    EXPECT_THAT(constraints("s[32]", always), HasSubstr("512, 1024]")) << always;
  }
  // Its steps are those of one block, and of smaller ones with threads that are not there.
  EXPECT_THAT(constraints("s[256]",
                          "s[tid] = 1;\n  for (int d = 128; d > 0; d >>= 1)\n"
                          "    if (tid < d) s[tid] += s[tid + d];\n"),
              HasSubstr("\nBLOCK <= 256\n"));
  EXPECT_THAT(constraints("s[256]", "s[tid ^ 1] = 1;\n"), HasSubstr("parameters.BLOCK = [256]\n"));
}

TEST(FirstManifest, NoConstraintDividesByNothing) {
  const std::string text =
      text_of("template <int BN, int TN>\n" +
              kernel("float* b, int n",
                     "  __shared__ float s[BN];\n  s[threadIdx.x / (BN / TN)] = 1;\n"
                     "  if (i < n) b[i] = s[0];\n") +
              "void run(float* b, int n) { k<64, 8><<<(n + 255) / 256, 256>>>(b, n); }\n");
  EXPECT_THAT(text, HasSubstr("\n(BN / TN) > 0\n(BLOCK - 1) / (BN / TN) < BN\n"));
}

TEST(FirstManifest, IndicesOfSharedTilesBoundBothAxesOfTheBlock) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int n) {\n  __shared__ float tile[16][17];\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n  tile[threadIdx.y][threadIdx.x] = 1;\n"
      "  if (x < n && y < n) b[y * n + x] = a[y * n + x];\n}\n"
      "void run(float* a, float* b, int n) { dim3 block(16, 16);\n"
      "  k<<<dim3((n + 15) / 16, (n + 15) / 16), block>>>(a, b, n); }\n");
  EXPECT_THAT(text, AllOf(HasSubstr("\nBLOCK_Y <= 16\n"), HasSubstr("\nBLOCK_X <= 17\n")));
}

TEST(FirstManifest, TurnsOfTheThreadsDivideTheSharedRowsThatTheyFill) {
  const std::string transpose =
      "#define TILE 32\n#define ROWS 8\n"
      "__global__ void k(const float* a, float* b, int w, int h) {\n"
      "  __shared__ float tile[TILE][TILE + 1];\n"
      "  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n"
      "  for (int j = 0; j < TILE; j += ROWS)\n"
      "    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x];\n"
      "  __syncthreads();\n  x = blockIdx.y * TILE + threadIdx.x;\n"
      "  y = blockIdx.x * TILE + threadIdx.y;\n  for (int j = 0; j < TILE; j += ROWS)\n"
      "    if (x < h && y + j < w) b[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];\n}\n"
      "void run(float* a, float* b, int w, int h) {\n"
      "  k<<<dim3((w + TILE - 1) / TILE, (h + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(a, b, w, h);\n"
      "}\n";
  EXPECT_THAT(text_of(transpose), HasSubstr("\nTILE % ROWS == 0\n"));
}

TEST(FirstManifest, StepsOfLoopsDivideWhatTheyGoOver) {
  const std::string text = text_of(
      "template <int TILE, int ROWS, int EACH> __global__ void k(const float* a, float* b) {\n"
      "  const int step = TILE / EACH * ROWS / (TILE / 4);\n  float own[ROWS];\n"
      "  for (int i = 0; i < ROWS; i += step) own[i] = a[i];\n"
      "  for (int i = 0; i < 24; i += EACH) b[threadIdx.x] = own[i];\n"
      "  for (int i = 0; i < 30; i += ROWS) b[threadIdx.x] += i;\n}\n"
      "void run(float* a, float* b) { k<32, 8, 4><<<1, 32>>>(a, b); }\n");
  EXPECT_THAT(text, AllOf(HasSubstr("\n(TILE / 4) > 0\nTILE / EACH * ROWS / (TILE / 4) > 0\n"
                                    "ROWS % (TILE / EACH * ROWS / (TILE / 4)) == 0\n"),
                          HasSubstr("\n24 % EACH == 0\n")));
  EXPECT_THAT(text, Not(HasSubstr("30 % ")));  // the default has a rest
}

TEST(FirstManifest, IndicesAreDrawnUpToWhatTheyAreIndicesOf) {
  const auto fill = [](const std::string& index) {
    return text_of(
        kernel("const float* x, const int* at, float* y, int rows, int columns",
               "  __shared__ float table[64];\n  if (i < rows) y[i] = " + index + ";\n"));
  };
  EXPECT_THAT(fill("x[i * columns + at[i]]"), HasSubstr("uniform = [0, \"columns - 1\"]"));
  EXPECT_THAT(fill("x[i * columns] + x[at[i] * columns + i]"),
              HasSubstr("uniform = [0, \"rows - 1\"]"));
  EXPECT_THAT(fill("x[i * columns] + table[at[i]]"), HasSubstr("uniform = [0, \"64 - 1\"]"));
}

TEST(FirstManifest, SharedMemoryFollowsTheThreadsThatAreTuned) {
  const std::string text = text_of(
      "__global__ void k(const float* a, float* b, int w, int h) {\n"
      "  extern __shared__ float tile[];\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (x < w && y < h) b[y * w + x] = a[y * w + x];\n}\n"
      "void run(float* a, float* b, int w, int h) {\n  int tx = 32, ty = 8;\n"
      "  dim3 block(tx, ty), grid((w + tx - 1) / tx, (h + ty - 1) / ty);\n"
      "  int bytes = tx * 2 * ty * sizeof(float);\n"
      "  k<<<grid, block, bytes>>>(a, b, w, h);\n}\n");
  EXPECT_THAT(text, HasSubstr("dynamic_shared_bytes = \"BLOCK_X * 2 * BLOCK_Y * 4\""));
  EXPECT_THAT(text, HasSubstr("default = { BLOCK_X = 32, BLOCK_Y = 8 }"));
}

}  // namespace
}  // namespace autotune
