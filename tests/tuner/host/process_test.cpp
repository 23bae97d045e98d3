// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/launcher.hpp"

namespace autotune {
namespace {

std::vector<std::string> shell(const std::string& command) { return {"/bin/sh", "-c", command}; }

TEST(Process, GivesStatusAndBothOutputs) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 3"), 10);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(Process, SaysWhichSignalEndedIt) {
  EXPECT_EQ(run_process(shell("kill -SEGV $$"), 10).status, 128 + 11);
}

TEST(Process, KillsTheWholeGroupAtTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process(shell("sleep 100 & echo begun; sleep 100"), 0.2);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Process, KeepsTheFirstAndTheLastOfALongOutput) {
  const std::string zeros = "head -c 9000000 /dev/zero | tr '\\0' y";
  const ProcessResult result = run_process(shell("echo first; " + zeros + "; echo last"), 60);
  EXPECT_THAT(result.output, ::testing::StartsWith("first\nyy"));
  EXPECT_THAT(result.output, ::testing::HasSubstr("y\n[8934475 bytes are left out here]\ny"));
  EXPECT_THAT(result.output, ::testing::EndsWith("ylast\n"));
  EXPECT_LT(result.output.size(), kMostOutput + 100);
}

TEST(Process, IsNotWaitedForByWhatItLeavesBehind) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_process(shell("sleep 100 & echo begun"), 60).output, "begun\n");
  EXPECT_EQ(run_process(shell("exec >&- 2>&-; sleep 0.1; exit 3"), 60).status, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Process, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(run_process({"/no/such/program"}, 1), Error);
}

TEST(Process, FindsProgramsInPath) {
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_TRUE(find_program("no-such-program").empty());
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_program("/etc").empty());
}

namespace fs = std::filesystem;

const CompileTask kTask{"/usr/bin/cc", "k.cu", "int k;", {"-O1"}};

/// A compiler that writes a binary, and this as the rule of what it read.
RunProgram compiler_that_reads(const std::string& prerequisites) {
  return [=](const std::vector<std::string>& argv, const std::filesystem::path&) {
    const auto after = [&](const char* word) { return *(std::ranges::find(argv, word) + 1); };
    std::ofstream(after("-o")) << "binary";
    std::ofstream(after("-MF")) << after("-o") << ": " << prerequisites << "\n";
    return ProcessResult{false, 0, "a warning\n"};
  };
}

RunProgram compiler_that_fails(int status, const std::string& output) {
  return [=](const std::vector<std::string>&, const auto&) {
    return ProcessResult{false, status, output};
  };
}

TEST(CompileProgram, GivesTheBinaryTheLogAndTheFilesThatWereRead) {
  const Build build = compile_program(
      kTask, compiler_that_reads("/tmp/kernel.cpp \\\n  /a/b.h \\\n /with\\ blank/c.h /d$$.h"));
  ASSERT_TRUE(build.binary);
  EXPECT_EQ(*build.binary, "binary");
  EXPECT_EQ(build.log, "a warning\n");
  ASSERT_TRUE(build.read);
  EXPECT_THAT(*build.read, ElementsAre("/a/b.h", "/with blank/c.h", "/d$.h"));
}

TEST(CompileProgram, ARefusalIsKept) {
  const Build build = compile_program(kTask, compiler_that_fails(1, "k.cu:1:1: error: no\n"));
  EXPECT_FALSE(build.binary);
  EXPECT_TRUE(build.keep);
  EXPECT_EQ(build.log, "k.cu:1:1: error: no\n");
}

TEST(CompileProgram, ACrashIsSaidAndNotKept) {
  const Build build = compile_program(kTask, compiler_that_fails(128 + 11, ""));
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("k.cu: error: the compiler crashed"));
}

TEST(CompileProgram, ACommandThatFailsIsToBlameUnlessTheMachineIs) {
  CompileTask task = kTask;
  task.folder = "/";
  const Build build = compile_program(task, compiler_that_fails(2, "no such shape\n"));
  EXPECT_EQ(build.binary, nullptr);
  EXPECT_THAT(build.log, testing::HasSubstr("no such shape\n\nk.cu: error: the build command ended "
                                            "with status 2"));
  EXPECT_THROW(compile_program(task, compiler_that_fails(1, "out of memory\n")), NotCompiled);
  EXPECT_THAT(compile_program(task, compiler_that_fails(0, "")).log,
              testing::HasSubstr("wrote no {program}"));
}

