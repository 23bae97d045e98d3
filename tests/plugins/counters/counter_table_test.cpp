// SPDX-License-Identifier: Apache-2.0
#include "plugins/counters/counter_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace counters {
namespace {

double value_of(const std::vector<Counter>& all, const std::string& name) {
  for (const Counter& each : all) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "there is no counter " << name;
  return NAN;
}

TEST(CounterTable, MetricsAndCountersAreNamedOnce) {
  const std::vector<std::string> metrics = metric_names();
  EXPECT_EQ(std::set(metrics.begin(), metrics.end()).size(), metrics.size());
  std::map<std::string, double> all;
  for (const std::string& metric : metrics) all[metric] = 1;
  std::set<std::string> names;
  for (const Counter& each : counters_of(all)) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.unit.empty()) << each.name;
  }
}

TEST(CounterTable, PercentBecomeFractionsAndNanosecondsSeconds) {
  const auto counters =
      counters_of({{"l1tex__t_sector_hit_rate.pct", 25}, {"gpu__time_duration.sum", 1500}});
  ASSERT_EQ(counters.size(), 2u) << "one for each metric that is known";
  EXPECT_DOUBLE_EQ(value_of(counters, "l1_hit_rate"), 0.25);
  EXPECT_DOUBLE_EQ(value_of(counters, "profiled_seconds"), 1.5e-6);
}

TEST(CounterTable, AnFmaIsTwoOperationsAndAHalfInstructionHasTwoLanes) {
  const std::string single = "smsp__sass_thread_inst_executed_op_f";
  const std::string half = "smsp__sass_thread_inst_executed_op_h";
  const auto counters = counters_of({{single + "add_pred_on.sum", 1},
                                     {single + "mul_pred_on.sum", 10},
                                     {single + "fma_pred_on.sum", 100},
                                     {half + "fma_pred_on.sum", 100}});
  EXPECT_EQ(value_of(counters, "flops_f32"), 1 + 10 + 200);
  EXPECT_EQ(value_of(counters, "flops_f16"), 400) << "without the terms that the chip lacks";
}

TEST(CounterTable, WhatIsUnknownOrNotFiniteIsLeftOut) {
  EXPECT_TRUE(counters_of({}).empty());
  EXPECT_TRUE(counters_of({{"no_such_metric", 1}}).empty());
  EXPECT_TRUE(counters_of({{"dram__bytes_read.sum", NAN}, {"lts__t_bytes.sum", INFINITY}}).empty());
}

}  // namespace
}  // namespace counters
