// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_wire.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tuner/worker/wire_value.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::ThrowsMessage;

/// As it arrives on the other side.
Json sent(const Json& json) { return Json::from_cbor(Json::to_cbor(json)); }

SearchTask task() {
  SearchTask task;
  task.parameters = {{"BM", {"32", "64"}}, {"MODE", {"größer"}}};
  task.configurations = 2;
  task.levels = {0, 0, 65535, 0};
  task.predicted = {1e-3, std::numeric_limits<double>::infinity()};
  task.known = {{}};
  task.known[0].index = 1;
  task.known[0].outcome = Outcome::timeout;
  task.known[0].seconds = std::numeric_limits<double>::infinity();
  task.known[0].reason = "late";
  task.seed = ~std::uint64_t{0};
  task.budget = 7;
  task.batch = 3;
  return task;
}

TEST(PluginWire, KeepsASearchTask) {
  const SearchTask given = task();
  const SearchTask got = search_task_of(sent(wire_of(given)), bytes_of(given));
  ASSERT_EQ(got.parameters.size(), 2u);
  EXPECT_EQ(got.parameters[1].name, "MODE");
  EXPECT_THAT(got.parameters[1].values, ElementsAre("größer"));
  EXPECT_EQ(got.configurations, 2u);
  EXPECT_EQ(got.levels, given.levels);
  EXPECT_EQ(got.predicted, given.predicted);
  ASSERT_EQ(got.known.size(), 1u);
  EXPECT_EQ(got.known[0].outcome, Outcome::timeout);
  EXPECT_EQ(got.known[0].seconds, given.known[0].seconds);
  EXPECT_EQ(got.known[0].reason, "late");
  EXPECT_EQ(got.seed, given.seed);
  EXPECT_EQ(got.budget, 7u);
  EXPECT_EQ(got.batch, 3u);
}

TEST(PluginWire, KeepsAnEmptySearchTask) {
  const SearchTask got = search_task_of(sent(wire_of(SearchTask{})), bytes_of(SearchTask{}));
  EXPECT_THAT(got.levels, IsEmpty());
  EXPECT_THAT(got.predicted, IsEmpty());
}

TEST(PluginWire, ASearchTaskMustBeFollowedByWhatItClaims) {
  const std::string bytes = bytes_of(task());
  const auto read = [&](const char* key, std::uint64_t claim) {
    Json json = wire_of(task());
    json[key] = claim;
    search_task_of(json, bytes);
  };
  EXPECT_THROW(read("levels", 5), WireError);
  EXPECT_THROW(read("predicted", 1), WireError);
  EXPECT_THROW(read("levels", std::uint64_t{1} << 62), WireError);
  EXPECT_THROW(read("predicted", std::uint64_t{1} << 61), WireError);
  EXPECT_THROW(search_task_of(wire_of(task()), bytes.substr(1)), WireError);
}

TEST(PluginWire, KeepsEvaluationsWithTheirResources) {
  Evaluation evaluation;
  evaluation.index = 3;
  evaluation.seconds = 2e-3;
  evaluation.resources.registers = 40;
  const auto got = evaluations_of(sent(wire_of(std::vector{evaluation, Evaluation{}})));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].seconds, 2e-3);
  EXPECT_EQ(got[0].resources.registers, 40);
  EXPECT_EQ(got[0].resources.occupancy, -1);
  EXPECT_EQ(got[1].index, 0u);
}

TEST(PluginWire, KeepsADescription) {
  PluginDescription description;
  description.file = "/p.so";
  description.name = "annealing";
  description.strategies = {{"anneal", "cools down"}};
  description.is_baseline = true;
  const PluginDescription got = plugin_description_of(sent(wire_of(description)));
  EXPECT_EQ(got.file, "/p.so");
  EXPECT_EQ(got.name, "annealing");
  ASSERT_EQ(got.strategies.size(), 1u);
  EXPECT_EQ(got.strategies[0].description, "cools down");
  EXPECT_TRUE(got.is_baseline);
}

TEST(PluginWire, AQuestionIsAListOfIndicesBelowTheSize) {
  const auto question = [](const Json& ask, std::size_t size = 10) {
    return question_of(sent({{"ask", ask}}), size);
  };
  EXPECT_THAT(question(Json::array({0, 9, 0})), Optional(ElementsAre(0, 9, 0)));
  EXPECT_THAT(question(Json::array()), Optional(IsEmpty()));
  EXPECT_EQ(question_of({{"done", true}}, 10), std::nullopt);
  const auto refused = [&](const Json& ask, std::size_t size, const char* what) {
    EXPECT_THAT([&] { question(ask, size); }, ThrowsMessage<WireError>(HasSubstr(what)));
  };
  refused(Json::array({0, 10}), 10, "it requested configuration 10 of 10");
  refused(Json::array({0}), 0, "it requested configuration 0 of 0");
  refused(Json::array({-1}), 10, "whose index is not a number");
  refused(Json::array({1.0}), 10, "whose index is not a number");
  refused(3, 10, "3 is not a list");
  refused(Json::object({{"a", 3}}), 10, "is not a list");
  refused(nullptr, 10, "null is not a list");
}

}  // namespace
}  // namespace autotune
