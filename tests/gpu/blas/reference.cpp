// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/blas/reference.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/text/format.hpp"

namespace autotune::gpu_blas {
namespace {

/// Doubles on the GPU.
class Doubles {
 public:
  explicit Doubles(const std::vector<double>& values) : count_(values.size()) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, count_ * sizeof(double)), "cudaMalloc");
    at_ = static_cast<double*>(memory);
    check(cudaMemcpy(at_, values.data(), count_ * sizeof(double), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaMemcpy");
  }
  ~Doubles() { cudaFree(at_); }
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;

  double* at() const { return at_; }
  std::vector<double> read() const {
    std::vector<double> values(count_);
    check(cudaMemcpy(values.data(), at_, count_ * sizeof(double), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return values;
  }

 private:
  std::size_t count_;
  double* at_ = nullptr;
};

std::vector<double> absolute(std::vector<double> values) {
  std::ranges::transform(values, values.begin(), [](double value) { return std::abs(value); });
  return values;
}

/// op(A) op(B), packed, of these values in the places of the call's matrices.
std::vector<double> product(const Call& call, const std::vector<double>& a,
                            const std::vector<double>& b, cublasHandle_t handle) {
  const Shape& s = call.shape;
  const Extent &ea = call.a.extent(), &eb = call.b.extent();
  const Doubles da(a), db(b);
  const Doubles d(std::vector<double>(static_cast<std::size_t>(s.m) * s.n * s.batch));
  const double one = 1, zero = 0;
  cudaStream_t stream = nullptr;
  check(cublasGetStream(handle, &stream), "cublasGetStream");
  check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
  check(
      cublasDgemmStridedBatched(handle, s.op_a, s.op_b, s.m, s.n, s.k, &one, da.at() + ea.misplaced,
                                static_cast<int>(ea.leading()), ea.stride(), db.at() + eb.misplaced,
                                static_cast<int>(eb.leading()), eb.stride(), &zero, d.at(), s.m,
                                static_cast<long long>(s.m) * s.n, s.batch),
      "cublasDgemmStridedBatched");
  check(cudaStreamSynchronize(stream), "cublasDgemmStridedBatched");
  return d.read();
}

/// Half a unit in the last place, relative.
double rounding_of(cudaDataType_t type) {
  if (type == CUDA_R_16F) return 0x1p-11;
  return type == CUDA_R_16BF ? 0x1p-8 : 0x1p-24;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// What the epilogue makes of a value; none has a slope above 1.13.
double finished(cublasLtEpilogue_t epilogue, double value, double bias) {
  if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) value += bias;
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) value = std::max(value, 0.0);
  return (epilogue & CUBLASLT_EPILOGUE_GELU) != 0 ? gelu(value) : value;
}

/// A random walk of k roundings, four times as far as it is expected to come. cuBLAS may add parts
/// of a sum in 16 bits. A GELU may be an approximation by tanh.
double bound_of(const Shape& s, double magnitude, double value) {
  const double sum = (4 * std::sqrt(s.k) + 8) * 0x1p-24 * magnitude;
  const double parts = s.output == CUDA_R_32F ? 0 : 2 * std::sqrt(s.k);
  const double approximation = (s.epilogue & CUBLASLT_EPILOGUE_GELU) != 0 ? 1e-3 : 1e-7;
  return 1.13 * sum + rounding_of(s.output) * (std::abs(value) + parts) + approximation;
}

std::vector<bool> places_of(const Extent& extent) {
  std::vector<bool> holds(static_cast<std::size_t>(extent.elements()));
  for (int product = 0; product < extent.batch; ++product) {
    for (std::int64_t column = 0; column < extent.columns; ++column) {
      for (std::int64_t row = 0; row < extent.rows; ++row) {
        holds[static_cast<std::size_t>(extent.place(row, column, product))] = true;
      }
    }
  }
  return holds;
}

bool is_same(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

/// Padding and gaps keep what they had.
bool is_kept_around(const DeviceMatrix& matrix, const std::vector<double>& now) {
  const std::vector<bool> holds = places_of(matrix.extent());
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (!holds[i] && !is_same(now[i], matrix.values()[i])) return false;
  }
  return true;
}

}  // namespace

std::string mistake_in(const Call& call, cublasHandle_t handle) {
  const Shape& s = call.shape;
  const std::vector<double>&a = call.a.values(), &b = call.b.values(), &c = call.c.values();
  const std::vector<double> right = product(call, a, b, handle);
  const std::vector<double> magnitude = product(call, absolute(a), absolute(b), handle);
  const std::vector<double> now = call.result().read();
  const Extent &at = call.result().extent(), &of_c = call.c.extent();
  std::size_t i = 0;
  for (int product = 0; product < s.batch; ++product) {
    for (int column = 0; column < s.n; ++column) {
      for (int row = 0; row < s.m; ++row, ++i) {
        const double added =
            s.beta == 0 ? 0
                        : s.beta * c[static_cast<std::size_t>(of_c.place(row, column, product))];
        const double bias = call.bias.values()[static_cast<std::size_t>(row)];
        const double value = finished(s.epilogue, s.alpha * right[i] + added, bias);
        const double size = std::abs(s.alpha) * magnitude[i] + std::abs(added) + std::abs(bias);
        const double is = now[static_cast<std::size_t>(at.place(row, column, product))];
        if (!(std::abs(is - value) <= bound_of(s, size, value))) {
          return format("row {} column {} product {} is {}, not {} within {}", row, column, product,
                        is, value, bound_of(s, size, value));
        }
      }
    }
  }
  return is_kept_around(call.result(), now) ? "" : "something beside the result was written";
}

}  // namespace autotune::gpu_blas
