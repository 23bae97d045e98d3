/* SPDX-License-Identifier: Apache-2.0 */
/* The complete interface between autotune and a plugin: plain C, no library to link. A plugin is a
 * shared library that exports one function, autotune_plugin(). See docs/plugin_abi.md.
 *
 * Ownership: the maker of a string or an array owns it. What a plugin returns must stay valid and
 * unchanged while the plugin is loaded (it is never unloaded). A reason need only stay valid until
 * the next call into the same plugin. What autotune passes is valid during the call.
 *
 * A function that returns a reason returns NULL on success, else one line of text that says what
 * failed. Strings are UTF-8 and end in 0. Times are seconds. No call may throw.
 *
 * autotune calls a plugin from one thread at a time, in a separate process. A baseline may also run
 * inside a program that uses libautotune. */
#ifndef AUTOTUNE_PLUGIN_H
#define AUTOTUNE_PLUGIN_H

#include <stdint.h>

/* Changes when plugins built with an older header no longer work. Additions come as new facets with
 * new names. */
#define AUTOTUNE_PLUGIN_ABI 1

#ifdef __cplusplus
#define AUTOTUNE_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define AUTOTUNE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

typedef struct autotune_plugin_v1 {
  uint32_t abi;            /* AUTOTUNE_PLUGIN_ABI; with another value, nothing else is read */
  const char* name;        /* letters, digits, _ and -; unique among loaded plugins */
  const char* version;     /* `1.2` */
  const char* description; /* one line */
  /* The struct of the AUTOTUNE_FACET_ with this id, or NULL if the plugin does not offer it. */
  const void* (*facet)(const char* id);
} autotune_plugin_v1;

/* A plugin defines and exports this:
 *   AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; } */
typedef const autotune_plugin_v1* (*autotune_plugin_function)(void);

/* An array of a problem; its elements are contiguous. Baselines also get the target's scalars, such
 * as `alpha`. These are arrays of one element in host memory, after the other buffers. */
typedef struct autotune_buffer_v1 {
  const char* name; /* as in the manifest */
  /* `f32` `f64` `i32` `i64` `f16` `bf16` `i8` `u8` `i16` `u16` `u32` `u64` `e4m3` `e5m2` */
  const char* type;
  const char* role; /* `input` `output` `inout` `workspace` `scalar` */
  int64_t length;   /* elements */
  void* data;
} autotune_buffer_v1;

/* ---- targets/1: kernels with a tunable space --------------------------------------------- */

#define AUTOTUNE_FACET_TARGETS "targets/1"

typedef struct autotune_target_v1 {
  const char* manifest; /* the text of a .target.toml; see docs/manifest.md */
  const char* folder;   /* base of its paths, relative to the plugin's folder; NULL: that folder */
  /* Both may be NULL. `problem` is such as `M=512 N=512 dtype=f32`. Data is in host memory. */

  /* Fills inputs and inouts, which have the manifest's fill at the call. */
  const char* (*fill)(const char* problem, uint64_t seed, uint32_t count,
                      const autotune_buffer_v1* buffers);
  /* Writes the reference result to every output and inout, in the buffer's type. It replaces the
   * manifest's reference. */
  const char* (*reference)(const char* problem, uint32_t count, const autotune_buffer_v1* buffers);
} autotune_target_v1;

typedef struct autotune_targets_v1 {
  uint32_t count;
  const autotune_target_v1* targets;
} autotune_targets_v1;

/* ---- search/2: search strategies --------------------------------------------------------- */

#define AUTOTUNE_FACET_SEARCH "search/2"

#define AUTOTUNE_PLUGIN_OK 0     /* correct; `seconds` is its time */
#define AUTOTUNE_PLUGIN_SLOW 1   /* timing stopped early: it takes `seconds` or more */
#define AUTOTUNE_PLUGIN_FAILED 2 /* does not compile, crashes, is wrong, …; `seconds` infinite */

typedef struct autotune_evaluation_v2 {
  uint64_t index; /* of the configuration */
  double seconds;
  int32_t outcome;
  /* Resources of the heaviest kernel, from the compiler; -1 where unknown. */
  int32_t registers;      /* a thread */
  int64_t shared_bytes;   /* a block, static and dynamic */
  int64_t local_bytes;    /* a thread: spilled registers and local arrays */
  double occupancy;       /* theoretical, 0 to 1 */
  double compile_seconds; /* 0 where unknown */
  /* How it ended: `ok` `pruned` `invalid` `compile_error` `launch_error` `wrong`
   * `nondeterministic` `timeout` `crash`; others may be added. */
  const char* kind;
  const char* reason; /* one line, such as the compiler's error; may be empty */
} autotune_evaluation_v2;

typedef struct autotune_parameter_v1 {
  const char* name;
  uint32_t count;
  const char* const* values; /* `count` texts */
} autotune_parameter_v1;

