// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_report.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tuner/blas/call_table.hpp"

namespace autotune::blas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace autotune::blas
