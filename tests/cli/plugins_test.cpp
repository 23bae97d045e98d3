// SPDX-License-Identifier: Apache-2.0
// Plugins that are found or named on the command line.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tests/support/plugin_builder.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A plugin with one target, whose manifest cannot be read.
constexpr const char* kBadManifest = R"(
#include <autotune/autotune_plugin.h>
#include <string.h>
static const autotune_target_v1 target = {"{ \"format\": ", 0, 0, 0};
static const autotune_targets_v1 targets = {1, &target};
static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_TARGETS) == 0 ? &targets : 0;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "bad", "1.0", "a test", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)";

TEST(PluginsOfACommand, ABadManifestOfOneThatWasFoundEndsNothing) {
  const PluginWorkshop workshop;
  const std::string file = workshop.build("bad", kBadManifest);
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_PLUGIN_PATH", workshop.folder().string());
  const Ended found =
      sandbox.run({"tune", "--target", "nosuch", "--sizes", "1", "--device", "host"});
  EXPECT_THAT(found.err, HasSubstr("warning: the targets of plugin bad are left out: "));
  EXPECT_THAT(found.err, HasSubstr("\nerror: "));
  EXPECT_THAT(found.err.substr(found.err.find("\nerror: ")), Not(HasSubstr("bad.so")));
  expect_refused(sandbox.run({"tune", "--plugin", file, "--target", "nosuch", "--sizes", "1",
                              "--device", "host"}),
                 1, {"bad.so", "this manifest is in JSON"});
}

TEST(PluginsOfACommand, AManifestIsReadWithoutThoseThatAreFound) {
  const PluginWorkshop workshop;
  workshop.build("bad", kBadManifest);
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_PLUGIN_PATH", workshop.folder().string());
  ASSERT_EQ(sandbox.run({"new-target", "scale"}).status, 0);
  const Ended ended = sandbox.run({"check", "scale.target.toml", "--device", "host"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace autotune::testing
