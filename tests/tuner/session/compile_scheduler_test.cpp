// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_scheduler.hpp"

#include <gmock/gmock.h>

#include <future>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::Macros;
using ::testing::Optional;

TEST(CompileScheduler, ReadyIsWhatWasToBeCompiledNotWhatThreadsHaveFinished) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  CompileScheduler& scheduler = toy->scheduler();
  EXPECT_FALSE(scheduler.is_ready(1));
  scheduler.prefetch(2);
  SearchEnd end;
  scheduler.first_compiled({2}, 1, end);  // it is compiled now
  EXPECT_FALSE(scheduler.is_ready(2));
  scheduler.compile(1);
  EXPECT_TRUE(scheduler.is_ready(1));
}

TEST(CompileScheduler, ConfigurationsOfOneSourceAreReadyTogether) {
  FakeDevice device(bowl);
  Target target = two_parameters();
  target.parameters[1].run_time = true;
  ToyRun toy(device, target);
  toy->scheduler().compile(toy.index(3, 1));
  EXPECT_TRUE(toy->scheduler().is_ready(toy.index(3, 2)));
  EXPECT_FALSE(toy->scheduler().is_ready(toy.index(4, 1)));
}

TEST(CompileScheduler, TheFirstCompiledComeFirst) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("X") == 5) wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device);
  const std::size_t slow = toy.index(5, 1), quick = toy.index(6, 1);
  CompileScheduler& scheduler = toy->scheduler();
  SearchEnd end;
  // One of the two threads prefetches: the quick one is asked for first.
  EXPECT_THAT(scheduler.first_compiled({quick, slow}, 1, end), Optional(ElementsAre(quick)));
  SearchEnd at_once;
  at_once.when([] { return true; });
  EXPECT_EQ(scheduler.first_compiled({slow}, 1, at_once), std::nullopt);
  go_on.set_value();
  EXPECT_THAT(scheduler.first_compiled({slow}, 1, end), Optional(ElementsAre(slow)));
}

TEST(WaitInSearch, GivesTheKernelTheFailureOrTheEndOfTheSearch) {
  std::promise<std::shared_ptr<const CompiledKernel>> compiled, failed, running;
  compiled.set_value(std::make_shared<CompiledKernel>());
  failed.set_exception(std::make_exception_ptr(NotCompiled("out of memory")));
  const CompilePool::Result failure = failed.get_future().share();
  const auto goes_on = [] { return false; };
  const auto is_over = [] { return true; };
  EXPECT_TRUE(wait_in_search(compiled.get_future().share(), goes_on));
  EXPECT_THROW(wait_in_search(failure, goes_on), NotCompiled);
  EXPECT_THROW(wait_in_search(failure, is_over), SearchOver) << "its compiler was stopped";
  EXPECT_THROW(wait_in_search(running.get_future().share(), is_over), SearchOver);
}

}  // namespace
}  // namespace autotune
