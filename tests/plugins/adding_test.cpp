// SPDX-License-Identifier: Apache-2.0
// What adding costs, by doing it: a kernel is two new files, a plugin one new folder; nothing that
// is there is touched.

#include <cstdlib>
#include <string>

#include "tests/support/command.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"

namespace autotune {
namespace {

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

}  // namespace
}  // namespace autotune
