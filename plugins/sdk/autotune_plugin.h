/* SPDX-License-Identifier: Apache-2.0 */
/* The whole interface between autotune and a plugin: plain C, no library to link. A plugin is a
 * shared library that exports one function, autotune_plugin(). docs/plugin_abi.md tells more.
 *
 * Who owns what: whoever made a string or an array keeps it. What a plugin returns stays valid
 * and unchanged as long as the plugin is loaded (it is never unloaded), except a reason, which
 * stays so until the next call into the same plugin. What autotune passes is valid during the call.
 * A reason is one line of text that says what went wrong; NULL means that all went well.
 * Strings are UTF-8 and end in 0. Times are seconds. Nothing may be thrown across any call.
 * autotune calls a plugin from one thread at a time, in a process apart from its own; a baseline
 * also in a program that uses libautotune, which then runs the plugin's code itself. */
#ifndef AUTOTUNE_PLUGIN_H
#define AUTOTUNE_PLUGIN_H

#include <stdint.h>

/* Changes when this header no longer fits plugins that were built with an older one. What is new
 * comes as a new facet, under a name of its own. */
#define AUTOTUNE_PLUGIN_ABI 1

#ifdef __cplusplus
#define AUTOTUNE_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define AUTOTUNE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

typedef struct autotune_plugin_v1 {
  uint32_t abi;            /* AUTOTUNE_PLUGIN_ABI; nothing else is read when it is another */
  const char* name;        /* letters, digits, _ and -; one plugin of a name is loaded */
  const char* version;     /* `1.2` */
  const char* description; /* one line */
  /* The struct that an AUTOTUNE_FACET_ below names, or NULL for one that is not offered. */
  const void* (*facet)(const char* id);
} autotune_plugin_v1;

/* A plugin defines and exports this:
 *   AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; } */
typedef const autotune_plugin_v1* (*autotune_plugin_function)(void);

/* An array of a problem; its elements are contiguous. Baselines also get the target's scalars, such
 * as `alpha`: arrays of one element in host memory, which stand behind the others. */
typedef struct autotune_buffer_v1 {
  const char* name; /* as in the manifest */
  const char* type; /* `f32` `f64` `i32` `i64` */
  const char* role; /* `input` `output` `inout` `workspace` `scalar` */
  int64_t length;   /* elements */
  void* data;
} autotune_buffer_v1;

/* ---- targets/1: kernels with a tunable space --------------------------------------------- */

#define AUTOTUNE_FACET_TARGETS "targets/1"

typedef struct autotune_target_v1 {
  const char* manifest; /* the text of a .target.toml; see docs/manifest.md */
  const char* folder;   /* where paths in it start, itself from the plugin's folder; NULL: there */
  /* Both may be NULL. `problem` is as in `M=512 N=512 dtype=f32`; the data lies in host memory. */

  /* Changes inputs and inouts, which hold the manifest's fill when it is called. */
  const char* (*fill)(const char* problem, uint64_t seed, uint32_t count,
                      const autotune_buffer_v1* buffers);
  /* Writes the right answer to every output and inout, in the type of the buffer, in place of the
   * manifest's reference. */
  const char* (*reference)(const char* problem, uint32_t count, const autotune_buffer_v1* buffers);
} autotune_target_v1;

typedef struct autotune_targets_v1 {
  uint32_t count;
  const autotune_target_v1* targets;
} autotune_targets_v1;

/* ---- search/1: methods of search --------------------------------------------------------- */

#define AUTOTUNE_FACET_SEARCH "search/1"

#define AUTOTUNE_PLUGIN_OK 0     /* runs and is right; `seconds` is its time */
#define AUTOTUNE_PLUGIN_SLOW 1   /* timing it was given up early: it takes `seconds` or more */
#define AUTOTUNE_PLUGIN_FAILED 2 /* does not compile, crashes, is wrong, …; infinite `seconds` */

typedef struct autotune_evaluation_v1 {
  uint64_t index; /* of the configuration */
  double seconds;
  int32_t outcome;
  int32_t reserved;
} autotune_evaluation_v1;

typedef struct autotune_parameter_v1 {
  const char* name;
  uint32_t count;
  const char* const* values; /* `count` texts */
} autotune_parameter_v1;

/* What is to be searched. Configurations are numbered 0 … configurations-1. */
typedef struct autotune_task_v1 {
  uint32_t parameters;
  const autotune_parameter_v1* parameter;
  uint64_t configurations;
  /* Which value each parameter takes: levels[index * parameters + p] < parameter[p].count.
   * Configurations are in ascending order of these rows. */
  const uint16_t* levels;
  const double* predicted; /* the cost model's time of each, in seconds; NULL without a model */
  uint64_t known_count;    /* what was evaluated before; its first is the default configuration */
  const autotune_evaluation_v1* known;
  uint64_t seed;   /* the same seed and the same answers must give the same questions */
  uint64_t budget; /* new evaluations, at most; may end earlier */
  uint32_t batch;  /* how many to ask for at a time to keep all compile threads busy */
  uint32_t reserved;
  void* host; /* for evaluate() */
  /* Compiles, verifies and times configurations; writes at most `count` answers in the order asked
   * for and returns how many. Fewer than `count`: the budget is spent, return at once. Asking again
   * for one that is known costs nothing. An index that is none ends the search. */
  uint64_t (*evaluate)(void* host, const uint64_t* indices, uint64_t count,
                       autotune_evaluation_v1* answers);
} autotune_task_v1;

typedef struct autotune_strategy_v1 {
  const char* name; /* for --strategy */
  const char* description;
  /* Straight-line code: asks until the budget is spent, or returns when it has nothing to ask. */
  const char* (*search)(const autotune_task_v1* task);
} autotune_strategy_v1;

typedef struct autotune_search_v1 {
  uint32_t count;
  const autotune_strategy_v1* strategies;
} autotune_search_v1;

/* ---- baseline/1: a vendor's library as a competitor -------------------------------------- */

#define AUTOTUNE_FACET_BASELINE "baseline/1"

typedef struct autotune_baseline_problem_v1 {
  const char* target;  /* `gemm` */
  const char* problem; /* `M=512 N=512 K=512 dtype=f32 layout=NN` */
  uint32_t count;
  /* In device memory of the current CUDA device. A program that uses libautotune has no buffers yet
   * when it opens a baseline: `data` is NULL then, and addresses come with each launch(). */
  const autotune_buffer_v1* buffers;
} autotune_baseline_problem_v1;

typedef struct autotune_baseline_v1 {
  /* Whether it knows the target. Called without a GPU. */
  int (*supports)(const char* target);
  /* Sets *instance, to NULL where the library has nothing for this problem. */
  const char* (*open)(const autotune_baseline_problem_v1* problem, void** instance);
  void (*close)(void* instance);
  /* The ways in which the library can do it. A name says all that was chosen, for a program finds
   * a stored candidate by it: `cublasLt 0 (algorithm 55, tile 23, stages 31, split-k 1)`. */
  uint32_t (*candidates)(void* instance);
  const char* (*name)(void* instance, uint32_t candidate);
  /* Enqueues one call on a cudaStream_t, with `addresses` in place of the buffers' data, in their
   * order; the values of scalars are read before it returns. Does not synchronise and allocates
   * nothing: the stream may be in capture. */
  const char* (*launch)(void* instance, uint32_t candidate, void* const* addresses, void* stream);
} autotune_baseline_v1;

#ifdef __cplusplus
}
#endif

#endif
