// SPDX-License-Identifier: Apache-2.0
// Kernels with CUDA's floating-point types of 8 bits, on the CPU.
#include "tests/support/matchers.hpp"
#include "tests/support/struct_case.hpp"
#include "tests/support/texture_case.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char *kEightBits = "#include <cuda_fp8.h>\n",
                     *kSixteenBits = "#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n";

/// `body` sets `right`; the kernel copies where it holds.
KernelCase copy_where_right(const std::string& body, const std::string& headers = kSixteenBits) {
  return {.text = headers +
                  "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                  "  const int i = threadIdx.x;\n  bool right = false;\n" +
                  body + "\n  out[i] = right ? in[i] : 12345;\n}\n",
          .block = {64}};
}

TEST(EightBits, AreRoundedToNearestAndSaturate) {
  expect_right(copy_where_right(R"(
    const __nv_fp8_e4m3 tie(1 + 0x1p-4f), large(1e6f), half(__half(0.5f));
    const __nv_fp8_e5m2 infinite(1e38f * 1e38f);
    right = float(tie) == 1.0f && large.__x == 0x7e && float(half) == 0.5f &&
            float(infinite) == 57344.0f && float(__half(tie)) == 1.0f && sizeof(tie) == 1;)",
                                kEightBits));
}

TEST(EightBits, OverflowWithoutSaturationIsANanOrAnInfinity) {
  expect_right(copy_where_right(R"(
    right = __nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f &&
            __nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e &&
            __nv_cvt_float_to_fp8(-61440.0f, __NV_NOSAT, __NV_E5M2) == 0xfc &&
            __nv_cvt_float_to_fp8(465.0f, __NV_SATFINITE, __NV_E4M3) == 0x7e;)",
                                kEightBits));
}

// Kernels with CUDA's types of 16 bits, on the CPU.

TEST(SixteenBits, AreRoundedOnceToNearestTiesToEven) {
  expect_right(copy_where_right(R"(
    const __half one = __float2half(1.0f), step = __float2half(0x1p-10f);
    const __half tie = __hadd(one, __hmul(step, __float2half(0.5f)));
    const __half odd = __hadd(__hadd(one, step), step * __half(0.5f));
    const __half fused = __hfma(step, __half(0x1.8p-1f), one);  // 1 + 0.75 steps
    right = __half2float(tie) == 1.0f && float(odd) == 1 + 0x1p-9f && fused == one + step &&
            __half_as_ushort(__half(65520.0f)) == 0x7c00 &&
            __bfloat162float(__float2bfloat16(1 + 0x1p-8f)) == 1.0f &&
            __bfloat16_as_ushort(__nv_bfloat16(-2)) == 0xc000;)"));
}

/// 2^-8 + 2^-60 is past the tie between 1 and its neighbour; double does not hold the sum.
TEST(SixteenBits, FusedProductsAreNotRoundedTwice) {
  expect_right(copy_where_right(R"(
    const __nv_bfloat16 a = 1 + 0x1p-7f, tiny = 0x1p-60f;
    const __nv_bfloat16 product = __hfma(a, __nv_bfloat16(1 + 0x1p-1f), __nv_bfloat16(0.0f));
    const __nv_bfloat16 above = __hfma(a, __nv_bfloat16(1 + 0x1p-1f), tiny);
    right = __bfloat16_as_ushort(above) == __bfloat16_as_ushort(product) + 1 ||
            float(product) > 1.5f * (1 + 0x1p-7f);)"));
}

TEST(SixteenBits, PairsLoadAndCalculateTogether) {
  expect_right(copy_where_right(R"(
    __shared__ __align__(4) __half values[64];
    values[i] = __int2half_rn(i);
    __syncthreads();
    const __half2 pair = reinterpret_cast<const __half2*>(values)[i / 2];
    const float2 twice = __half22float2(__hfma2(pair, __float2half2_rn(2.0f), __half2half2(pair.x)));
    __half2 sum = pair;
    sum += __halves2half2(pair.y, pair.x);
    const __nv_bfloat162 other = __floats2bfloat162_rn(1.0f, 2.0f);
    right = twice.x == 3 * (i / 2 * 2) && twice.y == 2 * (i / 2 * 2 + 1) + i / 2 * 2 &&
            __low2float(sum) == __high2float(sum) && __high2float(other) == 2.0f &&
            sizeof(pair) == 4;)"));
}

TEST(SixteenBits, MoveThroughShufflesAndAtomics) {
  expect_right(copy_where_right(R"(
    __shared__ __half sum;
    if (i == 0) sum = __half(0);
    __syncthreads();
    const __half other = __shfl_xor_sync(~0u, __int2half_rn(i), 1);
    atomicAdd(&sum, __ushort_as_half(0x3c00));
    __syncthreads();
    right = float(other) == (i ^ 1) && float(sum) == 64 && __hlt(__half(1), __half(2)) &&
            float(hsqrt(__half(4))) == 2 && __hisnan(hsqrt(-__half(1)));)"));
}

// What a kernel may lose: rounding errors of f32 in any order, and not the precision of f32.

/// y[i] = sum over k of a[i,k] b[i,k], of 32 rows. The kernel rounds its inputs with `rounding` if
/// k is at least 1024.
struct RowProducts {
  std::int64_t k = 1024;
  std::string rounding = "x";  // of a float x; `cut(x, bits)` keeps the upper bits

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
        {"a", ElementType::f32, 32 * k, Role::input},
        {"b", ElementType::f32, 32 * k, Role::input},
        {"y", ElementType::f32, 32, Role::output, Fill::random, static_cast<double>(k + 4)}};
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
      extern "C" __global__ void rows(const float* a, const float* b, float* y, int k) {{
        float s = 0;
        for (int i = threadIdx.x * k; i < (threadIdx.x + 1) * k; ++i) {{
          s += rounded(a[i], k) * rounded(b[i], k);
        }}
        y[threadIdx.x] = s;
      }})",
                                                                      rounding)));
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    return device->open(workload)->load(kernel, plan("rows"))->verify();
  }
};

