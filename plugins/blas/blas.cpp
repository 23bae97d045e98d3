// SPDX-License-Identifier: Apache-2.0
// OpenBLAS or BLIS as the baseline of gemm on the host. The candidates are one thread, and as many
// as the host device has.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plugins/blas/library.hpp"
#include "plugins/sdk/autotune_plugin.h"
#include "plugins/sdk/problem.hpp"

namespace {

using autotune_plugin_text::buffer_called;
using autotune_plugin_text::number;
using autotune_plugin_text::reason_of;
using autotune_plugin_text::word;

/// D = alpha op(A) op(B), `batch` times. All matrices are row-major, and those of a batch follow
/// each other.
struct Product {
  int m = 0, n = 0, k = 0, batch = 1, lda = 0, ldb = 0;
  std::int64_t stride_a = 0, stride_b = 0;
  blas::Transpose of_a = blas::kPlain, of_b = blas::kPlain;
  bool is_double = false;
  std::size_t a = 0, b = 0, d = 0;   // of buffers
  std::optional<std::size_t> alpha;  // of scalars; without: 1
};

/// nullopt if a BLAS has no such product: other types, C added from elsewhere, an epilogue, tf32.
std::optional<Product> product_of(const autotune_baseline_problem_v1& problem) {
  const char* const text = problem.problem;
  const std::string layout = word(text, "layout", "NN"), scale = word(text, "scale", "none");
  Product p;
  p.a = buffer_called(problem, "A");
  p.b = buffer_called(problem, "B");
  p.d = buffer_called(problem, "D");
  const std::string type = problem.buffers[p.a].type;
  const bool is_plain = scale != "beta" && word(text, "epilogue", "none") == "none" &&
                        word(text, "math", "full") == "full" && type == problem.buffers[p.d].type;
  if (!is_plain || (type != "f32" && type != "f64") || layout.size() != 2) return std::nullopt;
  p.is_double = type == "f64";
  if (scale == "alpha") p.alpha = buffer_called(problem, "alpha");
  p.m = number(text, "M", "0");
  p.n = number(text, "N", "0");
  p.k = number(text, "K", "0");
  p.batch = number(text, "batch", "1");
  const int pad = number(text, "pad", "0");
  const bool turns_a = layout[0] == 'T', turns_b = layout[1] == 'T';
  p.of_a = turns_a ? blas::kTransposed : blas::kPlain;
  p.of_b = turns_b ? blas::kTransposed : blas::kPlain;
  p.lda = (turns_a ? p.m : p.k) + pad;
  p.ldb = (turns_b ? p.k : p.n) + pad;
  p.stride_a = std::int64_t{turns_a ? p.k : p.m} * p.lda;
  p.stride_b = std::int64_t{turns_b ? p.n : p.k} * p.ldb;
  return p;
}

class Gemm {
 public:
  Gemm(const Product& product, const blas::Library& library)
      : product_(product), library_(library) {
    const int before = library.threads();
    for (const int wanted : {1, static_cast<int>(std::thread::hardware_concurrency())}) {
      library.set_threads(wanted);
      const int threads = library.threads();  // it may have fewer
      if (!threads_.empty() && threads <= threads_.back()) continue;
      threads_.push_back(threads);
      names_.push_back(std::string(product.is_double ? "cblas_dgemm" : "cblas_sgemm") + " (" +
                       library.name + ", " + std::to_string(threads) +
                       (threads == 1 ? " thread)" : " threads)"));
    }
    library.set_threads(before);
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
  const char* name(std::uint32_t candidate) const {
    return candidate < names_.size() ? names_[candidate].c_str() : nullptr;
  }

  /// The program's own calls keep their number of threads.
  void launch(std::uint32_t candidate, void* const* addresses) const {
    const int before = library_.threads(), wanted = threads_.at(candidate);
    if (before != wanted) library_.set_threads(wanted);
    if (product_.is_double) {
      multiply(library_.dgemm, addresses);
    } else {
      multiply(library_.sgemm, addresses);
    }
    if (before != wanted) library_.set_threads(before);
  }

 private:
  template <class T>
  void multiply(blas::Gemm<T> gemm, void* const* addresses) const {
    const Product& p = product_;
    const T alpha = p.alpha ? *static_cast<const T*>(addresses[*p.alpha]) : T{1};
    const T* const a = static_cast<const T*>(addresses[p.a]);
    const T* const b = static_cast<const T*>(addresses[p.b]);
    T* const d = static_cast<T*>(addresses[p.d]);
    for (std::int64_t i = 0; i < p.batch; ++i) {
      gemm(blas::kRowMajor, p.of_a, p.of_b, p.m, p.n, p.k, alpha, a + i * p.stride_a, p.lda,
           b + i * p.stride_b, p.ldb, T{0}, d + i * p.m * p.n, p.n);
    }
  }

  const Product product_;
  const blas::Library& library_;
  std::vector<int> threads_;
  std::vector<std::string> names_;
};

int supports(const char* target) { return std::strcmp(target, "gemm") == 0; }

const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  return reason_of([&] {
    const auto product = product_of(*problem);
    const blas::Library* const library = product ? blas::found_library() : nullptr;
    *instance = library ? new Gemm(*product, *library) : nullptr;
  });
}

void close(void* instance) { delete static_cast<Gemm*>(instance); }

std::uint32_t candidates(void* instance) { return static_cast<Gemm*>(instance)->count(); }

const char* name(void* instance, std::uint32_t candidate) {
  return static_cast<Gemm*>(instance)->name(candidate);
}

const char* launch(void* instance, std::uint32_t candidate, void* const* addresses, void*) {
  return reason_of([&] { static_cast<Gemm*>(instance)->launch(candidate, addresses); });
}

constexpr autotune_baseline_v1 kBaseline{supports, open, close, candidates, name, launch};

const void* facet(const char* id) {
  return std::strcmp(id, AUTOTUNE_FACET_HOST_BASELINE) == 0 ? &kBaseline : nullptr;
}

constexpr autotune_plugin_v1 kPlugin{AUTOTUNE_PLUGIN_ABI, "blas", "1.0",
                                     "OpenBLAS or BLIS as a competitor of gemm on the host", facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
