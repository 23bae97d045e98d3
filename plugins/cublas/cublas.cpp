// SPDX-License-Identifier: Apache-2.0
// cuBLAS as the baseline of gemm and its variants. The candidates are cuBLAS's own choice
// (Product::default_name) and every algorithm that cublasLt's heuristic proposes. Row-major D = A B
// is D^T = B^T A^T for a column-major library, so the operands change places and no memory is
// transposed.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cublas/product.hpp"
#include "plugins/sdk/autotune_plugin.h"
#include "plugins/sdk/problem.hpp"

namespace {

using autotune_plugin_text::reason_of;
using cublas::Product;

constexpr std::size_t kWorkspaceBytes = 32 << 20;  // cuBLAS's own default on Hopper
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

class Workspace {
 public:
  Workspace() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // the first call may be captured
    cudaThreadExchangeStreamCaptureMode(&mode);
    const cudaError_t error = cudaMalloc(&memory_, kWorkspaceBytes);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (error != cudaSuccess) {
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

/// cuBLAS on one device, shared by all products that are open there.
class Library {
 public:
  static std::shared_ptr<Library> on_this_device() {
    static std::map<int, std::weak_ptr<Library>> libraries;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) throw std::runtime_error("there is no GPU");
    std::shared_ptr<Library> library = libraries[device].lock();
    if (!library) libraries[device] = library = std::make_shared<Library>();
    return library;
  }

  Library() {
    cublasHandle_t blas = nullptr;
    check(cublasCreate(&blas), "cublasCreate");
    blas_.reset(blas);
    cublasLtHandle_t lt = nullptr;
    check(cublasLtCreate(&lt), "cublasLtCreate");
    lt_.reset(lt);
  }

  cublasHandle_t blas() const { return blas_.get(); }
  cublasLtHandle_t lt() const { return lt_.get(); }
  /// For calls that run on this stream, one after the other.
  void* workspace(cudaStream_t stream) { return workspaces_[stream].get(); }

 private:
  Blas blas_;
  Lt lt_;
  std::map<cudaStream_t, Workspace> workspaces_;
};

class Gemm {
 public:
  explicit Gemm(const Product& product) : product_(product) {
    if (const char* const name = product_.default_name()) names_.emplace_back(name);
    propose();
    if (names_.empty()) throw std::runtime_error("cuBLAS has no product of these types and sizes");
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
  const char* name(std::uint32_t candidate) const {
    return candidate < names_.size() ? names_[candidate].c_str() : nullptr;
  }

  void launch(std::uint32_t candidate, void* const* addresses, cudaStream_t stream) {
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

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value, const char* what) const {
    check(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof value), what);
  }

  /// cublasLt's A is B of the product. All results are row-major.
  void set_scales(const void* of_a, const void* of_b) const {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_b, "scale_b");
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_a, "scale_a");
  }

  void set_output(const void* scale, void* amax) const {
    set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scale, "scale_d");
    set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, amax, "amax");
  }

  void set_scale_modes([[maybe_unused]] bool are_blocks) const {
#if CUBLAS_VERSION >= 120900
    const auto mode = [&](cublasLtMatmulMatrixScale_t of_blocks) {
      return are_blocks ? of_blocks : CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    };
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode(CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F),
        "scales of B");
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode(CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F),
        "scales of A");
#else
    throw std::runtime_error("cuBLAS has scales of rows and blocks from 12.9 on");
