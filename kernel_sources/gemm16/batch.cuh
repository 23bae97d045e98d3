// SPDX-License-Identifier: Apache-2.0
// Several products of one size.
#pragma once

/// Strides are elements between matrices of one operand.
struct Batch {
  int products;
  long long stride_a, stride_b, stride_c, stride_d;
};
