// SPDX-License-Identifier: Apache-2.0
// What an epilogue does to an element of D. A bias is a row of N elements.
#pragma once

/// In the order of the manifest's words.
enum class Epilogue { none, relu, gelu, bias, bias_relu, bias_gelu };

constexpr bool has_bias(Epilogue epilogue) { return epilogue >= Epilogue::bias; }
constexpr bool has_relu(Epilogue epilogue) {
  return epilogue == Epilogue::relu || epilogue == Epilogue::bias_relu;
}
constexpr bool has_gelu(Epilogue epilogue) {
  return epilogue == Epilogue::gelu || epilogue == Epilogue::bias_gelu;
}

__device__ inline float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ inline double hyperbolic_tangent(double x) { return tanh(x); }

/// ReLU keeps a NaN. GELU is the approximation by tanh, as in cuBLASLt.
template <Epilogue epilogue, class T>
__device__ inline T activated(T x) {
  if constexpr (has_relu(epilogue)) return x < T(0) ? T(0) : x;
  if constexpr (has_gelu(epilogue))
    return T(0.5) * x *
           (T(1) + hyperbolic_tangent(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
  return x;
}
