// SPDX-License-Identifier: Apache-2.0
// Kernels with CUDA's floating-point types of 8 bits, on the CPU.
#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

/// `body` sets `right`; the kernel copies where it holds.
KernelCase copy_where_right(const std::string& body) {
  return {.text =
              "#include <cuda_fp8.h>\n"
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
            float(infinite) == 57344.0f && float(__half(tie)) == 1.0f && sizeof(tie) == 1;)"));
}

TEST(EightBits, OverflowWithoutSaturationIsANanOrAnInfinity) {
  expect_right(copy_where_right(R"(
    right = __nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f &&
            __nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e &&
            __nv_cvt_float_to_fp8(-61440.0f, __NV_NOSAT, __NV_E5M2) == 0xfc &&
            __nv_cvt_float_to_fp8(465.0f, __NV_SATFINITE, __NV_E4M3) == 0x7e;)"));
}

}  // namespace
}  // namespace autotune
