// SPDX-License-Identifier: Apache-2.0
// What a kernel may lose: rounding errors of f32 in any order, and not the precision of f32.
#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

/// y[i] = sum over k of a[i,k] b[i,k], of 32 rows. The kernel rounds its inputs with `rounding` if
/// k is at least 1024.
struct RowProducts {
  std::int64_t k = 1024;
  std::string rounding = "x";  // of a float x; `cut(x, bits)` keeps the upper bits
  std::string sum = "s += a[at] * b[at]";
  Fill fill = Fill::random;

  SourceUnit unit(const std::string& name, const std::string& body) const {
    SourceUnit unit;
    unit.name = name + ".cu";
    unit.text = body;
    unit.entries = {name};
    return unit;
  }

  LaunchPlan plan(const std::string& name) const {
    const Scalar depth{ElementType::i32, k, 0};
    return {{}, {{name, {}, {32}, {}, 0, {BufferRef{0}, BufferRef{1}, BufferRef{2}, depth}}}};
  }

  Verdict verdict() const {
    const auto device = make_host_device(test_cache());
    Workload workload;
    workload.problem = "rows";
    workload.buffers = {
        {"a", ElementType::f32, 32 * k, Role::input, fill},
        {"b", ElementType::f32, 32 * k, Role::input, fill},
        {"y", ElementType::f32, 32, Role::output, Fill::random, static_cast<double>(k + 4)}};
    if (fill != Fill::random) {
      workload.buffers[0].fill_values = workload.buffers[1].fill_values = {0, 1};
    }
    workload.reference_source = unit("reference", R"(
      extern "C" __global__ void reference(const float* a, const float* b, double* y, int k) {
        double s = 0;
        for (int i = 0; i < k; ++i) s += (double)a[threadIdx.x * k + i] * b[threadIdx.x * k + i];
        y[threadIdx.x] = s;
      })");
    workload.reference = plan("reference");
    workload.float64_outputs = true;
    const CompiledKernel kernel = device->compile(unit("rows", format(R"(
      __device__ float cut(float x, int bits) {{
        const unsigned u = __float_as_uint(x), drop = 24 - bits;
        return __uint_as_float((u + (1u << (drop - 1))) >> drop << drop);
      }}
      __device__ float rounded(float x, int k) {{ return k < 1024 ? x : {0}; }}
      #define a(at) rounded(a[at], k)
      #define b(at) rounded(b[at], k)
      extern "C" __global__ void rows(const float* a, const float* b, float* y, int k) {{
        float s = 0;
        for (int i = 0, at = threadIdx.x * k; i < k; ++i, ++at) {1};
        y[threadIdx.x] = s;
      }})",
                                                                      rounding, sum)));
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    return device->open(workload)->load(kernel, plan("rows"))->verify();
  }
};

TEST(Precision, ThatFallsWhereSumsAreLongIsFoundOut) {
  for (const std::int64_t k : {1024, 4096, 8192}) {
    for (const char* const rounding : {"cut(x, 11)", "cut(x, 8)"}) {
      const Verdict verdict = RowProducts{k, rounding, "s += a(at) * b(at)"}.verdict();
      EXPECT_EQ(verdict.outcome, Outcome::wrong) << k << " " << rounding;
    }
    const Verdict plain = RowProducts{k, "x", "s += a(at) * b(at)"}.verdict();
    EXPECT_EQ(plain.outcome, Outcome::ok) << k << ": " << plain.message;
  }
  EXPECT_THAT((RowProducts{8192, "cut(x, 11)", "s += a(at) * b(at)"}.verdict().message),
              HasSubstr("products or sums are less precise than f32"));
}

TEST(Precision, OfF32IsEnoughInAnyOrder) {
  const char* const in_blocks =
      "{ float part = 0; for (int end = min(i + 64, k); i < end; ++i, ++at) "
      "part = fmaf(a[at], b[at], part); s += part; --i, --at; }";
  const char* const backwards = "s = fmaf(b[at + k - 1 - 2 * i], a[at + k - 1 - 2 * i], s)";
  for (const std::int64_t k : {1, 1024, 8192}) {
    for (const Fill fill : {Fill::random, Fill::uniform, Fill::normal}) {
      for (const char* const sum : {"s += a[at] * b[at]", in_blocks, backwards}) {
        RowProducts rows{k, "x", sum, fill};
        const Verdict verdict = rows.verdict();
        EXPECT_EQ(verdict.outcome, Outcome::ok) << k << " " << sum << ": " << verdict.message;
      }
    }
  }
}

/// out[i] = `formula` of x = in[i], from `least` to `greatest`, against `right`.
Verdict verdict_on(const std::string& formula, const std::string& right, double least,
                   double greatest) {
  const KernelCase one{.text =
                           "extern \"C\" __global__ void kernel(const float* in, float* out, "
                           "int n) { for (int i = 0; i < n; ++i) { const float x = in[i]; "
                           "out[i] = " +
                           formula + "; } }",
                       .expected = right,
                       .type = ElementType::f32};
  Workload workload = one.workload();
  workload.buffers[0].fill = Fill::uniform;
  workload.buffers[0].fill_values = {least, greatest};
  const auto device = make_host_device(test_cache());
  return device->open(workload)->load(device->compile(one.unit()), one.plan())->verify();
}

TEST(Precision, IsJudgedWhereMagnitudesAreNotFinite) {
  const Verdict spoilt = verdict_on("x < -88.9f ? 12345.0f : expf(x)", "expf(in[i])", -100, 100);
  EXPECT_EQ(spoilt.outcome, Outcome::wrong);
  EXPECT_THAT(spoilt.message, HasSubstr("is 12345, expected"));
  EXPECT_THAT(spoilt.message, HasSubstr("on absolute inputs, the reference of out is not finite"));
  EXPECT_EQ(verdict_on("expf(x)", "expf(in[i])", -100, 88).outcome, Outcome::ok);
  const Verdict rounded = verdict_on("sqrtf(-x) * 1.0000001f", "sqrtf(-in[i])", -4, -0.5);
  EXPECT_EQ(rounded.outcome, Outcome::ok) << rounded.message;
  EXPECT_THAT(rounded.message, HasSubstr("is not finite in 64 of 64 elements"));
}

TEST(Precision, OfSubnormalNumbersIsTheirUnit) {
  const Verdict right =
      verdict_on("(float)(x * 1e-42)", "(float)(in[i] * (1e-42 + 1e-50))", 0.5, 1);
  EXPECT_EQ(right.outcome, Outcome::ok) << right.message;
  EXPECT_EQ(verdict_on("(float)(x * 1e-42)", "(float)(in[i] * 2e-42)", 0.5, 1).outcome,
            Outcome::wrong);
}

}  // namespace
}  // namespace autotune
