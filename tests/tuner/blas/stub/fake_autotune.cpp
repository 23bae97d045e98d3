// SPDX-License-Identifier: Apache-2.0
// A libautotune of the tests: every kernel multiplies on the CPU, row-major and packed, as the
// targets do. FAKE_AUTOTUNE names what goes otherwise.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tuner/runtime/autotune.h"

struct autotune_handle {
  std::string target, settings;
};

struct autotune_kernel {
  std::string target, settings;
  std::vector<int64_t> sizes;
};

namespace {

constexpr const char* kConfiguration = "BM=64 BN=64";
constexpr std::array kGemmBuffers{"A", "B", "C", "D"};
constexpr std::array kBatchedBuffers{"a", "b", "c"};

/// Whether this goes otherwise: `open`, `prepare`, `compile`, `launch`, `default`, `vendor`, …
bool is_asked_for(const char* what) {
  const char* const word = std::getenv("FAKE_AUTOTUNE");
  return word && std::strcmp(word, what) == 0;
}

bool has(const std::string& settings, const char* word) {
  return settings.find(word) != std::string::npos;
}

int64_t batch_of(const autotune_kernel& kernel) {
  if (kernel.target == "gemm_batched") return kernel.sizes[0];
  const std::size_t at = kernel.settings.find("batch=");
  return at == std::string::npos ? 1 : std::atol(kernel.settings.c_str() + at + 6);
}

struct Product {
  int64_t m, n, k;
  bool a_transposed, b_transposed, adds;
  double alpha, beta;
};

void multiply(const Product& p, const float* a, const float* b, const float* c, float* d) {
  for (int64_t row = 0; row < p.m; ++row) {
    for (int64_t column = 0; column < p.n; ++column) {
      double sum = 0;
      for (int64_t at = 0; at < p.k; ++at) {
        sum += static_cast<double>(a[p.a_transposed ? at * p.m + row : row * p.k + at]) *
               b[p.b_transposed ? column * p.k + at : at * p.n + column];
      }
      const int64_t place = row * p.n + column;
      d[place] = static_cast<float>(p.alpha * sum + (p.adds ? p.beta * c[place] : 0));
    }
  }
}

}  // namespace

extern "C" {

const char* autotune_message(void) { return "the fake failed as it was asked to"; }

autotune_status autotune_open(const autotune_options* options, autotune_handle** handle) {
  if (is_asked_for("open")) return AUTOTUNE_FAILED;
  *handle = new autotune_handle{options->target, options->settings};
  return AUTOTUNE_OK;
}

void autotune_close(autotune_handle* handle) { delete handle; }

const char* autotune_device(const autotune_handle*) {
  return is_asked_for("host") ? "a processor" : "Fake GPU";
}

const char* autotune_warnings(const autotune_handle*) {
  return is_asked_for("warning") ? "tuned.db: is damaged\nmore of it\n" : "";
}

autotune_status autotune_lookup(autotune_handle*, const int64_t*, size_t, autotune_answer* answer) {
  answer->configuration = kConfiguration;
  answer->baseline = is_asked_for("vendor") ? "cublas cublasSgemm" : "";
  answer->origin = is_asked_for("default") ? AUTOTUNE_DEFAULT
                   : is_asked_for("other") ? AUTOTUNE_SAME_ARCHITECTURE
                                           : AUTOTUNE_EXACT;
  return AUTOTUNE_OK;
}

autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 autotune_kernel** kernel) {
  if (is_asked_for("prepare")) return AUTOTUNE_FAILED;
  *kernel = new autotune_kernel{handle->target, handle->settings, {sizes, sizes + count}};
  return AUTOTUNE_OK;
}

void autotune_release(autotune_kernel* kernel) { delete kernel; }

const char* autotune_kernel_configuration(const autotune_kernel*) {
  return is_asked_for("compile") ? "BM=16 BN=16" : kConfiguration;
}

size_t autotune_kernel_buffers(const autotune_kernel* kernel) {
  return kernel->target == "gemm" ? kGemmBuffers.size() : kBatchedBuffers.size();
}

const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index, uint64_t*) {
  return kernel->target == "gemm" ? kGemmBuffers[index] : kBatchedBuffers[index];
}

size_t autotune_kernel_scalars(const autotune_kernel* kernel) {
  return kernel->target == "gemm" ? 2 : 0;
}

const char* autotune_kernel_scalar(const autotune_kernel*, size_t index, double*) {
  return index == 0 ? "alpha" : "beta";
}

uint64_t autotune_kernel_workspace(const autotune_kernel*) {
  return is_asked_for("workspace") ? 1024 : 0;
}

autotune_status autotune_launch_with(autotune_kernel* kernel, void* const* buffers, size_t count,
                                     const double* scalars, size_t, void*) {
  if (is_asked_for("launch")) return AUTOTUNE_FAILED;
  const bool is_gemm = kernel->target == "gemm";
  const std::vector<int64_t> sizes(kernel->sizes.end() - 3, kernel->sizes.end());
  const std::string& settings = kernel->settings;
  const bool adds = has(settings, "scale=beta");
  const Product product{sizes[0],
                        sizes[1],
                        sizes[2],
                        has(settings, "layout=T"),
                        has(settings, "layout=NT") || has(settings, "layout=TT"),
                        adds,
                        is_gemm && !has(settings, "scale=none") ? scalars[0] : 1,
                        adds ? scalars[1] : 0};
  for (int64_t i = 0; i < batch_of(*kernel); ++i) {
    const auto at = [&](size_t buffer, int64_t elements) {
      return static_cast<float*>(buffers[buffer]) + i * elements;
    };
    multiply(product, at(0, sizes[0] * sizes[2]), at(1, sizes[2] * sizes[1]),
             adds ? at(2, sizes[0] * sizes[1]) : nullptr, at(count - 1, sizes[0] * sizes[1]));
  }
  return AUTOTUNE_OK;
}

}  // extern "C"
