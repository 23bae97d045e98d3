// SPDX-License-Identifier: Apache-2.0
// Compiler options that depend on the configuration.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class OptionsTest : public testing::Test {
 protected:
  Target target(const std::string& options) const {
    folder_.write("k.cu", "// the kernel\n");
    return load_manifest(folder_.write("k.target.toml", R"(manifest = 2
name = "k"
source = "k.cu"
sizes = ["N"]
parameters.REGS = [32, 64]
parameters.FAST = [false, true]
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.k = { grid = 1, block = 32, arguments = ["y"] }
reference.kernels.plain = { grid = 1, block = 32, arguments = ["y"] }
options = [)" + options + "]\n"));
  }
  std::vector<std::string> options(const Target& target, std::int64_t regs, bool fast) const {
    const Configuration configuration{{"REGS", regs}, {"FAST", std::int64_t{fast}}};
    return source_unit(target, problem_of(target, {{"N", 8}}, {}), configuration, {}).options;
  }

  ScratchFolder folder_;
};

constexpr const char* kOptions =
    R"("-maxrregcount={REGS}", "-lineinfo", { option = "-use_fast_math", when = "FAST" })";

TEST_F(OptionsTest, FollowTheConfigurationAndNotTheReference) {
  const Target target = this->target(kOptions);
  EXPECT_THAT(options(target, 32, false), ElementsAre("-lineinfo", "-maxrregcount=32"));
  EXPECT_THAT(options(target, 64, true),
              ElementsAre("-lineinfo", "-maxrregcount=64", "-use_fast_math"));
  EXPECT_THAT(workload_of(target, problem_of(target, {{"N", 8}}, {}), {}).reference_source.options,
              ElementsAre("-lineinfo"));
}

TEST_F(OptionsTest, BelongToTheFingerprint) {
  EXPECT_NE(target(kOptions).fingerprint, target("\"-lineinfo\"").fingerprint);
  EXPECT_NE(target("\"-maxrregcount={REGS}\"").fingerprint,
            target("\"-maxrregcount={2 * REGS}\"").fingerprint);
}

TEST_F(OptionsTest, MisuseIsNamed) {
  const auto refuses = [&](const std::string& options, const std::string& why) {
    EXPECT_THAT([&] { target(options); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  refuses("\"-maxrregcount={REG}\"", "there is no name REG");
  refuses("\"-maxrregcount={REGS\"", "there is no '}' after this '{'");
  refuses("\"-maxrregcount=REGS}\"", "there is no '{' before this '}'");
  refuses("\"-DR={REGS}\"", "it tells the preprocessor");
  refuses("{ option = \"-Iother\", when = \"FAST\" }", "it tells the preprocessor");
  refuses("{ option = \"-use_fast_math\" }", "\"when\"");
}

}  // namespace
}  // namespace autotune