#endif
  }

  /// How elements of 8 bits are scaled and summed.
  void describe_float8() const {
    const Product& p = product_;
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(p.is_fast), "fast sums");
    if (p.has_bias()) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.result, "the bias's type");
    static float any = 1;  // the heuristic wants some, and reads none; see launch
    if (p.is_scaled) set_output(&any, &any);
    if (p.scales == cublas::Scales::none) return;
    if (p.scales != cublas::Scales::tensor) set_scale_modes(p.scales == cublas::Scales::blocks);
    set_scales(&any, &any);
  }

  void propose() {
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
    if (p.is_float8()) describe_float8();
    first_ = layout(p.type, first, p.n, p.k, p.ldb, p.stride_b);
    second_ = layout(p.type, second, p.k, p.m, p.lda, p.stride_a);
    added_ = layout(p.added(), CUBLAS_OP_N, p.n, p.m, p.ldc, p.stride_c);
    result_ = layout(p.result, CUBLAS_OP_N, p.n, p.m, p.ldd, p.stride_d);

    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const Preference preference(made);
    cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &kWorkspaceBytes, sizeof kWorkspaceBytes);
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      if (p.alignment == 0) break;
      cublasLtMatmulPreferenceSetAttribute(made, attribute, &p.alignment, sizeof p.alignment);
    }
    std::vector<cublasLtMatmulHeuristicResult_t> results(kMostAlgorithms);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library_->lt(), operation, first_.get(), second_.get(), added_.get(), result_.get(), made,
        kMostAlgorithms, results.data(), &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED)
      return;  // only the default candidate remains, if any
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

  /// The caller's scalar, in the type of the product.
  template <class T>
  static T value(std::optional<std::size_t> scalar, void* const* addresses, T otherwise) {
    return scalar ? *static_cast<const T*>(addresses[*scalar]) : otherwise;
  }

  /// A graph may run beside other streams, and threads share the name of the stream of each thread,
  /// so captured and such calls have a workspace of this product's own.
  void* workspace(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const bool is_known = cudaStreamIsCapturing(stream, &status) == cudaSuccess;
    if (!is_known) cudaGetLastError();  // the legacy stream while another one is captured
    if (is_known && status == cudaStreamCaptureStatusNone && stream != cudaStreamPerThread) {
      return library_->workspace(stream);
    }
    if (!own_workspace_) own_workspace_.emplace();
    return own_workspace_->get();
  }

  void launch_default(void* const* addresses, cudaStream_t stream) {
    cublasHandle_t blas = library_->blas();
    check(cublasSetStream(blas, stream), "cublasSetStream");
    // cublasSetStream resets the workspace to cuBLAS's own, which cannot be allocated in a capture.
    check(cublasSetWorkspace(blas, workspace(stream), kWorkspaceBytes), "cublasSetWorkspace");
    if (product_.is_double()) {
      launch_default<double>(addresses, cublasDgemm_64, cublasDgemmStridedBatched_64);
    } else if (product_.type == CUDA_R_32F && !product_.by_tf32) {
      launch_default<float>(addresses, cublasSgemm_64, cublasSgemmStridedBatched_64);
    } else {
      launch_narrow(addresses);
    }
  }

  /// 16-bit or tf32 operands, summed in f32.
  void launch_narrow(void* const* addresses) const {
    const Product& p = product_;
    const float alpha = value<float>(p.alpha, addresses, 1), beta = 0;
    const void *const a = addresses[p.a], *const b = addresses[p.b];
    void* const d = addresses[p.d];
    const cublasStatus_t status =
        p.batch == 1 ? cublasGemmEx_64(library_->blas(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha,
                                       b, p.type, p.ldb, a, p.type, p.lda, &beta, d, p.result,
                                       p.ldd, p.compute(), CUBLAS_GEMM_DEFAULT)
                     : cublasGemmStridedBatchedEx_64(
                           library_->blas(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.type,
                           p.ldb, p.stride_b, a, p.type, p.lda, p.stride_a, &beta, d, p.result,
                           p.ldd, p.stride_d, p.batch, p.compute(), CUBLAS_GEMM_DEFAULT);
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
            ? single(library_->blas(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.ldb, a,
                     p.lda, &beta, d, p.ldd)
            : batched(library_->blas(), p.op_b(), p.op_a(), p.n, p.m, p.k, &alpha, b, p.ldb,
                      p.stride_b, a, p.lda, p.stride_a, &beta, d, p.ldd, p.stride_d, p.batch);
    check(status, names_[0].c_str());
  }

  void launch_algorithm(const cublasLtMatmulAlgo_t& algorithm, void* const* addresses,
                        cudaStream_t stream) {
    const Product& p = product_;
    if (p.has_bias()) {
      check(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                           &addresses[p.bias], sizeof addresses[p.bias]),
            "the bias");
    }
    if (p.scales != cublas::Scales::none) set_scales(addresses[p.scale_a], addresses[p.scale_b]);
    if (p.is_scaled) set_output(addresses[p.scale_d], addresses[p.amax]);
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
                        cudaStream_t stream, T alpha, T beta) {
    const Product& p = product_;
    void* const result = addresses[p.d];
    check(cublasLtMatmul(library_->lt(), operation_.get(), &alpha, addresses[p.b], first_.get(),
                         addresses[p.a], second_.get(), &beta, p.has_c ? addresses[p.c] : result,
                         added_.get(), result, result_.get(), &algorithm, workspace(stream),
                         kWorkspaceBytes, stream),
          "cublasLtMatmul");
  }

  const Product product_;
  const std::shared_ptr<Library> library_ = Library::on_this_device();
  std::optional<Workspace> own_workspace_;
  Operation operation_;
  Layout first_, second_, added_, result_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::vector<std::string> names_;
};

int supports(const char* target) { return std::strcmp(target, "gemm") == 0; }

const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  return reason_of([&] { *instance = new Gemm(cublas::product_of(*problem)); });
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

const char* refuses(const autotune_baseline_problem_v1* problem) {
  return reason_of([&] { cublas::product_of(*problem); });
}

constexpr autotune_baseline_v1 kBaseline{supports, open, close, candidates, name, launch};
constexpr autotune_offers_v1 kOffers{refuses};
constexpr autotune_free_sizes_v1 kFreeSizes{supports};

const void* facet(const char* id) {
  if (std::strcmp(id, AUTOTUNE_FACET_OFFERS) == 0) return &kOffers;
  if (std::strcmp(id, AUTOTUNE_FACET_FREE_SIZES) == 0) return &kFreeSizes;
  return std::strcmp(id, AUTOTUNE_FACET_BASELINE) == 0 ? &kBaseline : nullptr;
}

constexpr autotune_plugin_v1 kPlugin{AUTOTUNE_PLUGIN_ABI, "cublas", "1.0",
                                     "cuBLAS and cublasLt as competitors of gemm and its variants",
                                     facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
