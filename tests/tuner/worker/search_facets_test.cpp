// SPDX-License-Identifier: Apache-2.0
// A plugin of either version of the facet "search", in a process of its own.
#include <gmock/gmock.h>

#include "tests/support/plugin_builder.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tests/tuner/worker/bowl.hpp"
#include "tuner/worker/plugin_catalog.hpp"
#include "tuner/worker/remote_plugin.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PluginWorkshop;

/// As its author wrote it when there was no other facet: with the declarations of that header.
constexpr const char* kSearch1Alone = R"(
#include <stdint.h>
#include <string.h>
typedef struct { uint64_t index; double seconds; int32_t outcome, reserved; } evaluation;
typedef struct {
  uint32_t parameters;
  const void* parameter;
  uint64_t configurations;
  const uint16_t* levels;
  const double* predicted;
  uint64_t known_count;
  const evaluation* known;
  uint64_t seed, budget;
  uint32_t batch, reserved;
  void* host;
  uint64_t (*evaluate)(void*, const uint64_t*, uint64_t, evaluation*);
} task;
typedef struct { const char *name, *description; const char* (*search)(const task*); } strategy;
typedef struct { uint32_t count; const strategy* strategies; } search_1;
typedef struct {
  uint32_t abi;
  const char *name, *version, *description;
  const void* (*facet)(const char*);
} plugin_v1;
static const char* pairs(const task* task) {
  for (uint64_t i = 0; i + 1 < task->configurations; i += 2) {
    const uint64_t asked[2] = {i, i + 1};
    evaluation answers[2];
    if (task->evaluate(task->host, asked, 2, answers) < 2) return 0;
    if (answers[0].index != i || answers[1].index != i + 1) return "other answers";
    if (!(answers[1].seconds >= 1) || answers[1].outcome != 0) return "other figures";
  }
  return 0;
}
static const strategy strategies[] = {{"pairs", "two at a time", pairs}};
static const search_1 search = {1, strategies};
static const void* facet(const char* id) { return strcmp(id, "search/1") == 0 ? &search : 0; }
static const plugin_v1 plugin = {1, "early", "1.0", "of search/1 alone", facet};
__attribute__((visibility("default"))) const plugin_v1* autotune_plugin(void) { return &plugin; }
)";

TEST(SearchFacets, OneBuiltAgainstSearch1AloneStillSearches) {
  const PluginWorkshop workshop;
  const PluginDescription early = describe_plugin(workshop.build("early", kSearch1Alone));
  const ParameterSpace space = grid({10, 10});
  Bench bench(space, bowl, 40);
  PluginOptions options;
  options.warn = [](const std::string& sentence) { ADD_FAILURE() << sentence; };
  plugin_strategy(early, "pairs", options)->search(bench, 1);
  EXPECT_EQ(bench.asked().size(), 40u);
  EXPECT_EQ(bench.asked().back(), 39u);
}

constexpr const char* kSearch2 = R"(
#include <autotune/autotune_plugin.h>
#include <string.h>
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
static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_SEARCH_2) == 0 ? &search : 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "second", "1.0", "a test", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)";

TEST(SearchFacets, OneOfSearch2GetsReasonsAndResourcesFromTheOtherProcess) {
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
  const PluginDescription second = describe_plugin(workshop.build("second", kSearch2));
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
