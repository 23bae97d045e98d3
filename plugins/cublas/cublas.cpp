// SPDX-License-Identifier: Apache-2.0
// cuBLAS as the competitor of `gemm`: what cublasSgemm (cublasDgemm) does by itself, and every
// algorithm that cublasLt's heuristic proposes. Row-major D = A B is, for a column-major library,
// D^T = B^T A^T: the operands change places, the memory stays as it is.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <charconv>
#include <cstring>
#include <exception>
#include <memory>
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

/// One product, in the library's own order: first operand B, second A.
struct Product {
  int m = 0, n = 0, k = 0, pad = 0;
  bool a_transposed = false, b_transposed = false, is_double = false;
  std::size_t a = 0, b = 0, d = 0;  // numbers of buffers

  int lda() const { return (a_transposed ? m : k) + pad; }
  int ldb() const { return (b_transposed ? k : n) + pad; }
  cublasOperation_t op_a() const { return a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t op_b() const { return b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cudaDataType type() const { return is_double ? CUDA_R_64F : CUDA_R_32F; }
  cublasComputeType_t compute() const {
    return is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  }
};

std::size_t buffer_called(const autotune_baseline_problem_v1& problem, std::string_view name) {
  for (std::uint32_t i = 0; i < problem.count; ++i) {
    if (problem.buffers[i].name == name) return i;
  }
  throw std::runtime_error("the problem has no buffer " + std::string(name));
}

/// False where this plugin has nothing for the problem.
bool read(const autotune_baseline_problem_v1& problem, Product& product) {
  const std::string_view text = problem.problem;
  const std::string dtype = word(text, "dtype", "f32"), layout = word(text, "layout", "NN");
  const bool plain = word(text, "scale", "none") == "none" && number(text, "batch", "1") == 1;
  if (!plain || (dtype != "f32" && dtype != "f64") || layout.size() != 2) return false;
  product.m = number(text, "M", "0");
  product.n = number(text, "N", "0");
  product.k = number(text, "K", "0");
  product.pad = number(text, "pad", "0");
  product.a_transposed = layout[0] == 'T';
  product.b_transposed = layout[1] == 'T';
  product.is_double = dtype == "f64";
  product.a = buffer_called(problem, "A");
  product.b = buffer_called(problem, "B");
  product.d = buffer_called(problem, "D");
  return product.m > 0 && product.n > 0 && product.k > 0;
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
    names_.emplace_back(product_.is_double ? "cublasDgemm" : "cublasSgemm");
    propose();
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
  const char* name(std::uint32_t candidate) const {
    return candidate < names_.size() ? names_[candidate].c_str() : nullptr;
  }

  void launch(std::uint32_t candidate, void* const* addresses, cudaStream_t stream) const {
    if (candidate == 0) {
      launch_default(addresses, stream);
    } else {
      launch_algorithm(algorithms_.at(candidate - 1), addresses, stream);
    }
  }

 private:
  static Layout layout(const Product& product, cublasOperation_t op, int rows, int columns,
                       int leading) {
    const bool swapped = op == CUBLAS_OP_T;
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, product.type(), swapped ? columns : rows,
                                     swapped ? rows : columns, leading),
          "cublasLtMatrixLayoutCreate");
    return Layout(made);
  }

  void propose() {
    cublasLtHandle_t lt = nullptr;
    check(cublasLtCreate(&lt), "cublasLtCreate");
    lt_.reset(lt);
    cublasLtMatmulDesc_t operation = nullptr;
    check(cublasLtMatmulDescCreate(&operation, product_.compute(), product_.type()),
          "cublasLtMatmulDescCreate");
    operation_.reset(operation);
    const cublasOperation_t first = product_.op_b(), second = product_.op_a();
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    first_ = layout(product_, first, product_.n, product_.k, product_.ldb());
    second_ = layout(product_, second, product_.k, product_.m, product_.lda());
    result_ = layout(product_, CUBLAS_OP_N, product_.n, product_.m, product_.n);

    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const Preference preference(made);
    cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &kWorkspaceBytes, sizeof kWorkspaceBytes);
    std::vector<cublasLtMatmulHeuristicResult_t> results(kMostAlgorithms);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        lt, operation, first_.get(), second_.get(), result_.get(), result_.get(), made,
        kMostAlgorithms, results.data(), &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return;  // then there is the default alone
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

  void launch_default(void* const* addresses, cudaStream_t stream) const {
    cublasHandle_t blas = blas_.get();
    check(cublasSetStream(blas, stream), "cublasSetStream");
    // cublasSetStream goes back to cuBLAS' own workspace, which it cannot allocate in a capture.
    check(cublasSetWorkspace(blas, workspace_.get(), kWorkspaceBytes), "cublasSetWorkspace");
    const Product& p = product_;
    if (p.is_double) {
      const double one = 1, zero = 0;
      check(cublasDgemm(blas, p.op_b(), p.op_a(), p.n, p.m, p.k, &one,
                        static_cast<const double*>(addresses[p.b]), p.ldb(),
                        static_cast<const double*>(addresses[p.a]), p.lda(), &zero,
                        static_cast<double*>(addresses[p.d]), p.n),
            "cublasDgemm");
    } else {
      const float one = 1, zero = 0;
      check(cublasSgemm(blas, p.op_b(), p.op_a(), p.n, p.m, p.k, &one,
                        static_cast<const float*>(addresses[p.b]), p.ldb(),
                        static_cast<const float*>(addresses[p.a]), p.lda(), &zero,
                        static_cast<float*>(addresses[p.d]), p.n),
            "cublasSgemm");
    }
  }

  void launch_algorithm(const cublasLtMatmulAlgo_t& algorithm, void* const* addresses,
                        cudaStream_t stream) const {
    const double one = 1, zero = 0;
    const float one_float = 1, zero_float = 0;
    const bool wide = product_.is_double;
    void* const result = addresses[product_.d];
    check(cublasLtMatmul(
              lt_.get(), operation_.get(), wide ? static_cast<const void*>(&one) : &one_float,
              addresses[product_.b], first_.get(), addresses[product_.a], second_.get(),
              wide ? static_cast<const void*>(&zero) : &zero_float, result, result_.get(), result,
              result_.get(), &algorithm, workspace_.get(), kWorkspaceBytes, stream),
          "cublasLtMatmul");
  }

  const Product product_;
  const Workspace workspace_;
  Blas blas_;
  Lt lt_;
  Operation operation_;
  Layout first_, second_, result_;
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

int supports(const char* target) { return std::strcmp(target, "gemm") == 0 ? 1 : 0; }

const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  return reason_of([&] {
    Product product;
    *instance = read(*problem, product) ? new Gemm(product) : nullptr;
  });
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
                                     "cuBLAS and cublasLt as competitors of gemm", facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
