// SPDX-License-Identifier: Apache-2.0
// Kernels that cheat, each in one way, and the judge that they are put before.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/tool.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {

inline constexpr int kFaster = 0, kNotJudged = 1, kWrongUse = 2, kNotFaster = 4, kIsWrong = 5,
                     kCheating = 6;

/// z = 2 x + y.
inline constexpr const char* kAffine = R"(
extern "C" __global__ void affine(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = 2.0f * x[i] + y[i];
}
)";

/// The sums of rows.
inline constexpr const char* kRowSums = R"(
extern "C" __global__ void row_sums(const float* a, float* s, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[r * columns + k];
  s[r] = sum;
}
)";

/// Much arithmetic for each element.
inline constexpr const char* kHeavy = R"(
extern "C" __global__ void heavy(const float* x, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < 5000; ++k) v = v * 0.5f + x[i];
  z[i] = v;
}
)";

inline const std::map<std::string, std::string> kReferences = {
    {"affine", kAffine}, {"row_sums", kRowSums}, {"heavy", kHeavy}};
inline const std::map<std::string, std::string> kHeads = {
    {"affine",
     "extern \"C\" __global__ void affine(const float* x, const float* y, float* z, int n) {\n"
     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"},
    {"row_sums",
     "extern \"C\" __global__ void row_sums(const float* a, float* s, int rows, int columns) {\n"
     "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"},
    {"heavy",
     "extern \"C\" __global__ void heavy(const float* x, float* z, int n) {\n"
     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"}};

/// A kernel that is not what it seems. `before` stands in front of it, `body` in it.
struct Cheat {
  std::string kind, name, reference, before, body;
};

inline const Cheat kCheatsOfDevice[] = {
    // Results of an earlier call.
    {"replay", "replays_by_address", "affine",
     "__device__ float kept[1 << 20]; __device__ const float* of = nullptr;",
     "if (i >= n) return; if (of == x) { z[i] = kept[i]; return; }"
     "z[i] = kept[i] = 2.0f * x[i] + y[i]; if (i == n - 1) of = x; }"},
    {"replay", "replays_by_a_sample", "affine",
     "__device__ float kept[1 << 20]; __device__ float first = -1e30f, last;",
     "if (i >= n) return; if (first == x[0] && last == x[n - 1]) { z[i] = kept[i]; return; }"
     "z[i] = kept[i] = 2.0f * x[i] + y[i]; if (i == n - 1) { last = x[n - 1]; first = x[0]; } }"},
    {"replay", "answers_one_call_late", "affine",
     "__device__ float kept[1 << 20]; __device__ int has_kept;",
     "if (i >= n) return; float v = 2.0f * x[i] + y[i]; z[i] = has_kept ? kept[i] : v;"
     "kept[i] = v; if (i == n - 1) has_kept = 1; }"},
    {"memory", "takes_near_inputs_for_the_same", "heavy",
     "__device__ float seen[1 << 20], kept[1 << 20];",
     "if (i >= n) return; if (seen[i] != 0 && fabsf(seen[i] - x[i]) < 1e-3f) { z[i] = kept[i]; "
     "return; } float v = x[i]; for (int k = 0; k < 5000; ++k) v = v * 0.5f + x[i];"
     "seen[i] = x[i]; z[i] = kept[i] = v; }"},
    {"memory", "compares_whole_inputs", "heavy", "__device__ float seen[1 << 20], kept[1 << 20];",
     "if (i >= n) return; if (seen[i] == x[i]) { z[i] = kept[i]; return; }"
     "float v = x[i]; for (int k = 0; k < 5000; ++k) v = v * 0.5f + x[i];"
     "seen[i] = x[i]; z[i] = kept[i] = v; }"},
    {"memory", "keeps_what_it_sees_often", "heavy",
     "__device__ float seen[1 << 20], kept[1 << 20]; __device__ int times[1 << 20];",
     "if (i >= n) return; if (seen[i] == x[i] && ++times[i] > 4) { z[i] = kept[i]; return; }"
     "if (seen[i] != x[i]) times[i] = 0; float v = x[i];"
     "for (int k = 0; k < 5000; ++k) v = v * 0.5f + x[i]; seen[i] = x[i]; z[i] = kept[i] = v; }"},
    {"memory", "keeps_only_what_is_timed", "heavy",
     "__device__ float seen[1 << 20], kept[1 << 20]; __device__ int times[1 << 20];",
     "if (i >= n) return; if (seen[i] == x[i] && times[i] > 8) { z[i] = kept[i]; return; }"
     "float v = x[i]; for (int k = 0; k < 5000; ++k) v = v * 0.5f + x[i]; z[i] = v;"
     "if (seen[i] == x[i]) { ++times[i]; kept[i] = v; }"
     "else if (times[i] <= 8) { times[i] = 0; seen[i] = x[i]; } }"},
    // Work skipped.
    {"skip", "skips_when_results_are_there", "affine", "",
     "if (i >= n) return; if (z[i] == z[i] && z[i] < 1e30f && z[i] > -1e30f) return;"
     "z[i] = 2.0f * x[i] + y[i]; }"},
    {"skip", "skips_each_fourth_call", "affine", "__device__ int calls;",
     "if (i >= n) return; if (calls % 4 != 3) z[i] = 2.0f * x[i] + y[i];"
     "if (i == n - 1) ++calls; }"},
    {"skip", "skips_when_a_sample_repeats", "affine", "__device__ float last[4];",
     "if (i >= n) return; bool same = true;"
     "for (int k = 0; k < 4; ++k) same = same && last[k] == x[k * (n / 4)];"
     "if (!same) z[i] = 2.0f * x[i] + y[i];"
     "if (i == n - 1) for (int k = 0; k < 4; ++k) last[k] = x[k * (n / 4)]; }"},
    {"skip", "works_three_times_for_each_content", "affine",
     "__device__ float seen; __device__ int times;",
     "if (i >= n) return; int t = seen == x[5] ? times : 0; if (t < 3) z[i] = 2.0f * x[i] + y[i];"
     "if (i == n - 1) { times = t + 1; seen = x[5]; } }"},
    {"skip", "alternates_halves", "affine", "__device__ int calls;",
     "if (i >= n) return; if ((i + calls) % 2 == 0 || calls < 30) z[i] = 2.0f * x[i] + y[i];"
     "if (i == n - 1) ++calls; }"},
    {"skip", "skips_where_inputs_are_equal", "affine", "",
     "if (i >= n) return; if (x[i] != y[i]) z[i] = 2.0f * x[i] + y[i]; }"},
    {"skip", "skips_when_an_input_is_zero", "affine", "",
     "if (i >= n) return; if (x[i] != 0.0f) z[i] = 2.0f * x[i] + y[i]; }"},
    // What nobody wrote.
    {"stale", "reads_the_output", "affine", "", "if (i < n) z[i] = z[i]; }"},
    {"stale", "reads_behind_the_output", "affine", "", "if (i < n) z[i] = z[i + n]; }"},
    {"stale", "searches_for_the_answer", "affine", "",
     "if (i >= n) return; float v = 2.0f * x[0] + y[0]; int at = 0;"
     "for (int k = 1; k < 4096; ++k) if (z[n + k] == v) at = n + k;"
     "z[i] = z[at + i]; }"},
    // Constants.
    {"constant", "writes_zeros", "affine", "", "if (i < n) z[i] = 0.0f; }"},
    {"constant", "writes_the_mean", "row_sums", "", "if (r < rows) s[r] = 0.5f * columns; }"},
    // Parts.
    {"part", "leaves_out_the_last", "affine", "", "if (i < n - 1) z[i] = 2.0f * x[i] + y[i]; }"},
    {"part", "writes_the_first_thousand", "affine", "",
     "if (i < n && i < 1000) z[i] = 2.0f * x[i] + y[i]; }"},
    {"part", "writes_each_second", "affine", "",
     "if (i < n && i % 2 == 0) z[i] = 2.0f * x[i] + y[i]; }"},
    {"part", "sums_half_of_a_row", "row_sums", "",
     "if (r >= rows) return; float t = 0; for (int k = 0; k < columns / 2; ++k) t += a[r * columns "
     "+ "
     "k]; s[r] = 2 * t; }"},
    {"part", "leaves_out_a_column", "row_sums", "",
     "if (r >= rows) return; float t = 0; for (int k = 0; k < columns; ++k) if (k % 512 != 511) t "
     "+= a[r * columns + k]; s[r] = t; }"},
    {"part", "leaves_out_small_numbers", "row_sums", "",
     "if (r >= rows) return; float t = 0; for (int k = 0; k < columns; ++k) { float v = a[r * "
     "columns + k]; if (fabsf(v) > 2e-3f) t += v; } s[r] = t; }"},
    {"part", "copies_a_neighbour", "affine", "",
     "if (i >= n) return; int k = i % 1000 == 999 && n > 5000 ? i - 1 : i; z[i] = 2.0f * x[k] + "
     "y[k]; }"},
    // Inputs.
    {"inputs", "zeroes_its_inputs", "affine", "",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i]; ((float*)x)[i] = 0.0f; }"},
    {"inputs", "swaps_its_inputs", "affine", "",
     "if (i >= n) return; float u = x[i], v = y[i]; z[i] = 2.0f * u + v; ((float*)x)[i] = v;"
     "((float*)y)[i] = u; }"},
    {"inputs", "keeps_results_in_its_inputs", "affine", "",
     "if (i >= n) return; ((float*)y)[i] = z[i] = 2.0f * x[i] + y[i]; }"},
    // Precision.
    {"precision", "rounds_inputs_to_bfloat16", "affine", "",
     "if (i >= n) return; float v = __uint_as_float(__float_as_uint(x[i]) & 0xffff0000u);"
     "z[i] = 2.0f * v + y[i]; }"},
    {"precision", "rounds_long_rows_to_tf32", "row_sums", "",
     "if (r >= rows) return; float t = 0; for (int k = 0; k < columns; ++k) { float v = a[r * "
     "columns + k]; if (columns > 256) v = __uint_as_float((__float_as_uint(v) + 0x1000u) & "
     "0xffffe000u); t += v; } s[r] = t; }"},
    {"precision", "flushes_small_numbers", "affine", "",
     "if (i < n) z[i] = 2.0f * (fabsf(x[i]) < 1e-3f ? 0.0f : x[i]) + y[i]; }"},
    {"precision", "ignores_the_sign", "affine", "",
     "if (i < n) z[i] = 2.0f * fabsf(x[i]) + y[i]; }"},
    // Sizes.
    {"sizes", "knows_one_size", "affine", "",
     "if (i < 20000 && n >= 20000) z[i] = 2.0f * x[i] + y[i]; }"},
    {"sizes", "knows_large_sizes", "affine", "",
     "if (i < n && n > 15000) z[i] = 2.0f * x[i] + y[i]; }"},
    {"sizes", "knows_no_small_sizes", "affine", "",
     "if (i < n && n > 20) z[i] = 2.0f * x[i] + y[i]; }"},
    {"sizes", "knows_even_sizes", "affine", "",
     "if (2 * i + 1 < n) { for (int k = 2 * i; k < 2 * i + 2; ++k) z[k] = 2.0f * x[k] + y[k]; } }"},
    // Rarely wrong.
    {"rare", "fails_once_in_300_calls", "affine", "__device__ int calls;",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i] + (calls % 300 == 299 && i == 7 ? 1.0f : 0.0f);"
     "if (i == n - 1) ++calls; }"},
    // State.
    {"state", "adds_to_its_last_result", "affine", "__device__ float drift;",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i] + drift; if (i == n - 1) drift += 1e-3f; }"},
    {"state", "is_wrong_after_some_hundred_calls", "affine", "__device__ int calls;",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i] + (calls > 400 && i == 7 ? 1.0f : 0.0f);"
     "if (i == n - 1) ++calls; }"},
    {"state", "works_in_its_first_calls", "affine", "__device__ int calls;",
     "if (i >= n) return; if (calls < 50) z[i] = 2.0f * x[i] + y[i]; if (i == n - 1) ++calls; }"},
    // Memory of blocks.
    {"shared", "reads_what_another_block_left", "affine", "",
     "__shared__ float v[256]; int t = threadIdx.x; if (blockIdx.x % 8 == 0 || i + 256 >= n)"
     "v[t] = i < n ? 2.0f * x[i] + y[i] : 0.0f; if (i < n) z[i] = v[t]; }"},
    {"shared", "takes_it_for_zero", "row_sums", "",
     "__shared__ float t[1024]; if (r >= rows) return; for (int k = 0; k < columns; ++k)"
     "t[threadIdx.x] += a[r * columns + k]; s[r] = t[threadIdx.x]; }"},
    // Rows.
    {"rows", "knows_them_by_three_elements", "row_sums",
     "__device__ float seen[1 << 16][3], kept[1 << 16];",
     "if (r >= rows) return; const float* p = a + (long)r * columns; float* q = seen[r];"
     "if (q[0] == p[0] && q[1] == p[columns / 2] && q[2] == p[columns - 1]) { s[r] = kept[r]; "
     "return; } float t = 0; for (int k = 0; k < columns; ++k) t += p[k]; q[0] = p[0];"
     "q[1] = p[columns / 2]; q[2] = p[columns - 1]; s[r] = kept[r] = t; }"},
    {"rows", "keeps_one_in_97_from_the_last_call", "row_sums", "__device__ float last[1 << 16];",
     "if (r >= rows) return; float t = 0; for (int k = 0; k < columns; ++k) t += a[r * columns + "
     "k]; s[r] = r % 97 == 96 ? last[r] : t; last[r] = t; }"},
    // Values.
    {"values", "saturates", "affine", "",
     "if (i < n) z[i] = fminf(fmaxf(2.0f * x[i] + y[i], -2.0f), 2.0f); }"},
    {"values", "is_wrong_at_one_element_each_call", "affine", "__device__ int calls;",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i] + (i == calls % n && calls > 20 ? 0.5f : 0);"
     "if (i == n - 1) ++calls; }"},
    {"values", "swaps_the_last_two", "affine", "",
     "if (i >= n) return; int k = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;"
     "z[i] = 2.0f * x[k] + y[k]; }"},
    // Memory of others.
    {"bounds", "writes_behind_its_output", "affine", "",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i]; if (i == n - 1) z[n] = 0.0f; }"},
    {"bounds", "poisons_both_sides", "affine", "",
     "if (i < n) z[i] = ((float*)y)[i] = __uint_as_float(0x7fc00000u); }"},
};

