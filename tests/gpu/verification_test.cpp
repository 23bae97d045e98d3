// SPDX-License-Identifier: Apache-2.0
// Wrong kernels are found wrong on the GPU, in the host's words, and leave nothing behind.
#include <chrono>
#include <cmath>
#include <span>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {
namespace {

class WrongKernel : public Gpu {
 protected:
  void expect_wrong(const std::string& body, const std::string& words) {
    const auto bench = device().open(saxpy_workload(1000));
    expect_wrong_verdict(bench->load(compiled(saxpy_unit(body)), saxpy_plan(1000))->verify(),
                         words);
    const Verdict after = bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(1000))->verify();
    EXPECT_EQ(after.outcome, Outcome::ok) << "after " << body << ": " << after.message;
  }
};

TEST_F(WrongKernel, ThatWritesOneElementPastTheEnd) {
  expect_wrong("if (i < n) out[i] = a * x[i] + y[i]; if (i == n) out[i] = 1;",
               "wrote out[1000], outside out[0..999]");
  expect_wrong("if (i < n) out[i] = a * x[i] + y[i]; if (i == 0) out[-1] = 1;", "wrote out[-1]");
}

TEST_F(WrongKernel, ThatRacesIsNondeterministic) {
  // Each element keeps what the last of many blocks wrote: all well within the tolerance, and the
  // same where x is an integer.
  const std::string body =
      "for (int j = threadIdx.x; j < n; j += blockDim.x)"
      " out[j] = (a * x[j] + y[j]) * (x[j] == rintf(x[j]) ? 1 : 1 + 1e-6f * (blockIdx.x % 8));";
  const std::int64_t n = 1 << 16;
  Workload workload = saxpy_workload(n);
  workload.buffers[2].tolerance = 1e6;
  workload.buffers[2].repeatable = true;
  const auto bench = device().open(workload);
  const auto candidate = bench->load(compiled(saxpy_unit(body)), saxpy_plan(n));
  Verdict verdict;
  for (int i = 0; i < 20 && verdict.outcome == Outcome::ok; ++i) verdict = candidate->verify(3);
  EXPECT_EQ(verdict.outcome, Outcome::nondeterministic);
  figure("racy kernel", verdict.message, "differs from run to run");
}

TEST_F(WrongKernel, IsDescribedInTheHostsWords) {
  const std::int64_t n = 3000;
  const Verdict verdict =
      verdict_on("if (i < n) out[i] = (a * x[i] + y[i]) * (i % 1000 == 7 ? 1.001f : 1.0f);", n);
  const Workload workload = saxpy_workload(n);
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    std::vector<float> x(n), y(n), got(n);
    fill(std::as_writable_bytes(std::span(x)), workload.buffers[0], set, workload.seed);
    fill(std::as_writable_bytes(std::span(y)), workload.buffers[1], set, workload.seed);
    std::vector<double> values(n), magnitudes(n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      values[i] = 2.0 * x[i] + y[i];
      magnitudes[i] = 2.0 * std::abs(x[i]) + std::abs(y[i]);
      got[i] = std::fma(2.0f, x[i], y[i]) * (i % 1000 == 7 ? 1.001f : 1.0f);
    }
    const bool exact = set == InputSet::integers;
    const Expected expected{ElementType::f64, std::as_bytes(std::span(values)),
                            std::as_bytes(std::span(magnitudes)), exact};
    const Verdict host = compare(workload.buffers[2], std::as_bytes(std::span(got)), expected);
    if (host.outcome == Outcome::ok) continue;
    EXPECT_EQ(verdict.message, host.message);
    EXPECT_EQ(verdict.worst_error, host.worst_error);
    return;
  }
  FAIL() << "the host found nothing wrong";
}

/// Both devices alike: an output is written as double, an inout keeps its type.
TEST_F(WrongKernel, InOutBuffersStartFromTheirFillEveryTime) {
  const std::int64_t n = 1000;
  Workload workload = saxpy_workload(n);
  workload.buffers[2].role = Role::inout;
  workload.reference_source.text = R"(
extern "C" __global__ void reference(int n, float a, const float* x, const float* y, float* out) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += a * x[i];
})";
  workload.reference.launches[0].grid.x = 1;
  const auto bench = device().open(workload);
  const auto right =
      bench->load(compiled(saxpy_unit("if (i < n) out[i] += a * x[i];")), saxpy_plan(n));
  for (int run = 0; run < 2; ++run) {
    expect_right_verdict(right->verify(2));
    right->time(20, L2State::hot);
  }
  const auto wrong =
      bench->load(compiled(saxpy_unit("if (i < n) out[i] = a * x[i];")), saxpy_plan(n));
  EXPECT_EQ(wrong->verify().outcome, Outcome::wrong);
}

TEST_F(WrongKernel, ConstantMemoryHoldsTheBufferOfEachCall) {
  const std::int64_t n = 1000;
  const auto bench = device().open(saxpy_workload(n));
  const auto kernel = compiled(unit_of(R"(
__constant__ float y[1000];
extern "C" __global__ void kernel(int n, float a, const float* x, const float*, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
})"));
  LaunchPlan plan = saxpy_plan(n);
  const auto empty = bench->load(kernel, plan);
  EXPECT_EQ(empty->verify().outcome, Outcome::wrong);
  plan.constants = {{1, "y"}};
  const auto filled = bench->load(kernel, plan);
  for (int run = 0; run < 2; ++run) {
    expect_right_verdict(filled->verify(2));
    EXPECT_GT(filled->time(20, L2State::hot).seconds, 0);
  }
  plan.constants = {{1, "z"}};
  EXPECT_THROW(bench->load(kernel, plan), KernelFailure);
}

TEST_F(WrongKernel, TheReferenceReadsConstantMemoryWhereItHasAny) {
  const std::int64_t n = 1000;
  for (const char* text :
       {"__constant__ float table[1000];", "#define table ((const float*)0)\n"}) {
    Workload workload = saxpy_workload(n);
    workload.reference_source.text = text + std::string(R"(
extern "C" __global__ void reference(int n, float a, const float* x, const float* y, double* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = double(a) * x[i] + (table ? table : y)[i];
  }
})");
    workload.reference.constants = {{1, "table", true}};
    const auto bench = device().open(workload);
    expect_right_verdict(bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(n))->verify());
  }
}

