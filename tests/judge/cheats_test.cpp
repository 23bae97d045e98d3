// SPDX-License-Identifier: Apache-2.0
// autotune judge: kernels that cheat, kernels that are wrong, and honest ones.
#include <filesystem>

#include "tests/judge/cheats.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/confinement.hpp"

namespace autotune::testing {
namespace {

using CheatsOfDeviceCode = Cheats;
TEST_P(CheatsOfDeviceCode, AreRefused) { expect_refused(kCheatsOfDevice, GetParam(), "host"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsOfDeviceCode, ::testing::ValuesIn(kinds_of(kCheatsOfDevice)),
                         kind_name);

using CheatsOfHostCode = Cheats;
TEST_P(CheatsOfHostCode, AreRefused) { expect_refused(kCheatsOfHost, GetParam(), "host"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsOfHostCode, ::testing::ValuesIn(kinds_of(kCheatsOfHost)),
                         kind_name);

TEST_F(Judge, RefusesNoKernelThatIsUnusual) {
  const std::vector<Json> verdicts = judge_all(kUnusual, "host");
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_EQ(verdicts[i].value("verdict", ""), "right")
        << kUnusual[i].name << ": " << verdicts[i].value("text", "");
  }
}

TEST_F(Judge, SaysThatTheReferenceItselfIsRightAndNotFaster) {
  const Ended ended = judge(kAffine);
  EXPECT_EQ(ended.status, kNotFaster) << ended.err << ended.out;
  // Within noise, which test_gpu_judge demands; a busy host may time one of the two more slowly.
  EXPECT_THAT(ended.out, AllOf(StartsWith("right but "), HasSubstr("affine at n=20000")));
}

TEST_F(Judge, SaysByHowMuchAKernelIsFaster) {
  const Ended ended = judge(
      R"(extern "C" __global__ void heavy(const float* x, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < 50; ++k) v = v * 0.5f + x[i];
  z[i] = v;
})",
      "heavy");
  EXPECT_EQ(ended.status, kFaster) << ended.err << ended.out;
  EXPECT_THAT(ended.out, AllOf(StartsWith("right and "), HasSubstr("faster than heavy at n=2000")));
}

TEST_F(Judge, NotesWhichSizesItCouldNotCheck) {
  const Ended ended = judge(
      R"(extern "C" __global__ void affine(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = 2.0f * x[i] + y[i];
})");
  EXPECT_THAT(ended.out,
              AllOf(StartsWith("right "), HasSubstr("no other sizes than those with n % ")))
      << ended.err;
}

TEST_F(Judge, NotesASmallSizeThatTheReferenceDoesNotTake) {
  for (const char* const fails : {"z[i] = 0.0f / 0.0f", "*(volatile float*)8 = 0.0f"}) {
    const std::string text = kHeads.at("affine") + "  if (i >= n) return;\n  if (n <= 20) " +
                             fails + ";\n  else z[i] = 2.0f * x[i] + y[i];\n}\n";
    sandbox_.write("affine_plain.cu", text);
    const Ended ended = judge(kAffine);
    EXPECT_THAT(ended.out, AllOf(StartsWith("right "),
                                 HasSubstr("it was not checked at a size of the judge's own: ")))
        << ended.err;
  }
}

TEST_F(Judge, TakesParametersByTheirOrderIfNamesDiffer) {
  const Ended ended = judge(
      R"(extern "C" __global__ void other(const float* n, const float* b, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = n[i] + n[i] + b[i];
})");
  EXPECT_THAT(ended.out, StartsWith("right ")) << ended.err;
}

TEST_F(Judge, TakesAnExpressionOfALaunchForTheArgumentInItsPlace) {
  const auto judged = [&](const std::string& element) {
    sandbox_.write("fast.cu",
                   "__global__ void fast(float* y, const float* b, int all, int k) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < all) y[i] += b[" +
                       element + "];\n}\n");
    return sandbox_.run("judge fast.cu --against bias.cu --device host --sizes W=30,H=40");
  };
  sandbox_.write("bias.cu",
                 "__global__ void add_bias(float* x, const float* bias, int total, int W) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  if (i < total) x[i] += bias[i % W];\n}\n"
                 "void run(float* x, const float* bias, int H, int W) {\n"
                 "  add_bias<<<(H * W + 255) / 256, 256>>>(x, bias, H * W, W);\n}\n");
  const Ended right = judged("i % k"), wrong = judged("i & (k - 1)");
  EXPECT_THAT(right.out, StartsWith("right ")) << right.err;
  EXPECT_THAT(wrong.out, StartsWith("wrong: ")) << wrong.err;
}

