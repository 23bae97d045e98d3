// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_catalog.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tests/support/processes.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {
namespace {

std::optional<double> bowl(const Levels& levels) {
  const double x = levels[0] - 7.0, y = levels[1] - 3.0;
  return 1 + 0.1 * (x * x + y * y);
}

using testing::plain_plugin;
using testing::plugin_with;
using testing::PluginWorkshop;

namespace fs = std::filesystem;
using simulated::Bench;
using simulated::grid;

const std::string kStrategies = plugin_with({{"SEARCH", "search"}}, "many", R"(
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>
#include <vector>

static std::uint64_t ask(const autotune_task_v2* task, std::uint64_t index) {
  autotune_evaluation_v2 answer;
  return task->evaluate(task->host, &index, 1, &answer);
}
static const char* in_order(const autotune_task_v2* task) {
  for (std::uint64_t i = 0; i < task->configurations && ask(task, i) == 1; ++i) {}
  return nullptr;
}
static const char* throws(const autotune_task_v2* task) {
  ask(task, 1);
  throw std::runtime_error("at a loss");
}
static const char* crashes(const autotune_task_v2* task) {
  ask(task, 1);
  *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
  return nullptr;
}
static const char* hangs(const autotune_task_v2* task) {
  ask(task, 1);
  for (volatile bool stuck = true; stuck;) {}
  return nullptr;
}
static const char* ends(const autotune_task_v2*) { std::_Exit(7); }
static const char* out_of_range(const autotune_task_v2* task) {
  ask(task, task->configurations);
  for (;;) ask(task, 0);
}
static const char* evaluates_nothing(const autotune_task_v2*) { return nullptr; }
static const char* gives_a_reason(const autotune_task_v2*) {
  return "no time today\nnor tomorrow";
}
static const char* repeats(const autotune_task_v2* task) {
  for (;;) ask(task, 1);
}
static const char* does_not_listen(const autotune_task_v2* task) {
  for (std::uint64_t i = 0;; i = (i + 1) % task->configurations) ask(task, i);
}
static const char* sleeps(const autotune_task_v2* task) {
  for (;; usleep(100000)) task->evaluate(task->host, nullptr, 0, nullptr);
}
static void send(std::uint64_t header, const char* bytes) {
  const std::uint64_t sizes[2] = {header, 0};
  if (write(3, sizes, sizeof sizes) < 0) return;
  if (write(3, bytes, header) < 0) return;
}
static const char* sends_wrong_types(const autotune_task_v2*) {
  send(11, "\xA1\x63" "ask\x81\x64" "many");  // {"ask": ["many"]}
  return nullptr;
}
static const char* sends_depths(const autotune_task_v2*) {
  const std::vector<char> deep(1000000, '\x81');
  send(deep.size(), deep.data());
  for (;;) pause();
}
static const char* sends_floats(const autotune_task_v2*) {
  send(15, "\xA1\x63" "ask\x81\xFB\x3F\xF8\0\0\0\0\0\0");  // {"ask": [1.5]}
  return nullptr;
}
static const char* thinks(const autotune_task_v2* task) {
  ask(task, 1);
  for (;;) pause();
}
static const char* forks(const autotune_task_v2* task) {
  const pid_t child = fork();
  if (child == 0) for (;;) pause();
  FILE* const file = std::fopen(std::getenv("PLUGIN_TEST_PIDS"), "w");
  std::fprintf(file, "%d %d\n", int(child), int(getpid()));
  std::fclose(file);
  return in_order(task);
}
static const char* forks_and_hangs(const autotune_task_v2* task) {
  forks(task);
  for (;;) pause();
}
static const autotune_strategy_v2 strategies[] = {
    {"in_order", "", in_order}, {"throws", "", throws}, {"crashes", "", crashes},
    {"hangs", "", hangs}, {"ends", "", ends}, {"out_of_range", "", out_of_range},
    {"evaluates_nothing", "", evaluates_nothing}, {"gives_a_reason", "", gives_a_reason},
    {"repeats", "", repeats}, {"does_not_listen", "", does_not_listen}, {"sleeps", "", sleeps},
    {"sends_wrong_types", "", sends_wrong_types}, {"sends_depths", "", sends_depths},
    {"sends_floats", "", sends_floats}, {"thinks", "", thinks}, {"forks", "", forks},
    {"forks_and_hangs", "", forks_and_hangs}};
static const autotune_search_v2 search = {17, strategies};
)");

/// Compiled once for all tests.
const PluginDescription& many() {
  static const PluginWorkshop workshop;
  static const PluginDescription plugin =
      describe_plugin(workshop.build("many", kStrategies, "c++"));
  return plugin;
}

struct Searched {
  std::size_t evaluated = 0;
  std::vector<std::string> warnings;
};

constexpr std::size_t kBudget = 16;  // of 100 configurations

/// Whatever the strategy does, nothing is thrown.
Searched search_with(const std::string& strategy) {
  const ParameterSpace space = grid({10, 10});
  Bench bench(space, bowl, kBudget);
  Searched searched;
  PluginOptions options;
  options.silence_seconds = 2;
  options.warn = [&](const std::string& sentence) { searched.warnings.push_back(sentence); };
  plugin_strategy(many(), strategy, options)->search(bench, 1);
  searched.evaluated = kBudget - bench.remaining();
  return searched;
}

TEST(RemotePlugin, AStrategySearchesInAProcessOfItsOwn) {
  const Searched searched = search_with("in_order");
  EXPECT_EQ(searched.evaluated, kBudget);
  EXPECT_THAT(searched.warnings, IsEmpty());
}

TEST(RemotePlugin, OneThatStopsEarlyIsLeftAtThat) {
  const ParameterSpace space = grid({3, 3});
  Bench bench(
      space, [](const Levels&) { return std::optional(1.0); }, 40);
  plugin_strategy(many(), "in_order", {})->search(bench, 1);
  EXPECT_EQ(bench.remaining(), 31u);
}

/// Every bad strategy leaves a finished search and one warning that says what it did.
class BadStrategy : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadStrategy, TheBudgetIsSpentByTheDefaultAndTheReasonTold) {
  const auto [strategy, reason] = GetParam();
  const Searched searched = search_with(strategy);
  EXPECT_EQ(searched.evaluated, kBudget);
  EXPECT_THAT(searched.warnings,
              ElementsAre(AllOf(HasSubstr(strategy), HasSubstr("plugin many"), HasSubstr(reason),
                                HasSubstr("guided continues"))));
}

