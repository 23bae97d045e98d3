// SPDX-License-Identifier: Apache-2.0
// A kernel under test: its text, buffers, one launch, and reference.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/host/host_device.hpp"

namespace autotune {

/// Element i of `out` (i32, n elements) must be `expected(in, i)`.
struct KernelCase {
  std::string text;                // of `kernel(const int* in, int* out, int n)`
  std::string expected = "in[i]";  // for element i
  std::int64_t n = 64;
  Dim3 grid = {}, block = {};
  std::int64_t dynamic_shared_bytes = 0;
  Dim3 cluster = {};
  ElementType type = ElementType::i32;
  std::string entry = "kernel";
  bool cooperative = false;

  std::string element() const {
    return type == ElementType::i32 ? "int" : type == ElementType::i64 ? "long long" : "float";
  }

  SourceUnit unit() const {
    SourceUnit unit;
    unit.name = "case.cu";
    unit.text = text;
    unit.include_folders = {AUTOTUNE_SOURCE_DIR "/kernel_sources"};
    unit.options = {std::string(kCheckedAccesses)};
    unit.entries = {entry};
    if (cooperative) unit.cooperative = unit.entries;
    return unit;
  }

  Workload workload() const {
    Workload workload;
    workload.problem = "case";
    workload.buffers = {{"in", type, n, Role::input, Fill::random, 0},
                        {"out", type, n, Role::output, Fill::random, 4}};
    workload.reference_source.name = "reference.cu";
    workload.reference_source.text =
        "extern \"C\" __global__ void reference(const " + element() + "* in, " + element() +
        "* out, int n) { for (int i = 0; i < n; ++i) out[i] = " + expected + "; }\n";
    workload.reference_source.entries = {"reference"};
    workload.reference = plan("reference", {}, {}, 0);
    workload.float64_outputs = false;
    return workload;
  }

  LaunchPlan plan() const {
    LaunchPlan made = plan(entry, grid, block, dynamic_shared_bytes);
    made.launches[0].cluster = cluster;
    made.launches[0].cooperative = cooperative;
    return made;
  }

  LaunchPlan plan(const std::string& name, Dim3 blocks, Dim3 threads, std::int64_t shared) const {
    const Scalar length{ElementType::i32, n, 0};
    Launch launch{name, blocks, threads, {}, shared, {BufferRef{0}, BufferRef{1}, length}};
    return {{}, {launch}};
  }
};

/// A cache below the test's folder; a second run compiles nothing.
inline std::shared_ptr<BuildCache> test_cache() {
  return std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache");
}

inline constexpr const char* kCopy =
    "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = in[i];\n}\n";

/// A kernel that is loaded on the host device.
struct Opened {
  explicit Opened(const KernelCase& one) : Opened(one, one.workload(), one.plan()) {}
  Opened(const KernelCase& one, const Workload& workload, const LaunchPlan& plan)
      : device(make_host_device(test_cache())), bench(device->open(workload)) {
    const CompiledKernel kernel = device->compile(one.unit());
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    candidate = bench->load(kernel, plan);
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Workbench> bench;
  std::unique_ptr<Candidate> candidate;
};

/// How the kernel's runs compare with the reference.
inline Verdict verdict_of(const KernelCase& kernel_case, HostOptions options = {}, int runs = 1) {
  const auto device = make_host_device(test_cache(), options);
  const CompiledKernel kernel = device->compile(kernel_case.unit());
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  const auto bench = device->open(kernel_case.workload());
  return bench->load(kernel, kernel_case.plan())->verify(runs);
}

/// In whatever order threads run.
inline void expect_right(const KernelCase& kernel_case) {
  for (const auto order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    const Verdict verdict = verdict_of(kernel_case, {.order = order});
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  }
}

/// How a kernel that is not right ends, and what is said of it.
inline Outcome refusal_of(const KernelCase& kernel_case, std::string* message) {
  try {
    const Verdict verdict = verdict_of(kernel_case);
    *message = verdict.message;
    return verdict.outcome;
  } catch (const KernelFailure& failure) {
    *message = failure.what();
    return failure.outcome();
  }
}

}  // namespace autotune