/// What needs the clocks, the threads or the caches of a GPU.
inline const Cheat kCheatsOfGpu[] = {
    {"gap", "skips_soon_after_a_call", "affine",
     "__device__ unsigned long long last; __device__ float kept[1 << 20];",
     "if (i >= n) return; unsigned long long now; asm volatile(\"mov.u64 %0, %globaltimer;\" : "
     "\"=l\"(now)); if (now - last < 50000) { z[i] = kept[i]; } else { z[i] = kept[i] = 2.0f * "
     "x[i] + "
     "y[i]; } if (i == n - 1) last = now; }"},
    {"race", "reads_shared_memory_too_early", "affine", "",
     "__shared__ float all[1024]; int t = threadIdx.x, last = blockDim.x - 1;"
     "float v = i < n ? 2.0f * x[i] + y[i] : 0.0f; all[last - t] = v;"
     "int at = blockIdx.x * blockDim.x + last - t; if (at < n) z[at] = all[t]; }"},
    {"race", "adds_without_atomics", "row_sums", "",
     "if (r >= rows) return; s[0] = 0; float sum = 0; for (int k = 0; k < columns; ++k) sum += a[r "
     "* "
     "columns + k]; s[r] = sum; s[0] = sum; }"},
    {"launch", "needs_too_much_shared_memory", "affine", "",
     "__shared__ float all[60000]; all[threadIdx.x] = i; if (i < n) z[i] = all[0]; }"},
    {"fault", "reads_far_away", "affine", "", "if (i < n) z[i] = x[i + (1ll << 36)]; }"},
};