/// Right where it is looked at first.
class SometimesWrongKernel : public WrongKernel {
 protected:
  Verdict verdict_of(const std::string& text, bool starts_early = false) {
    const std::int64_t n = 4096;
    LaunchPlan plan = saxpy_plan(n);
    plan.launches[0].starts_early = starts_early;
    const auto bench = device().open(saxpy_workload(n));
    return verdict_of_session(*bench->load(compiled(unit_of(text)), plan));
  }
  static std::string kernel(const std::string& first, const std::string& declarations = "") {
    return declarations +
           "\nextern \"C\" __global__ void kernel(int n, float a, const float* x, const float* y, "
           "float* out) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           first + "\n" + kRightBody + "\n}";
  }
};

TEST_F(SometimesWrongKernel, IsRightIfNothingIsWrong) {
  expect_right_verdict(verdict_of(kernel("")));
}

TEST_F(SometimesWrongKernel, IsFoundInAChainOfCalls) {
  const std::string counter = "__device__ int calls;";
  for (const std::string when : {"if (calls >= 50) return; if (i == 0) atomicAdd(&calls, 1);",
                                 "if (i == 0) ++calls; if (calls % 4 == 3) return;",
                                 "if (out[i] == out[i] && fabsf(out[i]) < 1e30f) return;"}) {
    expect_wrong_verdict(verdict_of(kernel(when, counter)), "in a chain of calls");
  }
}

TEST_F(SometimesWrongKernel, ThatKeepsResultsIsFound) {
  expect_wrong_verdict(
      verdict_of(
          "__device__ float kept[2][4096], first[2][64]; __device__ int known[64];\n"
          "extern \"C\" __global__ void kernel(int n, float a, const float* x, const float* y, "
          "float* "
          "out) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;\n"
          "  for (int k = 0; k < known[b]; ++k) {\n"
          "    if (first[k][b] == x[b * blockDim.x]) { out[i] = kept[k][i]; return; }\n  }\n"
          "  const int k = known[b];\n  out[i] = a * x[i] + y[i];\n  __syncthreads();\n"
          "  if (k < 2) { kept[k][i] = out[i]; first[k][b] = x[b * blockDim.x]; known[b] = k + 1; "
          "}\n}"),
      "elements of its inputs changed");
}

TEST_F(SometimesWrongKernel, ThatStartsEarlyAndDoesNotWaitIsFound) {
  if (device().info().compute_capability < 90) GTEST_SKIP() << "early starts came with 9.0";
  expect_wrong_verdict(verdict_of(kernel(""), true), "in a chain of calls");
  expect_right_verdict(
      verdict_of(kernel("asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");"), true));
}

/// A call on contents that it has worked on already would take a tenth of the time.
TEST_F(WrongKernel, ATimedCallSeesTheDeclaredContentsOfAnInout) {
  const std::int64_t n = 4096;
  Workload workload = saxpy_workload(n);
  workload.buffers[2].role = Role::inout;
  workload.buffers[2].fill = Fill::one;
  workload.reference_source.text = R"(
extern "C" __global__ void reference(int n, float a, const float* x, const float* y, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (out[i] > 0) out[i] = -1;
  }
})";
  const auto kernel = compiled(saxpy_unit(R"(
  if (i >= n || out[i] < 0) return;
  for (const long long start = clock64(); clock64() - start < 100000;) {}
  out[i] = -1;)"));
  for (const LaunchForm form : {LaunchForm::graph, LaunchForm::stream}) {
    workload.form = form;
    const auto bench = device().open(workload);
    const auto candidate = bench->load(kernel, saxpy_plan(n));
    expect_right_verdict(candidate->verify());
    for (const CallContext context :
         {CallContext::chain, CallContext::between, CallContext::in_order, CallContext::alone}) {
      const double seconds = candidate->time_in(context, 8, L2State::hot).seconds;
      EXPECT_GT(seconds, 40e-6) << name_of(context);
    }
    EXPECT_EQ(candidate->recheck().outcome, Outcome::ok);
  }
}

TEST_F(WrongKernel, WhatIsTooLargeForMemoryIsAnErrorWithItsSize) {
  try {
    device().open(saxpy_workload(std::int64_t{1} << 40));
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("try a smaller size"));
    figure("too large a problem", error.what());
  }
}

TEST_F(WrongKernel, CheckingCostsLittle) {
  using Steady = std::chrono::steady_clock;
  const std::int64_t n = 1 << 20;
  const auto bench = device().open(saxpy_workload(n));
  const CompiledKernel kernel = compiled(saxpy_unit(kRightBody));
  bench->load(kernel, saxpy_plan(n))->verify();
  const auto start = Steady::now();
  for (int i = 0; i < 20; ++i) bench->load(kernel, saxpy_plan(n))->verify();
  const double seconds = std::chrono::duration<double>(Steady::now() - start).count() / 20;
  figure("load and verify, 2^20 floats", format("{:.3f} ms", seconds * 1e3), "<= 3 ms");
  EXPECT_LT(seconds, 5e-3);
}

}  // namespace
}  // namespace autotune
