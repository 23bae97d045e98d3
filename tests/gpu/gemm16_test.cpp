// SPDX-License-Identifier: Apache-2.0
// Random configurations of gemm in 16 bits compute the right thing on a GPU, in every type, layout,
// scale and epilogue. $AUTOTUNE_TEST_CONFIGURATIONS says how many a problem, 4 without.
#include <gmock/gmock.h>

#include <future>
#include <random>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

class Gemm16 : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (!IsSkipped() && device().info().compute_capability < 80) {
      GTEST_SKIP() << "mma.sync of 16 x 8 x 16 needs compute capability 8.0";
    }
  }

  static const Target& target() {
    static const Target loaded =
        load_manifest(source_folder() / "kernel_sources/gemm/gemm.target.toml");
    return loaded;
  }

  void expect_right(const NamedValues& sizes, const NamedValues& settings) {
    const Problem problem = problem_of(target(), sizes, settings);
    const DeviceInfo& info = device().info();
    const ParameterSpace space = space_of(target(), problem, info);
    const auto bench = device().open(workload_of(target(), problem, info));
    const char* const count = std::getenv("AUTOTUNE_TEST_CONFIGURATIONS");
    std::vector<std::pair<Configuration, std::future<CompiledKernel>>> compiled;
    for (std::size_t left = count ? std::strtoul(count, nullptr, 10) : 4; left > 0; --left) {
      const Configuration configuration = space.at(random_() % space.size());
      compiled.emplace_back(
          configuration, std::async(std::launch::async, [&, configuration] {
            return device().compile(source_unit(target(), problem, configuration, info));
          }));
    }
    for (auto& [configuration, result] : compiled) {
      SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
      const CompiledKernel kernel = result.get();
      ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
      const Verdict verdict =
          bench->load(kernel, launch_plan(target(), problem, configuration, info))->verify();
      EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
    }
  }

  std::mt19937_64 random_{16};
};

TEST_F(Gemm16, IsRightInEveryTypeLayoutScaleAndEpilogue) {
  const auto pick = [&](std::vector<std::string> choices) {
    return choices[random_() % choices.size()];
  };
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const char* dtype : {"f16", "bf16"}) {
      const std::string scale = pick({"none", "alpha", "beta"});
      const NamedValues settings{
          {"layout", layout},
          {"dtype", dtype},
          {"output", pick({dtype, "f32"})},
          {"scale", scale},
          {"epilogue", scale == "beta" ? pick({"none", "relu", "gelu"})
                                       : pick({"none", "bias", "bias_relu", "bias_gelu"})}};
      expect_right({{"M", 513}, {"N", 1031}, {"K", 1055}}, settings);
      expect_right({{"M", 512}, {"N", 384}, {"K", 1024}}, settings);
      expect_right({{"M", 8}, {"N", 1000}, {"K", 2048}}, settings);
    }
  }
}

}  // namespace
}  // namespace autotune
