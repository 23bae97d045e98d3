// SPDX-License-Identifier: Apache-2.0
#include "plugins/cublas/product.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include "plugins/sdk/problem.hpp"

namespace cublas {
namespace {

using autotune_plugin_text::buffer_called;
using autotune_plugin_text::free_size;
using autotune_plugin_text::number;
using autotune_plugin_text::word;

cudaDataType type_of(std::string_view name) {
  if (name == "f32") return CUDA_R_32F;
  if (name == "f64") return CUDA_R_64F;
  if (name == "f16") return CUDA_R_16F;
  if (name == "bf16") return CUDA_R_16BF;
  if (name == "i8") return CUDA_R_8I;
  if (name == "e4m3") return CUDA_R_8F_E4M3;
  if (name == "e5m2") return CUDA_R_8F_E5M2;
  throw std::runtime_error("cuBLAS has no product that is summed in dtype " + std::string(name));
}

Scales scales_of(const std::string& name) {
  if (name == "none") return Scales::none;
  if (name == "tensor") return Scales::tensor;
  if (name == "rows") return Scales::rows;
  if (name == "blocks") return Scales::blocks;
  throw std::runtime_error("this plugin does not know scales=" + name);
}

cublasLtEpilogue_t epilogue_of(const std::string& name) {
  if (name == "none") return CUBLASLT_EPILOGUE_DEFAULT;
  if (name == "bias") return CUBLASLT_EPILOGUE_BIAS;
  if (name == "bias_relu") return CUBLASLT_EPILOGUE_RELU_BIAS;
  throw std::runtime_error("cuBLAS has no epilogue " + name + " (its GELU is an approximation)");
}

/// Leading dimensions, strides and alignments: free sizes of gemm, with the defaults that its
/// manifest has.
void read_distances(std::string_view text, Product& p) {
  const std::int64_t pad = number(text, "pad", "0");
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1 || pad < 0) {
    throw std::runtime_error("these sizes are not of a product: " + std::string(text));
  }
  p.lda = free_size(text, "lda", (p.a_transposed ? p.m : p.k) + pad);
  p.ldb = free_size(text, "ldb", (p.b_transposed ? p.k : p.n) + pad);
  p.ldd = free_size(text, "ldd", p.n);
  p.ldc = p.has_c ? free_size(text, "ldc", p.n + pad) : p.ldd;  // without C, D takes its place
  p.stride_a = free_size(text, "stride_a", (p.a_transposed ? p.k : p.m) * p.lda);
  p.stride_b = free_size(text, "stride_b", (p.b_transposed ? p.n : p.k) * p.ldb);
  p.stride_d = free_size(text, "stride_d", p.m * p.ldd);
  p.stride_c = p.has_c ? free_size(text, "stride_c", p.m * p.ldc) : p.stride_d;
  for (const char* const name : {"A_aligned", "B_aligned", "D_aligned"}) {
    const auto bytes = static_cast<std::uint32_t>(free_size(text, name, 0));
    if (bytes > 0 && (p.alignment == 0 || bytes < p.alignment)) p.alignment = bytes;
  }
  if (p.batch > 1 && p.stride_d < (p.m - 1) * p.ldd + p.n) {
    throw std::runtime_error("cuBLAS has no batch whose results lie between each other's lines");
  }
}

}  // namespace

const char* Product::default_name() const {
  if (is_float8() || has_c || has_bias() || (result != type && result != CUDA_R_32F))
    return nullptr;
  if (by_tf32) return "cublasGemmEx";
  if (is_double()) return batch > 1 ? "cublasDgemmStridedBatched" : "cublasDgemm";
  if (type == CUDA_R_32F) return batch > 1 ? "cublasSgemmStridedBatched" : "cublasSgemm";
  return batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx";
}

Product product_of(const autotune_baseline_problem_v1& problem) {
  const std::string_view text = problem.problem;
  const std::string layout = word(text, "layout", "NN"), scale = word(text, "scale", "none");
  const auto is_layout = [](char letter) { return letter == 'N' || letter == 'T'; };
  if (layout.size() != 2 || !is_layout(layout[0]) || !is_layout(layout[1])) {
    throw std::runtime_error("layout " + layout + " is not known to this plugin");
  }
  Product product;
  product.m = number(text, "M", "0");
  product.n = number(text, "N", "0");
  product.k = number(text, "K", "0");
  product.batch = number(text, "batch", "1");
  product.a_transposed = layout[0] == 'T';
  product.b_transposed = layout[1] == 'T';
  product.has_c = scale == "beta";
  product.a = buffer_called(problem, "A");
  product.b = buffer_called(problem, "B");
  product.d = buffer_called(problem, "D");
  product.type = type_of(problem.buffers[product.a].type);
  product.result = product.is_integer() ? CUDA_R_32I : type_of(problem.buffers[product.d].type);
  product.by_tf32 = word(text, "math", "f32") == "tf32";
  product.epilogue = epilogue_of(word(text, "epilogue", "none"));
  product.scales = scales_of(word(text, "scales", "none"));
  product.is_fast = word(text, "sums", "promoted") == "fast";
  if (product.scales != Scales::none) {
    product.scale_a = buffer_called(problem, "scale_a");
    product.scale_b = buffer_called(problem, "scale_b");
  }
  if (product.is_float8() && (!product.b_transposed || product.a_transposed)) {
    throw std::runtime_error("cuBLAS has products of 8-bit floating-point types in layout NT only");
  }
  product.is_scaled = product.result == CUDA_R_8F_E4M3;
  if (product.is_scaled) {
    product.scale_d = buffer_called(problem, "scale_d");
    product.amax = buffer_called(problem, "amax");
  }
  if (product.has_bias()) product.bias = buffer_called(problem, "C");
  if (product.has_c) {
    product.c = buffer_called(problem, "C");
    product.beta = buffer_called(problem, "beta");
  }
  if (scale != "none") product.alpha = buffer_called(problem, "alpha");
  read_distances(text, product);
  return product;
}

}  // namespace cublas
