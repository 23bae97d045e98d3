// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_process.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <iterator>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tests/tuner/worker/fake_worker.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"
#include "tuner/host/process.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

/// How a worker ends that is this script.
std::string end_of(const std::string& script) {
  WorkerProcess worker({"/bin/sh", "-c", script + "; kill -SEGV $$"});
  EXPECT_FALSE(worker.ask({{"do", "anything"}}, {}, 60));
  return worker.end().text;
}

TEST(WorkerProcess, TheLastLineOfAWorkerSaysWhyItEnded) {
  EXPECT_THAT(end_of("echo first; echo last >&2"), HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(end_of("echo first; echo last >&2"), HasSubstr(": last"));
}

TEST(WorkerProcess, KeepsSixteenMebibytesOfWhatAWorkerPrints) {
  EXPECT_THAT(end_of("yes | head -c 30000000"), HasSubstr("it printed more than 16.00 MiB"));
}

TEST(WorkerProcess, ItsKeeperEndsAWorkerThatTakesTooMuchMemory) {
  const TemporaryFolder folder;
  const std::string program = find_worker_program().string();
  for (const char* script : {"x=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 60",
                             "head -c 200000000 /dev/zero | tail -c 200000000 | sleep 60"}) {
    WorkerProcess worker({program, "--within", "50000000", (folder.path() / "own").string(), "--",
                          "/bin/sh", "-c", script});
    EXPECT_FALSE(worker.ask({{"do", "anything"}}, {}, 30));
    EXPECT_THAT(worker.end().text, HasSubstr("it takes more than 47.68 MiB of memory")) << script;
  }
}

/// Its worker says this, whatever it is asked.
class SayingClient {
 public:
  explicit SayingClient(const Json& answer)
      : client_({program_that_says({worker_greeting(), answer}, folder_.path()).string()}) {}

  double seconds() {
    return client_.call({{"do", "time"}}, {}, 60, "timing",
                        [](const Json& answer) -> double { return field(answer, "seconds"); });
  }

 private:
  const TemporaryFolder folder_;
  WorkerClient client_;
};

TEST(WorkerClient, ReturnsWhatIsReadFromTheAnswer) {
  EXPECT_EQ(SayingClient(Json{{"seconds", 2}}).seconds(), 2.0);
}

TEST(WorkerClient, AnAnswerOfOtherTypesIsACrashOfTheWorker) {
  for (const Json& answer :
       {Json{{"seconds", "two"}}, Json{{"second", 2}}, Json{{"failure", 99}, {"what", ""}},
        Json{{"failure", 3.5}, {"what", ""}}, Json{{"error", 1}}}) {
    SCOPED_TRACE(answer.dump());
    expect_kernel_failure([&] { SayingClient(answer).seconds(); }, Outcome::crash,
                          "the worker was ended while timing: ");
  }
}

TEST(WorkerClient, FiveSuchAnswersInARowAreAnUnhealthyDevice) {
  SayingClient client(Json{{"seconds", "two"}});
  for (int i = 1; i < WorkerClient::kMostFailures; ++i)
    EXPECT_THROW(client.seconds(), KernelFailure);
  EXPECT_THAT([&] { client.seconds(); },
              ::testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("unhealthy"), HasSubstr("\"two\" is not a number"))));
}

std::array<int, 2> sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

TEST(Channel, CarriesLargeMessagesBothWays) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  const std::string bytes(5 << 20, 'x');
  std::thread echo([&] {
    while (auto message = there.receive(-1)) there.send(message->header, message->bytes, 10);
  });
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(here.send({{"number", i}}, bytes, 10), Silence::none);
    const auto message = here.receive(10);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->header.at("number"), i);
    EXPECT_EQ(message->bytes, bytes);
  }
  shutdown(ends[0], SHUT_RDWR);
  echo.join();
}

TEST(Channel, SaysWhetherTheOtherEndIsSlowOrGone) {
  const auto ends = sockets();
  Channel here(ends[0]);
  {
    Channel there(ends[1]);
    EXPECT_FALSE(here.receive(0.02));
    EXPECT_EQ(here.silence(), Silence::timeout);
  }
  EXPECT_FALSE(here.receive(1));
  EXPECT_EQ(here.silence(), Silence::closed);
  EXPECT_EQ(here.send({}, "x", 1), Silence::closed);
}

TEST(Channel, AReaderThatIsStuckEndsTheSend) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  EXPECT_EQ(here.send({}, std::string(50 << 20, 'x'), 0.05), Silence::timeout);
}

