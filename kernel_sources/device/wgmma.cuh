// SPDX-License-Identifier: Apache-2.0
// Multiplication on the tensor cores by a warpgroup, four warps together. Only for sm_90a.
//
// Operands are bf16 in shared memory, rows along k. A slab is 64 of k: its rows are 128 bytes long.
// Eight rows make an atom of 1024 bytes, in which 16-byte chunk c of row r lies at chunk c ^ r.
//
// A thread holds kColumns / 2 sums of the 64 x kColumns tile. With warp = threadIdx.x / 32 % 4 and
// lane = threadIdx.x % 32, sum i belongs to
//   row 16 * warp + lane / 4 + i / 2 % 2 * 8, column i / 4 * 8 + lane % 4 * 2 + i % 2.
#pragma once

#include "shared_memory.cuh"

constexpr int kAtomRows = 8, kAtomBytes = 1024, kSlab = 64;

/// Describes rows along k that begin at `at`, the start of an atom. Atoms of 8 rows are `stride`
/// bytes apart.
struct MatrixDescriptor {
#ifdef AUTOTUNE_HOST
  SharedAddress at;
  int stride, offset = 0;

  MatrixDescriptor() = default;
  MatrixDescriptor(SharedAddress at, int stride) : at(at), stride(stride) {}
  void move(int bytes) { offset += bytes; }
  float element(int row, int k) const {
    const int plain = offset + row / kAtomRows * stride + row % kAtomRows * 128 + k * 2;
    const auto* bf16 = shared_pointer<unsigned short>(at + (plain ^ (plain >> 3 & 0x70)));
    return __uint_as_float((unsigned)*bf16 << 16);
  }
#else
  unsigned long long bits;

  __device__ __forceinline__ MatrixDescriptor(SharedAddress at, int stride) {
    constexpr unsigned long long kSwizzle128 = 1ull << 62, kUnused = 1ull << 16;
    bits = kSwizzle128 | (unsigned long long)(stride >> 4) << 32 | kUnused | (at & 0x3FFFF) >> 4;
  }
  __device__ __forceinline__ void move(int bytes) { bits += bytes >> 4; }
#endif

  /// By a multiple of 16 bytes.
  __device__ __forceinline__ MatrixDescriptor moved_by(int bytes) const {
    MatrixDescriptor moved = *this;
    moved.move(bytes);
    return moved;
  }
};

#ifdef AUTOTUNE_HOST

// Each thread makes its own sums, at once, from shared memory.
typedef MatrixDescriptor Fragment;

inline Fragment load_fragment(SharedAddress at, int stride, int step) {
  return MatrixDescriptor(at, stride).moved_by(step * 32);
}

inline void wgmma_fence() {}
inline void wgmma_commit() {}
inline void wgmma_wait() { __syncwarp(); }

template <int kColumns>
struct Wgmma {
  static void multiply(float (&sums)[kColumns / 2], MatrixDescriptor a, MatrixDescriptor b,
                       bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int first_column = threadIdx.x % 4 * 2;
    for (int i = 0; i < kColumns / 2; ++i) {
      const int row = first_row + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + i % 2;
      if (!add) sums[i] = 0;
      for (int k = 0; k < 16; ++k) sums[i] += a.element(row, k) * b.element(column, k);
    }
  }
};

#else

