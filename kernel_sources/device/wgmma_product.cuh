// SPDX-License-Identifier: Apache-2.0
// wgmma for every type: products of 16 bits, of tf32 and of 8-bit integers. Only for sm_90a.
//
// wgmma multiplies 32 bytes of k at once. Operands of 16 bits may lie across k; tf32 and integers
// must lie along k, as wgmma.cuh has them: rows of 128 bytes, eight to an atom. Rows of tf32 that
// lie across k pass through registers: RowsAcross. The hardware does
// not read the lowest 13 bits of an f32: a tensor map of type tf32 rounds on the way to shared
// memory. Tensor maps of the host device do not, so the imitation of wgmma does.
#pragma once

#include "factor.cuh"
#include "wgmma.cuh"

/// The byte of row `row` at `k` in a slab across k: pieces of 32 rows, of 32 lines of 128 bytes
/// each, one k to a line. The 16-byte chunks of a line are swizzled.
__device__ __forceinline__ int byte_across(int row, int k) {
  return row / 32 * 4096 + k * 128 + (row % 32 / 4 ^ k % 8) * 16 + row % 4 * 4;
}

#ifdef AUTOTUNE_HOST

/// Of 64 rows in a slab across k, 8 of k.
struct RowsAcross {
  SharedAddress slab;
  int step;
  float element(int row, int k) const {
    const auto at = shared_pointer<unsigned>(slab + byte_across(row, step * 8 + k));
    return __uint_as_float(rounded_to_tf32(*at));
  }
  void keep() const {}
};
inline RowsAcross load_rows(SharedAddress slab, int step) { return {slab, step}; }

template <Factor kFactor>
inline float factor_of(const RowsAcross& rows, int row, int k) {
  return rows.element(row, k);
}
template <Factor kFactor>
inline SumOf<kFactor> factor_of(const MatrixDescriptor& lines, int row, int k) {
  const int plain =
      lines.offset + row / kAtomRows * lines.stride + row % kAtomRows * 128 + k * bytes_of(kFactor);
  const SharedAddress at = lines.at + (plain ^ (plain >> 3 & 112));
  if constexpr (kFactor == Factor::s8) return *shared_pointer<signed char>(at);
  return __uint_as_float(rounded_to_tf32(*shared_pointer<unsigned>(at)));
}

/// As Wgmma, of tf32 or s8.
template <Factor kFactor, int kColumns>
struct WgmmaAlongK {
  template <class Rows>
  static void multiply(SumOf<kFactor> (&sums)[kColumns / 2], const Rows& a,
                       const MatrixDescriptor& b, bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int first_column = threadIdx.x % 4 * 2;
    for (int i = 0; i < kColumns / 2; ++i) {
      const int row = first_row + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + i % 2;
      if (!add) sums[i] = 0;
      for (int k = 0; k < 32 / bytes_of(kFactor); ++k)
        sums[i] += factor_of<kFactor>(a, row, k) * factor_of<kFactor>(b, column, k);
    }
  }
};

#else

/// Of 64 rows in a slab across k, 8 of k: the part of a thread.
struct RowsAcross {
  unsigned words[4];
  /// Keeps the registers until here.
  __device__ __forceinline__ void keep() const {
    asm volatile("" ::"r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
  }
};

__device__ __forceinline__ RowsAcross load_rows(SharedAddress slab, int step) {
  const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  const int k = step * 8 + threadIdx.x % 4;
  RowsAcross rows;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SharedAddress at = slab + byte_across(row + i % 2 * 8, k + i / 2 * 4);
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(rows.words[i]) : "r"(at) : "memory");
  }
  return rows;
}

template <Factor kFactor, int kColumns>
struct WgmmaAlongK;

#define WGMMA_ALONG_K(columns, count, types, operands, condition, flags)          \
  "{\n\t.reg .pred add;\n\t"                                                      \
  "setp.ne.b32 add, " condition                                                   \
  ", 0;\n\t"                                                                      \
  "wgmma.mma_async.sync.aligned.m64n" #columns types " {" WGMMA_REGISTERS_##count \
      "}, " operands ", add" flags ";\n\t}"

