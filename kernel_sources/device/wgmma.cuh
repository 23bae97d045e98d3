// SPDX-License-Identifier: Apache-2.0
// Multiplication on the tensor cores by a warpgroup, four warps together. Only for sm_90a.
// wgmma_operands.cuh says how operands lie in shared memory, and which sums a thread has.
#pragma once

#include "shared_memory.cuh"
#include "wgmma_operands.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/wgmma.cuh"
#else

/// Describes lines that begin at `at`, the start of an atom. Along k: rows of 128 bytes, atoms of 8
/// rows are `stride` bytes apart. Across k, if `piece_stride` is not 0: lines of `pitch` bytes
/// (128, 64 or 32) are a piece of the rows, at one k. Atoms of 8 lines are `stride` bytes apart,
/// pieces `piece_stride`. In each atom the 16-byte chunks of a line are swizzled over `pitch`
/// bytes.
struct MatrixDescriptor {
  unsigned long long bits;

  __device__ __forceinline__ MatrixDescriptor(SharedAddress at, int stride, int pitch = 128,
                                              int piece_stride = 16) {
    const unsigned long long swizzle = pitch == 128 ? 1 : pitch == 64 ? 2 : 3;
    bits = swizzle << 62 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)(piece_stride >> 4) << 16 | (at & 0x3FFFF) >> 4;
  }
  __device__ __forceinline__ void move(int bytes) { bits += bytes >> 4; }

  /// By a multiple of 16 bytes.
  __device__ __forceinline__ MatrixDescriptor moved_by(int bytes) const {
    MatrixDescriptor moved = *this;
    moved.move(bytes);
    return moved;
  }
};

/// 16-byte chunks 2 * step and 2 * step + 1 of the rows at `at`, whose atoms are `stride` apart.
__device__ __forceinline__ Fragment load_fragment(SharedAddress at, int stride, int step) {
  const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 16, in_atom = row % kAtomRows;
  const int chunk = step * 2 + threadIdx.x % 32 / 16;
  const SharedAddress from = at + row / kAtomRows * stride + in_atom * 128 + (chunk ^ in_atom) * 16;
  Fragment a;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a.words[0]), "=r"(a.words[1]), "=r"(a.words[2]), "=r"(a.words[3])
               : "r"(from)
               : "memory");
  return a;
}

/// Sums were written or read by other instructions.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Returns when all multiplications but those of the newest kPending commits have ended.
template <int kPending = 0>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Compilers put off a sum that is used late, and keep both of its terms in registers until then.
__device__ __forceinline__ void compute_now(float& sum) { asm volatile("" : "+f"(sum)); }

/// multiply(): sums = A B + (add ? sums : 0) over 16 of k. A is described, or held in registers, of
/// bf16 then.
template <int kColumns>
struct Wgmma;

