// SPDX-License-Identifier: Apache-2.0
// Signals while compilers run: whatever ends the tool ends them, and their folders go.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A tool that compiles: its compiler, a script, has a child and never ends.
class Interrupt : public ::testing::Test {
 protected:
  Interrupt() {
    fs::create_directories(temporary());
    const fs::path compiler = sandbox_.write("compiler",
                                             "#!/bin/sh\n"
                                             "[ \"$1\" = --version ] && echo slow 1.0 && exit\n"
                                             "sleep 1000 &\n"
                                             "echo $$ $! >> " +
                                                 pids_file().string() + "\nwait\n");
    fs::permissions(compiler, fs::perms::owner_all);
    sandbox_.set("AUTOTUNE_HOST_CXX", compiler.string());
    sandbox_.set("AUTOTUNE_CACHE", (sandbox_.folder() / "own").string());
    sandbox_.set("TMPDIR", temporary().string());
    tool_ = sandbox_.start(tune("tiny", "100", {"--json"}));
    while (compilers().empty() && !tool_->ended()) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(200));
    workers_ = processes_called("autotune-compile", tool_->pid());
  }

  fs::path temporary() const { return sandbox_.folder() / "tmp"; }
  fs::path pids_file() const { return sandbox_.folder() / "pids"; }

  /// The scripts and their children.
  std::vector<pid_t> compilers() const {
    std::ifstream file(pids_file());
    return {std::istream_iterator<pid_t>(file), {}};
  }

  /// Sends a signal and returns how the tool ended, which must be soon.
  Ended end_by(int number) {
    signalled_ = Clock::now();
    tool_->signal(number);
    const Ended ended = tool_->wait();
    EXPECT_LT(seconds_since(signalled_), limit()) << "until the tool ended";
    return ended;
  }

  /// Soon after the signal.
  void expect_nothing_left() const {
    while (anything_lives() && seconds_since(signalled_) < limit()) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_FALSE(anything_lives()) << seconds_since(signalled_) << " s after the signal";
    EXPECT_TRUE(fs::is_empty(temporary())) << fs::directory_iterator(temporary())->path();
  }

 private:
  static double seconds_since(Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }

  /// 2 s of a machine that has time for the tool. A busy one gets more, by how long it takes the
  /// tool to say its version.
  double limit() const { return 2 + 20 * std::max(0.0, version_seconds_ - 0.1); }

  bool anything_lives() const {
    return std::ranges::any_of(compilers(), is_alive) || std::ranges::any_of(workers_, is_alive);
  }

  double measured_version_seconds() const {
    const auto start = Clock::now();
    for (int i = 0; i < 3; ++i) sandbox_.run({"--version"});
    return seconds_since(start) / 3;
  }

 protected:
  Sandbox sandbox_;
  std::unique_ptr<Running> tool_;
  std::vector<pid_t> workers_;

 private:
  const double version_seconds_ = measured_version_seconds();
  Clock::time_point signalled_;
};

TEST_F(Interrupt, CtrlCDoesNotWaitForCompilers) {
  EXPECT_FALSE(workers_.empty());
  const Ended ended = end_by(SIGINT);
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["interrupted"], true);
  expect_nothing_left();
}

TEST_F(Interrupt, NorDoesSigterm) {
  EXPECT_EQ(end_by(SIGTERM).status, 130);
  expect_nothing_left();
}

TEST_F(Interrupt, TwoCtrlCsLeaveNothing) {
  tool_->signal(SIGINT);
  EXPECT_EQ(end_by(SIGINT).status, 130);
  expect_nothing_left();
}

TEST_F(Interrupt, SigquitLeavesNothing) {
  EXPECT_EQ(end_by(SIGQUIT).status, 128 + SIGQUIT);
  expect_nothing_left();
}

TEST_F(Interrupt, SigkillLeavesNoProcess) {
  EXPECT_EQ(end_by(SIGKILL).status, 128 + SIGKILL);
  expect_nothing_left();
}

TEST_F(Interrupt, WhatKilledProcessesLeaveIsRemovedByTheNextStart) {
  for (const pid_t worker : workers_) kill(-worker, SIGKILL);
  end_by(SIGKILL);
  const fs::path left = temporary() / "autotune-tmp-abcdef";
  fs::create_directories(left / "deep");
  std::ofstream(left / "deep/kernel.cpp") << "text";
  sandbox_.unset("AUTOTUNE_HOST_CXX");
  EXPECT_EQ(sandbox_.run({"check", manifest_of("tiny"), "--device", "host"}).status, 0);
  expect_nothing_left();
}

}  // namespace
}  // namespace autotune::testing
