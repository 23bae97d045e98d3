// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/target_hooks.hpp"

#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/plugin/search_task.hpp"

namespace autotune {
namespace {

TEST(PlainBuffers, AreThoseOfTheProblemThenTheScalars) {
  std::vector<BufferSpec> specs(2);
  specs[0] = {.name = "A", .type = ElementType::bf16, .length = 12, .role = Role::input};
  specs[1] = {.name = "C", .type = ElementType::f32, .length = 6, .role = Role::output};
  float a = 0, c = 0;
  const std::array<void*, 2> addresses{&a, &c};
  const std::vector<Scalar> scalars{{ElementType::i32, 7, 0, "n"},
                                    {ElementType::f32, 0, 0.5, "alpha"}};
  const PlainScalars values(scalars);
  PlainBuffers buffers(specs, addresses);
  buffers.add(scalars, values);
  ASSERT_EQ(buffers.count(), 4u);
  const autotune_buffer_v1* const plain = buffers.data();
  EXPECT_STREQ(plain[0].name, "A");
  EXPECT_STREQ(plain[0].type, "bf16");
  EXPECT_STREQ(plain[0].role, "input");
  EXPECT_EQ(plain[0].length, 12);
  EXPECT_STREQ(plain[1].role, "output");
  EXPECT_STREQ(plain[3].name, "alpha");
  EXPECT_STREQ(plain[3].role, "scalar");
  std::int32_t n = 0;
  std::memcpy(&n, values.address(0), sizeof n);
  EXPECT_EQ(n, 7);
  float alpha = 0;
  std::memcpy(&alpha, values.address(1), sizeof alpha);
  EXPECT_EQ(alpha, 0.5F);
}

TEST(PlainBuffers, OfStructsSaySo) {
  std::vector<BufferSpec> specs(1);
  specs[0].name = "particles";
  specs[0].members = {{"x", ElementType::f32, 0}, {"id", ElementType::i32, 4}};
  EXPECT_STREQ(PlainBuffers(specs, {}).data()[0].type, "struct");
}

Workload two_buffers() {
  Workload workload;
  workload.problem = "N=4";
  workload.buffers = {{"in", ElementType::f32, 4, Role::input, Fill::iota},
                      {"out", ElementType::f32, 4, Role::output}};
  return workload;
}

const char* add_a_half(const char*, std::uint64_t, std::uint32_t, const autotune_buffer_v1* all) {
  auto* const in = static_cast<float*>(all[0].data);
  for (int i = 0; i < 4; ++i) in[i] += 0.5f;
  return nullptr;
}

const char* twice(const char* problem, std::uint32_t count, const autotune_buffer_v1* all) {
  if (std::string(problem) != "N=4" || count != 2) return "another problem";
  for (int i = 0; i < 4; ++i) {
    static_cast<float*>(all[1].data)[i] = 2 * static_cast<const float*>(all[0].data)[i];
  }
  return nullptr;
}

const char* write_nothing(const char*, std::uint32_t, const autotune_buffer_v1*) { return nullptr; }

std::vector<float> floats_in(const std::filesystem::path& file) {
  std::vector<float> values(4);
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(values.data()), 16);
  return values;
}

TEST(TargetHooks, FillChangesWhatTheManifestFilledAndReferenceSeesIt) {
  const testing::PluginWorkshop workshop;
  const Workload workload =
      with_hooks({"", nullptr, add_a_half, twice}, two_buffers(), workshop.folder());
  EXPECT_THAT(floats_in(workload.buffers[0].file), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_TRUE(workload.buffers[1].file.empty());
  EXPECT_THAT(floats_in(workload.expected_file), ElementsAre(1, 3, 5, 7));
}

TEST(TargetHooks, ABufferWithAFileIsFilledFromIt) {
  const testing::PluginWorkshop workshop;
  const Workload workload =
      with_hooks({"", nullptr, add_a_half, nullptr}, two_buffers(), workshop.folder());
  EXPECT_TRUE(workload.expected_file.empty());
  std::vector<float> got(4);
  const auto bytes = std::as_writable_bytes(std::span(got));
  fill(bytes, workload.buffers[0], InputSet::integers, 9);
  EXPECT_THAT(got, ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_EQ(check_unchanged(workload.buffers[0], bytes, InputSet::uniform, 9).outcome, Outcome::ok);
  got[2] = 7;
  EXPECT_THAT(check_unchanged(workload.buffers[0], bytes, InputSet::uniform, 9).message,
              HasSubstr("in[2] was 2.5 and is 7"));
  std::filesystem::resize_file(workload.buffers[0].file, 8);
  EXPECT_THROW(fill(bytes, workload.buffers[0], InputSet::uniform, 9), Error);
}

TEST(TargetHooks, AnOutputThatIsLeftUnwrittenIsNoAnswer) {
  const testing::PluginWorkshop workshop;
  try {
    with_hooks({"", nullptr, nullptr, write_nothing}, two_buffers(), workshop.folder());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrote nothing to out"));
  }
}

using simulated::Bench;
using simulated::grid;

std::optional<double> by_first_level(const Levels& levels) {
  return levels[0] == 2 ? std::nullopt : std::optional(1.0 + levels[0]);
}

/// What a strategy has seen; a C function has nowhere else to leave it.
std::vector<autotune_evaluation_v2> seen;
std::vector<std::string> seen_reasons;

const char* look_at_everything(const autotune_task_v2* task) {
  if (task->parameters != 2 || task->configurations != 6) return "another space";
  if (std::string(task->parameter[1].values[1]) != "1") return "other values";
  const std::uint16_t* last = task->levels + 5 * 2;
  if (last[0] != 2 || last[1] != 1) return "other levels";
  const std::uint64_t indices[] = {0, 2, 4};
  seen.resize(3);
  seen.resize(task->evaluate(task->host, indices, 3, seen.data()));
  return nullptr;
}

const char* throw_something(const autotune_task_v2*) { throw std::runtime_error("at a loss"); }
const char* give_a_reason(const autotune_task_v2*) { return "no time today"; }

SearchTask task_of(const Bench& bench) { return search_task(bench, 1); }

Ask ask_of(Bench& bench) {
  return [&bench](std::span<const std::uint64_t> indices) {
    return bench.evaluate(std::vector<std::size_t>(indices.begin(), indices.end()));
  };
}

TEST(SearchTask, AStrategySeesTheSpaceAndGetsItsAnswers) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const autotune_strategy_v2 strategy{"look", "", look_at_everything};
  run_strategy(strategy, task_of(bench), ask_of(bench));
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].index, 0u);
  EXPECT_DOUBLE_EQ(seen[0].seconds, 1);
  EXPECT_EQ(seen[1].outcome, AUTOTUNE_PLUGIN_OK);
  EXPECT_DOUBLE_EQ(seen[1].seconds, 2);
  EXPECT_EQ(seen[2].outcome, AUTOTUNE_PLUGIN_FAILED);
  EXPECT_TRUE(std::isinf(seen[2].seconds));
}