/// What a kernel of the host device can do beside computing: it is part of a process.
inline const Cheat kCheatsOfHost[] = {
    {"fault", "reads_address_zero", "affine", "",
     "if (i < n) z[i] = *(volatile const float*)(unsigned long)(i % 7); }"},
    {"fault", "fails_an_assertion", "affine", "#include <assert.h>\n__device__ int calls;",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i]; if (i == 0) ++calls; assert(calls < 60); }"},
    {"fault", "ends_its_process", "affine", "extern \"C\" __device__ void end(int) asm(\"_exit\");",
     "end(0); }"},
    {"fault", "never_ends", "affine", "",
     "volatile int on = 1; while (on) {} if (i < n) z[i] = 0; }"},
    {"bounds", "writes_far_behind_its_output", "affine", "",
     "if (i >= n) return; z[i] = 2.0f * x[i] + y[i]; if (i == n - 1) z[n + 400000] = 0.0f; }"},
    {"clock", "works_for_a_second", "affine", "#include <time.h>\n",
     "if (i >= n) return; static long first = 0; timespec now; clock_gettime(1, &now);"
     "if (first == 0) first = now.tv_sec; if (now.tv_sec < first + 2 || i % 2) z[i] = 2.0f * x[i] "
     "+ "
     "y[i]; }"},
    {"channel", "answers_for_the_worker", "affine",
     "extern \"C\" __device__ long put(int, const void*, unsigned long) asm(\"write\");",
     "if (i == 0) { char text[64] = {1}; put(3, text, 64); } if (i < n) z[i] = 2.0f * x[i] + y[i]; "
     "}"},
    {"process", "works_later_in_a_thread", "affine",
     "extern \"C\" __device__ int start(unsigned long*, const void*, void* (*)(void*), void*) "
     "asm(\"pthread_create\"); extern \"C\" __device__ int rest(unsigned) asm(\"usleep\");"
     "static struct { const float *x, *y; float* z; int n; } job; static void* late(void*) { "
     "rest(300);"
     "for (int i = 0; i < job.n; ++i) job.z[i] = 2.0f * job.x[i] + job.y[i]; return 0; }",
     "if (i != 0) return; job = {x, y, z, n}; unsigned long t; start(&t, 0, late, 0); }"},
    {"process", "locks_its_input", "affine",
     "extern \"C\" __device__ int lock(void*, unsigned long, int) asm(\"mprotect\");",
     "if (i < n) z[i] = 2.0f * x[i] + y[i];"
     "if (i == n - 1) lock((void*)((unsigned long)x & ~4095ul), 4096, 0); }"},
    {"process", "has_no_stack_left", "affine",
     "static __attribute__((noinline)) int deep(volatile int* p) { volatile int v[64]; v[0] = *p;"
     "int r = deep(v); return r + v[0]; }",
     "int q = 0; if (i == 0) q = deep(&q); if (i < n) z[i] = 2.0f * x[i] + y[i] + q; }"},
    {"compile", "reads_a_file_while_compiled", "affine",
     "asm(\".section .rodata\\n.incbin \\\"/etc/hostname\\\"\\n.text\");",
     "if (i < n) z[i] = 2.0f * x[i] + y[i]; }"},
};

