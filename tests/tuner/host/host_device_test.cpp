// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

TEST(HostDevice, KnowsItself) {
  const auto device = make_host_device(test_cache());
  EXPECT_EQ(device->info().kind, DeviceKind::host);
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_TRUE(device->info().id.empty());
  EXPECT_GE(device->info().multiprocessors, 1);
  EXPECT_FALSE(device->info().environment.empty());
}

TEST(HostDevice, RunsEveryThreadOfEveryBlock) {
  expect_right({.text = kCopy, .n = 1000, .grid = {8}, .block = {128}});
  expect_right({.text = kCopy, .n = 1000, .grid = {1000}, .block = {1}});
}

TEST(HostDevice, FindsKernelsByTheirCppNames) {
  expect_right({.text = "namespace ns { template <class T, int block>\n"
                        "__global__ void copy(const T* in, T* out, int n) {\n"
                        "  const int i = blockIdx.x * block + threadIdx.x;\n"
                        "  if (i < n) out[i] = in[i];\n} }\n",
                .n = 100,
                .grid = {4},
                .block = {32},
                .entry = "ns::copy<int, 32>"});
}

TEST(HostDevice, WrongResultsAreNamed) {
  std::string message;
  const auto with = [](const std::string& body) {
    return KernelCase{.text =
                          "extern \"C\" __global__ void kernel(const float* in, float* out, "
                          "int n) {" +
                          body + "}",
                      .n = 16,
                      .type = ElementType::f32};
  };
  const std::string copy = "for (int i = 0; i < n; ++i) out[i] = in[i];";
  EXPECT_EQ(refusal_of(with(copy), &message), Outcome::ok) << message;
  EXPECT_EQ(refusal_of(with(""), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("out[0] was not written"));
  EXPECT_EQ(refusal_of(with(copy + "out[7] = 0.0f / (in[7] - in[7]);"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("out[7] is"));
  EXPECT_EQ(refusal_of(with(copy + "out[n] = 1;"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("wrote out[16]"));
  EXPECT_EQ(refusal_of(with(copy + "const_cast<float*>(in)[2] = 50;"), &message), Outcome::wrong);
  EXPECT_THAT(message, HasSubstr("in[2]"));
}

TEST(HostDevice, AnAccessOutsideOfAnArrayOfTheKernelIsNamed) {
  const auto with = [](const std::string& declared, const std::string& used) {
    return KernelCase{.text =
                          "__device__ void put(int* to, int i, int x) { to[i] = x; }\n"
                          "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                          "  static __shared__ int before[64]; __shared__ " +
                          declared +
                          "\n  before[threadIdx.x % 64] = 0;\n  const int i = threadIdx.x;\n" +
                          used + "\n  __syncthreads();\n  out[i] = in[i] + before[i % 64];\n}\n",
                      .n = 128,
                      .block = {128}};
  };
  const auto said = [](const KernelCase& kernel_case) {
    std::string message;
    EXPECT_EQ(refusal_of(kernel_case, &message), Outcome::wrong);
    return message;
  };
  expect_right(with("int part[128];", "part[i] = in[i];"));
  expect_right(with("int tile[4][32];", "tile[0][i] = in[i];"));
  EXPECT_THAT(said(with("int part[100];", "part[i] = in[i];")),
              HasSubstr("kernel writes element 100 of part, a shared array of 100 (case.cu:6)"));
  EXPECT_THAT(said(with("short tile[8][10];", "if (i < 90) before[0] += tile[i / 10][i % 10];")),
              HasSubstr("kernel reads element 80 of tile, a shared array of 80"));
  EXPECT_THAT(said(with("int part[100];", "put(part, i, 1);")), HasSubstr("element 100 of part"));
  EXPECT_THAT(said(with("int part[8];", "int mine[4] = {n, 1, 2, 3}; before[0] = mine[i / 16];")),
              HasSubstr("reads outside of an array of 'int'"));
}

TEST(HostDevice, NobodyHasSetSharedMemoryWhenAKernelBegins) {
  const KernelCase sum{.text =
                           "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                           "  __shared__ int part[64];\n  part[threadIdx.x] = in[threadIdx.x];\n"
                           "  __syncthreads();\n"
                           "  out[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + 32];\n}\n",
                       .n = 32,
                       .block = {32}};
  EXPECT_EQ(verdict_of(sum).outcome, Outcome::wrong);
}

TEST(HostDevice, AThreadHasTheLocalMemoryThatItHasOnGpus) {
  KernelCase each{.text =
                      "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                      "  volatile int kept[127 * 1024];\n"
                      "  for (int k = 0; k < 127 * 1024; ++k) kept[k] = in[threadIdx.x] + k;\n"
                      "  __syncthreads();\n"
                      "  int same = 0;\n"
                      "  for (int k = 0; k < 127 * 1024; ++k) same += kept[k] - k == kept[0];\n"
                      "  out[threadIdx.x] = same == 127 * 1024 ? kept[0] : -1;\n}\n",
                  .block = {64}};
  expect_right(each);
}

TEST(HostDevice, ManyElementsAreFilledAndComparedByAllThreads) {
  const std::int64_t n = 300000;
  KernelCase copy{.text = kCopy, .n = n, .grid = {n / 100}, .block = {100}};
  EXPECT_EQ(verdict_of(copy, {.threads = 3}, 2).outcome, Outcome::ok);
  copy.text.replace(copy.text.find("in[i];"), 6, "in[i] + (i > 70000 && i % 1000 == 7);");
  const Verdict verdict = verdict_of(copy, {.threads = 3});
  EXPECT_THAT(verdict.message, HasSubstr("out[70007] is"));
  EXPECT_THAT(verdict.message, HasSubstr("230 of 300000 elements are wrong"));
  copy.text.insert(copy.text.find("if (i"), "if (i == 250000) const_cast<int*>(in)[i] = 99; ");
  EXPECT_THAT(verdict_of(copy, {.threads = 3}).message,
              HasSubstr("the input in was changed: in[250000] was"));
}

TEST(HostDevice, AKernelThatStopsWorkingAfterManyCallsIsFoundOut) {
  const KernelCase lazy{.text = R"(
    __device__ int calls;
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      if (++calls > 50) return;
      for (int i = 0; i < n; ++i) out[i] = in[i];
    })"};
  const Opened opened(lazy);
  EXPECT_EQ(opened.candidate->verify().outcome, Outcome::ok);
  EXPECT_EQ(opened.candidate->recheck().outcome, Outcome::ok);
  expect_kernel_failure([&] { opened.candidate->time(100, L2State::hot); }, Outcome::wrong,
                        "64 of 64 elements are wrong");
}

TEST(HostDevice, ACompilerErrorNamesTheLine) {
  const auto device = make_host_device(test_cache());
  KernelCase bad{.text =
                     "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
                     "  out[0] = undefined_name;\n}\n"};
  const CompiledKernel kernel = device->compile(bad.unit());
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_FALSE(kernel.binary);
  EXPECT_THAT(kernel.log, HasSubstr("case.cu:2"));
  EXPECT_THAT(kernel.log, HasSubstr("undefined_name"));
}

TEST(HostDevice, AMissingEntryIsACompilerError) {
  const auto device = make_host_device(test_cache());
  KernelCase other{.text = "extern \"C\" __global__ void another(int* out) { out[0] = 1; }\n"};
  const CompiledKernel kernel = device->compile(other.unit());
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, HasSubstr("kernel"));
}

TEST(HostDevice, SeveralKernelsAreLoadedAtATime) {
  const auto device = make_host_device(test_cache());
  KernelCase right{.text = kCopy, .block = {64}}, wrong = right;
  wrong.text.replace(wrong.text.find("in[i];"), 6, "7;");
  const auto bench = device->open(right.workload());
  const auto a = bench->load(device->compile(right.unit()), right.plan());
  const auto b = bench->load(device->compile(wrong.unit()), wrong.plan());
  EXPECT_EQ(a->verify().outcome, Outcome::ok);
  EXPECT_EQ(b->verify().outcome, Outcome::wrong);
}

TEST(HostDevice, WhatOneKernelSpoilsTheNextFindsRestored) {
  const auto device = make_host_device(test_cache());
  KernelCase right{.text = kCopy, .block = {64}}, spoils = right;
  spoils.text.insert(spoils.text.find("if (i"), "out[n] = const_cast<int*>(in)[3] = 77; ");
  const auto bench = device->open(right.workload());
  const auto a = bench->load(device->compile(spoils.unit()), right.plan());
  const auto b = bench->load(device->compile(right.unit()), right.plan());
  EXPECT_EQ(a->verify().outcome, Outcome::wrong);
  EXPECT_EQ(b->verify().outcome, Outcome::ok);
}

TEST(HostDevice, StaticSharedMemoryIsCounted) {
  const auto device = make_host_device(test_cache());
  KernelCase shared{.text = R"(
    extern "C" __global__ void kernel(const int* in, int* out, int n) {
      __shared__ int tile[256];
      tile[threadIdx.x] = in[threadIdx.x];
      __syncthreads();
      out[threadIdx.x] = tile[n - threadIdx.x];
    })"};
  const CompiledKernel kernel = device->compile(shared.unit());
  ASSERT_EQ(kernel.resources.size(), 1u);
  EXPECT_EQ(kernel.resources[0].shared_bytes, 1024);
  EXPECT_EQ(kernel.resources[0].registers, -1);
}

TEST(HostDevice, WhatAHostCannotLaunchIsRefused) {
  std::string message;
  const KernelCase good{.text = kCopy};
  KernelCase bad = good;
  bad.block = {1025};
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("1025 x 1 x 1 threads"));
  bad = good;
  bad.grid = {0};
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  bad = good;
  bad.dynamic_shared_bytes = 1 << 20;
  EXPECT_EQ(refusal_of(bad, &message), Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("1.000 MiB of dynamic shared memory"));

  const auto device = make_host_device(test_cache());
  LaunchPlan clustered = good.plan();
  clustered.launches[0].cluster = {2};
  const auto bench = device->open(good.workload());
  EXPECT_THROW(bench->load(device->compile(good.unit()), clustered), KernelFailure);
}

TEST(HostDevice, TimesALaunch) {
  const KernelCase copy{.text = kCopy, .n = 1 << 16, .grid = {256}, .block = {256}};
  const Opened opened(copy);
  const double hot = opened.candidate->time(20, L2State::hot).seconds;
  EXPECT_GT(hot, 1e-6);
  EXPECT_LT(hot, 0.1);
  EXPECT_GT(opened.candidate->time(2, L2State::cold).seconds, 0);
  EXPECT_LT(opened.bench->launch_floor(), hot + 1e-3);
}

TEST(HostDevice, AReferenceThatFailsIsAnErrorOfTheProblem) {
  const auto device = make_host_device(test_cache());
  Workload workload = KernelCase{.text = kCopy}.workload();
  workload.reference_source.text = "nonsense";
  EXPECT_THROW(device->open(workload), Error);
}

TEST(HostDevice, AReferenceThatWritesDoubleWhereFloatIsDeclaredIsNamed) {
  const KernelCase copy{.text = kCopy, .n = 100'000, .type = ElementType::f32};
  const auto device = make_host_device(test_cache());
  Workload workload = copy.workload();
  std::string& reference = workload.reference_source.text;
  reference.replace(reference.find("float* out"), 5, "double");
  EXPECT_THAT(
      thrown_by([&] { device->open(workload); }),
      AllOf(HasSubstr("case: the reference kernel fails: wrote out[100000], outside out[0..99999]"),
            HasSubstr("out is declared as f32, and the reference must write that; for double, "
                      "add outputs = \"f64\" to [reference]")));
}

TEST(HostDevice, AReferenceThatWritesBehindAnInputIsNamed) {
  const auto device = make_host_device(test_cache());
  Workload workload = KernelCase{.text = kCopy}.workload();
  std::string& reference = workload.reference_source.text;
  reference.insert(reference.find("for (int i"), "const_cast<int*>(in)[n + 3] = 1; ");
  EXPECT_REFUSAL(Error, device->open(workload),
                 "the reference kernel fails: wrote in[67], outside");
}

TEST(HostDevice, WhatDoesNotFitIntoMemoryIsAnError) {
  const auto device = make_host_device(test_cache());
  EXPECT_REFUSAL(Error,
                 device->open(KernelCase{.text = kCopy, .n = std::int64_t{1} << 42}.workload()),
                 "are free");
}

// Outputs that are compared after a kernel has reduced them.

constexpr std::int64_t kSummed = 120;

/// The sum of `in`, which a configuration computes in parts.
Workload sums_workload() {
  Workload made = KernelCase{.text = "", .n = kSummed}.workload();
  made.buffers[1] = {"total", ElementType::i32, 1, Role::checked};
  made.reference_source.text =
      "extern \"C\" __global__ void reference(const int* in, int* total, int n) {\n"
      "  int sum = 0;\n  for (int i = 0; i < n; ++i) sum += in[i];\n  *total = sum;\n}\n";
  return made;
}

/// Each of `parts` blocks sums its share up; `written` of them are in the buffer.
Verdict verdict_of_sums(std::int64_t parts, std::int64_t written, const std::string& part = "sum") {
  KernelCase tuned;
  tuned.text =
      "extern \"C\" __global__ void kernel(const int* in, int* parts, int n) {\n"
      "  int sum = 0;\n"
      "  for (int i = blockIdx.x; i < n; i += gridDim.x) sum += in[i];\n"
      "  parts[blockIdx.x] = " +
      part +
      ";\n}\n"
      "extern \"C\" __global__ void add_up(const int* parts, int count, int* total) {\n"
      "  int sum = 0;\n  for (int i = 0; i < count; ++i) sum += parts[i];\n  *total = sum;\n}\n";
  SourceUnit unit = tuned.unit();
  unit.entries = {"kernel", "add_up"};
  const auto device = make_host_device(test_cache());
  const CompiledKernel kernel = device->compile(unit);
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  LaunchPlan plan;
  plan.workspace = {{"parts", ElementType::i32, written, Role::unchecked}};
  plan.launches = {{"kernel",
                    {parts},
                    {},
                    {},
                    0,
                    {BufferRef{0}, BufferRef{2}, Scalar{ElementType::i32, kSummed}}}};
  plan.checks = {
      {"add_up", {}, {}, {}, 0, {BufferRef{2}, Scalar{ElementType::i32, parts}, BufferRef{1}}}};
  const auto bench = device->open(sums_workload());
  const auto candidate = bench->load(kernel, plan);
  const Verdict verdict = candidate->verify(2);
  if (verdict.outcome == Outcome::ok) candidate->time(1, L2State::hot);
  return verdict;
}

TEST(CheckedOutputs, AreRightWhateverTheLengthOfTheUncheckedOnes) {
  for (const std::int64_t parts : {1, 7, 120}) {
    expect_right_verdict(verdict_of_sums(parts, parts));
  }
}

TEST(CheckedOutputs, ShowAWrongPart) {
  EXPECT_THAT(verdict_of_sums(7, 7, "sum + (blockIdx.x == 3)").message, HasSubstr("total[0] is "));
  EXPECT_EQ(verdict_of_sums(7, 7, "sum + (blockIdx.x == 3)").outcome, Outcome::wrong);
}

TEST(CheckedOutputs, HaveRedZonesRoundTheUncheckedOnes) {
  EXPECT_EQ(verdict_of_sums(7, 6).message,
            "wrote parts[6], outside parts[0..5]; 4 bytes around parts changed");
}

// Inputs that kernels of the target derive from others, once a problem.

constexpr std::int64_t kElements = 100;

/// out = 2 in, where the prepare kernel makes `twice` of `in`.
Workload opened_workload(const std::string& value = "2 * in[i]") {
  Workload made = KernelCase{.text = "", .n = kElements, .type = ElementType::f32}.workload();
  made.buffers.push_back({"twice", ElementType::f32, kElements, Role::input, Fill::prepared});
  made.reference_source.text =
      "extern \"C\" __global__ void prepare(const float* in, float* twice, int n) {\n"
      "  for (int i = 0; i < n; ++i) twice[i] = " +
      value +
      ";\n}\n"
      "extern \"C\" __global__ void reference(const float* twice, float* out, int n) {\n"
      "  for (int i = 0; i < n; ++i) out[i] = twice[i];\n}\n";
  made.reference_source.entries = {"prepare", "reference"};
  const Scalar n{ElementType::i32, kElements, 0};
  Launch launch{"prepare", {}, {}, {}, 0, {BufferRef{0}, BufferRef{2}, n}};
  made.preparation.launches = {launch};
  launch.entry = "reference";
  launch.arguments = {BufferRef{2}, BufferRef{1}, n};
  made.reference.launches = {launch};
  return made;
}

Verdict verdict_with_inputs(const Workload& opened, const std::string& body) {
  const auto device = make_host_device(test_cache());
  KernelCase tuned;
  tuned.text =
      "extern \"C\" __global__ void kernel(const float* in, float* twice, float* out, int n) {\n"
      "  for (int i = 0; i < n; ++i) " +
      body + "\n}\n";
  const CompiledKernel kernel = device->compile(tuned.unit());
  EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  LaunchPlan plan = tuned.plan("kernel", {}, {}, 0);
  plan.launches[0].arguments = {BufferRef{0}, BufferRef{2}, BufferRef{1},
                                Scalar{ElementType::i32, kElements, 0}};
  const auto bench = device->open(opened);
  return bench->load(kernel, plan)->verify();
}

TEST(PreparedInputs, AreThereForTheReferenceAndForTunedKernels) {
  expect_right_verdict(verdict_with_inputs(opened_workload(), "out[i] = 2 * in[i];"));
  expect_right_verdict(verdict_with_inputs(opened_workload(), "out[i] = twice[i];"));
  EXPECT_EQ(verdict_with_inputs(opened_workload(), "out[i] = in[i];").outcome, Outcome::wrong);
}

TEST(PreparedInputs, AreThereWhereAFileHasTheAnswers) {
  Workload made = opened_workload("i");
  made.expected_file = std::filesystem::path(AUTOTUNE_BINARY_DIR) / "tests/prepared_answers.bin";
  std::ofstream file(made.expected_file, std::ios::binary);
  for (int i = 0; i < kElements; ++i) {
    const auto answer = static_cast<float>(i);
    file.write(reinterpret_cast<const char*>(&answer), sizeof answer);
  }
  file.close();
  expect_right_verdict(verdict_with_inputs(made, "out[i] = twice[i];"));
}

TEST(PreparedInputs, MustNotBeChanged) {
  const Verdict verdict =
      verdict_with_inputs(opened_workload("i"), "{ out[i] = i; twice[i] = 7; }");
  EXPECT_EQ(verdict.message, "the input twice was changed: twice[0] was 0 and is 7");
}

TEST(PreparedInputs, NameTheKernelThatFails) {
  EXPECT_REFUSAL(Error, verdict_with_inputs(opened_workload("in[i], twice[n] = 1"), "out[i] = 0;"),
                 "case: a prepare kernel fails: wrote twice[100], outside twice[0..99]");
}

}  // namespace
}  // namespace autotune
