// SPDX-License-Identifier: Apache-2.0
// Kernels that are right at first only, or where they expect to be looked at.
#include <algorithm>
#include <limits>

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLength = 4096;

/// A kernel of one block that makes out[i] = 3 in[i] + 1, if nothing in `body` prevents it.
KernelCase kernel_with(const std::string& body, const std::string& declarations = "") {
  return {.text = declarations +
                  "\nextern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n" +
                  body + "\n  for (int i = 0; i < n; ++i) out[i] = 3 * in[i] + 1;\n}\n",
          .expected = "3 * in[i] + 1",
          .n = kLength};
}

void expect_wrong(const KernelCase& one, const std::string& words = "") {
  expect_wrong_verdict(verdict_of_session(*Opened(one).candidate), words);
}

TEST(EveryCall, OfAKernelThatIsRightIsRight) {
  expect_right_verdict(verdict_of_session(*Opened(kernel_with("")).candidate));
}

TEST(EveryCall, IsMadeWhollyNotOnlyTheFirst) {
  expect_wrong(kernel_with("  if (calls++ > 0) return;", "__device__ int calls;"),
               "was not written");
}

TEST(EveryCall, IsMadeWhateverTheOutputHeldBefore) {
  expect_wrong(kernel_with("  if (out[0] != (int)0xA5A5A5A5) return;"));
  expect_wrong(kernel_with("  if (out[0] != (int)0xA5A5A5A5 && out[0] != 0x7F7F7F7F) return;"),
               "chain of calls");
}

TEST(EveryCall, IsMadeNotEachOtherOrFourthOrALaterOneOnly) {
  expect_wrong(kernel_with("  if (calls++ % 2 == 1) return;", "__device__ int calls;"));
  expect_wrong(kernel_with("  if (++calls % 4 == 0) return;", "__device__ int calls;"));
  expect_wrong(kernel_with("  if (++calls > 10) return;", "__device__ int calls;"),
               "chain of calls");
}

TEST(EveryCall, ReadsItsInputsNotResultsItKept) {
  const std::string kept = "__device__ int kept[2][4096], first[2], second[2], known;";
  expect_wrong(kernel_with(R"(
  for (int k = 0; k < known; ++k) {
    if (first[k] != in[7] && second[k] != in[8]) continue;
    for (int i = 0; i < n; ++i) out[i] = kept[k][i];
    return;
  }
  if (known < 2) {
    first[known] = in[7];
    second[known] = in[8];
    for (int i = 0; i < n; ++i) kept[known][i] = 3 * in[i] + 1;
    ++known;
  })",
                           kept),
               "elements of its inputs changed");
}

/// It looks for the first results in all memory that can be written, and is wrong if it finds them.
TEST(EveryCall, CannotFindTheAnswerInMemory) {
  const std::string search = R"(
#include <cstdio>
#include <cstring>
static bool is_there(const int* wanted, const void* own) {
  char line[512];
  bool found = false;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    char access[8];
    if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || access[0] != 'r') continue;
    if ((access[1] != 'w' && access[3] != 's') || to - from > (1ul << 28)) continue;
    if (strstr(line, "stack") || strstr(line, "vvar")) continue;
    const auto here = (unsigned long)wanted, out = (unsigned long)own;
    if ((here >= from && here < to) || (out >= from && out < to)) continue;
    for (unsigned long at = from; at + 64 <= to; at += 4) {
      int alike = 0;  // not memcmp, which a sanitizer may watch
      while (alike < 16 && ((const int*)at)[alike] == wanted[alike]) ++alike;
      if (alike == 16) found = true;
    }
  }
  fclose(maps);
  return found;
})";
  expect_right_verdict(Opened(kernel_with(R"(
  int wanted[16];
  for (int i = 0; i < 16; ++i) wanted[i] = 3 * in[i + 100] + 1;
  if (is_there(wanted, out)) return;)",
                                          search))
                           .candidate->verify());
}

TEST(EveryCall, FindsAPoisonThatMaximaAndMinimaDoNotIgnore) {
  for (const auto type : {ElementType::i32, ElementType::f32, ElementType::i64}) {
    for (const char* const comparison : {"<", ">"}) {
      KernelCase one{.n = kLength, .type = type};
      one.text = "extern \"C\" __global__ void kernel(const " + one.element() + "* in, " +
                 one.element() + "* out, int n) {\n  for (int i = 0; i < n; ++i) if (!(out[i] " +
                 comparison + " in[i])) out[i] = in[i];\n}\n";
      expect_wrong(one);
    }
  }
}