#define WGMMA_REGISTERS_4 "%0, %1, %2, %3"
#define WGMMA_REGISTERS_8 WGMMA_REGISTERS_4 ", %4, %5, %6, %7"
#define WGMMA_REGISTERS_12 WGMMA_REGISTERS_8 ", %8, %9, %10, %11"
#define WGMMA_REGISTERS_16 WGMMA_REGISTERS_12 ", %12, %13, %14, %15"
#define WGMMA_REGISTERS_20 WGMMA_REGISTERS_16 ", %16, %17, %18, %19"
#define WGMMA_REGISTERS_24 WGMMA_REGISTERS_20 ", %20, %21, %22, %23"
#define WGMMA_REGISTERS_28 WGMMA_REGISTERS_24 ", %24, %25, %26, %27"
#define WGMMA_REGISTERS_32 WGMMA_REGISTERS_28 ", %28, %29, %30, %31"
#define WGMMA_REGISTERS_36 WGMMA_REGISTERS_32 ", %32, %33, %34, %35"
#define WGMMA_REGISTERS_40 WGMMA_REGISTERS_36 ", %36, %37, %38, %39"
#define WGMMA_REGISTERS_44 WGMMA_REGISTERS_40 ", %40, %41, %42, %43"
#define WGMMA_REGISTERS_48 WGMMA_REGISTERS_44 ", %44, %45, %46, %47"
#define WGMMA_REGISTERS_52 WGMMA_REGISTERS_48 ", %48, %49, %50, %51"
#define WGMMA_REGISTERS_56 WGMMA_REGISTERS_52 ", %52, %53, %54, %55"
#define WGMMA_REGISTERS_60 WGMMA_REGISTERS_56 ", %56, %57, %58, %59"
#define WGMMA_REGISTERS_64 WGMMA_REGISTERS_60 ", %60, %61, %62, %63"
#define WGMMA_REGISTERS_68 WGMMA_REGISTERS_64 ", %64, %65, %66, %67"
#define WGMMA_REGISTERS_72 WGMMA_REGISTERS_68 ", %68, %69, %70, %71"
#define WGMMA_REGISTERS_76 WGMMA_REGISTERS_72 ", %72, %73, %74, %75"
#define WGMMA_REGISTERS_80 WGMMA_REGISTERS_76 ", %76, %77, %78, %79"
#define WGMMA_REGISTERS_84 WGMMA_REGISTERS_80 ", %80, %81, %82, %83"
#define WGMMA_REGISTERS_88 WGMMA_REGISTERS_84 ", %84, %85, %86, %87"
#define WGMMA_REGISTERS_92 WGMMA_REGISTERS_88 ", %88, %89, %90, %91"
#define WGMMA_REGISTERS_96 WGMMA_REGISTERS_92 ", %92, %93, %94, %95"
#define WGMMA_REGISTERS_100 WGMMA_REGISTERS_96 ", %96, %97, %98, %99"
#define WGMMA_REGISTERS_104 WGMMA_REGISTERS_100 ", %100, %101, %102, %103"
#define WGMMA_REGISTERS_108 WGMMA_REGISTERS_104 ", %104, %105, %106, %107"
#define WGMMA_REGISTERS_112 WGMMA_REGISTERS_108 ", %108, %109, %110, %111"
#define WGMMA_REGISTERS_116 WGMMA_REGISTERS_112 ", %112, %113, %114, %115"
#define WGMMA_REGISTERS_120 WGMMA_REGISTERS_116 ", %116, %117, %118, %119"
#define WGMMA_REGISTERS_124 WGMMA_REGISTERS_120 ", %120, %121, %122, %123"
#define WGMMA_REGISTERS_128 WGMMA_REGISTERS_124 ", %124, %125, %126, %127"

