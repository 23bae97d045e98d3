// SPDX-License-Identifier: Apache-2.0
// The facet "search" of a plugin in a process of its own.
#include <gmock/gmock.h>

#include "tests/support/plugin_builder.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tests/tuner/worker/bowl.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PluginWorkshop;

constexpr const char* kComplaining = R"(
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
  return strcmp(id, AUTOTUNE_FACET_SEARCH) == 0 ? &search : 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "second", "1.0", "a test", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)";

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
