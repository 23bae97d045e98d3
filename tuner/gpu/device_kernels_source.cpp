// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels_source.hpp"

#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

constexpr const char* kSource = R"(
typedef unsigned long long u64;
typedef long long i64;

struct Finding { u64 wrong, first, worst; };
struct Stamp { i64 clock, nanoseconds; };

#define FOR_EACH(i, count)                                                       \
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < (count);          \
       i += i64(gridDim.x) * blockDim.x)

#define INFINITE __longlong_as_double(0x7ff0000000000000)

__device__ void add(u64* to, u64 value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0 && value != 0) atomicAdd(to, value);
}

// |got - right| / tolerance; NaN never passes, equal infinities do.
__device__ double error_in_tolerances(double got, double right, double tolerance) {
  if (got == right) return 0;
  const double difference = fabs(got - right);
  const double error = tolerance > 0 ? difference / tolerance : INFINITE;
  return isnan(error) || isinf(difference) ? INFINITE : error;
}

template <class T>
__device__ void compare(const T* got, const double* values, const double* magnitudes, i64 count,
                        double factor, double unit, Finding* finding) {
  u64 wrong = 0, first = ~u64(0), worst = 0;
  FOR_EACH(i, count) {
    const double size = fabs(values[i]);
    const double tolerance = factor * (magnitudes ? magnitudes[i] : size) + unit * size;
    const double error = error_in_tolerances(double(got[i]), values[i], tolerance);
    worst = max(worst, u64(__double_as_longlong(error)));  // errors are not negative
    if (!(error <= 1)) {
      ++wrong;
      first = min(first, u64(i));
    }
  }
  if (wrong) atomicMin(&finding->first, first);
  if (worst) atomicMax(&finding->worst, worst);
  __syncwarp();
  add(&finding->wrong, wrong);
}

template <class T>
__device__ void widen(const T* from, double* to, i64 count) {
  FOR_EACH(i, count) to[i] = double(from[i]);
}

#define FOR_TYPE(suffix, T)                                                                     \
  extern "C" __global__ void compare_##suffix(const T* got, const double* values,              \
                                              const double* magnitudes, i64 count,             \
                                              double factor, double unit, Finding* finding) {  \
    compare(got, values, magnitudes, count, factor, unit, finding);                            \
  }                                                                                            \
  extern "C" __global__ void widen_##suffix(const T* from, double* to, i64 count) {            \
    widen(from, to, count);                                                                    \
  }
FOR_TYPE(f32, float)
FOR_TYPE(f64, double)
FOR_TYPE(i32, int)
FOR_TYPE(i64, i64)

extern "C" __global__ void check_zones(const unsigned char* start, i64 bytes, u64* changed) {
  u64 count = 0;
  FOR_EACH(i, ZONE) {
    count += (start[i - ZONE] != ZONE_BYTE) + (start[bytes + i] != ZONE_BYTE);
  }
  add(changed, count);
}

extern "C" __global__ void hash(const unsigned* words, i64 count, u64* sum) {
  u64 local = 0;
  FOR_EACH(i, count) {
    u64 x = (u64(i) << 32 ^ words[i]) + 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    local += x ^ x >> 31;
  }
  add(sum, local);
}

extern "C" __global__ void count_inexact(const double* values, i64 count, u64* others) {
  u64 local = 0;
  FOR_EACH(i, count) local += !(fabs(values[i]) < 8388608.0 && values[i] == trunc(values[i]));
  add(others, local);
}

extern "C" __global__ void stamp(Stamp* stamps) {
  unsigned processor;
  i64 now;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (processor < MOST_STAMPS) stamps[processor] = {clock64(), now};
}

extern "C" __global__ void empty() {}
)";

}  // namespace

SourceUnit device_kernels_source() {
  const std::string prelude =
      format("#define ZONE {}\n#define ZONE_BYTE {}\n#define MOST_STAMPS {}\n", kRedZoneBytes,
             static_cast<int>(kRedZoneByte), kMostStamps);
  // Products and sums are rounded apart, as on the host.
  return {"device_kernels.cu",
          prelude,
          kSource,
          {},
          {"-fmad=false"},
          {"compare_f32", "compare_f64", "compare_i32", "compare_i64", "widen_f32", "widen_f64",
           "widen_i32", "widen_i64", "check_zones", "hash", "count_inexact", "stamp", "empty"}};
}

}  // namespace autotune
