// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "tuner/blas/cublas_abi.hpp"

namespace autotune::blas {
namespace {

CallShape sized(std::int64_t m) {
  CallShape shape;
  shape.m = m;
  return shape;
}

TEST(CallTable, AShapeHasOneEntry) {
  CallTable table;
  EXPECT_EQ(table.find_or_add(sized(1)), table.find_or_add(sized(1)));
  EXPECT_NE(table.find_or_add(sized(1)), table.find_or_add(sized(2)));
  EXPECT_EQ(table.entries().size(), 2U);
}

TEST(CallTable, ThreadsFindTheSameEntries) {
  CallTable table;
  std::vector<std::vector<CallEntry*>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&] {
      for (int m = 0; m < 500; ++m) mine.push_back(table.find_or_add(sized(m)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
  EXPECT_EQ(std::set(found[0].begin(), found[0].end()).size(), 500U);
}

TEST(CallTable, AFullTableKeepsWhatItHas) {
  CallTable table;
  std::int64_t m = 0;
  while (table.find_or_add(sized(m))) ++m;
  EXPECT_GE(m, 4096);
  EXPECT_NE(table.find_or_add(sized(m - 1)), nullptr);
}

TEST(CallTable, ShapesThatNoKernelServesLeaveHalfOfItToOthers) {
  CallTable table;
  std::int64_t m = 1;
  while (table.find_or_add(sized(m))) ++m;  // without a compute type
  CallShape other = sized(8);
  other.n = other.k = other.lda = other.ldb = other.ldc = other.ldd = 8;
  other.compute_type = kComputeF32;
  other.epilogue = kNoEpilogue;
  ASSERT_NE(table.find_or_add(other), nullptr);
  EXPECT_EQ(table.find_or_add(other)->contract, Outcome::served);
}

}  // namespace
}  // namespace autotune::blas