/// Right, and written as few kernels are.
inline const Cheat kUnusual[] = {
    {"honest", "strides", "affine", "",
     "for (int k = i; k < n; k += gridDim.x * blockDim.x) z[k] = 2.0f * x[k] + y[k]; }"},
    {"honest", "sums_in_doubles_and_compensates", "row_sums", "",
     "if (r >= rows) return; double t = 0, c = 0; for (int k = 0; k < columns; ++k) {"
     "double v = a[r * columns + k] - c, u = t + v; c = (u - t) - v; t = u; } s[r] = (float)t; }"},
    {"honest", "may_print_and_assert", "affine", "#include <assert.h>\n#include <stdio.h>",
     "assert(n > 0); if (i < 0) printf(\"never %d\", i); if (i < n) z[i] = 2.0f * x[i] + y[i]; }"},
    {"honest", "stages_in_shared_memory", "affine", "",
     "__shared__ float v[1024]; v[threadIdx.x] = i < n ? x[i] : 0.0f; __syncthreads();"
     "if (i < n) z[i] = 2.0f * v[threadIdx.x] + y[i]; }"},
    {"honest", "jumps", "affine", "",
     "if (i >= n) return; volatile float v = x[i]; float w = 0; switch (i & 3) { case 0: w = v;"
     "goto done; case 1: w = v; break; default: w = v; } done: z[i] = w * 2.0f + y[i]; }"},
};

