// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_device.hpp"

#include <signal.h>

#include <chrono>
#include <cstdlib>

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tests/tuner/worker/fake_worker.hpp"
#include "tuner/host/process.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

KernelCase kernel_with(const std::string& body) {
  return {.text = "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n" + body +
                  "\nfor (int i = 0; i < n; ++i) out[i] = in[i];\n}\n"};
}

const KernelCase& fine() {
  static const KernelCase kFine = kernel_with("");
  return kFine;
}

class WorkerDevice : public testing::Test {
 protected:
  WorkerDevice()
      : device_(make_worker_device("host", test_cache(), {.least_seconds = 0.5})),
        bench_(device_->open(fine().workload())) {}

  std::unique_ptr<Candidate> load(const KernelCase& kernel_case) {
    const CompiledKernel kernel = device_->compile(kernel_case.unit());
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    return bench_->load(kernel, kernel_case.plan());
  }

  /// How verifying fails.
  Outcome failure_of(const KernelCase& kernel_case) {
    const auto candidate = load(kernel_case);
    try {
      return candidate->verify().outcome;
    } catch (const KernelFailure& failure) {
      message_ = failure.what();
      return failure.outcome();
    }
  }

  void expect_usable() { EXPECT_EQ(load(fine())->verify(2).outcome, Outcome::ok); }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Workbench> bench_;
  std::string message_;
};

TEST_F(WorkerDevice, VerifiesAndTimes) {
  EXPECT_EQ(device_->info().kind, DeviceKind::host);
  const auto candidate = load(fine());
  EXPECT_EQ(candidate->verify(3).outcome, Outcome::ok);
  EXPECT_GT(candidate->time(10, L2State::hot).seconds, 0);
  const TimedBatch cold = candidate->time(1, L2State::cold);
  EXPECT_GT(cold.seconds, 0);
  EXPECT_EQ(cold.l2, L2State::cold);
  EXPECT_GT(bench_->launch_floor(), 0);
  EXPECT_EQ(device_->active_blocks(device_->compile(fine().unit()), fine().plan().launches[0]),
            std::nullopt);
}

TEST_F(WorkerDevice, AnInfiniteLoopIsATimeout) {
  const auto start = Clock::now();
  EXPECT_EQ(failure_of(kernel_with("while (*(volatile const int*)in < 1000) {}")),
            Outcome::timeout);
  EXPECT_THAT(message_, HasSubstr("while verifying: the worker was killed"));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));
  expect_usable();
}

TEST_F(WorkerDevice, AnIllegalAddressIsACrashThatIsNamed) {
  EXPECT_EQ(failure_of(kernel_with("*(volatile int*)0x10 = 1;")), Outcome::crash);
  EXPECT_THAT(message_, HasSubstr("signal 11"));
  EXPECT_THAT(message_, HasSubstr("illegal memory access at 0x10"));
  expect_usable();
}

/// A kernel whose process gets SIGKILL in its first `kills` runs, as if from outside.
KernelCase killed_in(int kills, const TemporaryFolder& folder) {
  KernelCase killed = kernel_with(
      format("const int file = open(\"{}/runs\", 02102, 0600);\n"
             "if (lseek(file, 0, 2) < {}) {{\n  write(file, in, 1);\n  kill(getpid(), 9);\n}}\n"
             "close(file);",
             folder.path().string(), kills));
  killed.text =
      "extern \"C\" int open(const char*, int, ...), close(int), kill(int, int), getpid();\n"
      "extern \"C\" long write(int, const void*, unsigned long), lseek(int, long, int);\n" +
      killed.text;
  return killed;
}

TEST_F(WorkerDevice, WhatWasKilledFromOutsideIsAskedAgain) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of(killed_in(2, folder)), Outcome::ok) << message_;
}

TEST_F(WorkerDevice, WhatIsKilledFromOutsideEachTimeIsNoCrash) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of(killed_in(1000, folder)), Outcome::killed);
  EXPECT_THAT(message_, HasSubstr("killed from outside while verifying, perhaps by the system for "
                                  "want of memory: signal 9 (Killed)"));
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "runs"), 3u);
  expect_usable();
}

