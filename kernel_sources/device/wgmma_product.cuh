// SPDX-License-Identifier: Apache-2.0
// wgmma for every type: products of 16 bits, of tf32 and of 8-bit integers. Only for sm_90a.
//
// wgmma multiplies 32 bytes of k at once. Operands of 16 bits may lie across k; tf32 and integers
// must lie along k, as wgmma.cuh has them: rows of 128 bytes, eight to an atom. Rows of tf32 that
// lie across k pass through registers: RowsAcross. The hardware does not read the lowest 13 bits of
// an f32: a tensor map of type tf32 rounds on the way to shared memory.
#pragma once

#include "factor.cuh"
#include "wgmma.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/wgmma_product.cuh"
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

#define DEFINE_WGMMA_TF32(columns, count, o0, o1, o2, o3, o4, o5)                                 \
  template <>                                                                                     \
  struct WgmmaAlongK<Factor::tf32, columns> {                                                     \
    static __device__ __forceinline__ void multiply(float (&sums)[count], MatrixDescriptor a,     \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(                                                                               \
          WGMMA_TEXT(columns, count, "k8.f32.tf32.tf32", "%" #o0 ", %" #o1, "%" #o2, ", 1, 1")    \
          : WGMMA_SUMS_##count                                                                    \
          : "l"(a.bits), "l"(b.bits), "r"((int)add));                                             \
    }                                                                                             \
    static __device__ __forceinline__ void multiply(float (&sums)[count], const RowsAcross& a,    \
                                                    MatrixDescriptor b, bool add) {               \
      WGMMA_HELD(columns, count, "k8.f32.tf32.tf32", ", 1, 1", o0, o1, o2, o3, o4, o5);           \
    }                                                                                             \
  };

#define DEFINE_WGMMA_S8(columns, count, o0, o1, o2, ...)                                          \
  template <>                                                                                     \
  struct WgmmaAlongK<Factor::s8, columns> {                                                       \
    static __device__ __forceinline__ void multiply(int (&sums)[count], MatrixDescriptor a,       \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(WGMMA_TEXT(columns, count, "k32.s32.s8.s8", "%" #o0 ", %" #o1, "%" #o2, "")    \
                   : WGMMA_SUMS_##count                                                           \
                   : "l"(a.bits), "l"(b.bits), "r"((int)add));                                    \
    }                                                                                             \
  };

WGMMA_WIDTHS(DEFINE_WGMMA_TF32)
WGMMA_MORE_WIDTHS(DEFINE_WGMMA_TF32)

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
