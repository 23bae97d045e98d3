// SPDX-License-Identifier: Apache-2.0
// Where the matrices of one or several products lie.
#pragma once

/// In elements: lda … ldd lie between rows of a matrix, strides between matrices of one operand.
struct Batch {
  int products, lda, ldb, ldc, ldd;
  long long stride_a, stride_b, stride_c, stride_d;
};
