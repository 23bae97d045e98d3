// SPDX-License-Identifier: Apache-2.0
// Row-major D = A B is column-major D' = B' A': B goes first, with n rows.
#include "bench/gemm/vendor_gemm.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <array>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::bench {
namespace {

constexpr int kCandidates = 8;
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr float kOne = 1, kZero = 0;

void start(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(format("cuBLAS cannot {}: {}", what, cublasGetStatusString(status)));
}

void check(cublasStatus_t status, const std::string& call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw KernelFailure(Outcome::launch_error, call + ": " + cublasGetStatusString(status));
}

template <class T, auto Destroy>
struct Destroyed {
  void operator()(T* handle) const { static_cast<void>(Destroy(handle)); }
};
template <class Handle, auto Destroy>
using OwnedHandle = std::unique_ptr<std::remove_pointer_t<Handle>,
                                    Destroyed<std::remove_pointer_t<Handle>, Destroy>>;

using Layout = OwnedHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

/// Column-major f32 without padding.
Layout layout(std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t made = nullptr;
  start(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "describe a matrix");
  return Layout(made);
}

/// What cublasLt needs to know of one problem.
struct LtProblem {
  explicit LtProblem(const Shape& shape)
      : b(layout(shape.n, shape.k)), a(layout(shape.k, shape.m)), d(layout(shape.n, shape.m)) {
    cublasLtMatmulDesc_t made = nullptr;
    start(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describe a product");
    product.reset(made);
  }

  std::vector<cublasLtMatmulHeuristicResult_t> candidates(cublasLtHandle_t lt) const {
    cublasLtMatmulPreference_t made = nullptr;
    start(cublasLtMatmulPreferenceCreate(&made), "state a preference");
    const OwnedHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference(made);
    start(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                               CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspaceBytes, sizeof kWorkspaceBytes),
          "state a preference");
    std::vector<cublasLtMatmulHeuristicResult_t> found(kCandidates);
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(lt, product.get(), b.get(), a.get(), d.get(), d.get(),
                                       preference.get(), kCandidates, found.data(), &count);
    found.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
    std::erase_if(found, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
    return found;
  }

  OwnedHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> product;
  Layout b, a, d;
};

int attribute(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) {
  int value = -1;
  std::size_t written = 0;
  cublasLtMatmulAlgoConfigGetAttribute(&algorithm, which, &value, sizeof value, &written);
  return value;
}

std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
  return format("algorithm {}, tile {}, stages {}, split {}",
                attribute(algorithm, CUBLASLT_ALGO_CONFIG_ID),
                attribute(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
                attribute(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
                attribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
}

}  // namespace

struct VendorGemm::Handles {
  explicit Handles(cudaStream_t stream) : workspace(kWorkspaceBytes) {
    cublasHandle_t made = nullptr;
    start(cublasCreate(&made), "start");
    blas.reset(made);
    start(cublasSetStream(made, stream), "use a stream");
    start(cublasSetWorkspace(made, workspace.get(), kWorkspaceBytes), "use a workspace");
    start(cublasSetMathMode(made, CUBLAS_DEFAULT_MATH), "choose its default math");
    cublasLtHandle_t made_lt = nullptr;
    start(cublasLtCreate(&made_lt), "start");
    lt.reset(made_lt);
  }

  DeviceMemory workspace;
  OwnedHandle<cublasHandle_t, cublasDestroy> blas;
  OwnedHandle<cublasLtHandle_t, cublasLtDestroy> lt;
};

VendorGemm::VendorGemm(cudaStream_t stream) : handles_(std::make_unique<Handles>(stream)) {}
VendorGemm::~VendorGemm() = default;

std::vector<VendorCall> VendorGemm::calls(const Operands& operands) const {
  const Handles* const handles = handles_.get();
  const Shape shape = operands.shape();
  const auto m = static_cast<int>(shape.m), n = static_cast<int>(shape.n),
             k = static_cast<int>(shape.k);
  std::vector<VendorCall> all;
  all.push_back({"cublasSgemm", "", [=, &operands](cudaStream_t, int copy) {
                   const Matrices set = operands.at(copy);
                   check(cublasSgemm(handles->blas.get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &kOne,
                                     set.b, n, set.a, k, &kZero, set.d, n),
                         "cublasSgemm");
                 }});
  const auto problem = std::make_shared<const LtProblem>(shape);
  for (const auto& candidate : problem->candidates(handles->lt.get())) {
    const std::string name = format("cublasLt {}", all.size());
    const auto call = [=, &operands, algorithm = candidate.algo](cudaStream_t stream, int copy) {
      const Matrices set = operands.at(copy);
      check(cublasLtMatmul(handles->lt.get(), problem->product.get(), &kOne, set.b,
                           problem->b.get(), set.a, problem->a.get(), &kZero, set.d,
                           problem->d.get(), set.d, problem->d.get(), &algorithm,
                           handles->workspace.get(), kWorkspaceBytes, stream),
            name);
    };
    all.push_back({name, text_of(candidate.algo), call});
  }
  return all;
}

}  // namespace autotune::bench