TEST_F(Judge, NamesThePlaceOfAWrongElement) {
  const Ended ended = judge(
      R"(extern "C" __global__ void affine(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = i == 4711 ? 1.0f : 2.0f * x[i] + y[i];
})");
  EXPECT_EQ(ended.status, kIsWrong) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("wrong: n=20000: z[4711] is 1, expected "),
                               HasSubstr("1 of 20000 elements is wrong")));
}

TEST_F(Judge, FindsATimeThatNoDeviceReaches) {
  sandbox_.write("plain.cu", R"(
extern "C" __global__ void total(const int* x, int* sum, int n) {
  if (threadIdx.x != 0) return;
  int t = 0;
  for (int i = 0; i < n; ++i) t += x[i];
  sum[0] = t;
}
)");
  sandbox_.write("total.target.toml", R"(
manifest = 2
name = "total"
source = "plain.cu"
sizes = ["n"]
arguments.x = { type = "i32", length = "n", fill = "zero" }
arguments.sum = { type = "i32", length = 1, role = "output" }
work.bytes = "4 * n"
[kernels.total]
grid = 1
block = 32
arguments = ["x", "sum", "n"]
[reference]
configuration = "default"
)");
  sandbox_.write("knows_the_answer.cu", R"(
extern "C" __global__ void total(const int* x, int* sum, int n) {
  if (threadIdx.x == 0) sum[0] = 0;
}
)");
  const Ended ended = sandbox_.run(
      "judge knows_the_answer.cu --against plain.cu --manifest total.target.toml --sizes "
      "n=32000000 --device host");
  EXPECT_EQ(ended.status, kCheating) << ended.err << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("is less than its bytes take"));
}

TEST_F(Judge, TakesNoProcessorThatHasLearntBranchesForAKernelThatKeepsResults) {
  sandbox_.write("steps.cu", R"(
extern "C" __global__ void steps(const float* x, unsigned* y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  unsigned state = 1, sum = 0;
  for (int i = 0; i < 256; ++i) {
    const float v = x[row * 256 + i];
    if (v > 0.1f) { state = state * 1664525u + 1013904223u; sum += state >> 28; }
    if (v < -0.3f) { sum ^= 5; state ^= sum * 77; if (v < -0.6f) state = state / 3 + sum / 7; }
  }
  y[row] = sum;
}
)");
  const Ended ended = sandbox_.run(
      {"judge", "steps.cu", "--against", "steps.cu", "--sizes", "16", "--device", "host"});
  EXPECT_THAT(ended.out, StartsWith("right ")) << ended.err;
}

TEST_F(Judge, GivesAReceiptThatRepeatsTheVerdict) {
  const Ended first = judge(kAffine, "affine", "--json");
  const Json one = Json::parse(first.out);
  EXPECT_EQ(one["verdict"], "right") << first.out;
  EXPECT_EQ(one["status"], first.status);
  const Json& receipt = one["receipt"];
  EXPECT_EQ(receipt["problems"][0]["inputs"].size(), 2u);
  const std::string seed = receipt["seed"].dump();
  const Json other = Json::parse(judge(kAffine, "affine", format("--json --seed {}", seed)).out);
  EXPECT_EQ(other["receipt"]["problems"], receipt["problems"]);
  EXPECT_EQ(other["receipt"]["own_sizes"], receipt["own_sizes"]);
  const Json secret = Json::parse(judge(kAffine, "affine", "--json").out);
  EXPECT_NE(secret["receipt"]["problems"][0]["inputs"][0]["hash"],
            receipt["problems"][0]["inputs"][0]["hash"]);
}

TEST_F(Judge, TakesATargetAsTheReference) {
  sandbox_.write("candidate.cu", R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) c[i] = a[i] + b[i];
}
)");
  const Ended ended =
      sandbox_.run("judge candidate.cu --against vector_add --sizes 5000 --device host");
  EXPECT_THAT(ended.out, StartsWith("right ")) << ended.err;
}

TEST_F(Judge, VariesNoSizeThatAKernelDoesNotTake) {
  sandbox_.write("candidate.cu", kPlainProduct);
  const Ended ended = sandbox_.run("judge candidate.cu --against gemm --sizes 40 --device host");
  EXPECT_THAT(ended.out, AllOf(StartsWith("right "), HasSubstr("it does not take batch, lda, ")))
      << ended.err;
}

TEST_F(Judge, KeepsAKernelOfTheHostFromFilesAndProcessesOfOthers) {
  if (!confinement_here().ends_with("signals")) GTEST_SKIP() << "skipped: an older Landlock";
  const Sandbox other;
  const std::string secret = other.write("secret", "7"), made = other.folder() / "made";
  const Ended ended = judge(
      "extern \"C\" __device__ int open_file(const char*, int, int) asm(\"open\");\n"
      "extern \"C\" __device__ int send_signal(int, int) asm(\"kill\");\n"
      "extern \"C\" __device__ int parent() asm(\"getppid\");\n" +
      kHeads.at("affine") + "  if (i >= n) return; if (i == 0) send_signal(parent(), 9);\n" +
      "  int made = open_file(\"" + made + "\", 0101, 0600), read = open_file(\"" + secret +
      "\", 0, 0);\n" + "  int libraries = i == 0 ? open_file(\"/etc/ld.so.cache\", 0, 0) : 0;\n" +
      "  z[i] = 2.0f * x[i] + y[i] + (made >= 0 ? 1 : 0) + (read >= 0 ? 2 : 0) +"
      " (libraries < 0 ? 4 : 0); }");
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_THAT(ended.out, StartsWith("right ")) << ended.err;
}

