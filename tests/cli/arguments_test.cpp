// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include <algorithm>
#include <iostream>
#include <new>
#include <set>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using testing::Sandbox;

const Verb kPaint{.name = "paint",
                  .synopsis = "--color C",
                  .summary = "Paint a wall",
                  .details = {},
                  .options = {{"color", "C", "", "white"},
                              {"coats", "N", ""},
                              {"wall", "NAME", "", {}, true},
                              {"glossy", "", ""}},
                  .positional = {},
                  .run = nullptr};

Verb with_rooms() {
  Verb verb = kPaint;
  verb.positional = "ROOM";
  return verb;
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    const Arguments arguments(kPaint, words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "they were taken";
}

TEST(Arguments, AValueIsGivenOrTheDefaultOrMissing) {
  EXPECT_EQ(Arguments(kPaint, {"--color", "red"}).text("color"), "red");
  EXPECT_EQ(Arguments(kPaint, {"--color=red"}).text("color"), "red");
  const Arguments none(kPaint, {});
  EXPECT_EQ(none.text("color"), "white");
  EXPECT_FALSE(none.has("color")) << "a default is not given";
  EXPECT_EQ(none.find("coats"), std::nullopt);
  EXPECT_TRUE(Arguments(kPaint, {"--glossy"}).has("glossy"));
}

TEST(Arguments, AMissingRequiredOptionIsNamed) {
  EXPECT_THAT([] { Arguments(kPaint, {}).text("coats"); },
              ThrowsMessage<UsageError>("paint needs --coats; see autotune paint --help"));
}

TEST(Arguments, AMissingOptionOfAnActionIsNamedWithTheAction) {
  Verb verb = with_rooms();
  verb.words = "hall kitchen";
  EXPECT_THAT([&] { Arguments(verb, {"hall"}).text("coats"); },
              ThrowsMessage<UsageError>("paint hall needs --coats; see autotune paint --help"));
}

TEST(Arguments, ARepeatableOptionKeepsItsOrder) {
  const Arguments arguments(kPaint, {"--wall", "north", "--color", "red", "--wall", "east"});
  EXPECT_THAT(arguments.all("wall"), ElementsAre("north", "east"));
  EXPECT_TRUE(arguments.all("coats").empty());
  EXPECT_EQ(refusal({"--color", "red", "--color", "blue"}),
            "--color is given twice; see autotune paint --help");
}

TEST(Arguments, AnUnknownOptionIsAnsweredWithANearOne) {
  EXPECT_THAT(refusal({"--colour", "red"}), HasSubstr("paint has no option --colour: did you mean "
                                                      "--color"));
  EXPECT_EQ(refusal({"--xyzzy"}), "paint has no option --xyzzy; see autotune paint --help");
  EXPECT_THAT(refusal({"--col", "red"}), HasSubstr("no option --col")) << "no abbreviations";
}

TEST(Arguments, AValueMustFollow) {
  EXPECT_EQ(refusal({"--color"}), "--color needs a value; see autotune paint --help");
  EXPECT_THAT(refusal({"--glossy=yes"}), HasSubstr("--glossy"));
  EXPECT_EQ(refusal({"--wall", ""}), "--wall is given an empty name; see autotune paint --help");
  EXPECT_EQ(refusal({"--color", ""}), "they were taken") << "only names must not be empty";
}

TEST(Arguments, AnIntegerIsWholeAndInItsRange) {
  const auto coats = [](const char* text) {
    return Arguments(kPaint, {"--coats", text}).integer("coats", 1, 3);
  };
  EXPECT_EQ(coats("1"), 1);
  EXPECT_EQ(coats("3"), 3);
  for (const char* text : {"0", "4", "2x", "", "1.5", "99999999999999999999"}) {
    EXPECT_THAT([&] { coats(text); },
                ThrowsMessage<UsageError>(HasSubstr("is not an integer from 1 to 3")))
        << text;
  }
}

TEST(Arguments, OtherWordsArePositionalIfTheVerbTakesThem) {
  const Verb verb = with_rooms();
  const Arguments arguments(verb, {"hall", "--color", "red", "kitchen", "--", "--odd-name"});
  EXPECT_THAT(arguments.positional(), ElementsAre("hall", "kitchen", "--odd-name"));
  EXPECT_EQ(refusal({"hall"}),
            "paint does not know what to do with \"hall\"; see autotune paint --help");
}

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
  target.sizes = {"N", "C", "H", "W"};
  target.size_rules = {{}, {}, {}, {}};
  EXPECT_EQ(example_sizes(target), "64");
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

/// What a program ends with, and its sentence on stderr.
struct End {
  int status = 0;
  std::string err;
};

End run(const std::function<int()>& body) {
  ::testing::internal::CaptureStderr();
  const int status = run_program(body);
  return {status, ::testing::internal::GetCapturedStderr()};
}

template <class Thrown>
End run_and_throw(const Thrown& thrown) {
  return run([&]() -> int { throw thrown; });
}

TEST(Program, EndsWithTheStatusOfItsBody) {
  const End end = run([] { return 3; });
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.err, "");
}

TEST(Program, AnExceptionIsASentenceAndAStatus) {
  const End usage = run_and_throw(UsageError("--x is wrong"));
  EXPECT_EQ(usage.status, kWrongUsage);
  EXPECT_EQ(usage.err, "error: --x is wrong\n");
  EXPECT_EQ(run_and_throw(Error("no GPU")).status, kFailed);
  EXPECT_EQ(run_and_throw(std::runtime_error("odd")).err, "error: odd\n");
  const End memory = run_and_throw(std::bad_alloc());
  EXPECT_EQ(memory.status, kFailed);
  EXPECT_EQ(memory.err, "error: out of memory; try a smaller problem or space\n");
}

TEST(Program, ControlCharactersDoNotReachATerminal) {
  EXPECT_EQ(run_and_throw(Error("a\x1b[31mb")).err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace autotune::cli
