// SPDX-License-Identifier: Apache-2.0
// A libautotune of the tests: every kernel multiplies on the CPU, row-major, as the targets do.
// FAKE_AUTOTUNE names what goes otherwise.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/tuner/blas/stub/stub_cublas.hpp"
#include "tuner/runtime/autotune.h"

struct autotune_handle {
  std::string target, settings;
};

struct autotune_kernel {
  std::string target, settings;
  std::vector<int64_t> sizes;
  int calls = 0;
};

namespace {

std::atomic<bool> is_stopped{false};

/// As NVRTC's, which compilations use.
struct Statics {
  ~Statics() { are_destroyed = true; }
  std::atomic<bool> are_destroyed{false};
} statics;

constexpr const char* kConfiguration = "BM=64 BN=64";
constexpr std::array kGemmBuffers{"A", "B", "C", "D"};
constexpr std::array kScaledBuffers{"A", "B", "C", "scale_a", "scale_b", "D"};

/// Whether this goes otherwise: `open`, `prepare`, `compile`, `launch`, `default`, `vendor`, …
bool is_asked_for(const char* what) {
  const char* const word = std::getenv("FAKE_AUTOTUNE");
  return word && std::strcmp(word, what) == 0;
}

bool has(const std::string& settings, const char* word) {
  return settings.find(word) != std::string::npos;
}

bool is_scaled(const autotune_kernel& kernel) { return has(kernel.settings, "scales=tensor"); }

int64_t batch_of(const autotune_kernel& kernel) { return kernel.sizes[3]; }

struct Product {
  int64_t m, n, k;
  int64_t lda, ldb, ldc, ldd, stride_a, stride_b, stride_c, stride_d;
  bool a_transposed, b_transposed, adds, has_bias, has_relu, has_gelu;
  double alpha, beta;

  explicit Product(const autotune_kernel& kernel, const double* scalars)
      : a_transposed(has(kernel.settings, "layout=T")),
        b_transposed(has(kernel.settings, "layout=NT") || has(kernel.settings, "layout=TT")),
        adds(has(kernel.settings, "scale=beta")),
        has_bias(has(kernel.settings, "epilogue=bias")),
        has_relu(has(kernel.settings, "relu")),
        has_gelu(has(kernel.settings, "gelu")),
        alpha(has(kernel.settings, "scale=none") ? 1 : scalars[0]),
        beta(adds ? scalars[1] : 0) {
    const std::vector<int64_t>& sizes = kernel.sizes;
    m = sizes[0], n = sizes[1], k = sizes[2];
    lda = a_transposed ? m : k, ldb = b_transposed ? k : n, ldc = ldd = n;
    const auto given = [&](std::size_t at, int64_t otherwise) {
      return at < sizes.size() && sizes[at] != AUTOTUNE_DEFAULT_SIZE ? sizes[at] : otherwise;
    };
    lda = given(4, lda), ldb = given(5, ldb), ldc = given(6, ldc), ldd = given(7, ldd);
    stride_a = given(8, rows_of_a() * lda), stride_b = given(9, rows_of_b() * ldb);
    stride_c = given(10, m * ldc), stride_d = given(11, m * ldd);
  }
  int64_t rows_of_a() const { return a_transposed ? k : m; }
  int64_t rows_of_b() const { return b_transposed ? n : k; }
};

double finished(const Product& p, double value) {
  if (p.has_relu) return std::max(value, 0.0);
  if (!p.has_gelu) return value;
  return 0.5 * value *
         (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * std::pow(value, 3))));
}

void multiply(const Product& p, const float* a, const float* b, const float* c, float* d) {
  for (int64_t row = 0; row < p.m; ++row) {
    for (int64_t column = 0; column < p.n; ++column) {
      double sum = 0;
      for (int64_t at = 0; at < p.k; ++at) {
        sum += static_cast<double>(a[p.a_transposed ? at * p.lda + row : row * p.lda + at]) *
               b[p.b_transposed ? column * p.ldb + at : at * p.ldb + column];
      }
      sum *= p.alpha;
      if (p.adds) sum += p.beta * c[row * p.ldc + column];
      if (p.has_bias) sum += c[column];
      d[row * p.ldd + column] = static_cast<float>(finished(p, sum));
    }
  }
}

}  // namespace

