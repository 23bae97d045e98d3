// SPDX-License-Identifier: Apache-2.0
// A target plugin of a user, built out of tree by each compiler that is here, tuned by the tool.
#include <fstream>
#include <sstream>

#include "tests/support/command.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using testing::Ran;
using testing::run_command;

const fs::path kExample = fs::path(AUTOTUNE_SOURCE_DIR) / "examples/gather_plugin";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class TargetPlugin : public ::testing::TestWithParam<const char*> {
 protected:
  /// Beside its kernel, as the example's comment says.
  fs::path built(std::string source, const std::string& compiler) const {
    workshop_.write("gather.cu", text_of(kExample / "gather.cu"));
    return workshop_.build("gather_plugin", source, compiler);
  }
  Ran tuned(const fs::path& plugin) const {
    return run_command(std::string(AUTOTUNE_BINARY_DIR) + "/bin/autotune tune --plugin " +
                       plugin.string() + " --target gather --sizes 1000 --device host --budget 4" +
                       " --db " + (workshop_.folder() / "tuned.db").string());
  }
  const std::string example_ = text_of(kExample / "gather_plugin.c");
  testing::PluginWorkshop workshop_;
};

TEST_P(TargetPlugin, IsTunedWithItsOwnInputsAndRightAnswers) {
  if (!testing::has_program(GetParam())) GTEST_SKIP() << GetParam() << " is not here";
  const Ran ran = tuned(built(example_, GetParam()));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("gather N=1000"), HasSubstr("BLOCK=")));
}

INSTANTIATE_TEST_SUITE_P(Plugins, TargetPlugin, ::testing::Values("gcc", "g++", "clang", "clang++"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           return name.substr(0, name.find('+')) +
                                  (name.ends_with('+') ? "_cxx" : "");
                         });

class PluginOfAUser : public TargetPlugin {};

std::string tool() { return std::string(AUTOTUNE_BINARY_DIR) + "/bin/autotune "; }

TEST_F(PluginOfAUser, EveryVerbThatNamesATargetOrAStrategyTakesAPlugin) {
  const fs::path plugin = built(example_, "cc");
  const std::string option = " --plugin " + plugin.string() + " ";
  const std::string database = " --db " + (workshop_.folder() / "tuned.db").string();
  ASSERT_EQ(tuned(plugin).status, 0);
  const Ran checked = run_command(tool() + "check gather --sizes 1000 --device host" + option);
  EXPECT_EQ(checked.status, 0) << checked.output;
  const Ran explained =
      run_command(tool() + "explain --target gather --size 1000" + option + database);
  EXPECT_EQ(explained.status, 0) << explained.output;
  EXPECT_THAT(explained.output, HasSubstr("BLOCK="));
  workshop_.write("space.json", R"({"tune_params_keys": ["A"], "tune_params": {"A": [1, 2]},
    "cache": {"1": {"A": 1, "time": 1.0}, "2": {"A": 2, "time": 2.0}}})");
  const Ran replayed =
      run_command(tool() + "replay --seeds 1 --strategy annealing " +
                  (workshop_.folder() / "space.json").string() +
                  " --plugin " AUTOTUNE_BINARY_DIR "/lib/autotune/plugins/annealing.so");
  EXPECT_EQ(replayed.status, 0) << replayed.output;
  for (const char* verb : {"check x.json", "explain --target x --size 1", "replay x.json"}) {
    const Ran refused = run_command(tool() + verb + " --plugin /nowhere.so");
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.output, HasSubstr("/nowhere.so: there is no such plugin"));
  }
}

TEST_F(PluginOfAUser, AFoundPluginThatCannotBeLoadedIsOneWarningInTheLoadersWords) {
  workshop_.write("broken.so", "no library");
  const Ran ran =
      run_command("AUTOTUNE_PLUGIN_PATH=" + workshop_.folder().string() + " " + tool() +
                  "tune --target vector_add --sizes 1000 --device host --budget 2" +
                  " --strategy annealing --db " + (workshop_.folder() / "tuned.db").string());
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("warning: a plugin is left out: "));
  EXPECT_THAT(ran.output, HasSubstr("broken.so: it cannot be loaded: "));
  EXPECT_THAT(ran.output, HasSubstr("file too short"));
}

class BadTargetPlugin : public TargetPlugin {
 protected:
  /// The example with one piece replaced.
  Ran tuned_with(const std::string& piece, const std::string& other) const {
    std::string source = example_;
    const std::size_t at = source.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    return tuned(built(source.replace(at, piece.size(), other), "cc"));
  }
};

TEST_F(BadTargetPlugin, AnotherRightAnswerMakesEveryConfigurationWrong) {
  const Ran ran = tuned_with("((float*)out->data)[i] =", "((float*)out->data)[i] = 1 +");
  EXPECT_EQ(ran.status, 3) << ran.output;
}

TEST_F(BadTargetPlugin, AHookThatGivesAReasonIsAnErrorInItsWords) {
  const Ran refused =
      tuned_with("find(count, buffers, \"where\")", "find(count, buffers, \"nowhere\")");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("plugin gather"), HasSubstr("no buffer `where`")));
}

TEST_F(BadTargetPlugin, AHookThatCrashesIsAnErrorNotTheEndOfTheTool) {
  const Ran ran = tuned_with("to = (int32_t*)where->data;", "to = (int32_t*)8;");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("error: plugin gather"), HasSubstr("signal 11")));
}

TEST_F(BadTargetPlugin, AManifestThatIsWrongIsNamedWithThePlugin) {
  const Ran ran = tuned_with("sizes = [\\\"N\\\"]", "sizes = 1");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("gather_plugin.so"), HasSubstr("sizes")));
}

}  // namespace
}  // namespace autotune