/// Of A, 64 rows x 16 of k: the part of a thread, in registers.
struct Fragment {
  unsigned words[4];
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
/// Returns when all multiplications have ended.
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// multiply(): sums = A B + (add ? sums : 0) over 16 of k. A is described, or held in registers.
template <int kColumns>
struct Wgmma;

#define WGMMA_REGISTERS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA_REGISTERS_16 \
  WGMMA_REGISTERS_8        \
  ", "                     \
  "%8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_REGISTERS_24 \
  WGMMA_REGISTERS_16       \
  ", "                     \
  "%16, %17, %18, %19, %20, %21, %22, %23"
#define WGMMA_REGISTERS_32 \
  WGMMA_REGISTERS_24       \
  ", "                     \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_REGISTERS_40 \
  WGMMA_REGISTERS_32       \
  ", "                     \
  "%32, %33, %34, %35, %36, %37, %38, %39"
#define WGMMA_REGISTERS_48 \
  WGMMA_REGISTERS_40       \
  ", "                     \
  "%40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_REGISTERS_56 \
  WGMMA_REGISTERS_48       \
  ", "                     \
  "%48, %49, %50, %51, %52, %53, %54, %55"
#define WGMMA_REGISTERS_64 \
  WGMMA_REGISTERS_56       \
  ", "                     \
  "%56, %57, %58, %59, %60, %61, %62, %63"

#define WGMMA_EIGHT(i)                                                                       \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define WGMMA_SUMS_8 WGMMA_EIGHT(0)
#define WGMMA_SUMS_16 WGMMA_SUMS_8, WGMMA_EIGHT(8)
#define WGMMA_SUMS_24 WGMMA_SUMS_16, WGMMA_EIGHT(16)
#define WGMMA_SUMS_32 WGMMA_SUMS_24, WGMMA_EIGHT(24)
#define WGMMA_SUMS_40 WGMMA_SUMS_32, WGMMA_EIGHT(32)
#define WGMMA_SUMS_48 WGMMA_SUMS_40, WGMMA_EIGHT(40)
#define WGMMA_SUMS_56 WGMMA_SUMS_48, WGMMA_EIGHT(48)
#define WGMMA_SUMS_64 WGMMA_SUMS_56, WGMMA_EIGHT(56)

// The operands of an instruction are numbered: first the sums, then those of A and B, then `add`.
#define WGMMA_TEXT(columns, count, operands, condition, signs) \
  "{\n\t.reg .pred add;\n\t"                                   \
  "setp.ne.b32 add, " condition                                \
  ", 0;\n\t"                                                   \
  "wgmma.mma_async.sync.aligned.m64n" #columns                 \
  "k16.f32.bf16.bf16 "                                         \
  "{" WGMMA_REGISTERS_##count "}, " operands ", add, 1, 1, " signs ";\n\t}"

#define DEFINE_WGMMA(columns, count, shared, shared_condition, held, held_condition)          \
  template <>                                                                                 \
  struct Wgmma<columns> {                                                                     \
    static __device__ __forceinline__ void multiply(float (&sums)[count], MatrixDescriptor a, \
                                                    MatrixDescriptor b, bool add) {           \
      asm volatile(WGMMA_TEXT(columns, count, shared, shared_condition, "0, 0")               \
                   : WGMMA_SUMS_##count                                                       \
                   : "l"(a.bits), "l"(b.bits), "r"((int)add));                                \
    }                                                                                         \
    static __device__ __forceinline__ void multiply(float (&sums)[count], const Fragment& a,  \
                                                    MatrixDescriptor b, bool add) {           \
      asm volatile(WGMMA_TEXT(columns, count, held, held_condition, "0")                      \
                   : WGMMA_SUMS_##count                                                       \
                   : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]),      \
                     "l"(b.bits), "r"((int)add));                                             \
    }                                                                                         \
  };

DEFINE_WGMMA(16, 8, "%8, %9", "%10", "{%8, %9, %10, %11}, %12", "%13")
DEFINE_WGMMA(32, 16, "%16, %17", "%18", "{%16, %17, %18, %19}, %20", "%21")
DEFINE_WGMMA(48, 24, "%24, %25", "%26", "{%24, %25, %26, %27}, %28", "%29")
DEFINE_WGMMA(64, 32, "%32, %33", "%34", "{%32, %33, %34, %35}, %36", "%37")
DEFINE_WGMMA(80, 40, "%40, %41", "%42", "{%40, %41, %42, %43}, %44", "%45")
DEFINE_WGMMA(96, 48, "%48, %49", "%50", "{%48, %49, %50, %51}, %52", "%53")
DEFINE_WGMMA(112, 56, "%56, %57", "%58", "{%56, %57, %58, %59}, %60", "%61")
DEFINE_WGMMA(128, 64, "%64, %65", "%66", "{%64, %65, %66, %67}, %68", "%69")

#endif