INSTANTIATE_TEST_SUITE_P(
    RemotePlugin, BadStrategy,
    ::testing::Values(
        std::pair{"throws", "it threw an exception: at a loss"}, std::pair{"crashes", "signal 11"},
        std::pair{"hangs", "it did not respond for 2 s and was killed"},
        std::pair{"ends", "exit status 7"},
        std::pair{"out_of_range", "it requested configuration 100 of 100"},
        std::pair{"evaluates_nothing", "it evaluated nothing"},
        std::pair{"gives_a_reason", "no time today; guided"},
        std::pair{"sends_wrong_types", "it requested a configuration whose index is not a number"},
        std::pair{"sends_floats", "it requested a configuration whose index is not a number"},
        std::pair{"sends_depths", "its process ended by exit status 1"},
        std::pair{"repeats", "it keeps requesting known configurations"}),
    [](const auto& tested) { return std::string(tested.param.first); });

TEST(RemotePlugin, OneThatDoesNotListenToTheEndKeepsItsResults) {
  const Searched searched = search_with("does_not_listen");
  EXPECT_EQ(searched.evaluated, kBudget);
  // On a busy machine, it may be ended before it has asked so often.
  ASSERT_LE(searched.warnings.size(), 1u);
  EXPECT_THAT(searched.warnings, Each(HasSubstr("keeps requesting")));
}

TEST(RemotePlugin, OneThatAsksForNothingEndsWithTheTime) {
  class Counted : public Bench {
   public:
    using Bench::Bench;
    std::vector<Evaluation> evaluate(std::span<const std::size_t>) override {
      ++asked_;
      return {};
    }
    std::size_t remaining() const override { return asked_ < 5 ? 40 : 0; }

   private:
    int asked_ = 0;
  };
  const ParameterSpace space = grid({10, 10});
  Counted bench(space, bowl, 40);
  PluginOptions options;
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
  plugin_strategy(many(), "sleeps", options)->search(bench, 1);
  EXPECT_EQ(bench.remaining(), 0u);
  EXPECT_THAT(warnings, Each(HasSubstr("keeps requesting"))) << "or it was ended while it slept";
}

/// The time is over after some questions of whether it is.
class Timed : public Bench {
 public:
  using Bench::Bench;
  bool has_ended() override { return ++asked_ > 5; }
  std::size_t remaining() const override { return asked_ > 5 ? 0 : Bench::remaining(); }

 private:
  int asked_ = 0;
};

TEST(RemotePlugin, OneThatThinksWhenTheTimeIsOverIsEnded) {
  const ParameterSpace space = grid({10, 10});
  Timed bench(space, bowl, 40);
  PluginOptions options;
  options.silence_seconds = 1000;
  options.warn = [](const std::string& sentence) { ADD_FAILURE() << sentence; };
  plugin_strategy(many(), "thinks", options)->search(bench, 1);
  EXPECT_EQ(bench.remaining(), 0u);
}

/// The child of a plugin and its process, once `search` has told them.
std::vector<pid_t> pids_of(const fs::path& file) {
  for (int i = 0; i < 3000; ++i) {
    std::ifstream stream(file);
    std::vector<pid_t> pids{std::istream_iterator<pid_t>(stream), {}};
    if (pids.size() == 2) return pids;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

TEST(RemotePlugin, WhatItHasForkedEndsWithTheSearch) {
  const PluginWorkshop workshop;
  const fs::path file = workshop.folder() / "pids";
  setenv("PLUGIN_TEST_PIDS", file.c_str(), 1);
  EXPECT_EQ(search_with("forks").evaluated, kBudget);
  const std::vector<pid_t> pids = pids_of(file);
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone(pid));
}

TEST(RemotePlugin, WhatItHasForkedEndsWithTheToolHoweverThatEnds) {
  many();
  const PluginWorkshop workshop;
  const fs::path file = workshop.folder() / "pids";
  setenv("PLUGIN_TEST_PIDS", file.c_str(), 1);
  const pid_t tool = fork();
  if (tool == 0) {
    const ParameterSpace space = grid({10, 10});
    Bench bench(space, bowl, 200);
    plugin_strategy(many(), "forks_and_hangs", {})->search(bench, 1);
    _exit(0);
  }
  const std::vector<pid_t> pids = pids_of(file);
  kill(tool, SIGKILL);
  waitpid(tool, nullptr, 0);
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone(pid));
}

