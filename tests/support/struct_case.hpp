// SPDX-License-Identifier: Apache-2.0
// A kernel over structs with members of several types, the same on every device.
#pragma once

#include <string>

#include "tuner/core/device.hpp"

namespace autotune::testing {

inline constexpr const char* kBody = R"(
struct Body {
  float mass;
  long long id;
  float x;
};
static_assert(sizeof(Body) == 24, "as the manifest says");
)";

/// As the manifest's `types.body = { mass = "f32", id = "i64", x = "f32" }`.
inline std::vector<Member> body_members() {
  return laid_out({{"mass", ElementType::f32}, {"id", ElementType::i64}, {"x", ElementType::f32}});
}

/// A kernel `name` with this statement for body `i`.
inline SourceUnit body_unit(const std::string& name, const std::string& statement) {
  return {"bodies.cu",
          "",
          std::string(kBody) + "extern \"C\" __global__ void " + name +
              "(const Body* in, Body* out, int n) {\n"
              "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
              "       i += gridDim.x * blockDim.x) " +
              statement + "\n}\n",
          {},
          {},
          {name}};
}

inline LaunchPlan body_plan(const std::string& name, std::int64_t n) {
  return {{},
          {{name, {4}, {64}, {}, 0, {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, n, 0}}}}};
}

inline constexpr const char* kRightBody = "out[i] = {2 * in[i].mass, in[i].id + 1, in[i].x};";

/// The reference writes structs as declared, although it writes plain outputs as double.
inline Workload body_workload(std::int64_t n) {
  Workload workload;
  workload.problem = "bodies";
  workload.buffers = {{"in", ElementType::f32, n, Role::input},
                      {"out", ElementType::f32, n, Role::output, Fill::random, 2}};
  for (BufferSpec& buffer : workload.buffers) buffer.members = body_members();
  workload.reference_source = body_unit("reference", kRightBody);
  workload.reference = body_plan("reference", n);
  return workload;
}

/// The verdict on three runs of a kernel with this statement.
inline Verdict body_verdict(Device& device, const std::string& statement, std::int64_t n = 1000) {
  const auto bench = device.open(body_workload(n));
  const CompiledKernel kernel = device.compile(body_unit("kernel", statement));
  if (kernel.outcome != Outcome::ok) return {kernel.outcome, kernel.log};
  return bench->load(kernel, body_plan("kernel", n))->verify(3);
}

}  // namespace autotune::testing