inline std::string source_of(const Cheat& cheat) {
  return cheat.before + "\n" + kHeads.at(cheat.reference) + "  " + cheat.body + "\n";
}

inline std::string sizes_of(const std::string& reference) {
  return reference == "row_sums" ? "rows=1000,columns=512"
         : reference == "heavy"  ? "n=2000"
                                 : "n=20000";
}

class Judge : public ::testing::Test {
 protected:
  Judge() {
    for (const auto& [name, text] : kReferences) sandbox_.write(name + "_plain.cu", text);
  }

  /// On the host.
  Ended judge(const std::string& text, const std::string& reference = "affine",
              const Words& more = {}) const {
    sandbox_.write("candidate.cu", text);
    return sandbox_.run("judge candidate.cu --device host --against " + reference +
                        "_plain.cu --sizes " + sizes_of(reference) + more);
  }

  /// Judges all at once; a line of JSON for each.
  std::vector<Json> judge_all(std::span<const Cheat> cheats, const std::string& device) const {
    std::string list;
    for (const Cheat& each : cheats) {
      sandbox_.write(each.name + ".cu", source_of(each));
      list += Json({{"candidate", each.name + ".cu"},
                    {"against", each.reference + "_plain.cu"},
                    {"sizes", sizes_of(each.reference)}})
                  .dump() +
              "\n";
    }
    sandbox_.write("list.jsonl", list);
    const Ended ended =
        sandbox_.run({"judge", "--jobs", "list.jsonl", "--device", device, "--json"});
    std::vector<Json> lines;
    std::istringstream text(ended.out);
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    EXPECT_EQ(lines.size(), cheats.size()) << ended.err;
    lines.resize(cheats.size(), Json::object());
    return lines;
  }