/// Its keeper kills the worker then: nobody else does.
TEST_F(WorkerDevice, AKernelThatShutsTheWorkersSocketIsACrash) {
  KernelCase closer = kernel_with("shutdown(3, 2);\nfor (;;) pause();");
  closer.text = "extern \"C\" int shutdown(int, int), pause();\n" + closer.text;
  EXPECT_EQ(failure_of(closer), Outcome::crash) << message_;
  expect_usable();
}

TEST_F(WorkerDevice, AKernelThatWritesToTheWorkersSocketIsACrash) {
  KernelCase forger = kernel_with(
      "static const char kEmpty[17] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, 0, 0, 0, 0, 0, '\\xa0'}; write(3, kEmpty, 17);");
  forger.text = "extern \"C\" long write(int, const void*, unsigned long);\n" + forger.text;
  EXPECT_EQ(failure_of(forger), Outcome::crash);
  EXPECT_THAT(message_, HasSubstr("ended while verifying: its process sent a malformed answer"));
  expect_usable();
}

TEST_F(WorkerDevice, AKernelThatClosesDescriptorsIsACrashAndTheNextRunsInAFreshWorker) {
  for (const char* close_some : {"close(0); close(1); close(2);", "close(7);", "dup2(0, 1);",
                                 "for (int i = 0; i < 256; ++i) close(i);"}) {
    KernelCase closer = kernel_with(close_some);
    closer.text = "extern \"C\" int close(int), dup2(int, int);\n" + closer.text;
    EXPECT_EQ(failure_of(closer), Outcome::crash) << close_some;
    const int last = close_some[0] == 'f' ? 256 : 3;
    if (last == 3) {
      EXPECT_THAT(message_, HasSubstr("the kernel closed descriptor "));
    }
    expect_usable();
  }
}

TEST_F(WorkerDevice, WhatAKernelLeavesInASessionOfItsOwnEndsWithTheWorker) {
  const TemporaryFolder folder;
  const std::string file = folder.path().string() + "/pids";
  KernelCase forks = kernel_with(
      "if (fork() == 0) {\n  setsid();\n  const int own = getpid();\n"
      "  const int file = open(\"" +
      file +
      "\", 02101, 0600);\n"
      "  write(file, &own, sizeof own);\n  for (;;) pause();\n}\n");
  forks.text =
      "extern \"C\" int fork(), setsid(), getpid(), pause(), open(const char*, int, ...);\n"
      "extern \"C\" long write(int, const void*, unsigned long);\n" +
      forks.text;
  EXPECT_EQ(failure_of(forks), Outcome::ok) << message_;
  while (!std::filesystem::exists(file) || std::filesystem::file_size(file) < sizeof(int)) {
  }
  EXPECT_EQ(failure_of(kernel_with("*(volatile int*)0x10 = 1;")), Outcome::crash);
  std::ifstream pids(file, std::ios::binary);
  int pid = 0, count = 0;
  for (; pids.read(reinterpret_cast<char*>(&pid), sizeof pid); ++count) {
    EXPECT_NE(kill(pid, 0), 0) << pid << " lives";
  }
  EXPECT_GT(count, 0);
  expect_usable();
}

TEST_F(WorkerDevice, AKernelThatPrintsWithoutEndIsRight) {
  KernelCase noisy = kernel_with(
      "static char line[1 << 16];\n"
      "for (int i = 0; i < 1000; ++i) write(1, line, sizeof line);\n");
  noisy.text = "extern \"C\" long write(int, const void*, unsigned long);\n" + noisy.text;
  EXPECT_EQ(failure_of(noisy), Outcome::ok) << message_;
}

TEST_F(WorkerDevice, ADeadlockAtABarrierIsACrash) {
  KernelCase stuck = kernel_with("if (threadIdx.x == 0) __syncthreads(); else __syncwarp();");
  stuck.block = {32};
  EXPECT_EQ(failure_of(stuck), Outcome::crash);
  EXPECT_THAT(message_, HasSubstr("deadlock at a barrier"));
  expect_usable();
}

TEST_F(WorkerDevice, ARefusedLaunchNeedsNoNewWorker) {
  KernelCase large = fine();
  large.block = {2000};
  const auto before = load(fine());
  expect_kernel_failure([&] { load(large); }, Outcome::launch_error, "");
  EXPECT_EQ(before->verify().outcome, Outcome::ok);
}

