// SPDX-License-Identifier: Apache-2.0
// cuBLAS computes what the targets mean, with every layout, scale, batch and padding.
#include <gmock/gmock.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/vendor_library.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/verdicts.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

class CublasPlugin : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (!IsSkipped() && !std::filesystem::exists(cublas_plugin())) {
      GTEST_SKIP() << cublas_plugin() << " is not there";
    }
  }

  static const Target& target(const std::string& name) {
    static std::map<std::string, Target> loaded;
    const auto manifest = source_folder() / "kernel_sources" / name / (name + ".target.toml");
    return loaded.try_emplace(name, load_manifest(manifest)).first->second;
  }

  /// Opened on a device that opens baselines.
  static std::unique_ptr<Workbench> opened(const Problem& problem, const Target& of) {
    static const auto device =
        make_cuda_device(0, std::make_shared<BuildCache>(folder() / "cache"), open_plugin_baseline);
    return device->open(workload_of(of, problem, device->info()));
  }

  /// Every way of it is right, and there are some.
  static void expect_right(const std::string& name, const NamedValues& sizes,
                           const NamedValues& settings, const NamedValues& free = {}) {
    const Target& of = target(name);
    Problem problem = problem_of(of, sizes, settings);
    problem.free = free;
    SCOPED_TRACE(name + " " + problem.text_with_free());
    const auto bench = opened(problem, of);
    const BaselineSource source{cublas_plugin(), name};
    const std::vector<std::string> ways = bench->baselines(source);
    EXPECT_FALSE(ways.empty());
    for (std::size_t i = 0; i < ways.size(); ++i) {
      SCOPED_TRACE(ways[i]);
      expect_right_verdict(bench->load_baseline(source, i)->verify());
    }
  }

  const NamedValues sizes_{{"M", 61}, {"N", 132}, {"K", 67}};
};

TEST_F(CublasPlugin, IsRightInEveryLayoutWithEveryScaleBatchAndPadding) {
  int number = 0;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const char* scale : {"none", "alpha", "beta"}) {
      const int batch = number % 2 == 0 ? 1 : 3, pad = number % 3 == 0   ? 0
                                                       : number % 3 == 1 ? 1
                                                                         : 4;
      const char* dtype = number++ % 4 == 3 ? "f64" : "f32";
      NamedValues sizes = sizes_;
      sizes.push_back({"batch", batch});
      expect_right("gemm", sizes,
                   {{"layout", layout}, {"scale", scale}, {"pad", pad}, {"dtype", dtype}});
    }
  }
}

TEST_F(CublasPlugin, ReadsLeadingDimensionsAndStrides) {
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    for (const char* scale : {"none", "beta"}) {
      const NamedValues settings{{"dtype", dtype}, {"layout", "NT"}, {"scale", scale}};
      expect_right("gemm", sizes_, settings,
                   {{"lda", 71}, {"ldb", 80}, {"ldc", 140}, {"ldd", 133}});
      NamedValues batch = sizes_;
      batch.push_back({"batch", 3});
      expect_right("gemm", batch, settings,
                   {{"lda", 72},
                    {"ldd", 136},
                    {"stride_a", 61 * 72 + 8},
                    {"stride_b", 0},
                    {"stride_d", 61 * 136 + 16}});
    }
  }
}

TEST_F(CublasPlugin, IsRightWithAnEpilogue) {
  expect_right("gemm", {{"M", 64}, {"N", 136}, {"K", 72}}, {{"epilogue", "bias_relu"}});
}

TEST_F(CublasPlugin, IsRightInSixteenBits) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* layout : {"NN", "TT"}) {
      for (const char* epilogue : {"none", "bias", "bias_relu"}) {
        for (const char* output : {dtype, "f32"}) {
          const bool adds_c = std::string(layout) == "NN" && std::string(epilogue) == "none";
          expect_right("gemm", {{"M", 64}, {"N", 136}, {"K", 72}},
                       {{"dtype", dtype},
                        {"output", output},
                        {"layout", layout},
                        {"scale", adds_c ? "beta" : "alpha"},
                        {"epilogue", epilogue}});
        }
      }
    }
  }
}

TEST_F(CublasPlugin, IsRightForBatchesInSixteenBits) {
  const NamedValues sizes{{"M", 64}, {"N", 136}, {"K", 72}, {"batch", 3}};
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    expect_right("gemm", sizes, {{"dtype", "f16"}, {"layout", layout}});
    expect_right("gemm", sizes,
                 {{"dtype", "f16"}, {"layout", layout}, {"output", "f32"}, {"scale", "beta"}});
    expect_right(
        "gemm", sizes,
        {{"dtype", "f16"}, {"layout", layout}, {"output", "f32"}, {"epilogue", "bias_relu"}});
  }
}

TEST_F(CublasPlugin, IsRightInEightBits) {
  for (const char* layout : {"NN", "NT", "TN", "TT"})
    expect_right("gemm", {{"M", 64}, {"N", 128}, {"K", 96}}, {{"dtype", "i8"}, {"layout", layout}});
}

TEST_F(CublasPlugin, IsRightInTf32) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    expect_right("gemm", sizes_, {{"math", "tf32"}, {"layout", layout}, {"scale", "beta"}});
    expect_right("gemm", sizes_, {{"math", "tf32"}, {"layout", layout}, {"epilogue", "bias_relu"}});
  }
}

TEST_F(CublasPlugin, WhatItDoesNotDoItDeclinesWithAReason) {
  const Target gemm = target("gemm");
  const auto bench = opened(problem_of(gemm, sizes_, {{"dtype", "i32"}}), gemm);
  try {
    bench->baselines({cublas_plugin(), "gemm"});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no product that is summed in dtype i32"));
  }
}

}  // namespace
}  // namespace autotune
