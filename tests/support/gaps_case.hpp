// SPDX-License-Identifier: Apache-2.0
// A kernel on buffers with gaps between their lines, for the host device and a GPU.
#pragma once

#include <string>

#include "tuner/core/device.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {

/// y = 2 x of three products of 4 rows of 5, of which lines of x are 7 apart and those of y 6. All
/// products share x.
struct Doubled {
  std::string body = "y[at_y] = 2 * x[at_x];";
  Role role = Role::output;
  std::string reference = "y[at_y] = 2.0 * x[at_x];";

  static std::string kernel(const std::string& name, const char* type, const std::string& body) {
    return format(
        "extern \"C\" __global__ void {}(float* x, {}* y) {{\n"
        "  for (int b = 0; b < 3; ++b)\n    for (int i = 0; i < 4; ++i)\n"
        "      for (int j = 0; j < 5; ++j) {{\n"
        "        const int at_x = 7 * i + j, at_y = 30 * b + 6 * i + j;\n        {}\n      "
        "}}\n}}\n",
        name, type, body);
  }
  static SourceUnit unit(const std::string& name, const std::string& text) {
    SourceUnit unit;
    unit.name = name + ".cu";
    unit.text = text;
    unit.entries = {name};
    return unit;
  }
  static LaunchPlan plan(const std::string& name) {
    return {{}, {{name, {}, {}, {}, 0, {BufferRef{0}, BufferRef{1}}}}};
  }

  Workload workload() const {
    Workload workload;
    workload.problem = "doubled";
    BufferSpec x{"x", ElementType::f32, 26, Role::input}, y{"y", ElementType::f32, 83, role};
    x.dims = y.dims = {5, 4, 3};
    x.strides = {7, 0};
    y.strides = {6, 30};
    y.tolerance = 1;
    x.shift = 4;
    workload.buffers = {x, y};
    const char* const type = role == Role::output ? "double" : "float";
    workload.reference_source = unit("reference", kernel("reference", type, reference));
    workload.reference = plan("reference");
    workload.float64_outputs = true;
    return workload;
  }

  /// On three runs, then in a chain that is timed.
  Verdict verdict(Device& device) const {
    const CompiledKernel compiled =
        device.compile(unit("doubled", kernel("doubled", "float", body)));
    if (compiled.outcome != Outcome::ok) return {compiled.outcome, compiled.log};
    const auto bench = device.open(workload());
    const auto candidate = bench->load(compiled, plan("doubled"));
    Verdict verdict = candidate->verify(3);
    if (verdict.outcome == Outcome::ok) candidate->time(2, L2State::hot);
    return verdict;
  }
};

}  // namespace autotune::testing
