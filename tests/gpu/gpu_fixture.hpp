// SPDX-License-Identifier: Apache-2.0
// A GPU with workloads that can be checked by hand, and figures for scripts/gpu_tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch_folder.hpp"
#include "tuner/core/device.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

/// Prints a line that scripts/gpu_tests collects: a measured value and its bound.
inline void figure(const std::string& what, const std::string& value, const std::string& bar = "") {
  std::printf("figure | %s | %s | %s\n", what.c_str(), value.c_str(), bar.c_str());
}

/// out = 2 x + y over n floats; the reference computes in double.
inline Workload saxpy_workload(std::int64_t n) {
  Workload workload;
  workload.problem = format("saxpy n={}", n);
  const auto input = [n](const char* name) {
    return BufferSpec{name, ElementType::f32, n, Role::input, Fill::random, 0};
  };
  workload.buffers = {
      input("x"), input("y"), {"out", ElementType::f32, n, Role::output, Fill::random, 2}};
  workload.reference_source.name = "reference.cu";
  workload.reference_source.text = R"(
extern "C" __global__ void reference(int n, float a, const float* x, const float* y, double* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = double(a) * x[i] + y[i];
  }
})";
  workload.reference_source.entries = {"reference"};
  const Scalar a{ElementType::f32, 0, 2.0};
  Launch launch;
  launch.entry = "reference";
  launch.grid.x = 64;
  launch.block.x = 256;
  launch.arguments = {Scalar{ElementType::i32, n, 0}, a, BufferRef{0}, BufferRef{1}, BufferRef{2}};
  workload.reference.launches = {launch};
  return workload;
}

/// One launch of `kernel` with the reference's arguments.
inline LaunchPlan saxpy_plan(std::int64_t n, std::int64_t block = 256) {
  LaunchPlan plan = saxpy_workload(n).reference;
  plan.launches[0].entry = "kernel";
  plan.launches[0].block.x = block;
  plan.launches[0].grid.x = (n + block - 1) / block;
  return plan;
}

inline SourceUnit unit_of(const std::string& text, std::vector<std::string> entries = {"kernel"}) {
  return {"kernel.cu", "", text, {}, {}, std::move(entries)};
}

/// A source with one kernel called `kernel`, on saxpy's arguments.
inline SourceUnit saxpy_unit(const std::string& body, const std::string& qualifiers = "") {
  return unit_of("extern \"C\" __global__ void " + qualifiers +
                 " kernel(int n, float a, const float* x, const float* y, float* out) {\n"
                 "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                 body + "\n}");
}

inline constexpr const char* kRightBody = "if (i < n) out[i] = a * x[i] + y[i];";

/// One device for the whole program, with its own cache folder, which is removed at the end.
class SharedGpu {
 public:
  static SharedGpu& instance() {
    static SharedGpu gpu;
    return gpu;
  }

  const ScratchFolder folder;
  std::unique_ptr<Device> device;  // none where there is no GPU

 private:
  SharedGpu() {
    if (cuda_devices().empty()) return;
    device = make_cuda_device(0, std::make_shared<BuildCache>(folder / "cache"));
  }
};

/// do_one(0) … do_one(count - 1) on all cores.
inline void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& do_one) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) do_one(i);
    });
  }
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (SharedGpu::instance().device == nullptr) GTEST_SKIP() << "there is no GPU here";
  }

  static Device& device() { return *SharedGpu::instance().device; }
  static const std::filesystem::path& folder() { return SharedGpu::instance().folder.path(); }
  CompiledKernel compiled(const SourceUnit& unit) {
    CompiledKernel kernel = device().compile(unit);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    return kernel;
  }
  /// The verdict on a kernel with this body.
  Verdict verdict_on(const std::string& body, std::int64_t n = 1000, int runs = 1) {
    const auto bench = device().open(saxpy_workload(n));
    return bench->load(compiled(saxpy_unit(body)), saxpy_plan(n))->verify(runs);
  }
};

}  // namespace autotune
