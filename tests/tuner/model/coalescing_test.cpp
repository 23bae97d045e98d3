// SPDX-License-Identifier: Apache-2.0
// Memory transactions as a profiler counted them on a Tesla K80, and bank conflicts by hand.
#include "tuner/model/coalescing.hpp"

#include <map>

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kN = 16384;  // C = A + B, kN x kN int32

struct Traffic {
  GlobalTraffic load, store;  // of both loads together, and of the store
};

/// `column` lets threadIdx.x walk down a column.
Traffic matrix_addition(std::int64_t x, std::int64_t y, bool column) {
  const Dim3 block{x, y, 1};
  const Dim3 grid{kN / x, kN / y, 1};
  MemoryAccess access;
  access.index.per_thread = column ? Dim3{kN, 1, 0} : Dim3{1, kN, 0};
  access.index.per_block = column ? Dim3{x * kN, y, 0} : Dim3{x, y * kN, 0};
  Traffic traffic;
  traffic.load = global_traffic(multiprocessor(37), access, grid, block);
  traffic.load.transactions *= 2;
  access.store = true;
  traffic.store = global_traffic(multiprocessor(37), access, grid, block);
  return traffic;
}

struct PublishedRow {
  bool column;
  int x, y;
  std::int64_t loads, stores;
  double load_percent, store_percent;
};

// A course report's profile of matrix addition on a Tesla K80.
constexpr PublishedRow kPublished[] = {
    {false, 32, 32, 16777216, 8388608, 100, 100},
    {false, 32, 16, 16777216, 8388608, 100, 100},
    {false, 16, 16, 33554432, 16777216, 50, 100},
    {true, 32, 32, 536870912, 268435456, 3.125, 12.5},
    {true, 32, 16, 536870912, 268435456, 3.125, 12.5},
    {true, 16, 16, 268435456, 134217728, 6.25, 25},
};

TEST(Coalescing, MatrixAdditionOnAK80IsAsPublished) {
  for (const PublishedRow& row : kPublished) {
    SCOPED_TRACE(std::string(row.column ? "column " : "row ") + std::to_string(row.x) + "x" +
                 std::to_string(row.y));
    const Traffic traffic = matrix_addition(row.x, row.y, row.column);
    EXPECT_EQ(traffic.load.transactions, row.loads);
    EXPECT_EQ(traffic.store.transactions, row.stores);
    EXPECT_DOUBLE_EQ(traffic.load.efficiency() * 100, row.load_percent);
    EXPECT_DOUBLE_EQ(traffic.store.efficiency() * 100, row.store_percent);
  }
}

TEST(Coalescing, OneDimensionalAdditionIsPerfectInEveryBlockSize) {
  for (const std::int64_t block : {1024, 512, 256, 128, 64, 32}) {
    MemoryAccess access;
    access.index.per_thread.x = 1;
    access.index.per_block.x = block;
    const GlobalTraffic load =
        global_traffic(multiprocessor(37), access, {kN * kN / block, 1, 1}, {block, 1, 1});
    EXPECT_EQ(2 * load.transactions, 16777216);
    EXPECT_DOUBLE_EQ(load.efficiency(), 1);
    access.store = true;
    const GlobalTraffic store =
        global_traffic(multiprocessor(37), access, {kN * kN / block, 1, 1}, {block, 1, 1});
    EXPECT_EQ(store.transactions, 8388608);
  }
}

TEST(Coalescing, NewerGpusLoadSectors) {
  MemoryAccess column;
  column.index.per_thread.x = kN;
  const GlobalTraffic load = global_traffic(multiprocessor(90), column, {}, {32, 1, 1});
  EXPECT_EQ(load.transactions, 32);
  EXPECT_DOUBLE_EQ(load.efficiency(), 0.125);
}

