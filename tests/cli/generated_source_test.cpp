// SPDX-License-Identifier: Apache-2.0
// Sources that a program writes.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "tests/cli/sentences.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kManifest = R"toml(manifest = 2
name = "twice"
generate = ["sh", "gen.sh", "2"]
source = "twice.cu"
sizes = ["N"]
parameters.BLOCK = [1]
arguments.x = { type = "i32", length = "N" }
arguments.y = { type = "i32", length = "N", role = "output" }
launch = { grid = "N", block = "BLOCK", arguments = ["x", "y"] }
kernels.twice = {}
reference.kernels.right = {}
)toml";

constexpr const char* kGenerator = R"(echo "a remark" >&2
cat <<END
extern "C" __global__ void twice(const int* x, int* y) { y[blockIdx.x] = $1 * x[blockIdx.x]; }
extern "C" __global__ void right(const int* x, int* y) { y[blockIdx.x] = 2 * x[blockIdx.x]; }
END
)";

class GeneratedSource : public ::testing::Test {
 protected:
  GeneratedSource() : manifest_(sandbox_.write("twice.target.toml", kManifest)) {
    sandbox_.write("gen.sh", kGenerator);
  }

  Ended check() const { return sandbox_.run({"check", manifest_.string(), "--device", "host"}); }
  std::string source() const {
    std::ifstream file(sandbox_.folder() / "twice.cu");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Sandbox sandbox_;
  std::filesystem::path manifest_;
};

TEST_F(GeneratedSource, IsWrittenWhereItDiffersAndCompiled) {
  const Ended first = check();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("twice.cu has changed: it is what sh printed"));
  EXPECT_THAT(source(), HasSubstr("y[blockIdx.x] = 2 * x"));
  EXPECT_THAT(source(), Not(HasSubstr("a remark")));
  EXPECT_THAT(check().err, Not(HasSubstr("has changed")));
  sandbox_.write("gen.sh", std::string(kGenerator) + "echo // more\n");
  EXPECT_THAT(check().err, HasSubstr("has changed"));
}

TEST_F(GeneratedSource, IsRefreshedBeforeTuning) {
  const Ended ended =
      sandbox_.run({"tune", "--target", manifest_.string(), "--sizes", "10", "--device", "host"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(source(), HasSubstr("__global__"));
}

TEST_F(GeneratedSource, FailuresShowWhatTheProgramSaid) {
  sandbox_.write("gen.sh", "echo no such shape >&2\nexit 3\n");
  EXPECT_THAT(check().err, HasSubstr("generate: sh failed with status 3:\nno such shape"));
  sandbox_.write("gen.sh", "");
  EXPECT_THAT(check().err, HasSubstr("printed nothing: it prints the source to stdout"));
  sandbox_.write("gen.sh", "exec yes\n");
  EXPECT_THAT(check().err, HasSubstr("generate: sh printed more than 16.00 MiB and was killed"));
  EXPECT_EQ(source(), "");
  std::string text = kManifest;
  text.replace(text.find("\"sh\""), 4, "\"shh\"");
  sandbox_.write("twice.target.toml", text);
  EXPECT_THAT(check().err, HasSubstr("generate: there is no program shh"));
}

}  // namespace
}  // namespace autotune::testing
