// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_library.hpp"

#include <gmock/gmock.h>

#include "plugins/sdk/autotune_plugin.h"
#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::plain_plugin;

class PluginLibraryTest : public ::testing::Test {
 protected:
  std::string refusal_of(const fs::path& file) {
    try {
      const PluginLibrary library(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "it was taken";
  }

  std::string refusal_of_source(const std::string& source) {
    // Under a new name each time: the loader knows a file by its own.
    return refusal_of(workshop_.build("bad" + std::to_string(++count_), source));
  }

  testing::PluginWorkshop workshop_;

 private:
  int count_ = 0;
};

TEST_F(PluginLibraryTest, SaysWhatAPluginIsAndOffers) {
  const fs::path file = workshop_.build("good", R"(
#include <autotune/autotune_plugin.h>
#include <string.h>
static const char* search(const autotune_task_v1* task) { return task ? 0 : "no task"; }
static const autotune_strategy_v1 strategies[] = {{"first", "one", search}, {"second", "two", search}};
static const autotune_search_v1 facet_of_search = {2, strategies};
static const autotune_target_v1 targets[] = {{"{}", "kernels", 0, 0}, {"[]", 0, 0, 0}};
static const autotune_targets_v1 facet_of_targets = {2, targets};
static const void* facet(const char* id) {
  if (strcmp(id, AUTOTUNE_FACET_SEARCH) == 0) return &facet_of_search;
  if (strcmp(id, AUTOTUNE_FACET_TARGETS) == 0) return &facet_of_targets;
  return 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "good", "1.2", "a good one", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)");
  const PluginLibrary library(file);
  const PluginDescription& plugin = library.description();
  EXPECT_EQ(plugin.name, "good");
  EXPECT_EQ(plugin.version, "1.2");
  EXPECT_EQ(plugin.description, "a good one");
  ASSERT_EQ(plugin.strategies.size(), 2u);
  EXPECT_EQ(plugin.strategies[1].name, "second");
  EXPECT_STREQ(std::get<const autotune_strategy_v1*>(library.strategy("second"))->description,
               "two");
  EXPECT_THROW(library.strategy("third"), Error);
  ASSERT_EQ(plugin.targets.size(), 2u);
  EXPECT_EQ(plugin.targets[0].folder, workshop_.folder() / "kernels");
  EXPECT_EQ(plugin.targets[1].folder, workshop_.folder());
  EXPECT_FALSE(plugin.targets[0].has_hooks);
  EXPECT_FALSE(plugin.is_baseline);
  EXPECT_THROW(library.baseline(), Error);
}

TEST_F(PluginLibraryTest, AStrategyOfBothFacetsIsThatOfSearch2) {
  const PluginLibrary library(workshop_.build("both", R"(
#include <autotune/autotune_plugin.h>
#include <string.h>
static const char* old_search(const autotune_task_v1* task) { return task ? 0 : "no task"; }
static const char* new_search(const autotune_task_v2* task) { return task ? 0 : "no task"; }
static const autotune_strategy_v1 older[] = {{"same", "one", old_search}, {"old", "two", old_search}};
static const autotune_strategy_v2 newer[] = {{"same", "three", new_search}};
static const autotune_search_v1 search_1 = {2, older};
static const autotune_search_v2 search_2 = {1, newer};
static const void* facet(const char* id) {
  if (strcmp(id, AUTOTUNE_FACET_SEARCH) == 0) return &search_1;
  if (strcmp(id, AUTOTUNE_FACET_SEARCH_2) == 0) return &search_2;
  return 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "both", "1", "of both", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)"));
  ASSERT_EQ(library.description().strategies.size(), 2u);
  EXPECT_EQ(library.description().strategies[0].description, "three");
  EXPECT_TRUE(std::holds_alternative<const autotune_strategy_v2*>(library.strategy("same")));
  EXPECT_TRUE(std::holds_alternative<const autotune_strategy_v1*>(library.strategy("old")));
}

TEST_F(PluginLibraryTest, AnotherAbiIsNamedBesideOurs) {
  EXPECT_THAT(refusal_of_source(plain_plugin("old", "7")),
              AllOf(HasSubstr("bad1.so"), HasSubstr("plugin ABI 7"), HasSubstr("supports 1")));
}

TEST_F(PluginLibraryTest, ALibraryWithoutTheSymbolIsNoPlugin) {
  EXPECT_THAT(refusal_of_source("int nothing_of_ours(void) { return 1; }"),
              HasSubstr("undefined symbol: autotune_plugin"));
}

TEST_F(PluginLibraryTest, WhatIsNoLibraryIsRefusedInTheLoadersWords) {
  EXPECT_THAT(refusal_of(workshop_.write("text.so", std::string(4096, 'x'))),
              AllOf(HasSubstr("text.so: it cannot be loaded"), HasSubstr("invalid ELF header")));
}

TEST_F(PluginLibraryTest, AMissingLibraryIsNamedByTheLoader) {
  workshop_.build("libneeded", "int needed(void) { return 1; }");
  const fs::path file =
      workshop_.build("bad",
                      plain_plugin("needy", "AUTOTUNE_PLUGIN_ABI",
                                   "int needed(void); int use(void) { return needed(); }"),
                      "cc", "-L" + workshop_.folder().string() + " -lneeded");
  fs::remove(workshop_.folder() / "libneeded.so");
  EXPECT_THAT(refusal_of(file), HasSubstr("libneeded.so: cannot open shared object file"));
}

TEST_F(PluginLibraryTest, ASymbolThatNobodyHasIsFoundAtOnce) {
  EXPECT_THAT(
      refusal_of_source(plain_plugin("undefined", "AUTOTUNE_PLUGIN_ABI",
                                     "int nowhere(void); int use(void) { return nowhere(); }")),
      HasSubstr("undefined symbol: nowhere"));
}

TEST_F(PluginLibraryTest, NamesAreCheckedAndPointersToo) {
  EXPECT_THAT(refusal_of_source(plain_plugin("two words")), HasSubstr("two words"));
  EXPECT_THAT(
      refusal_of_source("#include <autotune/autotune_plugin.h>\n"
                        "AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) "
                        "{ return 0; }"),
      HasSubstr("returned nothing"));
}

}  // namespace
}  // namespace autotune
