// SPDX-License-Identifier: Apache-2.0
#include "db/exchange_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "db/exchange.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ExchangePart, WhatIsNewIsWrittenOnce) {
  const TemporaryFolder folder;
  TunedStore store(folder / "a.db");
  Sample sample(store);
  FactsEnd end = facts_end(store);
  const TrialRow trial = sample.trial("BM=16", 1000);
  store.append({&trial, 1});
  std::ostringstream first, second;
  export_facts_after(store, end, first);
  export_facts_after(store, end, second);
  EXPECT_EQ(lines_in(first.str()), 1u);
  EXPECT_EQ(second.str(), "");
}

TEST(ExchangePart, FactsOfAProblemComeWithAllThatTheyReferTo) {
  const TemporaryFolder folder;
  TunedStore store(folder / "a.db"), other(folder / "b.db");
  Sample sample(store);
  const TrialRow trial = sample.trial("BM=16", 1000);
  store.append({&trial, 1});
  const ProblemKey key = sample.key;
  sample.key.problem = "M=1 N=1 K=1 dtype=f32";
  const TrialRow elsewhere = sample.trial("BM=32", 1000);
  store.append({&elsewhere, 1});
  std::stringstream lines;
  export_facts_of(store, {&key, 1}, lines);
  const ImportReport report = import_json_lines(other, lines, "part");
  EXPECT_TRUE(report.refused.empty());
  EXPECT_EQ(report.added, 4) << "device, kernel, session, trial";
  EXPECT_EQ(other.trials(key).size(), 1u);
  EXPECT_TRUE(other.best(key));
}

}  // namespace
}  // namespace autotune::db
