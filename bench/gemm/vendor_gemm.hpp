// SPDX-License-Identifier: Apache-2.0
// The baselines: cublasSgemm, and the candidates of cublasLt's heuristic. f32 throughout, no TF32.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/gemm/operands.hpp"
#include "tuner/gpu/batch_timer.hpp"

namespace autotune::bench {

struct VendorCall {
  std::string name;    // `cublasLt 2`
  std::string choice;  // `algorithm 20, tile 15, stages 8, split 3`: cublasLt's own numbers
  EnqueueOnce call;
};

/// cuBLAS on one stream, with 64 MiB of workspace.
class VendorGemm {
 public:
  /// Throws Error if cuBLAS does not start.
  explicit VendorGemm(cudaStream_t stream);
  ~VendorGemm();

  /// cublasSgemm with the default math mode, then every candidate of cublasLtMatmulAlgoGetHeuristic
  /// (8 are requested). Calls are valid while this and the operands live. Throws KernelFailure if
  /// cuBLAS refuses a call.
  std::vector<VendorCall> calls(const Operands& operands) const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace autotune::bench