/* The space to search. Configurations are numbered 0 … configurations-1. */
typedef struct autotune_task_v2 {
  uint32_t parameters;
  const autotune_parameter_v1* parameter;
  uint64_t configurations;
  /* The index of each parameter's value: levels[index * parameters + p] < parameter[p].count.
   * Configurations are in ascending order of these rows. */
  const uint16_t* levels;
  const double* predicted; /* predicted time of each, in seconds; NULL without a model */
  uint64_t known_count;    /* earlier evaluations; the first is the default configuration */
  const autotune_evaluation_v2* known;
  uint64_t seed;   /* same seed and same evaluations: the search must be the same */
  uint64_t budget; /* largest number of new evaluations */
  uint32_t batch;  /* batch size that keeps all compile threads busy */
  uint32_t reserved;
  void* host; /* for evaluate() */
  /* Compiles, verifies and times configurations. Writes at most `count` answers, in the order of
   * `indices`, and returns their number. If it is less than `count`, the budget is spent: return at
   * once. A repeated evaluation is free. An invalid index ends the search. The strings of answers
   * and of `known` are valid until search() returns. */
  uint64_t (*evaluate)(void* host, const uint64_t* indices, uint64_t count,
                       autotune_evaluation_v2* answers);
} autotune_task_v2;

typedef struct autotune_strategy_v2 {
  const char* name; /* for --strategy */
  const char* description;
  /* Straight-line code: evaluates until the budget is spent or the search is finished. */
  const char* (*search)(const autotune_task_v2* task);
} autotune_strategy_v2;

typedef struct autotune_search_v2 {
  uint32_t count;
  const autotune_strategy_v2* strategies;
} autotune_search_v2;

/* ---- baseline/1: a vendor's library ------------------------------------------------------ */

#define AUTOTUNE_FACET_BASELINE "baseline/1"

typedef struct autotune_baseline_problem_v1 {
  const char* target; /* `gemm` */
  /* `M=512 N=512 K=512 dtype=f32 layout=NN`. Free sizes that are away from their defaults follow:
   * ` lda=520`. Only baselines with free_sizes/1 get such problems. */
  const char* problem;
  uint32_t count;
  /* In device memory of the current CUDA device. A program that uses libautotune opens a baseline
   * without buffers: `data` is NULL then, and addresses come with each launch(). */
  const autotune_buffer_v1* buffers;
} autotune_baseline_problem_v1;

typedef struct autotune_baseline_v1 {
  /* Whether the library supports the target. Called without a GPU. */
  int (*supports)(const char* target);
  /* Sets *instance, to NULL if the library cannot compute this problem. */
  const char* (*open)(const autotune_baseline_problem_v1* problem, void** instance);
  void (*close)(void* instance);
  /* The ways in which the library can compute the problem. A name includes every choice, because
   * programs find stored candidates by name: `cublasLt 0 (algorithm 55, tile 23, stages 31,
   * split-k 1)`. */
  uint32_t (*candidates)(void* instance);
  const char* (*name)(void* instance, uint32_t candidate);
  /* Enqueues one call on a cudaStream_t. `addresses` replace the buffers' data, in their order.
   * Scalars must be read before it returns. It must not synchronize or allocate, because the stream
   * may be in capture. */
  const char* (*launch)(void* instance, uint32_t candidate, void* const* addresses, void* stream);
} autotune_baseline_v1;

/* ---- host_baseline/1: a library for the CPU ----------------------------------------------- */

/* An autotune_baseline_v1 for the host device. Buffers are in host memory, `stream` is NULL, and
 * launch() returns when the result is there. */
#define AUTOTUNE_FACET_HOST_BASELINE "host_baseline/1"

/* ---- offers/1: what a baseline computes -------------------------------------------------- */

#define AUTOTUNE_FACET_OFFERS "offers/1"

typedef struct autotune_offers_v1 {
  /* The reason why the baseline cannot compute this problem; NULL if it can. Called without a GPU,
   * and without buffers: `data` is NULL. A baseline without this facet computes every problem of
   * the targets that it supports. */
  const char* (*refuses)(const autotune_baseline_problem_v1* problem);
} autotune_offers_v1;

/* ---- free_sizes/1: leading dimensions and strides ---------------------------------------- */

#define AUTOTUNE_FACET_FREE_SIZES "free_sizes/1"

typedef struct autotune_free_sizes_v1 {
  /* Whether the baseline reads the target's free sizes in a problem's text. A baseline without this
   * facet computes problems whose free sizes have their defaults, and gets no others. */
  int (*reads)(const char* target);
} autotune_free_sizes_v1;

/* ---- counters/1: hardware counters ------------------------------------------------------- */

#define AUTOTUNE_FACET_COUNTERS "counters/1"

typedef struct autotune_counter_v1 {
  const char* name; /* `dram_read_bytes`: letters, digits and _; docs/plugin_abi.md lists them */
  const char* unit; /* `bytes`; a part of a whole is a `fraction` */
  double value;     /* of one call */
} autotune_counter_v1;

typedef struct autotune_counters_v1 {
  /* Counts one call on the current CUDA context. `call(host)` makes the call, waits for it, and
   * returns 0, or another number if it failed: return then. It may be made several times. Writes
   * the counters that this device has; they stay valid until the next call into the plugin. */
  const char* (*count)(int (*call)(void* host), void* host, uint32_t* number,
                       const autotune_counter_v1** counters);
} autotune_counters_v1;

#ifdef __cplusplus
}
#endif

#endif
