// SPDX-License-Identifier: Apache-2.0
// As device/wgmma.cuh, warp by warp.
#pragma once

#include "device/shared_memory.cuh"
#include "device/wgmma_operands.cuh"
#include "lines.cuh"

struct MatrixDescriptor {
  SharedAddress at;
  int stride, pitch, piece_stride, offset = 0;

  MatrixDescriptor() = default;
  MatrixDescriptor(SharedAddress at, int stride, int pitch = 128, int piece_stride = 0)
      : at(at), stride(stride), pitch(pitch), piece_stride(piece_stride) {}
  void move(int bytes) { offset += bytes; }
  int plain_offset(int row, int k) const {
    if (piece_stride == 0) return row / kAtomRows * stride + row % kAtomRows * pitch + k * 2;
    const int piece = pitch / 2;
    return row / piece * piece_stride + k / 8 * stride + k % 8 * pitch + row % piece * 2;
  }
  unsigned bits(int row, int k) const {
    const int plain = offset + plain_offset(row, k);
    return *shared_pointer<unsigned short>(at + (plain ^ (plain >> 3 & pitch - 16)));
  }
  template <bool kBfloat>
  float element(int row, int k) const {
    const unsigned line = bits(row, k);
    return factor_at<kBfloat ? Factor::bf16 : Factor::f16>(&line, 0);
  }

  /// By a multiple of 16 bytes.
  __device__ __forceinline__ MatrixDescriptor moved_by(int bytes) const {
    MatrixDescriptor moved = *this;
    moved.move(bytes);
    return moved;
  }
};

inline Fragment load_fragment(SharedAddress at, int stride, int step) {
  const MatrixDescriptor matrix(at, stride);
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 % 4 * 16 + lane / 4;
  Fragment a;
  for (int i = 0; i < 4; ++i) {
    const int row = first + i % 2 * 8, k = step * 16 + lane % 4 * 2 + i / 2 * 8;
    a.words[i] = matrix.bits(row, k) | matrix.bits(row, k + 1) << 16;
  }
  return a;
}

inline void compute_now(float&) {}
inline void wgmma_fence() {}
inline void wgmma_commit() {}
template <int kPending = 0>
inline void wgmma_wait() {
  __syncwarp();
}

// Each thread makes its own sums, at once.
template <int kColumns>
struct Wgmma {
  static constexpr int kSums = kColumns / 2;

  template <class Form = WgmmaForm<true>>
  static void multiply(float (&sums)[kSums], MatrixDescriptor a, MatrixDescriptor b, bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    multiply_by<Form::kBfloat>(
        sums, [&](int i, int k) { return a.element<Form::kBfloat>(first_row + 8 * i, k); }, b, add);
  }
  static void multiply(float (&sums)[kSums], const Fragment& a, MatrixDescriptor b, bool add) {
    unsigned rows[2][8];
    exchange_rows(rows, a.words);
    multiply_by<true>(
        sums, [&](int i, int k) { return factor_at<Factor::bf16>(rows[i], k); }, b, add);
  }

 private:
  /// row_element(i, k): of the first row of this thread, or of the row 8 behind it.
  template <bool kBfloat, class RowElement>
  static void multiply_by(float (&sums)[kSums], const RowElement& row_element, MatrixDescriptor b,
                          bool add) {
    for (int i = 0; i < kSums; ++i) {
      const int column = threadIdx.x % 4 * 2 + i / 4 * 8 + i % 2;
      if (!add) sums[i] = 0;
      for (int k = 0; k < 16; ++k)
        sums[i] += row_element(i / 2 % 2, k) * b.element<kBfloat>(column, k);
    }
  }
};

template <int kThreads>
inline void meet_warps(int barrier) {
  struct Meeting {
    int arrived;
    unsigned round;
  };
  __shared__ Meeting meetings[8];
  Meeting& meeting = meetings[barrier];
  const unsigned round = meeting.round;
  if (++meeting.arrived == kThreads) {
    meeting.arrived = 0;
    ++meeting.round;
  }
  while (meeting.round == round) __syncwarp(1u << threadIdx.x % 32);
}
