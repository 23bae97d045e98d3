// SPDX-License-Identifier: Apache-2.0
// cuBLAS as the competitor of products: what cublasSgemm (cublasDgemm, for 16 bits and tf32
// cublasGemmEx, or the strided batched one) does by itself, and every algorithm that cublasLt's
// heuristic proposes. Of 8-bit integers there are cublasLt's alone. Row-major D = A B is, for a
// column-major library, D^T = B^T A^T: the operands change places, the memory stays as it is. With
// a C of its own there are cublasLt's alone, as cublasSgemm adds to D in place. A bias and a ReLU
// are cublasLt's, too.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/sdk/autotune_plugin.h"

namespace {

constexpr std::size_t kWorkspaceBytes = 32 << 20;  // what cuBLAS takes by itself on Hopper
constexpr int kMostAlgorithms = 16;

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

template <class T, auto kDestroy>
struct Destroy {
  void operator()(T handle) const { kDestroy(handle); }
};
template <class T, auto kDestroy>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Destroy<T, kDestroy>>;

using Blas = Handle<cublasHandle_t, cublasDestroy>;
using Lt = Handle<cublasLtHandle_t, cublasLtDestroy>;
using Operation = Handle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Handle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Handle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// The value of `name` in `M=512 N=512 layout=NN`; `otherwise` where it is not.
std::string word(std::string_view problem, std::string_view name, std::string_view otherwise) {
  const std::string key = " " + std::string(name) + "=";
  const std::string text = " " + std::string(problem) + " ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::string(otherwise);
  const std::size_t start = at + key.size();
  return text.substr(start, text.find(' ', start) - start);
}

int number(std::string_view problem, std::string_view name, const char* otherwise) {
  const std::string text = word(problem, name, otherwise);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// D = alpha op(A) op(B) + beta C + bias, `batch` times; matrices of one operand follow each other.
struct Product {
  std::int64_t m = 0, n = 0, k = 0, pad = 0, batch = 1;
  bool a_transposed = false, b_transposed = false, has_c = false, by_tf32 = false;
  cudaDataType type = CUDA_R_32F, result = CUDA_R_32F;  // of A and B; of C and D
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::size_t a = 0, b = 0, c = 0, d = 0, bias = 0;  // numbers of buffers
  std::optional<std::size_t> alpha, beta;            // and of scalars; 1 and 0 where there are none

  std::int64_t lda() const { return (a_transposed ? m : k) + pad; }
  std::int64_t ldb() const { return (b_transposed ? k : n) + pad; }
  std::int64_t ldc() const { return has_c ? n + pad : n; }
  std::int64_t stride_a() const { return (a_transposed ? k : m) * lda(); }
  std::int64_t stride_b() const { return (b_transposed ? n : k) * ldb(); }
  cublasOperation_t op_a() const { return a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t op_b() const { return b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  bool is_double() const { return type == CUDA_R_64F; }
  bool has_bias() const { return epilogue != CUBLASLT_EPILOGUE_DEFAULT; }
  bool is_integer() const { return type == CUDA_R_8I; }
  cudaDataType scale() const {
    return is_double() ? CUDA_R_64F : is_integer() ? CUDA_R_32I : CUDA_R_32F;
  }
  cublasComputeType_t compute() const {
    if (is_integer()) return CUBLAS_COMPUTE_32I;
    if (by_tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    return is_double() ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  }
  /// What multiplies by itself; nullptr where only cublasLt does.
  const char* default_name() const {
    if (has_c || has_bias() || (result != type && result != CUDA_R_32F)) return nullptr;
    if (by_tf32) return "cublasGemmEx";
    if (is_double()) return batch > 1 ? "cublasDgemmStridedBatched" : "cublasDgemm";
    if (type == CUDA_R_32F) return batch > 1 ? "cublasSgemmStridedBatched" : "cublasSgemm";
    return batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx";
  }
};

std::optional<std::size_t> find_buffer(const autotune_baseline_problem_v1& problem,
                                       std::string_view name) {
  for (std::uint32_t i = 0; i < problem.count; ++i) {
    if (problem.buffers[i].name == name) return i;
  }
  return std::nullopt;
}

std::size_t buffer_called(const autotune_baseline_problem_v1& problem, std::string_view name) {
  if (const auto found = find_buffer(problem, name)) return *found;
  throw std::runtime_error("the problem has no buffer " + std::string(name));
}

cudaDataType type_of(std::string_view name) {
  if (name == "f32") return CUDA_R_32F;
  if (name == "f64") return CUDA_R_64F;
  if (name == "f16") return CUDA_R_16F;
  if (name == "bf16") return CUDA_R_16BF;
  if (name == "i8") return CUDA_R_8I;
  throw std::runtime_error("cuBLAS has no product of dtype " + std::string(name) +
                           " that adds up in it");
}

cublasLtEpilogue_t epilogue_of(const std::string& name) {
  if (name == "none") return CUBLASLT_EPILOGUE_DEFAULT;
  if (name == "bias") return CUBLASLT_EPILOGUE_BIAS;
  if (name == "bias_relu") return CUBLASLT_EPILOGUE_RELU_BIAS;
  throw std::runtime_error("cuBLAS has no epilogue " + name + " (its GELU is an approximation)");
}

/// Throws where cuBLAS has nothing for the problem.
Product product_of(const autotune_baseline_problem_v1& problem) {
  const std::string_view text = problem.problem;
  const std::string_view target = problem.target;
  const bool plain_batch = target == "gemm_batched", has_batch_size = target.ends_with("_batched");
  const std::string layout = word(text, "layout", "NN"), scale = word(text, "scale", "none");
  const auto is_layout = [](char letter) { return letter == 'N' || letter == 'T'; };
  if (layout.size() != 2 || !is_layout(layout[0]) || !is_layout(layout[1])) {
    throw std::runtime_error("layout " + layout + " is not known to this plugin");
  }
  Product product;
  product.m = number(text, "M", "0");
  product.n = number(text, "N", "0");
  product.k = number(text, "K", "0");
  product.pad = number(text, "pad", "0");
  product.batch = number(text, has_batch_size ? "BATCH" : "batch", "1");
  product.a_transposed = layout[0] == 'T';
  product.b_transposed = layout[1] == 'T';
  product.has_c = scale == "beta";
  product.a = buffer_called(problem, plain_batch ? "a" : "A");
  product.b = buffer_called(problem, plain_batch ? "b" : "B");
  product.d = buffer_called(problem, plain_batch ? "c" : "D");
  product.type = type_of(problem.buffers[product.a].type);
  product.result = product.is_integer() ? CUDA_R_32I : type_of(problem.buffers[product.d].type);
  product.by_tf32 = word(text, "math", "f32") == "tf32";
  product.epilogue = epilogue_of(word(text, "epilogue", "none"));
  if (product.has_bias()) product.bias = buffer_called(problem, "bias");
  if (product.has_c) {
    product.c = buffer_called(problem, "C");
    product.beta = buffer_called(problem, "beta");
  }
  if (scale != "none") product.alpha = buffer_called(problem, "alpha");
  if (product.m < 1 || product.n < 1 || product.k < 1 || product.batch < 1) {
    throw std::runtime_error("its sizes cannot be read: " + std::string(text));
  }
  return product;
}

class Workspace {
 public:
  Workspace() {
    if (cudaMalloc(&memory_, kWorkspaceBytes) != cudaSuccess) {
      throw std::runtime_error("there is no memory for cuBLAS' workspace");
    }
  }
  ~Workspace() { cudaFree(memory_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

class Gemm {
 public:
  explicit Gemm(const Product& product) : product_(product) {
    cublasHandle_t blas = nullptr;
    check(cublasCreate(&blas), "cublasCreate");
    blas_.reset(blas);
    check(cublasSetWorkspace(blas, workspace_.get(), kWorkspaceBytes), "cublasSetWorkspace");
    if (const char* const name = product_.default_name()) names_.emplace_back(name);
    propose();
    if (names_.empty()) throw std::runtime_error("cuBLAS has no product of these types and sizes");
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
  const char* name(std::uint32_t candidate) const {
    return candidate < names_.size() ? names_[candidate].c_str() : nullptr;
  }

  void launch(std::uint32_t candidate, void* const* addresses, cudaStream_t stream) const {
    const std::size_t defaults = names_.size() - algorithms_.size();
    if (candidate < defaults) {
      launch_default(addresses, stream);
    } else {
      launch_algorithm(algorithms_.at(candidate - defaults), addresses, stream);
    }
  }

 private:
  Layout layout(cudaDataType type, cublasOperation_t op, std::int64_t rows, std::int64_t columns,
                std::int64_t leading, std::int64_t stride) const {
    const bool swapped = op == CUBLAS_OP_T;
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type,
                                     static_cast<std::uint64_t>(swapped ? columns : rows),
                                     static_cast<std::uint64_t>(swapped ? rows : columns), leading),
          "cublasLtMatrixLayoutCreate");
    Layout layout(made);
    if (product_.batch > 1) {
      const auto count = static_cast<std::int32_t>(product_.batch);
      cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                       sizeof count);
      cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                       sizeof stride);
    }
    return layout;
  }

  void propose() {
    cublasLtHandle_t lt = nullptr;
    check(cublasLtCreate(&lt), "cublasLtCreate");
    lt_.reset(lt);
    cublasLtMatmulDesc_t operation = nullptr;
    check(cublasLtMatmulDescCreate(&operation, product_.compute(), product_.scale()),
          "cublasLtMatmulDescCreate");
    operation_.reset(operation);
    const cublasOperation_t first = product_.op_b(), second = product_.op_a();
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    const Product& p = product_;
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &p.epilogue,
                                   sizeof p.epilogue);
    first_ = layout(p.type, first, p.n, p.k, p.ldb(), p.stride_b());
    second_ = layout(p.type, second, p.k, p.m, p.lda(), p.stride_a());
    added_ = layout(p.result, CUBLAS_OP_N, p.n, p.m, p.ldc(), p.m * p.ldc());
    result_ = layout(p.result, CUBLAS_OP_N, p.n, p.m, p.n, p.m * p.n);

    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const Preference preference(made);
    cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &kWorkspaceBytes, sizeof kWorkspaceBytes);
    std::vector<cublasLtMatmulHeuristicResult_t> results(kMostAlgorithms);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        lt, operation, first_.get(), second_.get(), added_.get(), result_.get(), made,
        kMostAlgorithms, results.data(), &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return;  // then there is the default, if any
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < found; ++i) {
      if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
      algorithms_.push_back(results[i].algo);
      names_.push_back(name_of(i, results[i].algo));
    }
  }

  static std::string name_of(int place, const cublasLtMatmulAlgo_t& algorithm) {
    const auto read = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
      std::uint32_t value = 0;
      std::size_t written = 0;
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
      return std::to_string(value);
    };
    return "cublasLt " + std::to_string(place) + " (algorithm " + read(CUBLASLT_ALGO_CONFIG_ID) +
           ", tile " + read(CUBLASLT_ALGO_CONFIG_TILE_ID) + ", stages " +
           read(CUBLASLT_ALGO_CONFIG_STAGES_ID) + ", split-k " +
           read(CUBLASLT_ALGO_CONFIG_SPLITK_NUM) + ")";
  }

  /// What the caller's scalar says, in the type of the product.
  template <class T>
  static T value(std::optional<std::size_t> scalar, void* const* addresses, T otherwise) {
    return scalar ? *static_cast<const T*>(addresses[*scalar]) : otherwise;
  }

  void launch_default(void* const* addresses, cudaStream_t stream) const {
    cublasHandle_t blas = blas_.get();
    check(cublasSetStream(blas, stream), "cublasSetStream");
    // cublasSetStream goes back to cuBLAS' own workspace, which it cannot allocate in a capture.
    check(cublasSetWorkspace(blas, workspace_.get(), kWorkspaceBytes), "cublasSetWorkspace");
    if (product_.is_double()) {
      launch_default<double>(addresses, cublasDgemm_64, cublasDgemmStridedBatched_64);
    } else if (product_.type == CUDA_R_32F && !product_.by_tf32) {
      launch_default<float>(addresses, cublasSgemm_64, cublasSgemmStridedBatched_64);
    } else {
      launch_narrow(addresses);
    }
  }

  /// In 16 bits or tf32, with sums in f32.
  void launch_narrow(void* const* addresses) const {
    const Product& p = product_;
    const float alpha = value<float>(p.alpha, addresses, 1), beta = 0;
    const void *const a = addresses[p.a], *const b = addresses[p.b];
    void* const d = addresses[p.d];
    const cublasStatus_t status =
        p.batch == 1 ? cublasGemmEx_64(blas_.get(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b,
                                       p.type, p.ldb(), a, p.type, p.lda(), &beta, d, p.result, p.n,
                                       p.compute(), CUBLAS_GEMM_DEFAULT)
                     : cublasGemmStridedBatchedEx_64(
                           blas_.get(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.type,
                           p.ldb(), p.stride_b(), a, p.type, p.lda(), p.stride_a(), &beta, d,
                           p.result, p.n, p.m * p.n, p.batch, p.compute(), CUBLAS_GEMM_DEFAULT);
    check(status, names_[0].c_str());
  }

  template <class T>
  void launch_default(void* const* addresses, auto* single, auto* batched) const {
    const Product& p = product_;
    const T alpha = value<T>(p.alpha, addresses, 1), beta = 0;
    const T* const a = static_cast<const T*>(addresses[p.a]);
    const T* const b = static_cast<const T*>(addresses[p.b]);
    T* const d = static_cast<T*>(addresses[p.d]);
    const cublasStatus_t status =
        p.batch == 1
            ? single(blas_.get(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.ldb(), a, p.lda(),
                     &beta, d, p.n)
            : batched(blas_.get(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.ldb(),
                      p.stride_b(), a, p.lda(), p.stride_a(), &beta, d, p.n, p.m * p.n, p.batch);
    check(status, names_[0].c_str());
  }

  void launch_algorithm(const cublasLtMatmulAlgo_t& algorithm, void* const* addresses,
                        cudaStream_t stream) const {
    const Product& p = product_;
    if (p.has_bias()) {
      check(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                           &addresses[p.bias], sizeof addresses[p.bias]),
            "the bias");
    }
    if (p.is_double()) {
      launch_algorithm(algorithm, addresses, stream, value<double>(p.alpha, addresses, 1),
                       value<double>(p.beta, addresses, 0));
    } else if (p.is_integer()) {
      launch_algorithm(algorithm, addresses, stream, std::int32_t{1}, std::int32_t{0});
    } else {
      launch_algorithm(algorithm, addresses, stream, value<float>(p.alpha, addresses, 1),
                       value<float>(p.beta, addresses, 0));
    }
  }

  template <class T>
  void launch_algorithm(const cublasLtMatmulAlgo_t& algorithm, void* const* addresses,
                        cudaStream_t stream, T alpha, T beta) const {
    const Product& p = product_;
    void* const result = addresses[p.d];
    check(cublasLtMatmul(lt_.get(), operation_.get(), &alpha, addresses[p.b], first_.get(),
                         addresses[p.a], second_.get(), &beta, p.has_c ? addresses[p.c] : result,
                         added_.get(), result, result_.get(), &algorithm, workspace_.get(),
                         kWorkspaceBytes, stream),
          "cublasLtMatmul");
  }

  const Product product_;
  const Workspace workspace_;
  Blas blas_;
  Lt lt_;
  Operation operation_;
  Layout first_, second_, added_, result_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::vector<std::string> names_;
};

/// Runs `call`; what it throws becomes a reason.
template <class Call>
const char* reason_of(const Call& call) {
  static std::string reason;
  try {
    call();
    return nullptr;
  } catch (const std::exception& error) {
    reason = error.what();
    return reason.c_str();
  }
}

int supports(const char* target) {
  for (const char* const each : {"gemm", "gemm_split", "gemm_split_batched", "gemm16",
                                 "gemm16_batched", "gemm_i8", "gemm_tf32", "gemm_batched"}) {
    if (std::strcmp(target, each) == 0) return 1;
  }
  return 0;
}

const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  return reason_of([&] { *instance = new Gemm(product_of(*problem)); });
}

void close(void* instance) { delete static_cast<Gemm*>(instance); }
std::uint32_t candidates(void* instance) { return static_cast<Gemm*>(instance)->count(); }
const char* name(void* instance, std::uint32_t candidate) {
  return static_cast<Gemm*>(instance)->name(candidate);
}
const char* launch(void* instance, std::uint32_t candidate, void* const* addresses, void* stream) {
  return reason_of([&] {
    static_cast<Gemm*>(instance)->launch(candidate, addresses, static_cast<cudaStream_t>(stream));
  });
}

constexpr autotune_baseline_v1 kBaseline{supports, open, close, candidates, name, launch};

const void* facet(const char* id) {
  return std::strcmp(id, AUTOTUNE_FACET_BASELINE) == 0 ? &kBaseline : nullptr;
}

constexpr autotune_plugin_v1 kPlugin{AUTOTUNE_PLUGIN_ABI, "cublas", "1.0",
                                     "cuBLAS and cublasLt as competitors of gemm and its variants",
                                     facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
