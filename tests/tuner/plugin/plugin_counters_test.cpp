// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_baseline.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_library.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
