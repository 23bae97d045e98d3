// SPDX-License-Identifier: Apache-2.0
// The search plugins that ship, as they are installed.
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/command.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;

std::filesystem::path shipped(const std::string& name) {
  return std::filesystem::path(AUTOTUNE_BINARY_DIR) / "lib/autotune/plugins" / (name + ".so");
}

/// 1 at (11, 5, 2), rising away from there; a fifth of the configurations fails.
std::optional<double> valley(const Levels& levels) {
  if ((levels[0] + 2 * levels[1] + levels[2]) % 5 == 0) return std::nullopt;
  const double x = levels[0] - 11.0, y = levels[1] - 5.0, z = levels[2] - 2.0;
  return 1 + 0.05 * (x * x + y * y + z * z);
}

class ShippedStrategy : public ::testing::TestWithParam<const char*> {
 protected:
  /// The best of 150 of 16 * 8 * 8 configurations, and what was asked for.
  std::pair<double, std::vector<std::size_t>> run(std::uint64_t seed, int batch = 1) {
    const ParameterSpace space = grid({16, 8, 8});
    Bench bench(space, valley, 150, batch);
    std::vector<std::string> warnings;
    PluginOptions options;
    options.warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
    const PluginDescription plugin = describe_plugin(shipped(GetParam()));
    plugin_strategy(plugin, GetParam(), options)->search(bench, seed);
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_EQ(bench.remaining(), 0u);
    double best = INFINITY;
    for (const std::size_t index : bench.asked()) {
      best = std::min(best, valley(space.levels(index)).value_or(INFINITY));
    }
    return {best, bench.asked()};
  }
};

TEST_P(ShippedStrategy, ComesNearTheBest) {
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_LE(run(seed).first, 1.25) << "seed " << seed;
}

TEST_P(ShippedStrategy, OneSeedOneSearch) {
  EXPECT_EQ(run(4).second, run(4).second);
  EXPECT_NE(run(4).second, run(5).second);
}

TEST_P(ShippedStrategy, AsksForBatches) { EXPECT_LE(run(6, 8).first, 1.4); }

TEST_P(ShippedStrategy, EndsWhenAllIsKnown) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(
      space, [](const Levels&) { return std::optional(1.0); }, 100);
  plugin_strategy(describe_plugin(shipped(GetParam())), GetParam(), {})->search(bench, 1);
  EXPECT_EQ(bench.remaining(), 94u);
}

INSTANTIATE_TEST_SUITE_P(Plugins, ShippedStrategy, ::testing::Values("annealing", "genetic"),
                         [](const auto& tested) { return std::string(tested.param); });

// What adding costs, by doing it: a kernel is two new files, a plugin one new folder; nothing that
// is there is touched.

namespace fs = std::filesystem;
using testing::PluginWorkshop;
using testing::Ran;
using testing::run_command;

const std::string kTool = std::string(AUTOTUNE_BINARY_DIR) + "/bin/autotune";

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    count += entry.is_regular_file() ? 1 : 0;
  }
  return count;
}

TEST(Adding, AKernelIsTwoFiles) {
  const PluginWorkshop workshop;
  const fs::path kernels = workshop.folder() / "kernels";
  fs::create_directories(kernels / "mine");
  const Ran made =
      run_command("cd " + (kernels / "mine").string() + " && " + kTool + " new-target mine");
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_EQ(files_in(kernels), 2u);
  const std::string environment = "AUTOTUNE_KERNEL_PATH=" + kernels.string() + " ";
  EXPECT_THAT(run_command(environment + kTool + " list targets").output, HasSubstr("mine"));
  const Ran tuned =
      run_command(environment + kTool + " tune --target mine --sizes 1000 --device host" +
                  " --budget 3 --db " + (workshop.folder() / "tuned.db").string());
  EXPECT_EQ(tuned.status, 0) << tuned.output;
  EXPECT_THAT(tuned.output, HasSubstr("mine N=1000"));
}

/// A copy of the plugins' part of the tree, and the one new folder in it.
TEST(Adding, APluginIsOneFolder) {
  const PluginWorkshop workshop;
  const fs::path source = AUTOTUNE_SOURCE_DIR, plugins = workshop.folder() / "plugins";
  workshop.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.22)\nproject(tree LANGUAGES C CXX)\n"
                 "include_directories(.)\nadd_subdirectory(plugins)\n");
  fs::create_directories(plugins / "sdk");
  fs::copy_file(source / "plugins/CMakeLists.txt", plugins / "CMakeLists.txt");
  fs::copy_file(source / "plugins/sdk/autotune_plugin.h", plugins / "sdk/autotune_plugin.h");

  workshop.write("plugins/mine/CMakeLists.txt", "autotune_plugin(mine SOURCES mine.c)\n");
  workshop.write("plugins/mine/mine.c", R"(
#include <string.h>
#include "plugins/sdk/autotune_plugin.h"
static const char* search(const autotune_task_v2* task) {
  autotune_evaluation_v2 answer;
  for (uint64_t i = 0; i < task->configurations; ++i) {
    if (task->evaluate(task->host, &i, 1, &answer) == 0) break;
  }
  return 0;
}
static const autotune_strategy_v2 strategy = {"one_by_one", "in order", search};
static const autotune_search_v2 searches = {1, &strategy};
static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_SEARCH) == 0 ? &searches : 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "mine", "0.1", "Mine", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)");
  const std::string folder = workshop.folder().string();
  const Ran built = run_command("cmake -G Ninja -S " + folder + " -B " + folder +
                                "/build && cmake --build " + folder + "/build");
  ASSERT_EQ(built.status, 0) << built.output;

  const std::string environment = "AUTOTUNE_PLUGIN_PATH=" + folder + "/build/lib/autotune/plugins ";
  EXPECT_THAT(run_command(environment + kTool + " list plugins").output,
              HasSubstr("mine       0.1, search: Mine"));
  EXPECT_THAT(run_command(environment + kTool + " list strategies").output,
              HasSubstr("one_by_one"));
  const Ran tuned = run_command(environment + kTool +
                                " tune --target vector_add --sizes 1000 --device host --budget 3"
                                " --strategy one_by_one --db " +
                                folder + "/tuned.db");
  EXPECT_EQ(tuned.status, 0) << tuned.output;
}

// A target plugin of a user, built out of tree by each compiler that is here, tuned by the tool.

const fs::path kExample = fs::path(AUTOTUNE_SOURCE_DIR) / "examples/gather_plugin";

class TargetPlugin : public ::testing::TestWithParam<const char*> {
 protected:
  /// Beside its kernel, as the example's comment says.
  fs::path built(std::string source, const std::string& compiler) const {
    workshop_.write("gather.cu", file_bytes(kExample / "gather.cu"));
    return workshop_.build("gather_plugin", source, compiler);
  }
  Ran tuned(const fs::path& plugin) const {
    return run_command(std::string(AUTOTUNE_BINARY_DIR) + "/bin/autotune tune --plugin " +
                       plugin.string() + " --target gather --sizes 1000 --device host --budget 4" +
                       " --db " + (workshop_.folder() / "tuned.db").string());
  }
  const std::string example_ = file_bytes(kExample / "gather_plugin.c");
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
