// SPDX-License-Identifier: Apache-2.0
// SIGKILL of the tool and of its workers at random moments ($AUTOTUNE_TEST_KILLS times each, among
// $AUTOTUNE_TEST_CONFIGURATIONS), and configurations that crash ($AUTOTUNE_TEST_FAULTS of them).
#include <signal.h>

#include <chrono>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "db/exchange.hpp"
#include "tests/cli/sentences.hpp"
#include "tests/support/how_often.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using std::chrono::milliseconds;

int kills_wanted() { return how_often("AUTOTUNE_TEST_KILLS", 40, 20); }

/// Configurations of each problem, enough that some run while the kills come.
int configurations() { return how_often("AUTOTUNE_TEST_CONFIGURATIONS", 1000, 400); }

/// Sizes of a problem with so many configurations.
std::string sizes_of(int size) {
  return std::to_string(size) + 'x' + std::to_string(configurations());
}

std::vector<std::string> tune_each(const std::string& sizes, std::vector<std::string> more = {}) {
  for (const char* word : {"--strategy", "exhaustive", "--budget", "100%", "--json", "--quiet"}) {
    more.emplace_back(word);
  }
  return tune("hostile", sizes, more);
}

/// What a database holds.
struct Stored {
  std::set<std::string> facts;
  std::vector<std::string> damage;  // what its own checks complain of, the file's structure too
};

/// Nothing where there is no database yet.
Stored stored(const Sandbox& sandbox) try {
  const db::TunedStore store(sandbox.database(), db::Mode::read_only);
  std::ostringstream text;
  db::export_json_lines(store, text);
  Stored all{{}, store.check().damage};
  std::istringstream lines(text.str());
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
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
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
  EXPECT_THAT(sandbox.run({"db", "export"}).out, ::testing::Not(::testing::HasSubstr("\"crash\"")));
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
}

TEST(Faults, ThatCrashLeaveAllOthersMeasured) {
  const int faults = how_often("AUTOTUNE_TEST_FAULTS", 250, 40);
  const Sandbox sandbox;
  const auto arguments = tune_each("50x" + std::to_string(3 * faults), {"--set", "faults=third"});
  const Ended ended = sandbox.run(arguments);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json trials = Json::parse(ended.out)["problems"][0]["trials"];
  EXPECT_EQ(trials["crash"], faults);
  EXPECT_EQ(trials["ok"].get<int>() + trials["pruned"].get<int>(), 2 * faults);
}

TEST(Faults, AfterTwoCrashesAConfigurationIsNotRunAgain) {
  const Sandbox sandbox;
  const auto arguments = tune_each("50x9", {"--set", "faults=third"});
  std::vector<std::size_t> rows;
  Json last;
  for (int i = 0; i < 4; ++i) {
    const Ended ended = sandbox.run(arguments);
    ASSERT_EQ(ended.status, 0) << ended.err;
    last = Json::parse(ended.out);
    EXPECT_EQ(last["problems"][0]["trials"]["crash"], 3);
    const std::string rows_text = sandbox.run({"db", "export"}).out;
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