TEST(RemotePlugin, WhatTheEvaluatorThrowsIsNotHeldAgainstThePlugin) {
  class Broken : public Bench {
   public:
    using Bench::Bench;
    std::vector<Evaluation> evaluate(std::span<const std::size_t>) override {
      throw Error("the disk is full");
    }
  };
  const ParameterSpace space = grid({10, 10});
  Broken bench(space, bowl, 40);
  const auto strategy = plugin_strategy(many(), "in_order", {});
  EXPECT_THAT([&] { strategy->search(bench, 1); },
              ::testing::ThrowsMessage<Error>("the disk is full"));
}

namespace fs = std::filesystem;

std::string refusal_of(const fs::path& file) {
  PluginOptions options;
  options.silence_seconds = 2;
  return thrown_by([&] { describe_plugin(file, options); });
}

TEST(PluginCatalog, OneThatCrashesOrHangsWhileItIsLoadedIsRefused) {
  const PluginWorkshop workshop;
  const std::string first = "__attribute__((constructor)) static void first(void) ";
  EXPECT_THAT(
      refusal_of(workshop.build("crash", plain_plugin("crash", "AUTOTUNE_PLUGIN_ABI",
                                                      first + "{ *(volatile int*)0 = 1; }"))),
      AllOf(HasSubstr("crash.so"), HasSubstr("its process ended by signal")));
  EXPECT_THAT(refusal_of(workshop.build(
                  "hang", plain_plugin("hang", "AUTOTUNE_PLUGIN_ABI",
                                       first + "{ for (volatile int i = 1; i;) {} }"))),
              AllOf(HasSubstr("hang.so"), HasSubstr("did not respond for 2 s")));
  EXPECT_THAT(refusal_of(workshop.build("old", plain_plugin("old", "9"))),
              HasSubstr("plugin ABI 9"));
  EXPECT_THAT(refusal_of(workshop.folder() / "none.so"), HasSubstr("there is no such plugin"));
}

TEST(PluginCatalog, OfTwoOfOneNameTheSecondIsRefused) {
  const PluginWorkshop workshop;
  const fs::path one = fs::canonical(workshop.build("one", plain_plugin("same")));
  const fs::path two = fs::canonical(workshop.build("two", plain_plugin("same")));
  const auto entries = load_plugins(std::vector{one}, std::vector{one, two}, {});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].description);
  EXPECT_FALSE(entries[1].description);
  EXPECT_THAT(entries[1].reason,
              AllOf(HasSubstr("two.so"), HasSubstr("one.so"), HasSubstr("the name same is taken")));
  EXPECT_THROW(load_plugins(std::vector{one, two}, {}, {}), Error);
}

// The facet "search" of a plugin in a process of its own.

const std::string kComplaining = plugin_with({{"SEARCH", "search"}}, "second", R"(
static const char* complain(const autotune_task_v2* task) {
  static char text[200];
  const uint64_t asked = 3;
  autotune_evaluation_v2 answer;
  if (task->evaluate(task->host, &asked, 1, &answer) != 1) return "no answer";
  if (answer.registers != 255 || answer.local_bytes != 96 || answer.occupancy != 0.125) {
    return "other resources";
  }
  strcat(strcat(strcpy(text, answer.kind), ": "), answer.reason);
  return text;
}
static const autotune_strategy_v2 strategies[] = {{"complain", "", complain}};
static const autotune_search_v2 search = {1, strategies};
)");

TEST(SearchFacets, AStrategyGetsReasonsAndResourcesFromTheOtherProcess) {
  class Spilling : public Bench {
   public:
    using Bench::Bench;
    std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override {
      std::vector<Evaluation> answers = Bench::evaluate(indices);
      for (Evaluation& answer : answers) {
        answer = {
            answer.index, Outcome::launch_error, {}, "too many resources", {255, 0, 96, 0.125}};
      }
      return answers;
    }
  };
  const PluginWorkshop workshop;
  const PluginDescription second = describe_plugin(workshop.build("second", kComplaining));
  EXPECT_EQ(facets_text(second), "search");
  const ParameterSpace space = grid({10, 10});
  Spilling bench(space, bowl, 40);
  std::vector<std::string> warnings;
  PluginOptions options;
  options.warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
  plugin_strategy(second, "complain", options)->search(bench, 1);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("launch_error: too many resources")));
}

}  // namespace
}  // namespace autotune