extern "C" {

const char* autotune_message(void) { return "the fake failed as it was asked to"; }

autotune_status autotune_open(const autotune_options* options, autotune_handle** handle) {
  if (is_asked_for("open")) return AUTOTUNE_FAILED;
  if (is_asked_for("fp32 only") && !has(options->settings, "units=fp32")) return AUTOTUNE_NOT_FOUND;
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

autotune_status autotune_lookup(autotune_handle*, const int64_t*, size_t count,
                                autotune_answer* answer) {
  if (is_asked_for("distances") && count > 4) return AUTOTUNE_NOT_FOUND;
  answer->configuration = kConfiguration;
  answer->baseline = is_asked_for("vendor") ? "cublas cublasSgemm" : "";
  if (is_asked_for("away") && count > 4) answer->baseline = "cublas";
  const bool is_open = is_asked_for("earn") || (is_asked_for("earn away") && count > 4);
  if (is_open) answer->baseline = "cublas", answer->is_open = 1;
  answer->origin = is_asked_for("default") ? AUTOTUNE_DEFAULT : AUTOTUNE_EXACT;
  return AUTOTUNE_OK;
}

autotune_status autotune_is_faster(autotune_handle* other, const int64_t*, size_t, autotune_handle*,
                                   const int64_t*, size_t, int32_t* is_faster) {
  const bool is_split = has(other->settings, "units=any");
  *is_faster = is_split && (is_asked_for("split") || is_asked_for("large split"));
  return AUTOTUNE_OK;
}

autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 autotune_kernel** kernel) {
  if (is_asked_for("prepare")) return AUTOTUNE_FAILED;
  while (is_asked_for("slow") && !is_stopped) usleep(1000);
  while (is_asked_for("endless")) usleep(1000);
  if (is_asked_for("slow")) std::fputs(statics.are_destroyed ? "too late\n" : "stopped\n", stderr);
  *kernel = new autotune_kernel{handle->target, handle->settings, {sizes, sizes + count}};
  return AUTOTUNE_OK;
}

void autotune_release(autotune_kernel* kernel) { delete kernel; }

const char* autotune_kernel_configuration(const autotune_kernel*) {
  return is_asked_for("compile") ? "BM=16 BN=16" : kConfiguration;
}

size_t autotune_kernel_buffers(const autotune_kernel* kernel) {
  return is_scaled(*kernel) ? kScaledBuffers.size() : kGemmBuffers.size();
}

const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index, uint64_t*) {
  return is_scaled(*kernel) ? kScaledBuffers[index] : kGemmBuffers[index];
}

size_t autotune_kernel_scalars(const autotune_kernel*) { return 2; }

const char* autotune_kernel_scalar(const autotune_kernel*, size_t index, double*) {
  return index == 0 ? "alpha" : "beta";
}

uint64_t autotune_kernel_workspace(const autotune_kernel* kernel) {
  const bool is_split = has(kernel->settings, "units=any");
  if (is_asked_for("large split") && is_split) return uint64_t{200} << 20;
  if (is_asked_for("large workspace")) return uint64_t{200} << 20;
  return is_asked_for("workspace") ? 1024 : 16;
}

/// Each second call is cuBLAS's, and every call is timed.
int32_t autotune_kernel_earns(const autotune_kernel* kernel) {
  return is_asked_for("earn") || (is_asked_for("earn away") && kernel->sizes.size() > 4) ? 1 : 0;
}

autotune_engine autotune_begin_call(autotune_kernel* kernel, void*, int32_t* is_timed) {
  *is_timed = 1;
  if (kernel->calls++ % 2 != 0) std::fputs("a call has not ended\n", stderr);
  return kernel->calls % 4 == 3 ? AUTOTUNE_VENDOR_LIBRARY : AUTOTUNE_TUNED_KERNEL;
}

void autotune_end_call(autotune_kernel* kernel, void*, int32_t has_run) {
  if (kernel->calls++ % 2 != 1) std::fputs("a call ended twice\n", stderr);
  if (!has_run) std::fputs("a call was not made\n", stderr);
}

void autotune_stop_compiling(void) { is_stopped = true; }

autotune_status autotune_launch_with(autotune_kernel* kernel, void* const* buffers, size_t count,
                                     const double* scalars, size_t, void* stream) {
  if (is_asked_for("launch")) return AUTOTUNE_FAILED;
  const auto* const state = static_cast<const stub::StreamState*>(stream);
  if (state && state->is_captured && state->is_broken) return AUTOTUNE_FAILED;
  const bool is_split = has(kernel->settings, "units=any");
  if (is_asked_for("split") && !is_split) return AUTOTUNE_FAILED;
  if (is_scaled(*kernel)) {  // tells which factors came
    const auto number = [&](size_t buffer) { return *static_cast<const float*>(buffers[buffer]); };
    *static_cast<float*>(buffers[5]) = 10 * number(3) + number(4);
  }
  if (!has(kernel->settings, "dtype=f32")) return AUTOTUNE_OK;
  const Product p(*kernel, scalars);
  for (int64_t i = 0; i < batch_of(*kernel); ++i) {
    const auto at = [&](size_t buffer, int64_t elements) {
      return static_cast<float*>(buffers[buffer]) + i * elements;
    };
    const bool reads_c = p.adds || p.has_bias;
    multiply(p, at(0, p.stride_a), at(1, p.stride_b), reads_c ? at(2, p.stride_c) : nullptr,
             at(count - 1, p.stride_d));
  }
  return AUTOTUNE_OK;
}

}  // extern "C"
