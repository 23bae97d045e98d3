// SPDX-License-Identifier: Apache-2.0
#include "db/rows.hpp"

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <sstream>

#include "db/exchange.hpp"
#include "db/schema.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

CounterRow counters(const Sample& sample, const std::string& configuration,
                    const std::string& figures,
                    const std::string& created_at = "2026-03-01T12:01:00.000Z") {
  return {"", sample.key, configuration, figures, "driver 580.82, CUDA 13.0", created_at};
}

std::vector<std::string> figures_in(const TunedStore& store, const ProblemKey& key) {
  std::vector<std::string> figures;
  for (const CounterRow& row : counters_of(store, key)) figures.push_back(row.figures);
  return figures;
}

TEST(StoredCounters, AreTheLatestOfEachConfiguration) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  add_counters(store, counters(sample, "BM=64", "instructions=2", "2026-03-02T00:00:00.000Z"));
  add_counters(store, counters(sample, "BM=64", "instructions=1"));
  add_counters(store, counters(sample, "BM=32", "instructions=3"));
  EXPECT_THAT(figures_in(store, sample.key), ElementsAre("instructions=3", "instructions=2"));
  EXPECT_THAT(store.check().damage, IsEmpty());
  EXPECT_THAT(store.tuned({}), IsEmpty()) << "they are no answer";
}

TEST(StoredCounters, AreExportedAndComeInAgain) {
  const TemporaryFolder folder;
  TunedStore from(folder / "from.db");
  const Sample sample(from);
  add_counters(from, counters(sample, "BM=64", "instructions=2"));
  std::stringstream lines;
  export_json_lines(from, lines);
  TunedStore to(folder / "to.db");
  EXPECT_THAT(import_json_lines(to, lines, "from").refused, IsEmpty());
  EXPECT_EQ(counters_of(to, sample.key), counters_of(from, sample.key));
}

TEST(StoredClasses, AreTheLatestFirstAndComeInAgain) {
  const TemporaryFolder folder;
  TunedStore from(folder / "from.db");
  const Sample sample(from);
  const auto row = [&](const std::string& bits, const std::string& day) {
    return ReductionClassRow{"",      sample.key, "BM=64",
                             "build", bits,       "2026-03-0" + day + "T00:00:00.000Z"};
  };
  add_classes(from, {row("0123456789abcdef", "1"), row("place-dependent", "2")});
  std::stringstream lines;
  export_json_lines(from, lines);
  TunedStore to(folder / "to.db");
  EXPECT_THAT(import_json_lines(to, lines, "from").refused, IsEmpty());
  const std::vector<ReductionClassRow> classes = classes_of(to, sample.key);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes, classes_of(from, sample.key));
  EXPECT_EQ(classes[0].bits, "place-dependent");
  EXPECT_THAT(to.check().damage, IsEmpty());
  EXPECT_THAT(to.tuned({}), IsEmpty()) << "they are no answer";
}

TEST(StoredCounters, AreNotStoredUnlessTheyAreNamedValues) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  EXPECT_THAT([&] { add_counters(store, counters(sample, "BM=64", "banana")); },
              ThrowsMessage<StoreError>(HasSubstr("the figures \"banana\" is not of the form")));
}

}  // namespace
}  // namespace autotune::db
