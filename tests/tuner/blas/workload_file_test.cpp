// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/workload_file.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/tool.hpp"
#include "tuner/json/json.hpp"

namespace autotune::blas {
namespace {

using ::testing::HasSubstr;
using testing::Sandbox;

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
