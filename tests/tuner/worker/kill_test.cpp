// SPDX-License-Identifier: Apache-2.0
// SIGKILL at random moments, of the worker and of its parent: $AUTOTUNE_TEST_KILLS times each.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "tests/support/how_often.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

using std::chrono::milliseconds;

int kills_wanted() { return testing::how_often("AUTOTUNE_TEST_KILLS", 200, 20); }

KernelCase copy() {
  return {.text =
              "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
              "  for (int i = 0; i < n; ++i) out[i] = in[i];\n}\n"};
}

/// Processes named autotune-worker whose parent is `parent`.
std::vector<pid_t> workers_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    pid_t pid = 0, its_parent = 0;
    std::string name;
    char state = 0;
    if (!(file >> pid >> name >> state >> its_parent)) continue;
    if (name == "(autotune-worker" || name == "(autotune-worke)" || name == "(autotune-worker)") {
      if (its_parent == parent && state != 'Z') found.push_back(pid);
    }
  }
  return found;
}

bool is_gone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(Kill, AKilledWorkerCostsAtMostTheCallThatRan) {
  const auto device = make_worker_device("host", test_cache());
  const auto bench = device->open(copy().workload());
  const auto candidate = bench->load(device->compile(copy().unit()), copy().plan());
  std::atomic<int> good{0}, kills{0};
  // One kill after each answer, at some moment: five workers in a row without one end the run.
  std::jthread killer([&](const std::stop_token& stop) {
    std::minstd_rand random(1);
    for (int seen = -1; !stop.stop_requested() && kills < kills_wanted();) {
      std::this_thread::sleep_for(milliseconds(random() % 40));
      if (good == seen) continue;
      seen = good;
      for (const pid_t worker : workers_of(getpid())) {
        kill(worker, SIGKILL);
        ++kills;
      }
    }
  });
  int lost = 0;
  while (kills < kills_wanted()) {
    try {
      EXPECT_EQ(name_of(candidate->verify().outcome), "ok");
      EXPECT_GT(candidate->time(2, L2State::hot).seconds, 0);
      ++good;
    } catch (const KernelFailure& failure) {
      EXPECT_EQ(name_of(failure.outcome()), "killed") << failure.what();
      ++lost;
    }
  }
  killer.join();
  try {
    EXPECT_EQ(name_of(candidate->verify().outcome), "ok");
  } catch (const KernelFailure&) {  // the last kill came after the last answer
    ++lost;
    EXPECT_EQ(name_of(candidate->verify().outcome), "ok");
  }
  EXPECT_LE(lost, kills);
  EXPECT_GT(good, 0);
}

/// In a child: measures for ever, or hangs in a kernel; `ready` is written to once it runs.
[[noreturn]] void tune_for_ever(bool hang, int ready) {
  const auto device = make_worker_device("host", test_cache());
  KernelCase endless = copy();
  endless.text.insert(endless.text.find("for"), "while (*(volatile const int*)in < 1000) {}\n");
  const KernelCase runs = hang ? endless : copy();
  const auto bench = device->open(copy().workload());
  const auto candidate = bench->load(device->compile(runs.unit()), copy().plan());
  if (write(ready, "x", 1) != 1) _exit(1);
  for (;;) candidate->verify();
}

TEST(Kill, AKilledParentLeavesNoWorkerBehind) {
  // Compiled once, so that the children only run.
  make_worker_device("host", test_cache())->compile(copy().unit());
  std::minstd_rand random(2);
  for (int i = 0; i < kills_wanted(); ++i) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t parent = fork();
    if (parent == 0) tune_for_ever(i % 4 == 3, ready[1]);
    close(ready[1]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    std::this_thread::sleep_for(milliseconds(random() % 20));
    const std::vector<pid_t> workers = workers_of(parent);
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    ASSERT_EQ(workers.size(), 1u);
    EXPECT_TRUE(is_gone(workers[0])) << "worker " << workers[0] << " outlived its parent";
  }
}

TEST(Kill, CtrlCIsNotTheWorkersAffair) {
  const auto device = make_worker_device("host", test_cache());
  const auto bench = device->open(copy().workload());
  const auto candidate = bench->load(device->compile(copy().unit()), copy().plan());
  for (const pid_t worker : workers_of(getpid())) kill(worker, SIGINT);
  EXPECT_EQ(name_of(candidate->verify().outcome), "ok");
}

}  // namespace
}  // namespace autotune