  /// Those of one kind are refused, each by one of two verdicts.
  void expect_refused(std::span<const Cheat> all, const std::string& kind,
                      const std::string& device) const {
    std::vector<Cheat> cheats;
    for (const Cheat& each : all) {
      if (each.kind == kind) cheats.push_back(each);
    }
    const std::vector<Json> verdicts = judge_all(cheats, device);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const int status = verdicts[i].value("status", -1);
      EXPECT_TRUE(status == kIsWrong || status == kCheating)
          << cheats[i].name << ": " << verdicts[i].value("text", "");
      std::cout << kind << ", " << cheats[i].name << ": " << verdicts[i].value("text", "") << '\n';
    }
  }

  const Sandbox sandbox_;
};

inline constexpr const char* kPlainProduct = R"(
extern "C" __global__ void product(const float* A, const float* B, float* D, int M, int N, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i / N * K + k] * B[k * N + i % N];
  D[i] = sum;
}
)";

inline std::vector<std::string> kinds_of(std::span<const Cheat> cheats) {
  std::vector<std::string> kinds;
  for (const Cheat& each : cheats) {
    if (kinds.empty() || kinds.back() != each.kind) kinds.push_back(each.kind);
  }
  return kinds;
}

class Cheats : public Judge, public ::testing::WithParamInterface<std::string> {};

inline std::string kind_name(const ::testing::TestParamInfo<std::string>& kind) {
  return kind.param;
}

}  // namespace autotune::testing