#define WGMMA_FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define WGMMA_SUMS_4 WGMMA_FOUR(0)
#define WGMMA_SUMS_8 WGMMA_SUMS_4, WGMMA_FOUR(4)
#define WGMMA_SUMS_12 WGMMA_SUMS_8, WGMMA_FOUR(8)
#define WGMMA_SUMS_16 WGMMA_SUMS_12, WGMMA_FOUR(12)
#define WGMMA_SUMS_20 WGMMA_SUMS_16, WGMMA_FOUR(16)
#define WGMMA_SUMS_24 WGMMA_SUMS_20, WGMMA_FOUR(20)
#define WGMMA_SUMS_28 WGMMA_SUMS_24, WGMMA_FOUR(24)
#define WGMMA_SUMS_32 WGMMA_SUMS_28, WGMMA_FOUR(28)
#define WGMMA_SUMS_36 WGMMA_SUMS_32, WGMMA_FOUR(32)
#define WGMMA_SUMS_40 WGMMA_SUMS_36, WGMMA_FOUR(36)
#define WGMMA_SUMS_44 WGMMA_SUMS_40, WGMMA_FOUR(40)
#define WGMMA_SUMS_48 WGMMA_SUMS_44, WGMMA_FOUR(44)
#define WGMMA_SUMS_52 WGMMA_SUMS_48, WGMMA_FOUR(48)
#define WGMMA_SUMS_56 WGMMA_SUMS_52, WGMMA_FOUR(52)
#define WGMMA_SUMS_60 WGMMA_SUMS_56, WGMMA_FOUR(56)
#define WGMMA_SUMS_64 WGMMA_SUMS_60, WGMMA_FOUR(60)
#define WGMMA_SUMS_68 WGMMA_SUMS_64, WGMMA_FOUR(64)
#define WGMMA_SUMS_72 WGMMA_SUMS_68, WGMMA_FOUR(68)
#define WGMMA_SUMS_76 WGMMA_SUMS_72, WGMMA_FOUR(72)
#define WGMMA_SUMS_80 WGMMA_SUMS_76, WGMMA_FOUR(76)
#define WGMMA_SUMS_84 WGMMA_SUMS_80, WGMMA_FOUR(80)
#define WGMMA_SUMS_88 WGMMA_SUMS_84, WGMMA_FOUR(84)
#define WGMMA_SUMS_92 WGMMA_SUMS_88, WGMMA_FOUR(88)
#define WGMMA_SUMS_96 WGMMA_SUMS_92, WGMMA_FOUR(92)
#define WGMMA_SUMS_100 WGMMA_SUMS_96, WGMMA_FOUR(96)
#define WGMMA_SUMS_104 WGMMA_SUMS_100, WGMMA_FOUR(100)
#define WGMMA_SUMS_108 WGMMA_SUMS_104, WGMMA_FOUR(104)
#define WGMMA_SUMS_112 WGMMA_SUMS_108, WGMMA_FOUR(108)
#define WGMMA_SUMS_116 WGMMA_SUMS_112, WGMMA_FOUR(112)
#define WGMMA_SUMS_120 WGMMA_SUMS_116, WGMMA_FOUR(116)
#define WGMMA_SUMS_124 WGMMA_SUMS_120, WGMMA_FOUR(120)
#define WGMMA_SUMS_128 WGMMA_SUMS_124, WGMMA_FOUR(124)

#define WGMMA_TEXT(columns, count, types, operands, condition, flags)                          \
  "{\n\t.reg .pred add;\n\t"                                                                   \
  "setp.ne.b32 add, " condition ", 0;\n\t"                                                     \
  "wgmma.mma_async.sync.aligned.m64n" #columns types " {" WGMMA_REGISTERS_##count "}, "        \
  operands ", add" flags ";\n\t}"

