// SPDX-License-Identifier: Apache-2.0
// wgmma for every type: products of 16 bits, of tf32 and of 8-bit integers. Only for sm_90a.
//
// wgmma multiplies 32 bytes of k at once. Operands of 16 bits may lie across k; tf32 and integers
// must lie along k, as wgmma.cuh has them: rows of 128 bytes, eight to an atom. The hardware does
// not read the lowest 13 bits of an f32: a tensor map of type tf32 rounds on the way to shared
// memory. Tensor maps of the host device do not, so the imitation of wgmma does.
#pragma once

#include "factor.cuh"
#include "wgmma.cuh"

#ifdef AUTOTUNE_HOST

template <Factor kFactor>
inline SumOf<kFactor> element_along_k(const MatrixDescriptor& lines, int row, int k) {
  const int plain =
      lines.offset + row / kAtomRows * lines.stride + row % kAtomRows * 128 + k * bytes_of(kFactor);
  const SharedAddress at = lines.at + (plain ^ (plain >> 3 & 112));
  if constexpr (kFactor == Factor::s8) return *shared_pointer<signed char>(at);
  return __uint_as_float(rounded_to_tf32(*shared_pointer<unsigned>(at)));
}

/// As Wgmma, of tf32 or s8.
template <Factor kFactor, int kColumns>
struct WgmmaAlongK {
  static void multiply(SumOf<kFactor> (&sums)[kColumns / 2], const MatrixDescriptor& a,
                       const MatrixDescriptor& b, bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int first_column = threadIdx.x % 4 * 2;
    for (int i = 0; i < kColumns / 2; ++i) {
      const int row = first_row + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + i % 2;
      if (!add) sums[i] = 0;
      for (int k = 0; k < 32 / bytes_of(kFactor); ++k)
        sums[i] += element_along_k<kFactor>(a, row, k) * element_along_k<kFactor>(b, column, k);
    }
  }
};

#else

template <Factor kFactor, int kColumns>
struct WgmmaAlongK;

// The operands of an instruction are numbered: first the sums, then o0 and so on.
#define DEFINE_WGMMA_ALONG_K(factor, Sum, types, flags, columns, count, o0, o1, o2)         \
  template <>                                                                               \
  struct WgmmaAlongK<factor, columns> {                                                     \
    static __device__ __forceinline__ void multiply(Sum (&sums)[count], MatrixDescriptor a, \
                                                    MatrixDescriptor b, bool add) {         \
      asm volatile(                                                                         \
          "{\n\t.reg .pred add;\n\t"                                                        \
          "setp.ne.b32 add, %" #o2                                                          \
          ", 0;\n\t"                                                                        \
          "wgmma.mma_async.sync.aligned.m64n" #columns types " {" WGMMA_REGISTERS_##count   \
          "}, %" #o0 ", %" #o1 ", add" flags ";\n\t}"                                       \
          : WGMMA_SUMS_##count                                                              \
          : "l"(a.bits), "l"(b.bits), "r"((int)add));                                       \
    }                                                                                       \
  };

#define DEFINE_WGMMA_TF32(...) \
  DEFINE_WGMMA_ALONG_K(Factor::tf32, float, "k8.f32.tf32.tf32", ", 1, 1", __VA_ARGS__)
#define DEFINE_WGMMA_S8(...) DEFINE_WGMMA_ALONG_K(Factor::s8, int, "k32.s32.s8.s8", "", __VA_ARGS__)

// s8 has fewer widths than tf32.
#define WGMMA_WIDTHS(define)                                                                      \
  define(8, 4, 4, 5, 6) define(16, 8, 8, 9, 10) define(24, 12, 12, 13, 14)                        \
      define(32, 16, 16, 17, 18) define(48, 24, 24, 25, 26) define(64, 32, 32, 33, 34)            \
          define(80, 40, 40, 41, 42) define(96, 48, 48, 49, 50) define(112, 56, 56, 57, 58)       \
              define(128, 64, 64, 65, 66) define(144, 72, 72, 73, 74) define(160, 80, 80, 81, 82) \
                  define(176, 88, 88, 89, 90) define(192, 96, 96, 97, 98)                         \
                      define(208, 104, 104, 105, 106) define(224, 112, 112, 113, 114)             \
                          define(240, 120, 120, 121, 122) define(256, 128, 128, 129, 130)

WGMMA_WIDTHS(DEFINE_WGMMA_TF32)
DEFINE_WGMMA_TF32(40, 20, 20, 21, 22)
DEFINE_WGMMA_TF32(56, 28, 28, 29, 30)
DEFINE_WGMMA_TF32(72, 36, 36, 37, 38)
DEFINE_WGMMA_TF32(88, 44, 44, 45, 46)
DEFINE_WGMMA_TF32(104, 52, 52, 53, 54)
DEFINE_WGMMA_TF32(120, 60, 60, 61, 62)

// What WGMMA_SUMS_… say of four sums: integers, from here on.
#undef WGMMA_FOUR
#define WGMMA_FOUR(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
WGMMA_WIDTHS(DEFINE_WGMMA_S8)

#endif

/// Of 64 rows and kColumns columns. `kAAcross`, `kBAcross`: lies across k.
template <Factor kFactor, int kColumns, bool kAAcross, bool kBAcross>
struct WgmmaProduct {
  /// sums += a b, or = a b without `add`.
  static __device__ __forceinline__ void multiply(SumOf<kFactor> (&sums)[kColumns / 2],
                                                  MatrixDescriptor a, MatrixDescriptor b,
                                                  bool add) {
    if constexpr (bytes_of(kFactor) == 2) {
      using Form = WgmmaForm<kFactor == Factor::bf16, kAAcross, kBAcross>;
      Wgmma<kColumns>::template multiply<Form>(sums, a, b, add);
    } else {
      static_assert(!kAAcross && !kBAcross, "only operands of 16 bits lie across k");
      WgmmaAlongK<kFactor, kColumns>::multiply(sums, a, b, add);
    }
  }
};