// The operands of an instruction are numbered: first the sums, then o0 and so on, those of A and B,
// and `add`.
#define DEFINE_WGMMA_TF32(columns, count, o0, o1, o2, o3, o4, o5)                                 \
  template <>                                                                                     \
  struct WgmmaAlongK<Factor::tf32, columns> {                                                     \
    static __device__ __forceinline__ void multiply(float (&sums)[count], MatrixDescriptor a,     \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(                                                                               \
          WGMMA_ALONG_K(columns, count, "k8.f32.tf32.tf32", "%" #o0 ", %" #o1, "%" #o2, ", 1, 1") \
          : WGMMA_SUMS_##count                                                                    \
          : "l"(a.bits), "l"(b.bits), "r"((int)add));                                             \
    }                                                                                             \
    static __device__ __forceinline__ void multiply(float (&sums)[count], const RowsAcross& a,    \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(                                                                               \
          WGMMA_ALONG_K(columns, count, "k8.f32.tf32.tf32",                                       \
                        "{%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}, %" #o4, "%" #o5, ", 1, 1")     \
          : WGMMA_SUMS_##count                                                                    \
          : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "l"(b.bits),      \
            "r"((int)add));                                                                       \
    }                                                                                             \
  };

#define DEFINE_WGMMA_S8(columns, count, o0, o1, o2, ...)                                          \
  template <>                                                                                     \
  struct WgmmaAlongK<Factor::s8, columns> {                                                       \
    static __device__ __forceinline__ void multiply(int (&sums)[count], MatrixDescriptor a,       \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(WGMMA_ALONG_K(columns, count, "k32.s32.s8.s8", "%" #o0 ", %" #o1, "%" #o2, "") \
                   : WGMMA_SUMS_##count                                                           \
                   : "l"(a.bits), "l"(b.bits), "r"((int)add));                                    \
    }                                                                                             \
  };

// s8 has fewer widths than tf32.
#define WGMMA_WIDTHS(define)                                                                      \
  define(8, 4, 4, 5, 6, 7, 8, 9) define(16, 8, 8, 9, 10, 11, 12, 13)                              \
      define(24, 12, 12, 13, 14, 15, 16, 17) define(32, 16, 16, 17, 18, 19, 20, 21)               \
          define(48, 24, 24, 25, 26, 27, 28, 29) define(64, 32, 32, 33, 34, 35, 36, 37)           \
              define(80, 40, 40, 41, 42, 43, 44, 45) define(96, 48, 48, 49, 50, 51, 52, 53)       \
                  define(112, 56, 56, 57, 58, 59, 60, 61) define(128, 64, 64, 65, 66, 67, 68, 69) \
                      define(144, 72, 72, 73, 74, 75, 76, 77)                                     \
                          define(160, 80, 80, 81, 82, 83, 84, 85)                                 \
                              define(176, 88, 88, 89, 90, 91, 92, 93)                             \
                                  define(192, 96, 96, 97, 98, 99, 100, 101)                       \
                                      define(208, 104, 104, 105, 106, 107, 108, 109)              \
                                          define(224, 112, 112, 113, 114, 115, 116, 117)          \
                                              define(240, 120, 120, 121, 122, 123, 124, 125)      \
                                                  define(256, 128, 128, 129, 130, 131, 132, 133)

WGMMA_WIDTHS(DEFINE_WGMMA_TF32)
DEFINE_WGMMA_TF32(40, 20, 20, 21, 22, 23, 24, 25)
DEFINE_WGMMA_TF32(56, 28, 28, 29, 30, 31, 32, 33)
DEFINE_WGMMA_TF32(72, 36, 36, 37, 38, 39, 40, 41)
DEFINE_WGMMA_TF32(88, 44, 44, 45, 46, 47, 48, 49)
DEFINE_WGMMA_TF32(104, 52, 52, 53, 54, 55, 56, 57)
DEFINE_WGMMA_TF32(120, 60, 60, 61, 62, 63, 64, 65)

// What WGMMA_SUMS_… say of four sums: integers, from here on.
#undef WGMMA_FOUR
#define WGMMA_FOUR(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
WGMMA_WIDTHS(DEFINE_WGMMA_S8)

#endif

/// Of 64 rows and kColumns columns. `kAAcross`, `kBAcross`: lies across k.
template <Factor kFactor, int kColumns, bool kAAcross, bool kBAcross>
struct WgmmaProduct {
  /// sums += a b, or = a b without `add`. Rows: MatrixDescriptor or RowsAcross.
  template <class Rows>
  static __device__ __forceinline__ void multiply(SumOf<kFactor> (&sums)[kColumns / 2],
                                                  const Rows& a, MatrixDescriptor b, bool add) {
    if constexpr (bytes_of(kFactor) == 2) {
      using Form = WgmmaForm<kFactor == Factor::bf16, kAAcross, kBAcross>;
      Wgmma<kColumns>::template multiply<Form>(sums, a, b, add);
    } else {
      static_assert(!kBAcross, "only operands of 16 bits lie across k in shared memory");
      WgmmaAlongK<kFactor, kColumns>::multiply(sums, a, b, add);
    }
  }
};
