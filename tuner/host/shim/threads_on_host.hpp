// SPDX-License-Identifier: Apache-2.0
// What threads of a kernel do together on the host: atomics, barriers, votes and shuffles.
#pragma once

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
inline unsigned blocks_of_cluster() {
  return autotune_cluster_dim.x * autotune_cluster_dim.y * autotune_cluster_dim.z;
}

/// Runs `wait`, which lets other threads run, and restores threadIdx after it.
template <class Wait>
inline void wait_as_this_thread(Wait wait) {
  if (autotune_alone) return;
  const uint3 me = threadIdx;
  wait();
  threadIdx = me;
}

inline void wait_block() {
  wait_as_this_thread([] { autotune_hooks.wait_block(); });
}
inline void wait_warp(unsigned lanes) {
  wait_as_this_thread([=] { autotune_hooks.wait_warp(lanes); });
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

// Clusters. The declarations are CUDA's own.
inline unsigned __clusterRelativeBlockRank() { return autotune_cluster_rank; }
inline unsigned __clusterSizeInBlocks() { return autotune_host::blocks_of_cluster(); }
inline void __cluster_barrier_arrive() {
  if (!autotune_alone) autotune_hooks.arrive_cluster();
}
inline void __cluster_barrier_wait() {
  autotune_host::wait_as_this_thread([] { autotune_hooks.wait_cluster(); });
}
inline void* __cluster_map_shared_rank(const void* shared, unsigned rank) {
  return autotune_hooks.in_block(shared, rank);
}

inline void __trap() { __builtin_trap(); }
inline void __nanosleep(unsigned) {}

/// The lanes that have the same value as this thread's.
template <class T>
inline unsigned __match_any_sync(unsigned lanes, T value) {
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    same |= (autotune_host::from_lane(lanes, value, lane) == value ? 1u : 0u) << lane;
  }
  return same;
}

namespace autotune_host {
template <class T, class Operation>
inline T over_lanes(unsigned lanes, T value, Operation operation) {
  bool is_first = true;
  T all = value;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const T one = from_lane(lanes, value, lane);
    all = is_first ? one : operation(all, one);
    is_first = false;
  }
  return all;
}
}  // namespace autotune_host
#define AUTOTUNE_REDUCE(name, result)                                                     \
  template <class T>                                                                      \
  inline T __reduce_##name##_sync(unsigned lanes, T value) {                              \
    return autotune_host::over_lanes(lanes, value, [](T a, T b) -> T { return result; }); \
  }
AUTOTUNE_REDUCE(add, a + b)
AUTOTUNE_REDUCE(min, b < a ? b : a)
AUTOTUNE_REDUCE(max, a < b ? b : a)
AUTOTUNE_REDUCE(and, a& b)
AUTOTUNE_REDUCE(or, a | b)
AUTOTUNE_REDUCE(xor, a ^ b)
#undef AUTOTUNE_REDUCE
