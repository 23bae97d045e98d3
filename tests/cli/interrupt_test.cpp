// SPDX-License-Identifier: Apache-2.0
// Signals while compilers run: whatever ends the tool ends them, and their folders go.
#include "tuner/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "db/exchange.hpp"
#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/how_often.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A tool that compiles: its compiler, a script, has a child and never ends.
class Interrupt : public ::testing::Test {
 protected:
  Interrupt() {
    fs::create_directories(temporary());
    const fs::path compiler = sandbox_.write("compiler",
                                             "#!/bin/sh\n"
                                             "[ \"$1\" = --version ] && echo slow 1.0 && exit\n"
                                             "[ \"$1\" = -dumpversion ] && echo 1 && exit\n"
                                             "sleep 1000 &\n"
                                             "echo $$ $! >> " +
                                                 pids_file().string() + "\nwait\n");
    fs::permissions(compiler, fs::perms::owner_all);
    sandbox_.set("AUTOTUNE_HOST_CXX", compiler.string());
    sandbox_.set("AUTOTUNE_CACHE", (sandbox_.folder() / "own").string());
    sandbox_.set("TMPDIR", temporary().string());
    tool_ = sandbox_.start(tune("tiny", "100", "--json"));
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

  /// Half a minute is a hang: on a busy machine, what is left ends later than the tool.
  void expect_nothing_left() const {
    while (anything_lives() && seconds_since(signalled_) < 30) {
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
    for (int i = 0; i < 3; ++i) sandbox_.run("--version");
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
  EXPECT_THAT(ended.err, HasSubstr("a second Ctrl-C ends at once\n"));
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
  sandbox_.done("check @tiny --device host");
  expect_nothing_left();
}

/// Whether a handler takes the signal.
bool catches(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0;
  }
  return false;
}

/// Whatever the run does at that moment: it starts workers and plugins, reads manifests, compiles.
class InterruptAtStart : public ::testing::Test {
 protected:
  /// Sends the signals so long after the tool catches them.
  Ended end_after(milliseconds delay, int signals) {
    const Sandbox sandbox;
    const auto tool = sandbox.start("--target gemm --device host --sizes 64");
    while (!tool->ended() && !catches(tool->pid(), SIGINT)) std::this_thread::yield();
    std::this_thread::sleep_for(delay);
    const std::vector<pid_t> children = children_of(tool->pid());
    for (int i = 0; i < signals; ++i) {
      tool->signal(SIGINT);
      std::this_thread::sleep_for(milliseconds(5));
    }
    const Ended ended = tool->wait();
    for (const pid_t child : children) EXPECT_TRUE(is_gone(child)) << child;
    return ended;
  }

  static std::vector<pid_t> children_of(pid_t pid) {
    const std::string list = std::to_string(pid);
    std::ifstream file("/proc/" + list + "/task/" + list + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
  }
};

TEST_F(InterruptAtStart, CtrlCSaysThatNothingWasMeasured) {
  for (int delay = 0; delay <= 300; delay += 30) {
    const Ended ended = end_after(milliseconds(delay), 1);
    EXPECT_EQ(ended.status, 130) << delay << " ms: " << ended.err;
    if (ended.out.find("GFLOP/s") != std::string::npos) continue;  // a fast machine
    EXPECT_THAT(ended.err, ContainsRegex("nothing was measured|every trial is kept")) << delay;
    EXPECT_THAT(ended.out, Not(HasSubstr("no correct configuration"))) << delay;
    if (ended.err.find("nothing was measured") == std::string::npos) continue;
    EXPECT_THAT(ended.out, Not(HasSubstr("every trial is kept"))) << delay;
  }
}

TEST_F(InterruptAtStart, TwoCtrlCsEndItAtOnce) {
  for (int delay = 0; delay <= 300; delay += 60) {
    const Ended ended = end_after(milliseconds(delay), 2);
    EXPECT_EQ(ended.status, 130) << delay << " ms: " << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("error:"))) << delay;
  }
}

/// A terminal that nobody looks at.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
    if (grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~Terminal() {
    close(slave_);
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int slave() const { return slave_; }
  /// Everything that was written so far, and is small enough for the terminal's buffer.
  std::string text() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = read(master_, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int master_, slave_ = -1;
};

TEST(Progress, ATerminalShowsTheBestSoFarOnOneLine) {
  const Sandbox sandbox;
  const Terminal terminal;
  ASSERT_GE(terminal.slave(), 0);
  sandbox.done(tune("tiny", "100,200", "--budget 6 --json"), [&] { dup2(terminal.slave(), 2); });
  const std::string text = terminal.text();
  EXPECT_THAT(text, HasSubstr("[1/2] N=100  "));
  EXPECT_THAT(text, ContainsRegex("\\[2/2\\] N=200  ./6.*  best [0-9.]+ .s"));
  EXPECT_THAT(text, ContainsRegex("[0-9]+ s left, until [0-9][0-9]:[0-9][0-9]"));
  EXPECT_THAT(text, HasSubstr("\r\033[K"));  // the line is written anew
}

TEST(Progress, ElsewhereAProblemIsALine) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(tune("tiny", "100,200", "--budget 6 --json"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("N=100: tried 6 of 8: .*; best found at [1-6]; [0-9.]+ s; "
                                       "[0-9]+ (s|min) left, until [0-9][0-9]:[0-9][0-9]\n"));
  EXPECT_THAT(ended.err,
              ContainsRegex("N=200: tried 6 of 8: .*; best found at [1-6]; [0-9.]+ s\n"));
  EXPECT_THAT(ended.err, Not(HasSubstr("\r")));
}

// SIGKILL of the tool and of its workers at random moments ($AUTOTUNE_TEST_KILLS times each, among
// $AUTOTUNE_TEST_CONFIGURATIONS), and configurations that crash ($AUTOTUNE_TEST_FAULTS of them).

int kills_wanted() { return how_often("AUTOTUNE_TEST_KILLS", 40, 20); }

/// Configurations of each problem, enough that some run while the kills come.
int configurations() { return how_often("AUTOTUNE_TEST_CONFIGURATIONS", 1000, 400); }

/// Sizes of a problem with so many configurations.
std::string sizes_of(int size) {
  return std::to_string(size) + 'x' + std::to_string(configurations());
}

Words tune_each(const std::string& sizes, const Words& more = {}) {
  return tune("hostile", sizes, "--strategy exhaustive --budget 100% --json --quiet") + more;
}

/// What a database holds.
struct Stored {
  std::set<std::string> facts;
  std::vector<std::string> damage;  // what its own checks complain of, the file's structure too
};

/// Nothing where there is no database yet.
Stored stored(const Sandbox& sandbox) try {
  const db::TunedStore store(sandbox.database(), db::Mode::read_only);
  Stored all{{}, store.check().damage};
  std::istringstream lines(db::facts_of(store));
  for (std::string line; std::getline(lines, line);) all.facts.insert(line);
  return all;
} catch (const db::StoreError&) {
  return {};
}

/// Every configuration of each problem of a run that came to its end.
/// What was killed whenever it was asked again is tried by the next run.
void expect_all_measured(const Ended& ended, int count) {
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json problem = Json::parse(ended.out)["problems"][0];
  const Json& trials = problem["trials"];
  EXPECT_EQ(trials["crash"], 0);
  EXPECT_EQ(trials["ok"].get<int>() + trials["pruned"].get<int>() + trials["killed"].get<int>(),
            count)
      << trials.dump();
  EXPECT_EQ(problem["best"]["verified"], true);
}

TEST(Kill, OfTheToolLosesNoStoredTrialAndLeavesNoWorker) {
  const Sandbox sandbox;
  int size = 50;
  const auto arguments = [&] { return tune_each(sizes_of(size)); };
  std::minstd_rand random(3);
  Stored before;
  const int enough = 5 * kills_wanted() / 2;  // facts, so that the kills have something to lose
  int longest = 250;
  for (int kills = 0; kills < kills_wanted() || std::ssize(before.facts) <= enough;) {
    const auto running = sandbox.start(arguments());
    std::this_thread::sleep_for(milliseconds(random() % longest));
    const std::vector<pid_t> workers = processes_called("autotune-worker", running->pid());
    running->signal(SIGKILL);
    const int status = running->wait().status;
    ASSERT_TRUE(status == 128 + SIGKILL || status == 0) << status;
    // What is done before its kill comes has nothing left to lose: on to another problem.
    ++(status == 0 ? size : kills);
    for (const pid_t worker : workers) EXPECT_TRUE(is_gone(worker)) << "worker " << worker;
    Stored now = stored(sandbox);
    EXPECT_EQ(now.damage, std::vector<std::string>{});
    EXPECT_TRUE(std::ranges::includes(now.facts, before.facts)) << "a stored trial is lost";
    before = std::move(now);
    // A slow or busy machine comes to its first trial later: aim at twice of what is enough.
    if (std::ssize(before.facts) * kills_wanted() < 2 * enough * kills) longest += longest / 10;
  }
  expect_all_measured(sandbox.run(arguments()), configurations());
  sandbox.done("db check");
}

TEST(Kill, OfTheWorkerCostsAtMostTheTrialThatRan) {
  const Sandbox sandbox;
  std::minstd_rand random(4);
  int size = 50;
  for (int kills = 0; kills < kills_wanted(); ++size) {
    const auto running = sandbox.start(tune_each(sizes_of(size)));
    while (!running->ended() && kills < kills_wanted()) {
      // At any moment, also of its start; but now and then it is left time for an answer, for five
      // workers in a row without one are a device that is unhealthy.
      std::this_thread::sleep_for(milliseconds(random() % 150 + (kills % 2 == 0 ? 150 : 0)));
      for (const pid_t worker : processes_called("autotune-worker", running->pid())) {
        kill(worker, SIGKILL);
        ++kills;
      }
    }
    expect_all_measured(running->wait(), configurations());
  }
  EXPECT_THAT(sandbox.run("db export").out, ::testing::Not(::testing::HasSubstr("\"crash\"")));
  sandbox.done("db check");
}

TEST(Faults, ThatCrashLeaveAllOthersMeasured) {
  const int faults = how_often("AUTOTUNE_TEST_FAULTS", 250, 40);
  const Sandbox sandbox;
  const auto arguments = tune_each("50x" + std::to_string(3 * faults), "--set faults=third");
  const std::string out = sandbox.done(arguments);
  const Json trials = Json::parse(out)["problems"][0]["trials"];
  EXPECT_EQ(trials["crash"], faults);
  EXPECT_EQ(trials["ok"].get<int>() + trials["pruned"].get<int>(), 2 * faults);
}

TEST(Faults, AfterTwoCrashesAConfigurationIsNotRunAgain) {
  const Sandbox sandbox;
  const auto arguments = tune_each("50x9", "--set faults=third");
  std::vector<std::size_t> rows;
  Json last;
  for (int i = 0; i < 4; ++i) {
    const std::string out = sandbox.done(arguments);
    last = Json::parse(out);
    EXPECT_EQ(last["problems"][0]["trials"]["crash"], 3);
    const std::string rows_text = sandbox.run("db export").out;
    std::size_t crashes = 0;
    for (std::size_t at = 0; (at = rows_text.find("\"crash\"", at)) != std::string::npos; ++at) {
      ++crashes;
    }
    rows.push_back(crashes);
  }
  EXPECT_EQ(rows, (std::vector<std::size_t>{3, 6, 6, 6})) << "tried twice, then no more";
  EXPECT_EQ(last["problems"][0]["quarantined"], 3);
}

}  // namespace
}  // namespace autotune::testing
