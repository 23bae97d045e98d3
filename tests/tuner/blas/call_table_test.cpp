// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/options.hpp"

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

using Words = std::array<std::uint64_t, 17>;

TEST(WordHash, EveryBitOfEveryWordMatters) {
  std::set<std::uint64_t> seen{word_hash(Words{})};
  for (std::size_t word = 0; word < Words{}.size(); ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      Words words{};
      words[word] = std::uint64_t{1} << bit;
      seen.insert(word_hash(words));
    }
  }
  EXPECT_EQ(seen.size(), 1 + 64 * Words{}.size());
}

TEST(WordHash, WordsMayNotChangePlaces) {
  Words one{}, other{};
  one[0] = other[4] = 5;
  EXPECT_NE(word_hash(one), word_hash(other));
}

TEST(WordHash, ItsLowBitsSpread) {
  std::set<std::uint64_t> slots;
  for (std::uint64_t size = 1; size <= 64; ++size) slots.insert(word_hash(Words{size}) % 4096);
  EXPECT_GE(slots.size(), 60U);
}

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() { clear(); }
  ~OptionsTest() override { clear(); }
  static void clear() {
    for (const char* name : {"SERVE", "WAIT", "UNITS", "RECORD", "REPORT", "LIBRARY"}) {
      unsetenv((std::string("AUTOTUNE_BLAS_") + name).c_str());
    }
  }
  static void set(const char* name, const char* value) {
    setenv((std::string("AUTOTUNE_BLAS_") + name).c_str(), value, 1);
  }
};

TEST_F(OptionsTest, WithoutVariablesCallsAreServedAndNothingIsCounted) {
  const Options options = read_options("python3");
  EXPECT_TRUE(options.serve);
  EXPECT_FALSE(options.wait);
  EXPECT_FALSE(options.only_fp32);
  EXPECT_FALSE(options.counts());
}

TEST_F(OptionsTest, EachVariableSetsItsOption) {
  set("SERVE", "0"), set("WAIT", "1"), set("UNITS", "fp32");
  set("RECORD", "w.jsonl"), set("LIBRARY", "/opt/libautotune.so");
  const Options options = read_options("python3");
  EXPECT_FALSE(options.serve);
  EXPECT_TRUE(options.wait);
  EXPECT_TRUE(options.only_fp32);
  EXPECT_EQ(options.record, "w.jsonl");
  EXPECT_EQ(options.library, "/opt/libautotune.so");
  EXPECT_TRUE(options.counts());
}

TEST_F(OptionsTest, AReportAloneIsCountedFor) {
  set("REPORT", "stderr");
  EXPECT_TRUE(read_options("python3").counts());
}

TEST_F(OptionsTest, OtherValuesLeaveTheDefault) {
  set("SERVE", "no"), set("WAIT", "yes"), set("UNITS", "FP32");
  const Options options = read_options("python3");
  EXPECT_TRUE(options.serve);
  EXPECT_FALSE(options.wait);
  EXPECT_FALSE(options.only_fp32);
}

TEST_F(OptionsTest, TheTunersOwnProgramsUseTheRealLibrary) {
  set("SERVE", "1"), set("RECORD", "w.jsonl"), set("REPORT", "stderr");
  for (const char* program : {"autotune", "autotune-worker"}) {
    const Options options = read_options(program);
    EXPECT_FALSE(options.serve) << program;
    EXPECT_FALSE(options.counts()) << program;
  }
  EXPECT_TRUE(read_options("autotune-mpi-app").serve);
}

}  // namespace
}  // namespace autotune::blas
