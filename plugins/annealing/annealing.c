/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated annealing over one-parameter changes, after Kirkpatrick, Gelatt and Vecchi,
 * "Optimization by Simulated Annealing", Science 220, 1983. Energy is the logarithm of the time, so
 * that temperatures mean the same on every problem. In C, and as an example of the search facet. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/sdk/autotune_plugin.h"

/* Going 50 % slower is accepted as often as not at the start, 0.5 % at the end. */
static const double kHottest = 0.6, kColdest = 0.007;
/* Of the moves, those to anywhere. */
static const double kJumps = 0.05;
/* So many changes in a row that led to nothing new: jump. */
enum { kMostTries = 200 };

typedef struct State {
  const autotune_task_v2* task;
  uint64_t random;
  double* seconds;   /* of each configuration; 0 when unknown, infinite when it fails */
  uint64_t unknown;  /* configurations */
  uint16_t* changed; /* room for one row of levels */
  uint64_t current;
} State;

/* SplitMix64. */
static uint64_t next_random(State* state) {
  uint64_t z = (state->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t below(State* state, uint64_t count) { return next_random(state) % count; }

static double uniform(State* state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

static const uint16_t* row(const State* state, uint64_t index) {
  return state->task->levels + index * state->task->parameters;
}

static int compare_rows(const State* state, const uint16_t* a, const uint16_t* b) {
  for (uint32_t p = 0; p < state->task->parameters; ++p) {
    if (a[p] != b[p]) return a[p] < b[p] ? -1 : 1;
  }
  return 0;
}

/* The configuration of these levels, or the one after it: that has most leading levels in common,
 * so that a change that makes others invalid or meaningless still leads somewhere near. */
static uint64_t nearest(const State* state, const uint16_t* levels) {
  uint64_t low = 0, high = state->task->configurations - 1;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (compare_rows(state, row(state, middle), levels) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint64_t neighbour(State* state) {
  const autotune_task_v2* task = state->task;
  const uint32_t p = (uint32_t)below(state, task->parameters);
  memcpy(state->changed, row(state, state->current), task->parameters * sizeof(uint16_t));
  state->changed[p] = (uint16_t)below(state, task->parameter[p].count);
  return nearest(state, state->changed);
}

/* One that is not known yet. */
static uint64_t jump(State* state) {
  uint64_t index = below(state, state->task->configurations);
  while (state->seconds[index] != 0) index = (index + 1) % state->task->configurations;
  return index;
}

/* A configuration to go to next: near, and not known yet. */
static uint64_t proposal(State* state) {
  if (uniform(state) >= kJumps) {
    for (int i = 0; i < kMostTries; ++i) {
      const uint64_t index = neighbour(state);
      if (state->seconds[index] == 0) return index;
    }
  }
  return jump(state);
}

static void learn(State* state, const autotune_evaluation_v2* evaluation) {
  if (state->seconds[evaluation->index] == 0) --state->unknown;
  state->seconds[evaluation->index] =
      evaluation->outcome == AUTOTUNE_PLUGIN_FAILED ? INFINITY : evaluation->seconds;
}

static int accepts(State* state, double now, double next, double temperature) {
  if (next <= now) return 1;
  if (!isfinite(next)) return 0;
  return uniform(state) < exp(-log(next / now) / temperature);
}

/* The best that is known, or where the cost model expects it. */
static uint64_t start_of(State* state) {
  const autotune_task_v2* task = state->task;
  uint64_t start = task->known_count > 0 ? task->known[0].index : 0;
  for (uint64_t i = 0; i < task->known_count; ++i) {
    learn(state, &task->known[i]);
    const uint64_t index = task->known[i].index;
    if (state->seconds[index] < state->seconds[start]) start = index;
  }
  if (task->predicted == NULL) return start;
  for (uint64_t i = 0; i < task->configurations; ++i) {
    if (task->predicted[i] < task->predicted[start]) start = i;
  }
  return start;
}

/* Asks for a batch and walks over its answers; 0 when the budget is spent. */
static int step(State* state, uint64_t* asked, autotune_evaluation_v2* answers, uint64_t count,
                double temperature) {
  for (uint64_t i = 0; i < count; ++i) {
    asked[i] = proposal(state);
    state->seconds[asked[i]] = INFINITY; /* not to be proposed twice */
  }
  const uint64_t got = state->task->evaluate(state->task->host, asked, count, answers);
  state->unknown -= count;
  for (uint64_t i = 0; i < got; ++i) {
    learn(state, &answers[i]);
    const uint64_t index = answers[i].index;
    if (accepts(state, state->seconds[state->current], state->seconds[index], temperature)) {
      state->current = index;
    }
  }
  return got == count;
}

static int walk(State* state, uint64_t* asked, autotune_evaluation_v2* answers) {
  const autotune_task_v2* task = state->task;
  uint64_t spent = 0;
  while (state->unknown > 0 && spent < task->budget) {
    const double progress = (double)spent / (double)task->budget;
    const double temperature = kHottest * pow(kColdest / kHottest, progress);
    const uint64_t count = task->batch < state->unknown ? task->batch : state->unknown;
    if (!step(state, asked, answers, count, temperature)) return 0;
    spent += count;
  }
  return 1;
}

static const char* search(const autotune_task_v2* task) {
  if (task->configurations == 0 || task->parameters == 0) return NULL;
  State state = {task, task->seed, NULL, task->configurations, NULL, 0};
  state.seconds = calloc(task->configurations, sizeof(double));
  state.changed = malloc(task->parameters * sizeof(uint16_t));
  uint64_t* const asked = malloc(task->batch * sizeof *asked);
  autotune_evaluation_v2* const answers = malloc(task->batch * sizeof *answers);
  const char* reason = NULL;
  if (state.seconds == NULL || state.changed == NULL || asked == NULL || answers == NULL) {
    reason = "there is not enough memory for a space of this size";
  } else {
    state.current = start_of(&state);
    int left = 1;
    if (state.seconds[state.current] == 0) {
      left = task->evaluate(task->host, &state.current, 1, answers) == 1;
      if (left) learn(&state, answers);
    }
    if (left) walk(&state, asked, answers);
  }
  free(answers);
  free(asked);
  free(state.changed);
  free(state.seconds);
  return reason;
}

static const autotune_strategy_v2 kStrategies[] = {
    {"annealing", "simulated annealing over one-parameter changes", search}};
static const autotune_search_v2 kSearch = {1, kStrategies};

static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_SEARCH) == 0 ? &kSearch : NULL;
}

static const autotune_plugin_v1 kPlugin = {AUTOTUNE_PLUGIN_ABI, "annealing", "1.0",
                                           "Simulated annealing as a strategy", facet};

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
