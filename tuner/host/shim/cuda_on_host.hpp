// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords, types, loads and asynchronous copies for a C++ compiler, so that kernels compile
// for the host unchanged. The headers of this folder precede every kernel, in the order of
// shim_text.cpp.in. They include nothing, so that they compile quickly.
#pragma once

#define NULL __null  // as NVRTC has it without a header

#define AUTOTUNE_HOST 1
#define __CUDACC_RTC__  // host code is left out, as NVRTC does
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // libstdc++ writes __attribute__((__noinline__))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __managed__
// The host looks it up by name. Protected, so that modules do not share one.
#define __constant__ __attribute__((visibility("protected")))
#define __grid_constant__
// All threads of a block run on one host thread, so thread-local memory is the block's own. The
// blocks of a cluster take turns, and exchange it.
// Static without that word, which kernels may write, too.
#define __shared__ thread_local __attribute__((aligned(64)))
// The launcher finds it in the source itself, which then redefines it.
#define __cluster_dims__(...)                                                           \
  __attribute__((                                                                       \
      error("__cluster_dims__ of an included file or a macro is not understood on the " \
            "host device: write it at the kernel, or give the cluster in the manifest")))

// `#pragma unroll`. CUDA's compilers expand macros in the count; g++'s own pragma does not.
#define AUTOTUNE_PRAGMA(text) _Pragma(#text)
#ifdef AUTOTUNE_CHECKED_ACCESSES  // the check of each unrolled access takes long to compile
#define AUTOTUNE_UNROLL_ALL
#define AUTOTUNE_UNROLL(count)
#define AUTOTUNE_UNROLL_BY(count)
#elif defined(__clang__)
#define AUTOTUNE_UNROLL_ALL _Pragma("unroll")
#define AUTOTUNE_UNROLL(count) AUTOTUNE_PRAGMA(unroll count)
#define AUTOTUNE_UNROLL_BY(count) AUTOTUNE_UNROLL(count)
#else
// A larger count makes g++ take seconds for a large register tile.
#define AUTOTUNE_UNROLL_ALL _Pragma("GCC unroll 16")
#define AUTOTUNE_UNROLL(count) AUTOTUNE_PRAGMA(GCC unroll count)
#define AUTOTUNE_UNROLL_BY(count)  // g++ takes no constant of a template
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
static thread_local uint3 autotune_cluster_dim;  // blocks of a cluster
static thread_local unsigned autotune_cluster_rank;
// Whether a thread is the only one of its cluster. It then waits for nobody, and is no fibre.
static thread_local bool autotune_alone;
static constexpr int warpSize = 32;

/// Called ahead of an access outside of an array, by what -fsanitize=object-size adds.
extern "C" __attribute__((used, cold, visibility("hidden"), no_sanitize("undefined"))) void
__ubsan_handle_type_mismatch_v1(void* access, void* at) {
  autotune_hooks.stray(*static_cast<autotune_host::StrayAccess*>(access), at, autotune_alone);
}

// Vector types, aligned as CUDA aligns them.
#define AUTOTUNE_VECTORS(T, NAME, SIZE)                              \
  struct NAME##1 {                                                   \
    T x;                                                             \
  };                                                                 \
  struct alignas(SIZE * 2) NAME##2 {                                 \
    T x, y;                                                          \
  };                                                                 \
  struct NAME##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(SIZE * 4 < 16 ? SIZE * 4 : 16) NAME##4 {            \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline NAME##1 make_##NAME##1(T x) { return {x}; }                 \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
AUTOTUNE_VECTORS(float, float, 4)
AUTOTUNE_VECTORS(double, double, 8)
AUTOTUNE_VECTORS(int, int, 4)
AUTOTUNE_VECTORS(char, char, 1)
AUTOTUNE_VECTORS(short, short, 2)
AUTOTUNE_VECTORS(long, long, 8)
AUTOTUNE_VECTORS(long long, longlong, 8)
AUTOTUNE_VECTORS(unsigned char, uchar, 1)
AUTOTUNE_VECTORS(unsigned short, ushort, 2)
AUTOTUNE_VECTORS(unsigned long, ulong, 8)
AUTOTUNE_VECTORS(unsigned long long, ulonglong, 8)
#undef AUTOTUNE_VECTORS
struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint1 make_uint1(unsigned x) { return {x}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// Loads and stores with a cache hint, which means nothing here.
#define AUTOTUNE_LOAD(name)   \
  template <class T>          \
  inline T name(const T* p) { \
    return *p;                \
  }
AUTOTUNE_LOAD(__ldg)
AUTOTUNE_LOAD(__ldca)
AUTOTUNE_LOAD(__ldcg)
AUTOTUNE_LOAD(__ldcs)
#undef AUTOTUNE_LOAD
#define AUTOTUNE_STORE(name)        \
  template <class T>                \
  inline void name(T* p, T value) { \
    *p = value;                     \
  }
AUTOTUNE_STORE(__stcg)
AUTOTUNE_STORE(__stcs)
AUTOTUNE_STORE(__stwt)
#undef AUTOTUNE_STORE

// Asynchronous copies. They run in the wait, which is as late as CUDA allows.
namespace autotune_host {

static thread_local bool autotune_copies;  // whether a block of one thread has begun any

inline void* dynamic_shared() {
  return autotune_hooks.dynamic_shared == nullptr ? nullptr : autotune_hooks.dynamic_shared();
}
/// Sets the pointer that stands for a dynamic shared array outside of functions.
struct DynamicArray {
  explicit DynamicArray(void (*set_)());
  void (*set)();
  const DynamicArray* next;
};
static const DynamicArray* dynamic_arrays;
inline DynamicArray::DynamicArray(void (*set_)()) : set(set_), next(dynamic_arrays) {
  dynamic_arrays = this;
}
/// For the block that the host thread begins to run.
inline void set_dynamic_arrays() {
  for (const DynamicArray* each = dynamic_arrays; each != nullptr; each = each->next) each->set();
}
inline void copy(void* to, const void* from, unsigned bytes, unsigned zeros = 0) {
  autotune_copies = true;
  autotune_hooks.copy(to, from, bytes, zeros);
}
inline void commit_copies() { autotune_hooks.commit_copies(); }
inline void wait_copies(unsigned groups_left) { autotune_hooks.wait_copies(groups_left); }

}  // namespace autotune_host
