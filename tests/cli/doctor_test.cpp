// SPDX-License-Identifier: Apache-2.0
// autotune doctor, in environments that are made for it.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

TEST(Doctor, HasALineForEachThing) {
  const Ended ended = Sandbox().run({"doctor"});
  EXPECT_EQ(ended.err, "");
  for (const char* what : {"worker", "driver", "host compiler", "targets", "plugin", "cache",
                           "database", "shipped results", "preload library", "Python"}) {
    EXPECT_THAT(ended.out, HasSubstr(what));
  }
}

TEST(Doctor, AnErrorBringsItsOwnAdvice) {
  const Ended ended = Sandbox().run({"doctor", "--db", "no/t.db"});
  EXPECT_THAT(ended.out, HasSubstr("there is no folder no: create it, or name another file\n"));
}

TEST(Doctor, EndsWithOneWhereThereIsAProblem) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_CACHE", (sandbox.write("file", "") / "cache").string());
  sandbox.set("AUTOTUNE_PLUGIN_PATH", "relative");
  sandbox.set("AUTOTUNE_HOST_CXX", "no-such-compiler");
  const Ended ended = sandbox.run({"doctor", "--json"});
  EXPECT_EQ(ended.status, 1);
  const Json all = Json::parse(ended.out);
  const auto health = [&](const std::string& what) {
    for (const Json& each : all) {
      if (each["what"] == what) return each["health"].get<std::string>();
    }
    return std::string("not there");
  };
  EXPECT_EQ(health("cache"), "problem");
  EXPECT_EQ(health("plugin"), "problem");
  EXPECT_EQ(health("host compiler"), "note");
  EXPECT_EQ(health("database"), "ok");
}

}  // namespace
}  // namespace autotune::testing
