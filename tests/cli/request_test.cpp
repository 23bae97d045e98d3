// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/request.hpp"

#include <gmock/gmock.h>

#include "tests/cli/tool.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using testing::Sandbox;

std::string refusal_of(const std::vector<std::string>& items) {
  try {
    named_values_in(items, "--set: ", "dtype=f64");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "it was taken";
}

TEST(Request, NamedValuesAreNumbersOrWords) {
  const NamedValues values = named_values_in({"dtype=f64", "pad=-2", "text=a=b"}, "", "");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].value, Value("f64"));
  EXPECT_EQ(values[1].value, Value(-2));
  EXPECT_EQ(values[2].value.text(), "a=b");
}

TEST(Request, WhatIsNoNamedValueIsRefusedWithItsOptionAndAnExample) {
  for (const char* item : {"", "dtype", "=f64", "dtype="}) {
    EXPECT_THAT(refusal_of({item}), HasSubstr("is not NAME=VALUE, such as dtype=f64")) << item;
  }
  EXPECT_THAT(refusal_of({"pad=1", "pad=2"}), HasSubstr("--set: pad is given twice"));
}

TEST(Request, AFixedSizeMayBeLeftOut) {
  Target target;
  target.name = "f";
  target.sizes = {"N", "M", "batch"};
  target.size_rules = {{.fixed = 25000}, {.multiple = 300}, {.if_absent = 1}};
  const auto texts = [&](std::string_view text) {
    std::vector<std::string> problems;
    for (const NamedValues& each : sizes_in(text, target, "--sizes")) {
      problems.push_back(to_text(each));
    }
    return problems;
  };
  using testing::ElementsAre;
  EXPECT_EQ(example_sizes(target), "25000x600");
  EXPECT_THAT(texts("25000x600"), ElementsAre("N=25000 M=600 batch=1"));
  EXPECT_THAT(texts("300,600"), ElementsAre("N=25000 M=300 batch=1", "N=25000 M=600 batch=1"));
  EXPECT_THAT(texts("600x2"), ElementsAre("N=25000 M=600 batch=2"));
  EXPECT_THAT(texts("M=600"), ElementsAre("N=25000 M=600 batch=1"));
  EXPECT_THAT(texts("N=25000,M=600,batch=3"), ElementsAre("N=25000 M=600 batch=3"));
  EXPECT_TRUE(needs_sizes(target));
  target.size_rules = {{.fixed = 2}, {.fixed = 3}, {.fixed = 4}};
  EXPECT_FALSE(needs_sizes(target));
  EXPECT_EQ(example_sizes(target), "2x3x4");
  EXPECT_THAT(texts("M=3"), ElementsAre("N=2 M=3 batch=4"));
}

TEST(Request, ADatabaseMayBeNewButItsFolderMayNot) {
  const Sandbox sandbox;
  const auto path_of = [&](const std::filesystem::path& file) {
    return database_path(Arguments(verb_called("query"), {"--db", file.string()}));
  };
  EXPECT_EQ(path_of(sandbox.folder() / "new.db"), sandbox.folder() / "new.db");
  EXPECT_EQ(path_of("new.db"), "new.db");
  EXPECT_THROW(path_of(sandbox.folder() / "none" / "new.db"), Error);
}

}  // namespace
}  // namespace autotune::cli
