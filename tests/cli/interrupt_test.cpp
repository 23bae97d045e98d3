// SPDX-License-Identifier: Apache-2.0
// Signals while compilers run: whatever ends the tool ends them, and their folders go.
#include <gmock/gmock.h>
#include <signal.h>

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
using std::chrono::seconds;
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

  /// How the tool ended; it has these many seconds.
  Ended end_within(seconds limit) {
    const auto start = Clock::now();
    const Ended ended = tool_->wait();
    EXPECT_LT(Clock::now() - start, limit);
    return ended;
  }

  /// All within 2 s of a machine that has time for them.
  void expect_nothing_left() {
    for (const pid_t pid : compilers()) EXPECT_TRUE(is_gone(pid)) << "a compiler";
    for (const pid_t pid : workers_) EXPECT_TRUE(is_gone(pid)) << "a worker";
    EXPECT_TRUE(fs::is_empty(temporary())) << fs::directory_iterator(temporary())->path();
  }

  Sandbox sandbox_;
  std::unique_ptr<Running> tool_;
  std::vector<pid_t> workers_;
};

TEST_F(Interrupt, CtrlCDoesNotWaitForCompilers) {
  EXPECT_FALSE(workers_.empty());
  tool_->signal(SIGINT);
  const Ended ended = end_within(seconds(10));
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["interrupted"], true);
  expect_nothing_left();
}

TEST_F(Interrupt, NorDoesSigterm) {
  tool_->signal(SIGTERM);
  EXPECT_EQ(end_within(seconds(10)).status, 130);
  expect_nothing_left();
}

TEST_F(Interrupt, TwoCtrlCsLeaveNothing) {
  tool_->signal(SIGINT);
  tool_->signal(SIGINT);
  EXPECT_EQ(end_within(seconds(10)).status, 130);
  expect_nothing_left();
}

TEST_F(Interrupt, SigquitLeavesNothing) {
  tool_->signal(SIGQUIT);
  EXPECT_EQ(end_within(seconds(10)).status, 128 + SIGQUIT);
  expect_nothing_left();
}

TEST_F(Interrupt, SigkillLeavesNoProcess) {
  tool_->signal(SIGKILL);
  tool_->wait();
  expect_nothing_left();
}

TEST_F(Interrupt, WhatKilledProcessesLeaveIsRemovedByTheNextStart) {
  for (const pid_t worker : workers_) kill(-worker, SIGKILL);
  tool_->signal(SIGKILL);
  tool_->wait();
  const fs::path left = temporary() / "autotune-tmp-abcdef";
  fs::create_directories(left / "deep");
  std::ofstream(left / "deep/kernel.cpp") << "text";
  sandbox_.unset("AUTOTUNE_HOST_CXX");
  EXPECT_EQ(sandbox_.run({"check", manifest_of("tiny"), "--device", "host"}).status, 0);
  expect_nothing_left();
}

}  // namespace
}  // namespace autotune::testing
