// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords, types and functions for a C++ compiler, so that kernels compile for the host
// unchanged. This text precedes every kernel. It includes nothing, so that it compiles quickly.
#pragma once

#define AUTOTUNE_HOST 1
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
// The host looks it up by name. Protected, so that modules do not share one.
#define __constant__ __attribute__((visibility("protected")))
#define __grid_constant__
// All threads of a block run on one host thread, so thread-local memory is the block's own.
#define __shared__ static thread_local __attribute__((aligned(64)))
#define __cluster_dims__(...) \
  __attribute__((error("clusters are not available on the host device: use a GPU for them")))

// `#pragma unroll`. CUDA's compilers expand macros in the count; g++'s own pragma does not.
#define AUTOTUNE_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define AUTOTUNE_UNROLL_ALL _Pragma("unroll")
#define AUTOTUNE_UNROLL(count) AUTOTUNE_PRAGMA(unroll count)
#else
// A larger count makes g++ take seconds for a large register tile.
#define AUTOTUNE_UNROLL_ALL _Pragma("GCC unroll 16")
#define AUTOTUNE_UNROLL(count) AUTOTUNE_PRAGMA(GCC unroll count)
#endif

extern "C" __attribute__((visibility("default"))) autotune_host::Hooks autotune_hooks;
autotune_host::Hooks autotune_hooks;

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local uint3 blockDim;
static thread_local uint3 gridDim;
static constexpr int warpSize = 32;

// Vector types, aligned as CUDA aligns them.
#define AUTOTUNE_VECTORS(T, NAME, SIZE)                              \
  struct alignas(SIZE * 2) NAME##2 {                                 \
    T x, y;                                                          \
  };                                                                 \
  struct NAME##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(SIZE * 4 < 16 ? SIZE * 4 : 16) NAME##4 {            \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
