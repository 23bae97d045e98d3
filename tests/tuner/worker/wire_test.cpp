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
  EXPECT_REFUSAL(
      WireError,
      from_wire<Verdict>({{"outcome", 2.5}, {"message", ""}, {"worst_error", 0}, {"seconds", 0}}),
      "2.5 is not a whole number");
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
  EXPECT_EQ(from_wire<LaunchPlan>(received(to_wire(plan()))), plan());
  EXPECT_EQ(from_wire<LaunchPlan>(received(to_wire(LaunchPlan{}))), LaunchPlan{});
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
  const Workload got = from_wire<Workload>(received(to_wire(workload)));
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

TEST(Wire, RefusesTimesThatAreNone) {
  for (const double time : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(timed_batch_of(to_wire(TimedBatch{time})), WireError) << time;
  }
}

TEST(Wire, RefusesNumbersThatNameNothing) {
  for (const int number : {-1, kOutcomes, 1000}) {
    EXPECT_THROW(from_wire<Outcome>(number), WireError) << number;
    EXPECT_THROW(throw_failure_in({{"failure", number}, {"what", ""}}), WireError) << number;
  }
  Json workload = to_wire(Workload{});
  workload["form"] = 2;
  EXPECT_THROW(from_wire<Workload>(workload), WireError);
}

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

TEST(PluginWire, AQuestionIsAListOfIndicesBelowTheSize) {
  const auto question = [](const Json& ask, std::size_t size = 10) {
    return question_of(received({{"ask", ask}}), size);
  };
  EXPECT_THAT(question(Json::array({0, 9, 0})), Optional(ElementsAre(0, 9, 0)));
  EXPECT_THAT(question(Json::array()), Optional(IsEmpty()));
  EXPECT_EQ(question_of({{"done", true}}, 10), std::nullopt);
  const auto refused = [&](const Json& ask, std::size_t size, const char* what) {
    EXPECT_REFUSAL(WireError, question(ask, size), what);
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
