// SPDX-License-Identifier: Apache-2.0
// A kernel under test: its text, buffers, one launch, and reference.
#pragma once

#include <memory>
#include <string>

#include "tuner/host/host_device.hpp"

namespace autotune {

/// Element i of `out` (i32, n elements) must be `expected(in, i)`.
struct KernelCase {
  std::string text;                // of `kernel(const int* in, int* out, int n)`
  std::string expected = "in[i]";  // for element i
  std::int64_t n = 64;
  Dim3 grid = {}, block = {};
  std::int64_t dynamic_shared_bytes = 0;
  ElementType type = ElementType::i32;
  std::string entry = "kernel";

  std::string element() const {
    return type == ElementType::i32 ? "int" : type == ElementType::i64 ? "long long" : "float";
  }

  SourceUnit unit() const {
    SourceUnit unit;
    unit.name = "case.cu";
    unit.text = text;
    unit.include_folders = {AUTOTUNE_SOURCE_DIR "/kernel_sources"};
    unit.entries = {entry};
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

  LaunchPlan plan() const { return plan(entry, grid, block, dynamic_shared_bytes); }

  LaunchPlan plan(const std::string& entry, Dim3 blocks, Dim3 threads, std::int64_t shared) const {
    const Scalar length{ElementType::i32, n, 0};
    Launch launch{entry, blocks, threads, {}, shared, {BufferRef{0}, BufferRef{1}, length}};
    return {{}, {launch}};
  }
};

/// A cache below the test's folder; a second run compiles nothing.
inline std::shared_ptr<BuildCache> test_cache() {
  return std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache");
}

}  // namespace autotune