TEST(Precision, ThatFallsWhereSumsAreLongIsFoundOut) {
  for (const std::int64_t k : {1024, 4096, 8192}) {
    for (const char* const rounding : {"cut(x, 11)", "cut(x, 8)"}) {
      const Verdict verdict = RowProducts{k, rounding}.verdict();
      EXPECT_EQ(verdict.outcome, Outcome::wrong) << k << " " << rounding;
    }
    const Verdict plain = RowProducts{k, "x"}.verdict();
    EXPECT_EQ(plain.outcome, Outcome::ok) << k << ": " << plain.message;
  }
  EXPECT_THAT((RowProducts{8192, "cut(x, 11)"}.verdict().message),
              HasSubstr("products or sums are less precise than f32"));
}

// Texture objects on the host device.

TEST(TexturesOnHost, AreReadAsDeclared) {
  testing::expect_textures_are_read(*make_host_device(test_cache()));
}

TEST(TexturesOnHost, OfOneDimensionAreFetchedAndZeroBehindTheirEnd) {
  expect_right_verdict(testing::fetch_verdict(*make_host_device(test_cache())));
}

// Buffers of structs with members of several types on the host device.

Verdict verdict_on(const std::string& statement) {
  return testing::body_verdict(*make_host_device(test_cache()), statement);
}

TEST(StructsOnHost, ARightKernelPasses) { expect_right_verdict(verdict_on(testing::kRightBody)); }

TEST(StructsOnHost, WhatIsWrongIsNamedByItsMember) {
  const std::string right = testing::kRightBody;
  const std::pair<std::string, const char*> cases[] = {
      {"out[i] = {2 * in[i].mass, in[i].id + (i == 700 ? 2 : 1), in[i].x};", "out.id[700] is "},
      {"out[i] = {2 * in[i].mass, in[i].id + (i == 700 ? 2 : 1), in[i].x};",
       "1 of 1000 elements is wrong"},
      {"out[i].mass = 2 * in[i].mass, out[i].x = in[i].x;", "out.id[0]"},
      {"{ " + right + " if (i == 3) const_cast<Body*>(in)[i].x = 7; }",
       "the input in.x was changed: in.x[3] was"},
      {"{ " + right + " if (i == 3) out[n].mass = 7; }", "wrote out[1000], outside out[0..999]"}};
  for (const auto& [body, words] : cases) expect_wrong_verdict(verdict_on(body), words);
}

}  // namespace
}  // namespace autotune
