// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <sstream>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/help.hpp"
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

std::string refusal(const testing::Words& words, const Verb& verb = kPaint) {
  return thrown_by([&] { const Arguments arguments(verb, words); });
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

TEST(Arguments, ARepeatableOptionKeepsItsOrder) {
  const Arguments arguments(kPaint, {"--wall", "north", "--color", "red", "--wall", "east"});
  EXPECT_THAT(arguments.all("wall"), ElementsAre("north", "east"));
  EXPECT_TRUE(arguments.all("coats").empty());
  EXPECT_EQ(refusal("--color red --color blue"),
            "--color is given twice; see autotune paint --help");
}

TEST(Arguments, OtherWordsArePositionalIfTheVerbTakesThem) {
  const Verb verb = with_rooms();
  const Arguments arguments(verb, {"hall", "--color", "red", "kitchen", "--", "--odd-name"});
  EXPECT_THAT(arguments.positional(), ElementsAre("hall", "kitchen", "--odd-name"));
  EXPECT_EQ(refusal({"hall"}),
            "paint does not know what to do with \"hall\"; see autotune paint --help");
}

TEST(Arguments, AWordThatIsNotOfTheListOfTheOptionOrTheVerbIsRefused) {
  Verb verb = kPaint;
  verb.options.push_back({"finish", "F", "", "matte", false, "matte satin glossy"});
  verb.options.push_back({"like", "WHAT", "", {}, false, "room=NAME"});
  EXPECT_EQ(refusal("--finish shiny", verb), "--finish is matte, satin or glossy, not \"shiny\"");
  EXPECT_EQ(refusal("--finish satin --like room=hall", verb), "nothing was thrown");
  verb = with_rooms();
  verb.words = "hall kitchen";
  EXPECT_EQ(refusal({}, verb), "paint needs one of hall, kitchen; see autotune paint --help");
  EXPECT_THAT(refusal("kitchn", verb), HasSubstr("paint does not know \"kitchn\": "));
  EXPECT_EQ(refusal("kitchen north", verb), "nothing was thrown");
}

TEST(Request, NamedValuesAreNumbersOrWords) {
  const NamedValues values = named_values_in({"dtype=f64", "pad=-2", "text=a=b"}, "", "");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].value, Value("f64"));
  EXPECT_EQ(values[1].value, Value(-2));
  EXPECT_EQ(values[2].value.text(), "a=b");
}

TEST(Request, WhatIsNoNamedValueIsRefusedWithItsOptionAndAnExample) {
  const auto refusal_of = [](const std::vector<std::string>& items) {
    return thrown_by([&] { named_values_in(items, "--set: ", "dtype=f64"); });
  };
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

TEST(Request, ExampleSizesNeedLittleMemory) {
  Target target;
  target.name = "f";
  target.sizes = {"N", "M"};
  target.arguments.push_back(
      {.name = "x", .type = "f32", .length = Expression::parse("N * N * M")});
  EXPECT_EQ(example_sizes(target), "256");
  target.arguments[0].length = Expression::parse("N * M");
  EXPECT_EQ(example_sizes(target), "512");
}

TEST(Verbs, TuneIsTheDefaultAndEachIsFoundByItsNameAndHasASummaryWithoutAFullStop) {
  EXPECT_EQ(verbs().front()->name, "tune");
  std::set<std::string_view> names;
  for (const Verb* verb : verbs()) {
    SCOPED_TRACE(verb->name);
    EXPECT_TRUE(names.insert(verb->name).second);
    EXPECT_EQ(&verb_called(verb->name), verb);
    EXPECT_NE(verb->run, nullptr);
    ASSERT_FALSE(verb->summary.empty());
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(verb->summary.front())));
    EXPECT_FALSE(verb->summary.ends_with('.'));
  }
}

TEST(Verbs, HaveEachOptionOnceAndOneOfItsWordsAsItsDefault) {
  for (const Verb* verb : verbs()) {
    std::set<std::string_view> names;
    for (const Option& option : verb->options) {
      SCOPED_TRACE(std::string(verb->name) + " --" + std::string(option.name));
      EXPECT_TRUE(names.insert(option.name).second);
      EXPECT_FALSE(option.help.empty());
      EXPECT_TRUE(!option.value.empty() || option.default_value.empty()) << "a flag";
      if (option.words.empty() || option.default_value.empty()) continue;
      EXPECT_THAT(" " + std::string(option.words) + " ",
                  HasSubstr(" " + std::string(option.default_value) + " "));
    }
  }
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

TEST(Devices, OfAnyGpuAreKnownByItsName) {
  const DeviceInfo gpu = gpu_named("rtx4090");
  EXPECT_EQ(gpu.name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(gpu.compute_capability, 89);
  EXPECT_THROW(gpu_named("radeon"), UsageError);
  EXPECT_REFUSAL(Error, gpu_named("cuda:99"), "there is no GPU cuda:99 here");
}

TEST(Devices, AGpuThatIsNotHereIsNoneToRunOn) {
  EXPECT_REFUSAL(Error, open_device("rtx2080", 60), "--device model:rtx2080 only predicts");
}

TEST(Devices, TheHostAndEveryModelAreListed) {
  const std::vector<ListedDevice> devices = list_devices();
  const auto host = std::ranges::find(devices, "host", &ListedDevice::option);
  ASSERT_NE(host, devices.end());
  EXPECT_EQ(host->info.kind, DeviceKind::host);
  for (const ListedDevice& device : devices) EXPECT_NO_THROW(check_devices(device.option));
  EXPECT_NE(std::ranges::find(devices, "model:NVIDIA H200", &ListedDevice::option), devices.end());
}

TEST(Devices, ACompileLimitIsWholeSecondsOfADayAtMost) {
  const auto limit = [](const char* text) {
    return compile_limit_of(Arguments(verb_called("tune"), {"--compile-limit", text}));
  };
  EXPECT_EQ(limit("86400"), 86400);
  EXPECT_EQ(compile_limit_of(Arguments(verb_called("tune"), {})), 60);
  for (const char* text : {"0", "86401", "1.5"}) EXPECT_THROW(limit(text), UsageError) << text;
}

const Verb kPaintWall{.name = "paint",
                      .synopsis = "--color C",
                      .summary = "Paint a wall",
                      .details = "[walls.md](walls.md) lists the walls.\n\n* one\n  item",
                      .options = {{"color", "C", "A color", "white"},
                                  {"wall", "NAME", "A wall", {}, true},
                                  {"glossy", "", "With a gloss"}},
                      .positional = {},
                      .run = nullptr};

TEST(Help, OfAVerbIsUsageOptionsAndDetails) {
  EXPECT_EQ(help_of(kPaintWall),
            "usage: autotune paint --color C\n"
            "Paint a wall\n\n"
            "  --color C    A color (default: white)\n"
            "  --wall NAME  A wall (may be repeated)\n"
            "  --glossy     With a gloss\n\n"
            "docs/walls.md lists the walls.\n\n"
            "* one\n  item\n");
}

TEST(Help, LongTextsContinueBelowTheirColumn) {
  Verb verb = kPaintWall;
  const std::string words =
      "twenty words of five letters or so are too long for one line of a "
      "terminal that has 96 columns";
  verb.options = {{"color", "C", words}};
  std::istringstream lines(help_of(verb));
  std::string line;
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 96u);
  EXPECT_THAT(help_of(verb), HasSubstr("\n             ")) << "below the column of meanings";
}

}  // namespace
}  // namespace autotune::cli