// The operands of an instruction are numbered: first the sums, then o0 and so on, those of A and B,
// `add`, and whether A and B lie across k.
#define WGMMA_DESCRIBED(columns, count, types, o0, o1, o2, o3, o4)                             \
  asm volatile(WGMMA_TEXT(columns, count, types, "%" #o0 ", %" #o1, "%" #o2,                   \
                          ", 1, 1, %" #o3 ", %" #o4)                                           \
               : WGMMA_SUMS_##count                                                            \
               : "l"(a.bits), "l"(b.bits), "r"((int)add), "n"((int)Form::kAAcross),            \
                 "n"((int)Form::kBAcross))
#define WGMMA_HELD(columns, count, types, flags, o0, o1, o2, o3, o4, o5)                       \
  asm volatile(WGMMA_TEXT(columns, count, types,                                               \
                          "{%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}, %" #o4, "%" #o5, flags)   \
               : WGMMA_SUMS_##count                                                            \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]),           \
                 "l"(b.bits), "r"((int)add))

#define DEFINE_WGMMA(columns, count, o0, o1, o2, o3, o4, o5)                                   \
  template <>                                                                                  \
  struct Wgmma<columns> {                                                                      \
    template <class Form = WgmmaForm<true>>                                                    \
    static __device__ __forceinline__ void multiply(float (&sums)[count], MatrixDescriptor a,  \
                                                    MatrixDescriptor b, bool add) {            \
      if constexpr (Form::kBfloat) {                                                           \
        WGMMA_DESCRIBED(columns, count, "k16.f32.bf16.bf16", o0, o1, o2, o3, o4);              \
      } else {                                                                                 \
        WGMMA_DESCRIBED(columns, count, "k16.f32.f16.f16", o0, o1, o2, o3, o4);                \
      }                                                                                        \
    }                                                                                          \
    static __device__ __forceinline__ void multiply(float (&sums)[count], const Fragment& a,   \
                                                    MatrixDescriptor b, bool add) {            \
      WGMMA_HELD(columns, count, "k16.f32.bf16.bf16", ", 1, 1, 0", o0, o1, o2, o3, o4, o5);    \
    }                                                                                          \
  };

// Columns, sums of a thread, numbers of operands. Integers have the first of the two only.
#define WGMMA_WIDTHS(define)                     \
  define(8, 4, 4, 5, 6, 7, 8, 9)                 \
  define(16, 8, 8, 9, 10, 11, 12, 13)            \
  define(24, 12, 12, 13, 14, 15, 16, 17)         \
  define(32, 16, 16, 17, 18, 19, 20, 21)         \
  define(48, 24, 24, 25, 26, 27, 28, 29)         \
  define(64, 32, 32, 33, 34, 35, 36, 37)         \
  define(80, 40, 40, 41, 42, 43, 44, 45)         \
  define(96, 48, 48, 49, 50, 51, 52, 53)         \
  define(112, 56, 56, 57, 58, 59, 60, 61)        \
  define(128, 64, 64, 65, 66, 67, 68, 69)        \
  define(144, 72, 72, 73, 74, 75, 76, 77)        \
  define(160, 80, 80, 81, 82, 83, 84, 85)        \
  define(176, 88, 88, 89, 90, 91, 92, 93)        \
  define(192, 96, 96, 97, 98, 99, 100, 101)      \
  define(208, 104, 104, 105, 106, 107, 108, 109) \
  define(224, 112, 112, 113, 114, 115, 116, 117) \
  define(240, 120, 120, 121, 122, 123, 124, 125) \
  define(256, 128, 128, 129, 130, 131, 132, 133)
#define WGMMA_MORE_WIDTHS(define)                \
  define(40, 20, 20, 21, 22, 23, 24, 25)         \
  define(56, 28, 28, 29, 30, 31, 32, 33)         \
  define(72, 36, 36, 37, 38, 39, 40, 41)         \
  define(88, 44, 44, 45, 46, 47, 48, 49)         \
  define(104, 52, 52, 53, 54, 55, 56, 57)        \
  define(120, 60, 60, 61, 62, 63, 64, 65)        \
  define(136, 68, 68, 69, 70, 71, 72, 73)        \
  define(152, 76, 76, 77, 78, 79, 80, 81)        \
  define(168, 84, 84, 85, 86, 87, 88, 89)        \
  define(184, 92, 92, 93, 94, 95, 96, 97)        \
  define(200, 100, 100, 101, 102, 103, 104, 105) \
  define(216, 108, 108, 109, 110, 111, 112, 113) \
  define(232, 116, 116, 117, 118, 119, 120, 121) \
  define(248, 124, 124, 125, 126, 127, 128, 129)

WGMMA_WIDTHS(DEFINE_WGMMA)
WGMMA_MORE_WIDTHS(DEFINE_WGMMA)

/// Returns when kThreads threads of the block have called it with this `barrier`, below 8.
template <int kThreads>
__device__ __forceinline__ void meet_warps(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier + 1), "n"(kThreads) : "memory");
}

#endif

/// Returns when all four warps of the block's warpgroup `index` have called it.
__device__ __forceinline__ void meet_warpgroup(int index) { meet_warps<128>(index); }
