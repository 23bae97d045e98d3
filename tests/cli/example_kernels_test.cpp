// SPDX-License-Identifier: Apache-2.0
// The kernels of examples/kernels: each is checked and tuned a little on the host, and compiled for
// an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/cli/tool.hpp"

namespace autotune {
namespace {

using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sandbox;

struct Example {
  std::string name, sizes;
};

const Example kExamples[] = {
    {"softmax", "5x700"}, {"spmv", "500x4416"},     {"histogram", "20000x256"},
    {"nbody", "300"},     {"attention", "2x50x32"}, {"jacobi", "40x50x7"},
    {"rms", "1000"},      {"grade", "700"}};

const std::filesystem::path kFolder = AUTOTUNE_SOURCE_DIR "/examples/kernels";

class ExampleKernel : public ::testing::TestWithParam<Example> {
 protected:
  Ended run(std::vector<std::string> words, const std::vector<std::string>& more) const {
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.run(words);
  }
  std::string manifest() const {
    return kFolder / GetParam().name / (GetParam().name + ".target.toml");
  }
  const std::vector<std::string> check{"check", manifest(), "--sizes", GetParam().sizes,
                                       "--device"};
  const std::vector<std::string> tune{"--target",   manifest(), "--sizes", GetParam().sizes,
                                      "--device",   "host",     "--seed",  "3",
                                      "--strategy", "random",   "--budget"};

  Sandbox sandbox_;
};

TEST_P(ExampleKernel, PassesItsCheckOnTheHost) {
  const Ended checked = run(check, {"host"});
  EXPECT_EQ(checked.status, 0) << checked.err << checked.out;
  EXPECT_EQ(checked.err, "");
  EXPECT_THAT(checked.out, Not(HasSubstr("warning")));
}

TEST_P(ExampleKernel, CompilesForAnH200) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended checked = run(check, {"model:h200"});
  EXPECT_EQ(checked.status, 0) << checked.err << checked.out;
  EXPECT_THAT(checked.err, Not(HasSubstr("warning")));  // how far it came is said after 10 s
}

TEST_P(ExampleKernel, IsRightInEveryConfigurationThatIsTriedOnTheHost) {
  const Ended tuned = run(tune, {"8"});
  EXPECT_EQ(tuned.status, 0) << tuned.err << tuned.out;
  EXPECT_THAT(tuned.err, HasSubstr("tried 8 of"));
  for (const char* failure : {"wrong", "error", "invalid", "nondeterministic"}) {
    EXPECT_THAT(tuned.err, Not(HasSubstr(failure)));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ExampleKernel, ::testing::ValuesIn(kExamples),
                         [](const auto& each) { return each.param.name; });

TEST(ExampleKernels, AreAllTested) {
  std::set<std::string> there, tested;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.is_directory()) there.insert(entry.path().filename());
  }
  for (const Example& each : kExamples) tested.insert(each.name);
  EXPECT_EQ(there, tested);
}

}  // namespace
}  // namespace autotune
