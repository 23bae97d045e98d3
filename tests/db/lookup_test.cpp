// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace autotune::db {
namespace {

LookupRow row_of(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& configuration) {
  LookupRow row;
  row.sizes = {m, n, k};
  row.configuration = configuration;
  row.provenance = "measured";
  row.median_ns = 1000;
  return row;
}

std::string found(const LookupTable& table, std::vector<std::int64_t> sizes) {
  const LookupRow* row = table.find(sizes);
  return row ? row->configuration : "nothing";
}

TEST(LookupTable, FindsEachOfManyAndNothingElse) {
  std::vector<LookupRow> rows;
  for (int m = 1; m <= 20; ++m) {
    for (int n = 1; n <= 20; ++n) rows.push_back(row_of(m, n, 7, std::to_string(m * 100 + n)));
  }
  const LookupTable table(3, rows);
  for (int m = 1; m <= 20; ++m) {
    for (int n = 1; n <= 20; ++n) EXPECT_EQ(found(table, {m, n, 7}), std::to_string(m * 100 + n));
  }
  EXPECT_EQ(found(table, {1, 1, 8}), "nothing");
  EXPECT_EQ(found(table, {1, 1}), "nothing");
  EXPECT_EQ(found(table, {}), "nothing");
  EXPECT_EQ(found(LookupTable(3, {}), {1, 1, 8}), "nothing");
}

TEST(LookupTable, FindsProblemsWithManySizes) {
  LookupRow row = row_of(1, 2, 3, "BM=64");
  for (std::int64_t size = 4; size <= 20; ++size) row.sizes.push_back(size);
  const LookupTable table(20, {row});
  EXPECT_EQ(found(table, row.sizes), "BM=64");
  ++row.sizes.back();
  EXPECT_EQ(found(table, row.sizes), "nothing");
}

TEST(LookupTable, AStaleUserRowDoesNotHideAFreshShippedOne) {
  LookupRow user = row_of(512, 512, 512, "user"), shipped = row_of(512, 512, 512, "shipped");
  shipped.layer = 2;
  EXPECT_EQ(found(LookupTable(3, {shipped, user}), {512, 512, 512}), "user");
  user.validity = Validity::source_drifted;
  user.provenance = "pinned";
  EXPECT_EQ(found(LookupTable(3, {shipped, user}), {512, 512, 512}), "shipped");
  shipped.same_device = false;
  EXPECT_EQ(found(LookupTable(3, {user, shipped}), {512, 512, 512}), "user");
}

TEST(LookupTable, APinWinsOverTheLayersOfItsValidity) {
  LookupRow user = row_of(512, 512, 512, "user"), site = row_of(512, 512, 512, "pinned");
  site.layer = 1;
  site.provenance = "pinned";
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "pinned");
}

TEST(LookupTable, WhatAWholeSearchFoundWinsOverAFirstUse) {
  LookupRow user = row_of(512, 512, 512, "raced"), site = row_of(512, 512, 512, "tuned");
  user.provenance = "first use";
  site.layer = 1;
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "tuned");
  site.provenance = "predicted";
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "raced");
}

TEST(LookupHolder, EqualTablesAreNotSwapped) {
  LookupHolder holder(LookupTable(3, {row_of(1, 2, 3, "a")}));
  const LookupTable* first = &holder.table();
  EXPECT_FALSE(holder.swap(LookupTable(3, {row_of(1, 2, 3, "a")})));
  EXPECT_EQ(&holder.table(), first);
  EXPECT_TRUE(holder.swap(LookupTable(3, {row_of(1, 2, 3, "b")})));
  EXPECT_EQ(found(*first, {1, 2, 3}), "a") << "what a reader holds stays valid";
}

TEST(LookupHolder, SixteenReadersSeeOneTableOrTheOtherWhileItIsSwapped) {
  const auto table_of = [](const std::string& configuration) {
    std::vector<LookupRow> rows;
    for (int size = 1; size <= 64; ++size) rows.push_back(row_of(size, size, size, configuration));
    return LookupTable(3, rows);
  };
  LookupHolder holder(table_of("0"));
  std::atomic<bool> done{false};
  std::atomic<long> wrong{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 16; ++i) {
    readers.emplace_back([&] {
      for (std::int64_t size = 1; !done.load(std::memory_order_relaxed); size = size % 64 + 1) {
        const LookupTable& table = holder.table();
        const std::int64_t sizes[] = {size, size, size};
        const LookupRow* row = table.find(sizes);
        if (!row || row->configuration != table.rows()[0].configuration) ++wrong;
        ++reads;
        if (size == 64) std::this_thread::yield();  // a machine may have fewer cores
      }
    });
  }
  for (int version = 1; version <= 40 || reads == 0; ++version) {
    holder.swap(table_of(std::to_string(version)));
    std::this_thread::yield();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reads, 0);
}

}  // namespace
}  // namespace autotune::db
