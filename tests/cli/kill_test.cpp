// SPDX-License-Identifier: Apache-2.0
// SIGKILL of the tool and of its workers at random moments ($AUTOTUNE_TEST_KILLS times each), and
// configurations that crash among others ($AUTOTUNE_TEST_FAULTS of them).
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "db/exchange.hpp"
#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using std::chrono::milliseconds;

int number_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

int kills_wanted() { return number_of("AUTOTUNE_TEST_KILLS", 10); }

std::vector<std::string> tune_each(const std::string& sizes, std::vector<std::string> more = {}) {
  for (const char* word : {"--strategy", "exhaustive", "--budget", "100%", "--json", "--quiet"}) {
    more.emplace_back(word);
  }
  return tune("hostile", sizes, more);
}

/// Every fact that is stored; none where there is no database yet.
std::set<std::string> stored_facts(const Sandbox& sandbox) {
  std::ostringstream text;
  try {
    db::export_json_lines(db::TunedStore(sandbox.database(), db::Mode::read_only), text);
  } catch (const db::StoreError&) {
    return {};
  }
  std::set<std::string> facts;
  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);) facts.insert(line);
  return facts;
}

TEST(Kill, OfTheToolLosesNoStoredTrialAndLeavesNoWorker) {
  const Sandbox sandbox;
  int size = 50;
  const auto arguments = [&] { return tune_each(std::to_string(size) + "x1500"); };
  std::minstd_rand random(3);
  for (int kills = 0; kills < kills_wanted();) {
    const auto running = sandbox.start(arguments());
    std::this_thread::sleep_for(milliseconds(random() % 600));
    const std::vector<pid_t> workers = processes_called("autotune-worker", running->pid());
    const std::set<std::string> before = stored_facts(sandbox);
    running->signal(SIGKILL);
    const int status = running->wait().status;
    ASSERT_TRUE(status == 128 + SIGKILL || status == 0) << status;
    // What is done before its kill comes has nothing left to lose: on to another problem.
    ++(status == 0 ? size : kills);
    for (const pid_t worker : workers) EXPECT_TRUE(is_gone(worker)) << "worker " << worker;
    if (before.empty()) continue;
    const Ended check = sandbox.run({"db", "check"});
    EXPECT_EQ(check.status, 0) << check.out << check.err;
    EXPECT_TRUE(std::ranges::includes(stored_facts(sandbox), before)) << "a stored trial is lost";
  }
  const Ended ended = sandbox.run(arguments());
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json problem = Json::parse(ended.out)["problems"][0];
  EXPECT_EQ(problem["trials"]["ok"].get<int>() + problem["trials"]["pruned"].get<int>(), 1500);
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
}

TEST(Kill, OfTheWorkerCostsAtMostTheTrialThatRan) {
  const Sandbox sandbox;
  std::minstd_rand random(4);
  int kills = 0;
  const auto running = sandbox.start(tune_each("50x300"));
  while (!running->ended() && kills < kills_wanted()) {
    std::this_thread::sleep_for(milliseconds(150 + random() % 150));
    for (const pid_t worker : processes_called("autotune-worker", running->pid())) {
      kill(worker, SIGKILL);
      ++kills;
    }
  }
  const Ended ended = running->wait();
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json problem = Json::parse(ended.out)["problems"][0];
  const Json& trials = problem["trials"];
  EXPECT_GT(kills, 0);
  EXPECT_LE(trials["crash"], kills);
  EXPECT_EQ(trials["ok"].get<int>() + trials["pruned"].get<int>() + trials["crash"].get<int>(),
            300);
  EXPECT_EQ(problem["best"]["verified"], true);
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
}

TEST(Faults, ThatCrashLeaveAllOthersMeasured) {
  const int faults = number_of("AUTOTUNE_TEST_FAULTS", 40);
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