TEST(CompileProgram, AFullDiskIsNoNotCompiled) {
  try {
    compile_program(kTask, compiler_that_fails(1, "as: final: No space left on device\n"));
    FAIL();
  } catch (const NotCompiled&) {
    FAIL() << "the next kernel would meet the same";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is the disk full?"));
  }
}

namespace fs = std::filesystem;

/// $TMPDIR in a folder of its own for as long as it lives.
class TemporaryFolders : public testing::Test {
 protected:
  TemporaryFolders() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    base_.emplace();
    setenv("TMPDIR", base_->path().c_str(), 1);
  }
  ~TemporaryFolders() override {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
  }

  /// What another process has made when it was killed.
  fs::path abandoned() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const TemporaryFolder folder;
      std::ofstream(folder.path() / "file") << "text";
      const std::string name = folder.path().string();
      if (write(ends[1], name.data(), name.size()) < 0) _exit(1);
      raise(SIGKILL);
    }
    close(ends[1]);
    char name[4096];
    const ssize_t got = read(ends[0], name, sizeof name);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return std::string(name, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }

  std::optional<std::string> before_;
  std::optional<TemporaryFolder> base_;
};

TEST_F(TemporaryFolders, AreRemovedWithWhatTheyHold) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    fs::create_directories(path / "deep");
    std::ofstream(path / "deep/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolders, OfKilledProcessesAreRemovedByTheNext) {
  const fs::path left = abandoned();
  ASSERT_TRUE(fs::exists(left / "file"));
  const TemporaryFolder ours;
  remove_abandoned_folders();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(ours.path())) << "it is in use";
}

TEST_F(TemporaryFolders, OfThisProcessCanAllBeRemovedAtOnce) {
  const auto end = [] {
    const TemporaryFolder one, other;
    std::ofstream(other.path() / "file") << "text";
    std::atomic<bool> is_made = false;
    remove_own_folders();
    std::thread([&] {
      const TemporaryFolder late;
      is_made = true;
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    _exit(fs::exists(one.path()) || fs::exists(other.path()) || is_made ? 1 : 0);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "");
}

TEST(ThreadPool, CallsTheWorkOnceOnEachThread) {
  ThreadPool pool(4);
  std::vector<int> calls(pool.size());
  for (int run = 0; run < 100; ++run) pool.run([&](unsigned number) { ++calls[number]; });
  EXPECT_EQ(calls, std::vector<int>(4, 100));
}

TEST(ThreadPool, FaultsReachTheirHandlerAndOtherSignalsTheProgramsOwnThreads) {
  ThreadPool pool(3);
  std::vector<sigset_t> blocked(pool.size());
  pool.run([&](unsigned number) { pthread_sigmask(SIG_SETMASK, nullptr, &blocked[number]); });
  for (unsigned number = 1; number < pool.size(); ++number) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
      EXPECT_EQ(sigismember(&blocked[number], fault), 0) << fault;
    }
    EXPECT_EQ(sigismember(&blocked[number], SIGINT), 1);
    EXPECT_EQ(sigismember(&blocked[number], SIGTERM), 1);
  }
}

TEST(Cpu, IsADeviceThatKernelsOfGpusFitOn) {
  const DeviceInfo info = cpu_info();
  EXPECT_EQ(info.kind, DeviceKind::host);
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.name.find('\n'), std::string::npos);
  EXPECT_GE(info.multiprocessors, 1);
  EXPECT_GE(info.shared_bytes_per_block, 227 << 10) << "as much as an H200 gives a block";
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_EQ(info.compute_capability, 0);
}

TEST(Cpu, TheFingerprintNamesTheModelAndTheInstructionSets) {
  const std::string fingerprint = cpu_fingerprint();
  EXPECT_TRUE(fingerprint.starts_with(cpu_info().name + '\n'));
  EXPECT_EQ(cpu_fingerprint(), fingerprint);
}

TEST(Cpu, AvailableMemoryIsAPartOfAll) {
  EXPECT_GE(available_memory_bytes(), 0);
  EXPECT_LE(available_memory_bytes(), cpu_info().memory_bytes);
}

}  // namespace
}  // namespace autotune