TEST(Coalescing, AnOddRowLengthShiftsTheAlignmentOfEachBlock) {
  // Rows of 33 ints: block y starts 4 y bytes into a line; all but the first straddle two lines.
  MemoryAccess access;
  access.index.per_thread.x = 1;
  access.index.per_block.y = 33;
  const GlobalTraffic load = global_traffic(multiprocessor(37), access, {1, 32, 1}, {32, 1, 1});
  EXPECT_EQ(load.transactions, 1 + 31 * 2);
}

TEST(Coalescing, VectorsMoveMoreWithAsManyRequests) {
  MemoryAccess access;
  access.bytes = 16;
  access.index.per_thread.x = 1;
  const GlobalTraffic load = global_traffic(multiprocessor(90), access, {}, {32, 1, 1});
  EXPECT_EQ(load.requests, 1);
  EXPECT_EQ(load.transactions, 16);
  EXPECT_DOUBLE_EQ(load.efficiency(), 1);
}

TEST(Coalescing, AReversedArrayIsAsGood) {
  MemoryAccess access;
  access.index.per_thread.x = -1;
  access.index.offset = 31;
  EXPECT_EQ(global_traffic(multiprocessor(90), access, {}, {32, 1, 1}).transactions, 4);
}

GlobalTraffic traffic(std::string_view line, const Dim3& grid, const Dim3& block,
                      std::map<std::string, std::int64_t> values = {}) {
  const auto value = [&](const Expression& expression, const Coordinates& at) {
    for (std::size_t i = 0; i < at.size(); ++i) values[std::string(kCoordinates[i])] = at[i];
    return expression.evaluate([&](const std::string& name) { return values.at(name); });
  };
  const auto found = access_traffic(multiprocessor(90), parse_access(line), 4, grid, block, value);
  EXPECT_TRUE(found);
  return found.value_or(GlobalTraffic{});
}

TEST(AccessTraffic, NeighbouringThreadsShareSectors) {
  const GlobalTraffic row = traffic("load x[bx * BLOCK + tx]", {10}, {64}, {{"BLOCK", 64}});
  EXPECT_EQ(row.requests, 20);  // warps
  EXPECT_EQ(row.transactions, 80);
  EXPECT_DOUBLE_EQ(row.efficiency(), 1);
  const GlobalTraffic column = traffic("store x[tx * N + bx]", {10}, {64}, {{"N", 1000}});
  EXPECT_EQ(column.transactions, 640);
  EXPECT_DOUBLE_EQ(column.efficiency(), 0.125);
}

TEST(AccessTraffic, VectorsCountElements) {
  const GlobalTraffic wide = traffic("load x[(bx * 32 + tx) * 4] wide 4", {1}, {32});
  EXPECT_EQ(wide.requests, 1);
  EXPECT_EQ(wide.bytes_asked, 512);
  EXPECT_EQ(wide.transactions, 16);
  EXPECT_DOUBLE_EQ(wide.efficiency(), 1);
  // The same elements one by one: a quarter of each sector at a time.
  const GlobalTraffic narrow = traffic("load x[(bx * 32 + tx) * 4] times 4", {1}, {32});
  EXPECT_EQ(narrow.requests, 4);
  EXPECT_EQ(narrow.transactions, 64);
  EXPECT_DOUBLE_EQ(narrow.efficiency(), 0.25);
}

TEST(AccessTraffic, AnAccessThatDoesNotTakePlaceMovesNothing) {
  const auto none = access_traffic(multiprocessor(90), parse_access("load x[tx] when P"), 4, {}, {},
                                   [](const Expression&, const Coordinates&) { return 0; });
  EXPECT_FALSE(none);
}

TEST(AccessTraffic, AnIndexThatIsNotAffineIsRefused) {
  for (const char* line : {"load x[tx % 32]", "load x[tx * tx]", "load x[tx * bx]"}) {
    EXPECT_REFUSAL(Error, traffic(line, {4}, {64}), "not affine") << line;
  }
}

TEST(AccessTraffic, ACoordinateWithOneValueIsNotTried) {
  EXPECT_EQ(traffic("load x[tx + 100 / (1 - by)]", {1, 1}, {32}).transactions, 4 + 1);
}

}  // namespace
}  // namespace autotune