AUTOTUNE_VECTORS(float, float, 4)
AUTOTUNE_VECTORS(double, double, 8)
AUTOTUNE_VECTORS(int, int, 4)
AUTOTUNE_VECTORS(char, char, 1)
AUTOTUNE_VECTORS(short, short, 2)
AUTOTUNE_VECTORS(long long, longlong, 8)
#undef AUTOTUNE_VECTORS
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// The C library's mathematics, as <math.h> declares it.
extern "C" {
#define AUTOTUNE_MATH1(NAME)    \
  double NAME(double) noexcept; \
  float NAME##f(float) noexcept;
#define AUTOTUNE_MATH2(NAME)            \
  double NAME(double, double) noexcept; \
  float NAME##f(float, float) noexcept;
AUTOTUNE_MATH1(sqrt)
AUTOTUNE_MATH1(cbrt)
AUTOTUNE_MATH1(exp)
AUTOTUNE_MATH1(exp2)
AUTOTUNE_MATH1(expm1)
AUTOTUNE_MATH1(log)
AUTOTUNE_MATH1(log2)
AUTOTUNE_MATH1(log10)
AUTOTUNE_MATH1(log1p)
AUTOTUNE_MATH1(sin)
AUTOTUNE_MATH1(cos)
AUTOTUNE_MATH1(tan)
AUTOTUNE_MATH1(asin)
AUTOTUNE_MATH1(acos)
AUTOTUNE_MATH1(atan)
AUTOTUNE_MATH1(sinh)
AUTOTUNE_MATH1(cosh)
AUTOTUNE_MATH1(tanh)
AUTOTUNE_MATH1(erf)
AUTOTUNE_MATH1(erfc)
AUTOTUNE_MATH1(fabs)
AUTOTUNE_MATH1(floor)
AUTOTUNE_MATH1(ceil)
AUTOTUNE_MATH1(trunc)
AUTOTUNE_MATH1(round)
AUTOTUNE_MATH1(rint)
AUTOTUNE_MATH2(pow)
AUTOTUNE_MATH2(atan2)
AUTOTUNE_MATH2(fmod)
AUTOTUNE_MATH2(fmin)
AUTOTUNE_MATH2(fmax)
AUTOTUNE_MATH2(hypot)
AUTOTUNE_MATH2(copysign)
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
int abs(int) noexcept;
#undef AUTOTUNE_MATH1
#undef AUTOTUNE_MATH2
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define AUTOTUNE_MIN_MAX(T)                        \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
AUTOTUNE_MIN_MAX(int)
AUTOTUNE_MIN_MAX(unsigned)
AUTOTUNE_MIN_MAX(long)
AUTOTUNE_MIN_MAX(unsigned long)
AUTOTUNE_MIN_MAX(long long)
AUTOTUNE_MIN_MAX(unsigned long long)
#undef AUTOTUNE_MIN_MAX
// As in CUDA: if one argument is NaN, the result is the other.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

// Loads and stores with a cache hint, which means nothing here.
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
template <class T>
inline T __ldca(const T* p) {
  return *p;
}
template <class T>
inline T __ldcg(const T* p) {
  return *p;
}
template <class T>
inline T __ldcs(const T* p) {
  return *p;
}
template <class T>
inline void __stcg(T* p, T value) {
  *p = value;
}
template <class T>
inline void __stcs(T* p, T value) {
  *p = value;
}
template <class T>
inline void __stwt(T* p, T value) {
  *p = value;
}

// Atomics, because blocks run on several host threads.
namespace autotune_host {

template <class T>
struct Same {
  using Type = T;
};

/// Replaces *p by change(*p) in one step and returns what was there.
template <class T, class Change>
inline T atomically(T* p, Change change) {
  T old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    next = change(old);
  } while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace autotune_host

#define AUTOTUNE_ATOMIC(NAME, EXPRESSION)                                        \
  template <class T>                                                             \
  inline T NAME(T* p, typename autotune_host::Same<T>::Type v) {                 \
    return autotune_host::atomically(p, [v](T old) -> T { return EXPRESSION; }); \
  }
AUTOTUNE_ATOMIC(atomicAdd, old + v)
AUTOTUNE_ATOMIC(atomicSub, old - v)
AUTOTUNE_ATOMIC(atomicExch, (static_cast<void>(old), v))
AUTOTUNE_ATOMIC(atomicMin, v < old ? v : old)
AUTOTUNE_ATOMIC(atomicMax, old < v ? v : old)
AUTOTUNE_ATOMIC(atomicAnd, old& v)
AUTOTUNE_ATOMIC(atomicOr, old | v)
AUTOTUNE_ATOMIC(atomicXor, old ^ v)
AUTOTUNE_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
AUTOTUNE_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef AUTOTUNE_ATOMIC
template <class T>
inline T atomicCAS(T* p, typename autotune_host::Same<T>::Type expected,
                   typename autotune_host::Same<T>::Type v) {
  __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}

namespace autotune_host {

inline unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// Runs `wait`, which lets other threads of the block run, and restores threadIdx after it.
template <class Wait>
inline void wait_as_this_thread(Wait wait) {
  const uint3 me = threadIdx;
  wait();
  threadIdx = me;
}

inline void wait_block() {
  if (threads() > 1) wait_as_this_thread([] { autotune_hooks.wait_block(); });
}
inline void wait_warp(unsigned lanes) {
  if (threads() > 1) wait_as_this_thread([=] { autotune_hooks.wait_warp(lanes); });
}

/// Publishes this thread's value, waits for all others, and returns read(slots) of all values.
template <class Wait, class Read>
inline auto exchange(unsigned long long value, Wait wait, Read read) {
  unsigned long long own[1] = {value};
  unsigned long long* slots = threads() > 1 ? autotune_hooks.slots() : own;
  slots[thread()] = value;
  wait();
  const auto result = read(slots);
  wait();  // until all threads have read, because the next exchange overwrites the slots
  return result;
}

/// The value of lane `source` of this warp, or the thread's own value if there is no such lane. It
/// takes part in the exchange in both cases, because the other lanes wait for it.
template <class T>
inline T from_lane(unsigned lanes, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "shuffles take values of at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  const unsigned named = thread() / 32 * 32 + source;
  const unsigned from = named < threads() ? named : thread();
  bits = exchange(
      bits, [=] { wait_warp(lanes); },
      [=](const unsigned long long* slots) { return slots[from]; });
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// The number of lanes of this thread's warp. The last warp of a block may be partial.
inline unsigned lanes_of_warp() {
  const unsigned left = threads() - thread() / 32 * 32;
  return left < 32 ? left : 32;
}

inline unsigned ballot(unsigned lanes, bool vote) {
  const unsigned first = thread() / 32 * 32, count = lanes_of_warp();
  return exchange(
      vote, [=] { wait_warp(lanes); },
      [=](const unsigned long long* slots) {
        unsigned votes = 0;
        for (unsigned lane = 0; lane < count; ++lane) {
          if ((lanes >> lane & 1) != 0 && slots[first + lane] != 0) votes |= 1u << lane;
        }
        return votes;
      });
}

inline int count_in_block(bool vote) {
  return exchange(
      vote, [] { wait_block(); },
      [](const unsigned long long* slots) {
        int votes = 0;
        for (unsigned i = 0; i < threads(); ++i) votes += slots[i] != 0;
        return votes;
      });
}

}  // namespace autotune_host

inline void __syncthreads() { autotune_host::wait_block(); }
inline int __syncthreads_count(int vote) { return autotune_host::count_in_block(vote != 0); }
inline int __syncthreads_or(int vote) { return autotune_host::count_in_block(vote != 0) != 0; }
inline int __syncthreads_and(int vote) { return autotune_host::count_in_block(vote == 0) == 0; }
inline void __syncwarp(unsigned lanes = 0xffffffffu) { autotune_host::wait_warp(lanes); }
inline unsigned __ballot_sync(unsigned lanes, int vote) {
  return autotune_host::ballot(lanes, vote != 0);
}
inline int __any_sync(unsigned lanes, int vote) { return __ballot_sync(lanes, vote) != 0; }
inline int __all_sync(unsigned lanes, int vote) { return __ballot_sync(lanes, vote == 0) == 0; }
inline unsigned __activemask() { return 0xffffffffu >> (32 - autotune_host::lanes_of_warp()); }

template <class T>
inline T __shfl_sync(unsigned lanes, T value, int source, int width = 32) {
  const unsigned lane = autotune_host::thread() % 32, group = lane & ~(width - 1u);
  return autotune_host::from_lane(lanes, value, group + (source & (width - 1u)));
}
template <class T>
inline T __shfl_down_sync(unsigned lanes, T value, unsigned delta, int width = 32) {
  const unsigned lane = autotune_host::thread() % 32;
  const bool inside = (lane & (width - 1u)) + delta < static_cast<unsigned>(width);
  return autotune_host::from_lane(lanes, value, inside ? lane + delta : lane);
}
template <class T>
inline T __shfl_up_sync(unsigned lanes, T value, unsigned delta, int width = 32) {
  const unsigned lane = autotune_host::thread() % 32;
  return autotune_host::from_lane(lanes, value,
                                  (lane & (width - 1u)) >= delta ? lane - delta : lane);
}
template <class T>
inline T __shfl_xor_sync(unsigned lanes, T value, int other, int width = 32) {
  const unsigned lane = autotune_host::thread() % 32, source = lane ^ static_cast<unsigned>(other);
  const bool inside = (source & ~(width - 1u)) <= (lane & ~(width - 1u));
  return autotune_host::from_lane(lanes, value, inside ? source : lane);
}

// Asynchronous copies. They run in the wait, which is as late as CUDA allows.
namespace autotune_host {

static thread_local bool autotune_copies;  // whether a block of one thread has begun any

inline void* dynamic_shared() {
  return autotune_hooks.dynamic_shared == nullptr ? nullptr : autotune_hooks.dynamic_shared();
}
inline void copy(void* to, const void* from, unsigned bytes, unsigned zeros = 0) {
  autotune_copies = true;
  autotune_hooks.copy(to, from, bytes, zeros);
}
inline void commit_copies() { autotune_hooks.commit_copies(); }
inline void wait_copies(unsigned groups_left) { autotune_hooks.wait_copies(groups_left); }

}  // namespace autotune_host

// How the launcher enters a kernel.
namespace autotune_host {

template <auto kernel>
struct Entry;

template <class... Types, void (*kernel)(Types...)>
struct Entry<kernel> {
  template <class First, class... Rest>
  struct Split {
    template <class... Bound>
    static inline __attribute__((always_inline)) void call(void** arguments, Bound&... bound) {
      if constexpr (sizeof...(Rest) == 0) {
        kernel(bound..., *static_cast<First*>(*arguments));
      } else {
        Split<Rest...>::call(arguments + 1, bound..., *static_cast<First*>(*arguments));
      }
    }
  };

  static inline void call(void** arguments) {
    if constexpr (sizeof...(Types) == 0) {
      kernel();
    } else {
      Split<Types...>::call(arguments);
    }
  }

  // The bytes of each parameter, terminated by 0.
  static constexpr int parameter_bytes[] = {static_cast<int>(sizeof(Types))..., 0};

  static void body(void* context, unsigned thread) {
    threadIdx.x = thread % blockDim.x;
    threadIdx.y = thread / blockDim.x % blockDim.y;
    threadIdx.z = thread / blockDim.x / blockDim.y;
    call(static_cast<void**>(context));
  }

  static unsigned long long run(void** arguments, Extent grid, Extent block,
                                unsigned long long first, unsigned long long last) {
    gridDim = {grid.x, grid.y, grid.z};
    blockDim = {block.x, block.y, block.z};
    threadIdx = {0, 0, 0};
    const unsigned count = threads();
    for (unsigned long long i = first; i < last; ++i) {
      blockIdx.x = static_cast<unsigned>(i % grid.x);
      blockIdx.y = static_cast<unsigned>(i / grid.x % grid.y);
      blockIdx.z = static_cast<unsigned>(i / grid.x / grid.y);
      if (count == 1) {
        call(arguments);
        if (autotune_copies) autotune_hooks.drop_copies();
        autotune_copies = false;
      } else if (!autotune_hooks.run_block(count, &body, arguments)) {
        return i;
      }
    }
    return last;
  }
};

}  // namespace autotune_host