TEST_F(WorkerDevice, CandidatesOutliveTheWorker) {
  const auto candidate = load(fine());
  const auto bad = load(kernel_with("*(volatile int*)0x10 = 1;"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(candidate->verify().outcome, Outcome::ok);
    EXPECT_THROW(bad->verify(), KernelFailure);
  }
  EXPECT_GT(candidate->time(2, L2State::hot).seconds, 0);
}

TEST_F(WorkerDevice, ManyCrashesInARowAreNoUnhealthyDevice) {
  const auto bad = load(kernel_with("*(volatile int*)0x10 = 1;"));
  for (int i = 0; i < 12; ++i) EXPECT_THROW(bad->verify(), KernelFailure);
  expect_usable();
}

TEST(WorkerDeviceMaking, SeveralProblemsAreOpenAtATime) {
  const auto device = make_worker_device("host", test_cache());
  const KernelCase small = fine();
  KernelCase large = fine();
  large.n = 4096;
  const auto first = device->open(small.workload()), second = device->open(large.workload());
  const CompiledKernel kernel = device->compile(fine().unit());
  const auto a = first->load(kernel, small.plan()), b = second->load(kernel, large.plan());
  EXPECT_EQ(a->verify().outcome, Outcome::ok);
  EXPECT_EQ(b->verify().outcome, Outcome::ok);
}

TEST(WorkerDeviceMaking, AReferenceThatDoesNotEndIsAnError) {
  const auto device = make_worker_device("host", test_cache(), {.open_seconds = 0.3});
  Workload workload = fine().workload();
  workload.reference_source.text =
      "extern \"C\" __global__ void reference(const int* in, int* out, int n) {\n"
      "  while (*(volatile const int*)in < 1000) {}\n}\n";
  EXPECT_REFUSAL(Error, device->open(workload),
                 "case: no answer within 0.3 s while running the reference");
}

TEST(WorkerDeviceMaking, AnUnknownDeviceIsAWrongRequest) {
  for (const char* spec : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0x"}) {
    EXPECT_THROW(make_worker_device(spec, test_cache()), UsageError) << spec;
  }
}

TEST(WorkerDeviceMaking, AWorkerProgramThatIsNotThereIsAnError) {
  setenv("AUTOTUNE_WORKER", "/no/such/worker", 1);
  EXPECT_THROW(make_worker_device("host", test_cache()), Error);
  unsetenv("AUTOTUNE_WORKER");
}

/// Short, with no bytes after it.
TEST(WorkerDeviceMaking, AnOpenThatIsAnsweredWithAFailureIsAnError) {
  for (const Outcome outcome : {Outcome::launch_error, Outcome::crash, Outcome::timeout}) {
    const TemporaryFolder folder;
    const Json failure{{"failure", static_cast<int>(outcome)}, {"what", "no such thing"}};
    const auto file = program_that_says({worker_greeting(), failure, failure}, folder.path());
    setenv("AUTOTUNE_WORKER", file.c_str(), 1);
    const auto device = make_worker_device("host", test_cache(), {.open_seconds = 2});
    EXPECT_THAT([&] { device->open(fine().workload()); },
                testing::ThrowsMessage<Error>("case: no such thing"))
        << name_of(outcome);
    unsetenv("AUTOTUNE_WORKER");
  }
}

TEST(WorkerDeviceMaking, AWorkerOfAnotherBuildIsNamedWithBothVersions) {
  const TemporaryFolder folder;
  for (const auto& [said, version] : {std::pair{Json{{"worker", "0.0.9-abc"}}, "0.0.9-abc"},
                                      std::pair{Json{{"said", "hello"}}, "without"}}) {
    const auto file = program_that_says({said}, folder.path());
    setenv("AUTOTUNE_WORKER", file.c_str(), 1);
    const auto device = make_worker_device("host", test_cache());
    EXPECT_THAT([&] { device->open(fine().workload()); },
                testing::ThrowsMessage<Error>(
                    testing::AllOf(HasSubstr(file.string() + ": is the worker of another build"),
                                   HasSubstr(version), HasSubstr(worker_version()))));
    EXPECT_THAT([] { describe_plugin("/bin/sh"); },
                testing::ThrowsMessage<Error>(HasSubstr("is the worker of another build")));
    unsetenv("AUTOTUNE_WORKER");
  }
}

}  // namespace
}  // namespace autotune
