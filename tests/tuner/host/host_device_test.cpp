// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

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

TEST(HostDevice, LongIntegersAreExactToTheLastBit) {
  for (const std::string off : {"0", "1"}) {
    const KernelCase large{.text = R"(
      extern "C" __global__ void kernel(const long long* in, long long* out, int n) {
        const int i = threadIdx.x;
        out[i] = in[i] + (1ll << 60) + (i == 5 ? )" +
                                   off + R"( : 0);
      })",
                           .expected = "in[i] + (1ll << 60)",
                           .block = {64},
                           .type = ElementType::i64};
    std::string message;
    EXPECT_EQ(refusal_of(large, &message), off == "0" ? Outcome::ok : Outcome::wrong) << message;
    if (off == "1") {
      EXPECT_THAT(message, HasSubstr("out[5] is 11529215046068469"));
    }
  }
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
  const auto device = make_host_device(test_cache());
  const auto bench = device->open(lazy.workload());
  const auto candidate = bench->load(device->compile(lazy.unit()), lazy.plan());
  EXPECT_EQ(candidate->verify().outcome, Outcome::ok);
  EXPECT_EQ(candidate->recheck().outcome, Outcome::ok);
  try {
    candidate->time(100, L2State::hot);
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::wrong);
    EXPECT_THAT(failure.what(), HasSubstr("64 of 64 elements are wrong"));
  }
}

TEST(HostDevice, WhatNeitherKernelWritesIsSaidSo) {
  const KernelCase borders{.text = R"(
    extern "C" __global__ void kernel(const float* in, float* out, int n) {
      for (int i = 1; i < n; ++i) out[i] = in[i];
    })",
                           .type = ElementType::f32};
  const auto device = make_host_device(test_cache());
  Workload workload = borders.workload();
  std::string& reference = workload.reference_source.text;
  reference.replace(reference.find("int i = 0"), 9, "int i = 1");
  const auto bench = device->open(workload);
  const Verdict verdict = bench->load(device->compile(borders.unit()), borders.plan())->verify();
  EXPECT_THAT(verdict.message, HasSubstr("out[0] is written neither by the kernel nor by the "
                                         "reference (make out an inout"));
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

TEST(HostDevice, TheSecondCompileIsCached) {
  const auto cache = test_cache();
  const auto device = make_host_device(cache);
  const KernelCase copy{.text = kCopy};
  const CompiledKernel first = device->compile(copy.unit());
  const CompiledKernel second = make_host_device(cache)->compile(copy.unit());
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(*first.binary, *second.binary);
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
  const auto device = make_host_device(test_cache());
  const auto bench = device->open(copy.workload());
  const auto candidate = bench->load(device->compile(copy.unit()), copy.plan());
  const double hot = candidate->time(20, L2State::hot).seconds;
  EXPECT_GT(hot, 1e-6);
  EXPECT_LT(hot, 0.1);
  EXPECT_GT(candidate->time(2, L2State::cold).seconds, 0);
  EXPECT_LT(bench->launch_floor(), hot + 1e-3);
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
  try {
    device->open(workload);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("case: the reference kernel fails: wrote out[100000], "
                                        "outside out[0..99999]"));
    EXPECT_THAT(error.what(),
                HasSubstr("out is declared as f32, and the reference must write that; for double, "
                          "add outputs = \"f64\" to [reference]"));
  }
}

TEST(HostDevice, AReferenceThatWritesBehindAnInputIsNamed) {
  const auto device = make_host_device(test_cache());
  Workload workload = KernelCase{.text = kCopy}.workload();
  std::string& reference = workload.reference_source.text;
  reference.insert(reference.find("for (int i"), "const_cast<int*>(in)[n + 3] = 1; ");
  try {
    device->open(workload);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the reference kernel fails: wrote in[67], outside"));
  }
}

TEST(HostDevice, WhatDoesNotFitIntoMemoryIsAnError) {
  const auto device = make_host_device(test_cache());
  try {
    device->open(KernelCase{.text = kCopy, .n = std::int64_t{1} << 42}.workload());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("are free"));
  }
}

TEST(HostDevice, AnArgumentOfAnotherTypeIsALaunchError) {
  std::string message;
  EXPECT_EQ(refusal_of({.text = "extern \"C\" __global__ void kernel(const int* in, int* out, "
                                "float n) { out[threadIdx.x] = in[threadIdx.x] + (n > 1e30f); }\n",
                        .block = {64}},
                       &message),
            Outcome::launch_error);
  EXPECT_THAT(message, HasSubstr("argument 3 is i32, parameter 3 of kernel is float"));
}

}  // namespace
}  // namespace autotune