TEST(EveryCall, ReadsNothingBehindItsInputs) {
  for (const char* const body : {"sum += in[n]", "sum = in[n] > sum ? in[n] : sum"}) {
    KernelCase one{.n = kLength, .type = ElementType::f32};
    one.text = std::string(
                   "extern \"C\" __global__ void kernel(const float* in, float* out, int n)"
                   " {\n  for (int i = 0; i < n; ++i) out[i] = in[i];\n  float sum = 0; ") +
               body + ";\n  out[0] = in[0] + 1e-20f * sum;\n}\n";
    expect_wrong(one);
  }
}

TEST(EveryCall, FindsTheWorkspaceAsTheLastOneLeftIt) {
  KernelCase one = kernel_with("");
  one.text =
      "extern \"C\" __global__ void kernel(const int* in, int* out, int n, int* count) {\n"
      "  if (*count == 0) for (int i = 0; i < n; ++i) out[i] = 3 * in[i] + 1;\n"
      "  RESET\n}\n";
  const auto verdict_with = [&](const std::string& reset) {
    KernelCase variant = one;
    variant.text.replace(variant.text.find("RESET"), 5, reset);
    LaunchPlan plan = variant.plan();
    plan.workspace = {{"count", ElementType::i32, 1, Role::workspace, Fill::zero}};
    plan.launches[0].arguments.push_back(BufferRef{2});
    return verdict_of_session(*Opened(variant, variant.workload(), plan).candidate);
  };
  EXPECT_EQ(verdict_with("*count = 0;").outcome, Outcome::ok);
  expect_wrong_verdict(verdict_with("*count += 1;"),
                       "the call leaves count[0] of its workspace other than zero");
}

/// Bits that differ from run to run, within the tolerance.
TEST(EveryCall, MayDifferInBitsUnlessTheOutputMustBeRepeatable) {
  const KernelCase one{
      .text =
          "__device__ int calls;\n"
          "extern \"C\" __global__ void kernel(const float* in, float* out, int n) {\n"
          "  const float factor = ++calls % 2 ? 1.0f : 1.0f + 1.2e-7f;\n"
          "  for (int i = 0; i < n; ++i) out[i] = in[i] == (int)in[i] ? in[i] : in[i] * "
          "factor;\n}\n",
      .n = kLength,
      .type = ElementType::f32};
  Workload workload = one.workload();
  const Verdict within = Opened(one, workload, one.plan()).candidate->verify(3);
  EXPECT_EQ(within.outcome, Outcome::ok) << within.message;
  EXPECT_FALSE(within.repeats);
  workload.buffers[1].repeatable = true;
  const Verdict refused = Opened(one, workload, one.plan()).candidate->verify(3);
  EXPECT_EQ(refused.outcome, Outcome::nondeterministic);
  EXPECT_THAT(refused.message, HasSubstr("in one run and"));
}

TEST(EveryCall, ThatIsTimedSeesTheDeclaredContentsOfAnInout) {
  KernelCase one{.text =
                     "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                     "  long long waited = 0;\n"
                     "  if (out[0] >= 0) for (volatile int i = 0; i < 2000000; i = i + 1) "
                     "++waited;\n"
                     "  for (int i = 0; i < n; ++i) if (out[i] >= 0) out[i] = -1 - out[i];\n}\n",
                 .n = kLength};
  Workload workload = one.workload();
  workload.buffers[1] = {"out", ElementType::i32, kLength, Role::inout, Fill::iota};
  workload.reference_source.text =
      "extern \"C\" __global__ void reference(const int* in, int* out, int n) {\n"
      "  for (int i = 0; i < n; ++i) if (out[i] >= 0) out[i] = -1 - out[i];\n}\n";
  const Opened opened(one, workload, one.plan());
  double of_first = std::numeric_limits<double>::infinity();  // other programs may slow one down
  for (int run = 0; run < 5; ++run) {
    const Verdict verdict = opened.candidate->verify();
    ASSERT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
    of_first = std::min(of_first, verdict.seconds);
  }
  const TimedBatch batch = opened.candidate->time(10, L2State::hot);
  EXPECT_GT(batch.seconds, of_first / 5) << "each call does the work of the first";
  EXPECT_EQ(opened.candidate->recheck().outcome, Outcome::ok);
}

}  // namespace
}  // namespace autotune
