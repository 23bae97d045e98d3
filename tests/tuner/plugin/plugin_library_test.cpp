// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_library.hpp"

#include <cstdlib>
#include <stdexcept>

#include "plugins/sdk/autotune_plugin.h"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/plugin/plugin_baseline.hpp"

namespace autotune {
namespace {

using testing::plain_plugin;

namespace fs = std::filesystem;

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
static const char* search(const autotune_task_v2* task) { return task ? 0 : "no task"; }
static const autotune_strategy_v2 strategies[] = {{"first", "one", search}, {"second", "two", search}};
static const autotune_search_v2 facet_of_search = {2, strategies};
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
  EXPECT_STREQ(library.strategy("second").description, "two");
  EXPECT_THROW(library.strategy("third"), Error);
  ASSERT_EQ(plugin.targets.size(), 2u);
  EXPECT_EQ(plugin.targets[0].folder, workshop_.folder() / "kernels");
  EXPECT_EQ(plugin.targets[1].folder, workshop_.folder());
  EXPECT_FALSE(plugin.targets[0].has_hooks);
  EXPECT_FALSE(plugin.is_baseline);
  EXPECT_THROW(library.baseline(), Error);
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

namespace fs = std::filesystem;

class PluginFilesTest : public ::testing::Test {
 protected:
  ~PluginFilesTest() override { unsetenv("AUTOTUNE_PLUGIN_PATH"); }
  static void set_path(const std::string& path) { setenv("AUTOTUNE_PLUGIN_PATH", path.c_str(), 1); }
  testing::PluginWorkshop workshop_;
};

TEST_F(PluginFilesTest, FoldersOfThePathComeFirstAndInOrder) {
  const fs::path b = workshop_.write("one/b.so", ""), a = workshop_.write("one/a.so", "");
  const fs::path c = workshop_.write("two/c.so", "");
  workshop_.write("two/notes.txt", "");
  set_path((workshop_.folder() / "one").string() + "::" + (workshop_.folder() / "two").string() +
           ":" + (workshop_.folder() / "nowhere").string());
  const auto files = plugin_files();
  ASSERT_GE(files.size(), 3u);
  EXPECT_EQ(files[0], fs::canonical(a));
  EXPECT_EQ(files[1], fs::canonical(b));
  EXPECT_EQ(files[2], fs::canonical(c));
}

TEST_F(PluginFilesTest, AFileThatIsReachedTwiceStandsThereOnce) {
  workshop_.write("one/a.so", "");
  const std::string folder = (workshop_.folder() / "one").string();
  set_path("");
  const std::size_t others = plugin_files().size();
  set_path(folder + ":" + folder + "/../one");
  EXPECT_EQ(plugin_files().size(), others + 1);
}

TEST_F(PluginFilesTest, NeverTheWorkingDirectory) {
  const fs::path file = workshop_.write("here.so", "");
  const fs::path before = fs::current_path();
  fs::current_path(workshop_.folder());
  set_path("");
  EXPECT_THAT(plugin_files(), Not(Contains(fs::canonical(file))));
  set_path(".");
  EXPECT_THROW(plugin_files(), UsageError);
  fs::current_path(before);
}

class PluginCountersTest : public ::testing::Test {
 protected:
  /// A plugin whose count() has this body.
  std::filesystem::path plugin(const std::string& name, const std::string& body) const {
    return workshop_.build(name, R"(#include <autotune/autotune_plugin.h>
#include <string.h>
static const char* count(int (*call)(void*), void* host, uint32_t* number,
                         const autotune_counter_v1** found) {
  (void)call, (void)host, (void)number, (void)found;
)" + body + R"(
}
static const autotune_counters_v1 counters = {count};
static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_COUNTERS) == 0 ? &counters : NULL;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "fake", "1", "Fake", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)");
  }

  testing::PluginWorkshop workshop_;
};

TEST_F(PluginCountersTest, GivesWhatThePluginCountedOverSeveralCalls) {
  const auto file = plugin("good", R"(
  static autotune_counter_v1 found_here[] = {{"instructions", "warp instructions", 0},
                                             {"dram_read_bytes", "bytes", 4096}};
  for (int i = 0; i < 3; ++i) {
    if (call(host) != 0) return "the call failed";
    found_here[0].value += 10;
  }
  *number = 2;
  *found = found_here;
  return NULL;)");
  int calls = 0;
  EXPECT_THAT(count_with_plugin(file, [&] { ++calls; }),
              ElementsAre(Counter{"instructions", "warp instructions", 30},
                          Counter{"dram_read_bytes", "bytes", 4096}));
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(loaded_plugin(file).description().counts);
}

TEST_F(PluginCountersTest, SaysWhyNothingWasCounted) {
  const auto file = plugin("forbidden", R"(
  return "the driver allows hardware counters to administrators only";)");
  EXPECT_THAT([&] { count_with_plugin(file, [] {}); },
              ThrowsMessage<Error>(
                  HasSubstr("the driver allows hardware counters to administrators only")));
}

TEST_F(PluginCountersTest, PassesOnWhatTheCallThrew) {
  const auto file = plugin("failing", R"(
  return call(host) == 0 ? NULL : "the call failed";)");
  EXPECT_THAT([&] { count_with_plugin(file, [] { throw std::out_of_range("illegal address"); }); },
              ThrowsMessage<std::out_of_range>("illegal address"));
}

TEST_F(PluginCountersTest, RefusesFiguresThatCannotBeStored) {
  const auto answering = [&](const std::string& name, const std::string& counter) {
    const auto file = plugin(name, "static const autotune_counter_v1 one = " + counter +
                                       "; *number = 1; *found = &one; return NULL;");
    try {
      count_with_plugin(file, [] {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("it was taken");
  };
  EXPECT_THAT(answering("blank", R"({"two words", "", 1})"),
              HasSubstr("\"two words\" may have only letters, digits and _"));
  EXPECT_THAT(answering("infinite", R"({"bytes", "", __builtin_inf()})"),
              HasSubstr("bytes is inf"));
}

TEST_F(PluginCountersTest, RefusesAPluginThatCountsNothing) {
  const auto file = workshop_.build("plain", testing::plain_plugin("plain"));
  EXPECT_THAT([&] { count_with_plugin(file, [] {}); },
              ThrowsMessage<Error>(HasSubstr("it counts nothing")));
}

}  // namespace
}  // namespace autotune
