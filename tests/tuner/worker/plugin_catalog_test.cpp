// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_catalog.hpp"

#include <gmock/gmock.h>

#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/remote_plugin.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::plain_plugin;
using testing::PluginWorkshop;

std::string refusal_of(const fs::path& file) {
  PluginOptions options;
  options.silence_seconds = 2;
  try {
    describe_plugin(file, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "it was taken";
}

TEST(PluginCatalog, OneThatCrashesOrHangsWhileItIsLoadedIsRefused) {
  const PluginWorkshop workshop;
  const std::string first = "__attribute__((constructor)) static void first(void) ";
  EXPECT_THAT(
      refusal_of(workshop.build("crash", plain_plugin("crash", "AUTOTUNE_PLUGIN_ABI",
                                                      first + "{ *(volatile int*)0 = 1; }"))),
      AllOf(HasSubstr("crash.so"), HasSubstr("its process ended by signal")));
  EXPECT_THAT(refusal_of(workshop.build(
                  "hang", plain_plugin("hang", "AUTOTUNE_PLUGIN_ABI",
                                       first + "{ for (volatile int i = 1; i;) {} }"))),
              AllOf(HasSubstr("hang.so"), HasSubstr("did not respond for 2 s")));
  EXPECT_THAT(refusal_of(workshop.build("old", plain_plugin("old", "9"))),
              HasSubstr("plugin ABI 9"));
  EXPECT_THAT(refusal_of(workshop.folder() / "none.so"), HasSubstr("there is no such plugin"));
}

TEST(PluginCatalog, OfTwoOfOneNameTheSecondIsRefused) {
  const PluginWorkshop workshop;
  const fs::path one = fs::canonical(workshop.build("one", plain_plugin("same")));
  const fs::path two = fs::canonical(workshop.build("two", plain_plugin("same")));
  const auto entries = load_plugins(std::vector{one}, std::vector{one, two}, {});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].description);
  EXPECT_FALSE(entries[1].description);
  EXPECT_THAT(entries[1].reason,
              AllOf(HasSubstr("two.so"), HasSubstr("one.so"), HasSubstr("the name same is taken")));
  EXPECT_THROW(load_plugins(std::vector{one, two}, {}, {}), Error);
}

}  // namespace
}  // namespace autotune
