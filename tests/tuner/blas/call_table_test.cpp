// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/blas/call_shape.hpp"

namespace autotune::blas {
namespace {

CallShape sized(std::int64_t m) {
  CallShape shape;
  shape.m = m;
  return shape;
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

using testing::Sandbox;

class CallReport : public ::testing::Test {
 protected:
  CallEntry& add(std::int64_t size, std::uint64_t served, std::uint64_t preparing) {
    CallShape shape;
    shape.m = shape.n = shape.k = size;
    CallEntry& entry = *owned_.emplace_back(std::make_unique<CallEntry>(shape, Outcome::served));
    entry.counts[static_cast<std::size_t>(Outcome::served)] = served;
    entry.counts[static_cast<std::size_t>(Outcome::preparing)] = preparing;
    entries_.push_back(&entry);
    return entry;
  }
  std::string report() const { return report_of(entries_); }

  std::vector<std::unique_ptr<CallEntry>> owned_;
  std::vector<CallEntry*> entries_;
};

TEST_F(CallReport, SharesAreOfOperations) {
  add(10, 3, 1);  // 8,000 operations, of which 6,000 are served
  add(20, 0, 2);  // 32,000 operations
  EXPECT_THAT(report(), HasSubstr("autotune: 3 of 6 calls of cuBLAS were served, 15.0 % of their "
                                  "operations\nserved 3, being prepared 3\n"));
  EXPECT_THAT(report(), HasSubstr("         2 80.0 %  "));
}

TEST_F(CallReport, RanksAreToldApart) {
  add(10, 1, 0);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  EXPECT_THAT(report(), HasSubstr("autotune: 1 of 1 calls of cuBLAS of rank 3 were served"));
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST_F(CallReport, TheMostWorkComesFirst) {
  add(10, 1, 0);
  add(20, 1, 0);
  const std::string text = report();
  EXPECT_LT(text.find("m=20"), text.find("m=10"));
}

TEST_F(CallReport, LongListsAreCutAndTheRestIsCounted) {
  for (int size = 1; size <= 43; ++size) add(size, 1, 0);
  EXPECT_THAT(report(), AllOf(HasSubstr("and 3 more\n"), Not(HasSubstr("m=3 "))));
}

TEST_F(CallReport, WithoutCallsNothingIsDividedByZero) {
  EXPECT_THAT(report(), HasSubstr("called no matrix product of cuBLAS"));
  add(0, 1, 0);
  EXPECT_THAT(report(), HasSubstr("1 of 1 calls of cuBLAS were served, 0.0 %"));
}

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(WorkloadFile, TextBeginsANewLineBehindAFileThatAFullDiskCut) {
  const Sandbox sandbox;
  const std::string file = (sandbox.folder() / "w.jsonl").string();
  std::ofstream(file) << "one\ntw";
  EXPECT_TRUE(append_text(file, "three\n"));
  EXPECT_TRUE(append_text(file, "four\n"));
  EXPECT_EQ(content_of(file), "one\ntw\nthree\nfour\n");
}

TEST(WorkloadFile, AFileThatCannotBeOpenedIsNotWritten) {
  EXPECT_FALSE(append_text("/proc/none/w.jsonl", "one\n"));
  EXPECT_FALSE(append_text("/proc", "one\n"));
}

/// The system takes the part that fits first: the reason of the failure is that of the second part.
TEST(WorkloadFile, AFullDiskIsTheReasonThatIsTold) {
  const Sandbox sandbox;
  const std::string file = (sandbox.folder() / "w.jsonl").string();
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which has not warned yet
  const auto write_beyond_the_limit = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};  // of stderr, too
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = 0;
    _exit(append_text(file, std::string(5000, 'x')) ? 1 : 0);
  };
  EXPECT_EXIT(write_beyond_the_limit(), ::testing::ExitedWithCode(0),
              "w.jsonl: cannot be written: File too large");
}

}  // namespace
}  // namespace autotune::blas