TEST(Channel, WhatIsNoMessageIsAnEnd) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  const std::string nonsense(64, '\xff');
  ASSERT_EQ(write(ends[1], nonsense.data(), nonsense.size()), 64);
  EXPECT_FALSE(here.receive(1));
  EXPECT_EQ(here.silence(), Silence::closed);
}

TEST(LocalDevice, IsTheHostOrAnOrdinalOfCuda) {
  const auto cache = std::make_shared<BuildCache>("", 0);
  EXPECT_EQ(make_local_device("host", cache, nullptr)->info().kind, DeviceKind::host);
  for (const char* const spec : {"", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "Host",
                                 "cuda:99999999999", "model:h200"}) {
    EXPECT_REFUSAL(UsageError, make_local_device(spec, cache, nullptr),
                   "cannot run kernels: use host or cuda:0")
        << spec;
  }
}

constexpr std::size_t kMost = 1000;

ProcessText run_script(const std::string& script, double limit_seconds = 60) {
  return run_kept({"/bin/sh", "-c", script}, limit_seconds, kMost);
}

/// A script that starts two processes, one of them in a session of its own, and names them.
class KeptProgram : public ::testing::Test {
 protected:
  std::string starts_others() const {
    return "sleep 1000 & one=$!; setsid sh -c 'echo $$ > " + other() +
           "; exec sleep 1000' & while [ ! -s " + other() +
           " ]; do sleep 0.01; done; echo $one $(cat " + other() + ") > " + pids_file() +
           ".new; mv " + pids_file() + ".new " + pids_file() + "; ";
  }
  std::string pids_file() const { return folder_.path().string() + "/pids"; }

  void expect_nothing_left() const {
    EXPECT_EQ(pids().size(), 2u);
    for (const pid_t pid : pids()) EXPECT_NE(kill(pid, 0), 0) << pid;
  }
  std::vector<pid_t> pids() const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(pids_file()); ++i) nap();
    std::ifstream file(pids_file());
    return {std::istream_iterator<pid_t>(file), {}};
  }

  static bool ends(pid_t pid) {
    for (int i = 0; i < 1000; ++i, nap()) {
      if (kill(pid, 0) != 0) return true;
    }
    return false;
  }

 private:
  static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  std::string other() const { return folder_.path().string() + "/other"; }

  const TemporaryFolder folder_;
};

TEST_F(KeptProgram, GivesItsStatusAndOutputs) {
  const ProcessText result = run_script("echo text; echo remark >&2; exit 3");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.text, "text\n");
  EXPECT_EQ(result.output, "remark\n");
  EXPECT_THROW(run_kept({"/no/such/program"}, 60, kMost), Error);
}

TEST_F(KeptProgram, EndsWhenItPrintsTooMuch) {
  EXPECT_FALSE(run_script("printf '%01000d' 0").is_too_long);
  EXPECT_TRUE(run_script("printf '%01001d' 0; sleep 1000").is_too_long);
  EXPECT_TRUE(run_script("exec yes").is_too_long);
}

TEST_F(KeptProgram, LeavesNothingWhenItHasSucceeded) {
  EXPECT_EQ(run_script(starts_others() + "echo text").text, "text\n");
  expect_nothing_left();
}

TEST_F(KeptProgram, LeavesNothingAtItsLimit) {
  EXPECT_TRUE(run_script(starts_others() + "sleep 1000", 4).timed_out);
  expect_nothing_left();
}

TEST_F(KeptProgram, LeavesNothingWhenThisProcessIsKilled) {
  const pid_t tool = fork();
  if (tool == 0) {
    run_script(starts_others() + "sleep 1000");
    _exit(0);
  }
  const std::vector<pid_t> left = pids();
  kill(tool, SIGKILL);
  waitpid(tool, nullptr, 0);
  ASSERT_EQ(left.size(), 2u);
  for (const pid_t pid : left) EXPECT_TRUE(ends(pid)) << pid;
}

TEST(WorkerProcess, CtrlCIsNotItsAffair) {
  const KernelCase copy{
      .text =
          "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
          "  for (int i = 0; i < n; ++i) out[i] = in[i];\n}\n"};
  const auto device = make_worker_device("host", test_cache());
  const auto bench = device->open(copy.workload());
  const auto candidate = bench->load(device->compile(copy.unit()), copy.plan());
  std::ifstream children("/proc/thread-self/children");
  const std::vector<pid_t> workers{std::istream_iterator<pid_t>(children), {}};
  ASSERT_FALSE(workers.empty());
  for (const pid_t each : workers) kill(each, SIGINT);
  EXPECT_EQ(name_of(candidate->verify().outcome), "ok");
}

}  // namespace
}  // namespace autotune
