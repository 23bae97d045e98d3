// SPDX-License-Identifier: Apache-2.0
// The table of verbs.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Verbs, TuneIsTheDefaultAndEachIsFoundByItsName) {
  EXPECT_EQ(verbs().front()->name, "tune");
  std::set<std::string_view> names;
  for (const Verb* verb : verbs()) {
    EXPECT_TRUE(names.insert(verb->name).second) << verb->name;
    EXPECT_EQ(&verb_called(verb->name), verb);
    EXPECT_NE(verb->run, nullptr);
  }
}

TEST(Verbs, HaveASummaryWithoutAFullStop) {
  for (const Verb* verb : verbs()) {
    ASSERT_FALSE(verb->summary.empty()) << verb->name;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(verb->summary.front()))) << verb->name;
    EXPECT_FALSE(verb->summary.ends_with('.')) << verb->name;
  }
}

TEST(Verbs, HaveEachOptionOnceAndOneOfItsWordsAsItsDefault) {
  for (const Verb* verb : verbs()) {
    std::set<std::string_view> names;
    for (const Option& option : verb->options) {
      SCOPED_TRACE(std::string(verb->name) + " --" + std::string(option.name));
      EXPECT_TRUE(names.insert(option.name).second);
      EXPECT_FALSE(option.help.empty());
      if (option.value.empty()) EXPECT_TRUE(option.default_value.empty()) << "a flag";
      if (option.words.empty() || option.default_value.empty()) continue;
      EXPECT_THAT(" " + std::string(option.words) + " ",
                  HasSubstr(" " + std::string(option.default_value) + " "));
    }
  }
}

TEST(Verbs, AnUnknownOneIsAnsweredWithWhatMayBeMeant) {
  EXPECT_THAT([] { verb_called("querry"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean query?")));
  EXPECT_THAT([] { verb_called("completion"); },
              ThrowsMessage<UsageError>(HasSubstr("try autotune help --completion SHELL")));
  EXPECT_THAT([] { verb_called("mine.target.toml"); },
              ThrowsMessage<UsageError>(HasSubstr("autotune --target mine.target.toml")));
}

}  // namespace
}  // namespace autotune::cli