TEST(SearchTask, WhatAStrategyThrowsOrSaysIsAnError) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const auto message = [&](const char* (*search)(const autotune_task_v2*)) -> std::string {
    const autotune_strategy_v2 strategy{"bad", "", search};
    try {
      run_strategy(strategy, task_of(bench), ask_of(bench));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(message(throw_something), HasSubstr("it threw an exception: at a loss"));
  EXPECT_THAT(message(give_a_reason), HasSubstr("no time today"));
}

TEST(SearchTask, WhatTheEvaluatorThrowsComesOutBehindThePlugin) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const Ask broken = [](std::span<const std::uint64_t>) -> std::vector<Evaluation> {
    throw std::logic_error("the database is gone");
  };
  const autotune_strategy_v2 strategy{"look", "", look_at_everything};
  EXPECT_THROW(run_strategy(strategy, task_of(bench), broken), std::logic_error);
}

std::vector<autotune_evaluation_v2> told;

const char* ask_one_by_one(const autotune_task_v2* task) {
  told.assign(task->known, task->known + task->known_count);
  for (std::uint64_t i = 1; i < 3; ++i) {
    autotune_evaluation_v2 answer;
    if (task->evaluate(task->host, &i, 1, &answer) == 1) told.push_back(answer);
  }
  for (const autotune_evaluation_v2& one : told) seen_reasons.emplace_back(one.reason);
  return nullptr;
}

TEST(SearchTask, AStrategyGetsReasonsAndResources) {
  const ParameterSpace space = grid({3, 2});
  const Bench bench(space, by_first_level, 100);
  SearchTask task = task_of(bench);
  task.known = {{0, Outcome::ok, 1e-3, "", {64, 4096, 16, 0.5}, 0.25}};
  const std::vector<Evaluation> answers = {
      {1, Outcome::pruned, 2e-3, "outrun"},
      {2, Outcome::compile_error, {}, "uses too much shared data"}};
  const Ask ask = [&](std::span<const std::uint64_t> indices) {
    return std::vector<Evaluation>{answers[indices[0] - 1]};
  };
  const autotune_strategy_v2 strategy{"ask", "", ask_one_by_one};
  seen_reasons.clear();
  run_strategy(strategy, task, ask);
  EXPECT_THAT(seen_reasons, ElementsAre("", "outrun", "uses too much shared data"));
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].registers, 64);
  EXPECT_EQ(told[0].shared_bytes, 4096);
  EXPECT_EQ(told[0].local_bytes, 16);
  EXPECT_EQ(told[0].occupancy, 0.5);
  EXPECT_EQ(told[0].compile_seconds, 0.25);
  EXPECT_STREQ(told[0].kind, "ok");
  EXPECT_STREQ(told[1].kind, "pruned");
  EXPECT_EQ(told[1].outcome, AUTOTUNE_PLUGIN_SLOW);
  EXPECT_STREQ(told[2].kind, "compile_error");
  EXPECT_EQ(told[2].registers, -1);
  EXPECT_TRUE(std::isinf(told[2].seconds));
}

}  // namespace
}  // namespace autotune