TEST_F(Judge, LeavesNothingOfAKernelToTheNext) {
  const Cheat kernels[] = {
      {"left", "sets_a_variable", "affine",
       "extern \"C\" __device__ int set(const char*, const char*, int) asm(\"setenv\");",
       "if (i == 0) set(\"LEFT\", \"1\", 1); if (i < n) z[i] = 2.0f * x[i] + y[i]; }"},
      {"left", "reads_it", "affine",
       "extern \"C\" __device__ const char* get(const char*) asm(\"getenv\");",
       "if (i < n) z[i] = get(\"LEFT\") ? 0.0f : 2.0f * x[i] + y[i]; }"}};
  for (const Json& each : judge_all(kernels, "host")) EXPECT_EQ(each["verdict"], "right") << each;
}

TEST_F(Judge, EndsCopiesThatAKernelMakesOfItsProcess) {
  const Ended ended =
      judge("extern \"C\" __device__ int copy() asm(\"fork\");\n" + kHeads.at("affine") +
            "  static bool has_copy = false;\n  if (i == 0 && !has_copy) {\n"
            "    has_copy = true;\n    copy();\n  }\n"
            "  if (i < n) z[i] = 2.0f * x[i] + y[i];\n}\n");
  EXPECT_THAT(ended.out, StartsWith("right ")) << ended.err;
}

TEST_F(Judge, SaysThatAKernelIsMuchSlowerWhateverTheNoise) {
  const Ended ended =
      judge("extern \"C\" __device__ int wait(unsigned) asm(\"usleep\");\n" + kHeads.at("affine") +
            "  if (i == 0) wait(200000);\n"
            "  if (i < n) z[i] = 2.0f * x[i] + y[i];\n}\n");
  EXPECT_EQ(ended.status, kNotFaster) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("right but slower, 0.0")) << ended.err;
}

TEST_F(Judge, SaysWhatIsWrongWithItsArguments) {
  const auto said = [&](const Words& words, int status) {
    const Ended ended = sandbox_.run(words);
    EXPECT_EQ(ended.status, status) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(said("judge a.cu", kWrongUse), HasSubstr("--against"));
  sandbox_.write("bad.cu", "no kernel");
  EXPECT_THAT(said("judge a.cu --against bad.cu --device host", kWrongUse),
              HasSubstr("a.cu: there is no such file"))
      << "before the reference is read";
  EXPECT_THAT(said("judge affine_plain.cu --against nothing", kWrongUse), HasSubstr("nothing"));
  EXPECT_THAT(said("judge affine_plain.cu --against cublas --device host", kWrongUse),
              HasSubstr("--target"));
  EXPECT_THAT(said("judge affine_plain.cu --against row_sums_plain.cu --device host", kNotJudged),
              HasSubstr("takes x, which is no argument"));
  EXPECT_THAT(
      said("judge affine_plain.cu --against affine_plain.cu --device model:h200", kWrongUse),
      HasSubstr("the judge runs kernels"));
  sandbox_.write("program.target.toml",
                 "manifest = 2\nname = \"program\"\nsource = \"affine_plain.cu\"\nsizes = [\"n\"]\n"
                 "arguments.x = { type = \"f32\", length = \"n\" }\n"
                 "arguments.y = { type = \"f32\", length = \"n\" }\n"
                 "arguments.z = { type = \"f32\", length = \"n\", role = \"output\" }\n"
                 "run = [\"cp\", \"{x}\", \"{z}\"]\nreference.run = [\"cp\", \"{x}\", \"{z}\"]\n");
  const std::string program = "program.target.toml", kernel = "affine_plain.cu";
  for (const auto& [one, other] : {std::pair(program, kernel), std::pair(kernel, program)}) {
    EXPECT_THAT(said({"judge", one, "--against", other, "--device", "host"}, kNotJudged),
                HasSubstr("only kernels are judged"));
  }
  sandbox_.write("bad.jsonl", "{\"candidat\": \"a.cu\"}\n");
  EXPECT_THAT(said("judge --jobs bad.jsonl --device host", kNotJudged),
              AllOf(HasSubstr("bad.jsonl:1"), HasSubstr("candidat")));
}

}  // namespace
}  // namespace autotune::testing
