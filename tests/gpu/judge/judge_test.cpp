// SPDX-License-Identifier: Apache-2.0
// The judge on a GPU: kernels that cheat, those that need a GPU for it too, and libraries.
#include "tests/judge/cheats.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/worker/confinement.hpp"

namespace autotune::testing {
namespace {

class CheatsOnGpu : public Cheats {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "skipped: there is no GPU";
  }
};

using CheatsOfDeviceCode = CheatsOnGpu;
TEST_P(CheatsOfDeviceCode, AreRefused) { expect_refused(kCheatsOfDevice, GetParam(), "cuda"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsOfDeviceCode, ::testing::ValuesIn(kinds_of(kCheatsOfDevice)),
                         kind_name);

class JudgeOnGpu : public Judge {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "skipped: there is no GPU";
  }
};

TEST_F(JudgeOnGpu, FindsACopyOfAShippedKernelWithinNoise) {
  const std::string copy = source_folder() / "kernel_sources/gemm/gemm.target.toml";
  const Ended ended =
      sandbox_.run({"judge", copy, "--against", "gemm", "--sizes", "1024", "--device", "cuda"});
  EXPECT_THAT(ended.out, StartsWith("right but within noise of gemm")) << ended.err;
}

TEST_F(JudgeOnGpu, ComparesAPlainProductWithCublas) {
  sandbox_.write("plain.cu", kPlainProduct);
  const Ended ended = sandbox_.run({"judge", "plain.cu", "--against", "cublas", "--target", "gemm",
                                    "--sizes", "512", "--device", "cuda"});
  if (ended.err.find("no plugin of cuBLAS") != std::string::npos) GTEST_SKIP() << ended.err;
  EXPECT_EQ(ended.status, kNotFaster) << ended.err << ended.out;
  EXPECT_THAT(ended.out, StartsWith("right but slower, "));
  EXPECT_THAT(ended.out, HasSubstr("of the speed of cublas: "));
}

TEST_F(JudgeOnGpu, ConfinesItsWorkerAsFarAsTheSystemCan) {
  const Ended ended = sandbox_.run({"judge", "affine_plain.cu", "--against", "affine_plain.cu",
                                    "--sizes", "n=100000", "--device", "cuda", "--json"});
  ASSERT_EQ(ended.status, kNotFaster) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["receipt"]["confined"], confinement_here());
}

using CheatsByMeansOfGpus = CheatsOnGpu;
TEST_P(CheatsByMeansOfGpus, AreRefused) { expect_refused(kCheatsOfGpu, GetParam(), "cuda"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsByMeansOfGpus, ::testing::ValuesIn(kinds_of(kCheatsOfGpu)),
                         kind_name);

}  // namespace
}  // namespace autotune::testing
