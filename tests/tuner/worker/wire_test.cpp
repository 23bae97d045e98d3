// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <cmath>
#include <limits>

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

using testing::Optional;

template <class T>
T read(const Json& json) {
  return WireValue(json);
}

TEST(WireValue, ReadsWhatIsOfItsType) {
  EXPECT_EQ(read<int>(-7), -7);
  EXPECT_EQ(read<std::uint64_t>(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(read<double>(3), 3.0);
  EXPECT_EQ(read<std::string>("text"), "text");
  EXPECT_TRUE(read<bool>(true));
  EXPECT_EQ(read<std::vector<int>>({1, 2}), (std::vector<int>{1, 2}));
}

TEST(WireValue, RefusesWhatIsNotAndSaysWhy) {
  const auto expect = [](auto call, const char* text) {
    EXPECT_THAT(call, ThrowsMessage<WireError>(HasSubstr(text)));
  };
  expect([] { read<int>(1.5); }, "1.5 is not a whole number");
  expect([] { read<int>(2.0); }, "2.0 is not a whole number");
  expect([] { read<int>(true); }, "true is not a whole number");
  expect([] { read<int>(1LL << 40); }, "1099511627776 is not a number of this range");
  expect([] { read<std::uint32_t>(-1); }, "-1 is not a number of this range");
  expect([] { read<bool>(1); }, "1 is not a truth value");
  expect([] { read<double>("1"); }, "\"1\" is not a number");
  expect([] { read<std::string>(nullptr); }, "null is not a text");
  expect([] { read<std::vector<int>>({1, 0.5}); }, "0.5 is not a whole number");
  expect([] { read<std::string>(Json::array({std::string(1000, 'a')})); }, "aaa… is not a text");
}

TEST(WireValue, AFloatIsNoNumberOfAnOutcome) {
  EXPECT_THAT(
      [] {
        verdict_of({{"outcome", 2.5}, {"message", ""}, {"worst_error", 0}, {"seconds", 0}});
      },
      ThrowsMessage<WireError>(HasSubstr("2.5 is not a whole number")));
}

/// As it arrives on the other side.
Json received(const Json& json) { return Json::from_cbor(Json::to_cbor(json)); }

LaunchPlan plan() {
  const Scalar integer{ElementType::i64, -5, 0}, real{ElementType::f64, 0, 0.1, "alpha"};
  const TensorMap map{1, {64, 32}, {256}, {16, 8}, 128, true};
  const Texture texture{2, {640, 480}, 4, TextureFilter::linear, TextureAddress::mirror, true};
  const Launch launch{"kernel",  {2, 3, 4}, {32, 2, 1},
                      {2, 1, 1}, 100 << 10, {BufferRef{3}, integer, real, map, texture},
                      true};
  BufferSpec space{"space", ElementType::i32, 77, Role::workspace, Fill::zero, 0};
  space.members = {{"id", ElementType::i32, 0}, {"x", ElementType::f64, 8}};
  return {{space}, {launch, Launch{}}, {{1, "weights"}}, {launch}};
}

TEST(Wire, KeepsALaunchPlan) {
  EXPECT_EQ(launch_plan_of(received(wire_of(plan()))), plan());
  EXPECT_EQ(launch_plan_of(received(wire_of(LaunchPlan{}))), LaunchPlan{});
}

TEST(Wire, KeepsCountersAndRefusesWhatIsNoNumber) {
  const Counters counters{{"instructions", "warp instructions", 2e6}, {"l2_bytes", "bytes", 0}};
  EXPECT_EQ(counters_in(received(wire_of(counters))), counters);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(counters_in(wire_of(Counters{{"l2_bytes", "bytes", infinite}})), WireError);
}

TEST(Wire, KeepsAnEnergyAndRefusesWhatIsNone) {
  const Energy energy = energy_of(received(wire_of(Energy{1.5e-3, 300, 0.31, 0.01})));
  EXPECT_EQ(energy.joules, 1.5e-3);
  EXPECT_EQ(energy.seconds, 0.31);
  EXPECT_EQ(energy.resolution, 0.01);
  EXPECT_THROW(energy_of(wire_of(Energy{-1, 300, 0.3, 0})), WireError);
}

TEST(Wire, KeepsAWorkload) {
  Workload workload;
  workload.problem = "M=1";
  workload.buffers = {{"a", ElementType::f64, 10, Role::inout, Fill::iota, 0.1}};
  workload.buffers[0].file = "/b.npy";
  workload.buffers[0].file_offset = 128;
  workload.buffers[0].absolute = 1e-6;
  workload.buffers.push_back({"b", ElementType::i32, 3, Role::checked, Fill::uniform});
  workload.buffers[1].fill_values = {-1, 2.5};
  workload.buffers[1].seed = ~std::uint64_t{0};
  workload.preparation = plan();
  workload.scalars = {{ElementType::f32, 0, -2, "beta"}};
  workload.reference_source = {"a.cu", "#define A\n", "text \xff", {"/a b", "c"}, {"-DX"}, {"e"}};
  workload.reference = plan();
  workload.expected_file = "/x.bin";
  workload.float64_outputs = false;
  workload.seed = ~std::uint64_t{0};
  workload.form = LaunchForm::stream;
  workload.reference_source.text =
      "text \n\0"
      "more";
  const Workload got = workload_of(received(wire_of(workload)));
  EXPECT_EQ(got.problem, workload.problem);
  EXPECT_EQ(got.buffers, workload.buffers);
  EXPECT_EQ(got.scalars, workload.scalars);
  EXPECT_EQ(got.reference_source.name, "a.cu");
  EXPECT_EQ(got.reference_source.prelude, workload.reference_source.prelude);
  EXPECT_EQ(got.reference_source.text, workload.reference_source.text);
  EXPECT_EQ(got.reference_source.include_folders, workload.reference_source.include_folders);
  EXPECT_EQ(got.reference_source.options, workload.reference_source.options);
  EXPECT_EQ(got.reference_source.entries, workload.reference_source.entries);
  EXPECT_EQ(got.reference, workload.reference);
  EXPECT_EQ(got.preparation, workload.preparation);
  EXPECT_EQ(got.expected_file, workload.expected_file);
  EXPECT_FALSE(got.float64_outputs);
  EXPECT_EQ(got.seed, workload.seed);
  EXPECT_EQ(got.form, LaunchForm::stream);
}

TEST(Wire, KeepsAKernelAndItsResources) {
  CompiledKernel kernel;
  kernel.key = "abc";
  kernel.resources = {{"first", 32, 1024, 8, 256, {{8, 4}}}, {"second"}};
  const CompiledKernel got = compiled_kernel_of(received(wire_of(kernel)), std::string("\0ELF", 4));
  EXPECT_EQ(got.key, "abc");
  EXPECT_EQ(got.resources, kernel.resources);
  EXPECT_EQ(*got.binary, std::string("\0ELF", 4));
}

TEST(Wire, KeepsAVerdictEvenWhenItsErrorIsInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Verdict got =
      verdict_of(received(wire_of(Verdict{Outcome::wrong, "C[0] is nan", infinity})));
  EXPECT_EQ(got.outcome, Outcome::wrong);
  EXPECT_EQ(got.message, "C[0] is nan");
  EXPECT_TRUE(std::isinf(got.worst_error));
}

TEST(Wire, KeepsTheL2StateOfABatch) {
  const TimedBatch got = timed_batch_of(received(wire_of(TimedBatch{1e-5, 1e9, L2State::cold})));
  EXPECT_EQ(got.seconds, 1e-5);
  EXPECT_EQ(got.clock_hz, 1e9);
  EXPECT_EQ(got.l2, L2State::cold);
}

TEST(Wire, RefusesTimesThatAreNone) {
  for (const double time : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(timed_batch_of(wire_of(TimedBatch{time})), WireError) << time;
  }
}

TEST(Wire, RefusesNumbersThatNameNothing) {
  for (const int number : {-1, kOutcomes, 1000}) {
    EXPECT_THROW(outcome_of(number), WireError) << number;
    EXPECT_THROW(throw_failure_in({{"failure", number}, {"what", ""}}), WireError) << number;
  }
  Json workload = wire_of(Workload{});
  workload["form"] = 2;
  EXPECT_THROW(workload_of(workload), WireError);
}

TEST(Wire, ThrowsAgainWhatADeviceThrew) {
  try {
    throw_failure_in(received(wire_of(KernelFailure(Outcome::timeout, "late"))));
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::timeout);
    EXPECT_STREQ(failure.what(), "late");
  }
  EXPECT_THROW(throw_failure_in({{"error", "no memory"}}), Error);
  EXPECT_NO_THROW(throw_failure_in({{"seconds", 1}}));
}

TEST(Wire, WhatCannotBeReadIsNoAnswer) {
  const auto time = [](const Json& said) { return said.at("seconds").get<double>(); };
  EXPECT_EQ(read_message({{"seconds", 2.0}}, time), 2.0);
  EXPECT_THROW(read_message({{"seconds", "x"}}, time), WireError);
  EXPECT_THROW(read_message(Json::object(), time), WireError);
}

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
  description.is_host_baseline = true;
  const PluginDescription got = plugin_description_of(sent(wire_of(description)));
  EXPECT_EQ(got.file, "/p.so");
  EXPECT_EQ(got.name, "annealing");
  ASSERT_EQ(got.strategies.size(), 1u);
  EXPECT_EQ(got.strategies[0].description, "cools down");
  EXPECT_TRUE(got.is_baseline);
  EXPECT_TRUE(got.is_host_baseline);
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
