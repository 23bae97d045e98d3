// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/blas/call_report.hpp"
#include "tuner/blas/call_table.hpp"
#include "tuner/json/json.hpp"

namespace autotune::blas {
namespace {

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

TEST(WorkloadFile, ALineIsOneJsonObject) {
  CallShape shape;
  shape.m = 3, shape.n = 5, shape.k = 7;
  shape.obstacle = Outcome::order;
  const std::string line = workload_line(shape, 42);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["call"], "cublasSgemm");
  EXPECT_EQ(json["layout"], "NN");
  EXPECT_EQ(json["types"].size(), 4u);
  EXPECT_EQ(json["k"], 7);
  EXPECT_EQ(json["calls"], 42);
  EXPECT_EQ(json["column_major"], false);
  EXPECT_EQ(json["obstacle"], "not column-major");
}

TEST(WorkloadFile, TextIsAddedBehindWhatIsThere) {
  const Sandbox sandbox;
  const std::string file = (sandbox.folder() / "w.jsonl").string();
  EXPECT_TRUE(append_text(file, "one\n"));
  EXPECT_TRUE(append_text(file, ""));
  EXPECT_TRUE(append_text(file, "two\n"));
  EXPECT_EQ(content_of(file), "one\ntwo\n");
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
