// SPDX-License-Identifier: Apache-2.0
// The tuner's own kernels: fill, compare, hash, count, scatter, stamp clocks, do nothing. NVRTC
// compiles them behind the texts of tuner/core/narrow_float.hpp, tuner/measure/elements.hpp and a
// few macros (device_kernels.cpp): those of one type with ELEMENT, else those of none. As on the
// host, a * b + c is not contracted.

using autotune::Allowance;
using autotune::ElementRule;
using autotune::Finding;
typedef autotune::Float16 f16;
typedef autotune::BFloat16 bf16;
typedef autotune::Float8E4M3 e4m3;
typedef autotune::Float8E5M2 e5m2;
typedef float f32;
typedef double f64;
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;

struct Stamp {
  i64 clock, nanoseconds;
};

#define FOR_EACH(i, count)                                              \
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < (count); \
       i += i64(gridDim.x) * blockDim.x)

// All threads of a warp must call this.
__device__ void add(u64* to, u64 value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0 && value != 0) atomicAdd(to, value);
}

// Errors are never negative, so they are ordered like their bits.
__device__ void add(Finding* to, const Finding& own) {
  if (own.wrong) atomicMin(&to->first, own.first);
  if (own.worst > 0) atomicMax(reinterpret_cast<u64*>(&to->worst), __double_as_longlong(own.worst));
  __syncwarp();
  add(&to->wrong, own.wrong);
  add(&to->unbounded, own.unbounded);
  add(&to->squares, own.squares);
  add(&to->shares, own.shares);
}

#ifdef ELEMENT

extern "C" __global__ void fill(ELEMENT* to, i64 count, const ElementRule rule) {
  FOR_EACH(i, count) to[i] = autotune::filled_element<ELEMENT>(rule, i);
}

template <class Right>
__device__ void compare_all(const ELEMENT* got, const Right* values, const Right* magnitudes,
                            i64 count, const Allowance& allowed, Finding* finding) {
  Finding own;
  FOR_EACH(i, count) {
    const Right value = values[i], magnitude = magnitudes ? magnitudes[i] : value;
    autotune::compare_element(own, i, got[i], value, magnitude, allowed);
  }
  add(finding, own);
}

extern "C" __global__ void compare(const ELEMENT* got, const ELEMENT* values,
                                   const ELEMENT* magnitudes, i64 count, const Allowance allowed,
                                   Finding* finding) {
  compare_all(got, values, magnitudes, count, allowed, finding);
}

#ifdef IS_FLOATING
extern "C" __global__ void compare_f64(const ELEMENT* got, const double* values,
                                       const double* magnitudes, i64 count, const Allowance allowed,
                                       Finding* finding) {
  compare_all(got, values, magnitudes, count, allowed, finding);
}

// Counts the values that are not integers below `limit`.
extern "C" __global__ void count_inexact(const ELEMENT* values, i64 count, double limit,
                                         u64* others) {
  u64 own = 0;
  FOR_EACH(i, count) own += !autotune::is_small_integer(double(values[i]), limit);
  add(others, own);
}
#endif

#else

extern "C" __global__ void count_other(const unsigned char* start, i64 bytes, unsigned char value,
                                       u64* others) {
  u64 count = 0;
  FOR_EACH(i, bytes) count += start[i] != value;
  add(others, count);
}

// The next kernel may start at once. What it must not read yet is written 5 us later.
extern "C" __global__ void scatter(unsigned char* to, const unsigned char* from,
                                   const i64* positions, i64 count, i64 element_bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  i64 begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < 5000);
#endif
  FOR_EACH(i, count * element_bytes) {
    to[positions[i / element_bytes] * element_bytes + i % element_bytes] = from[i];
  }
}

// Hashes 4 bytes at a time; the last word may be shorter.
extern "C" __global__ void hash(const unsigned char* start, i64 bytes, u64* sum) {
  const bool is_aligned = reinterpret_cast<u64>(start) % 4 == 0;
  u64 own = 0;
  FOR_EACH(i, (bytes + 3) / 4) {
    unsigned word = 0;
    if (is_aligned && 4 * i + 4 <= bytes) {
      word = reinterpret_cast<const unsigned*>(start)[i];
    } else {
      const i64 last = 4 * i + 4 <= bytes ? 4 * i + 3 : bytes - 1;
      for (i64 at = last; at >= 4 * i; --at) word = word << 8 | start[at];
    }
    own += autotune::mix((u64(i) << 32 ^ word) + 0x9e3779b97f4a7c15ull);
  }
  add(sum, own);
}

extern "C" __global__ void stamp(Stamp* stamps) {
  unsigned processor;
  i64 now;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (processor < MOST_STAMPS) stamps[processor] = {clock64(), now};
}

extern "C" __global__ void copy(unsigned char* to, const unsigned char* from, i64 bytes) {
  const bool are_aligned = (reinterpret_cast<u64>(to) | reinterpret_cast<u64>(from)) % 16 == 0;
  const i64 wide = are_aligned ? bytes / 16 : 0;
  FOR_EACH(i, wide) reinterpret_cast<int4*>(to)[i] = reinterpret_cast<const int4*>(from)[i];
  FOR_EACH(i, bytes - 16 * wide) to[bytes - 1 - i] = from[bytes - 1 - i];
}

extern "C" __global__ void empty() {}

extern "C" __global__ void neighbour(float* values, i64 count) {
  FOR_EACH(i, count) values[i] += 1;
}

#endif
