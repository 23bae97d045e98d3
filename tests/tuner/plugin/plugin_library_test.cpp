// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_library.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "plugins/sdk/autotune_plugin.h"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/plugin/target_hooks.hpp"

namespace autotune {
namespace {

using testing::plain_plugin;
using testing::plugin_with;

namespace fs = std::filesystem;

class PluginLibraryTest : public ::testing::Test {
 protected:
  std::string refusal_of(const fs::path& file) {
    return thrown_by([&] { const PluginLibrary library(file); });
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
  const std::string source = R"(
static const char* search(const autotune_task_v2* task) { return task ? 0 : "no task"; }
static const autotune_strategy_v2 strategies[] = {{"first", "one", search}, {"second", "two", search}};
static const autotune_search_v2 searched = {2, strategies};
static const autotune_target_v1 two[] = {{"{}", "kernels", 0, 0}, {"[]", 0, 0, 0}};
static const autotune_targets_v1 targets = {2, two};
)";
  const fs::path file = workshop_.build(
      "good", plugin_with({{"SEARCH", "searched"}, {"TARGETS", "targets"}}, "good", source));
  const PluginLibrary library(file);
  const PluginDescription& plugin = library.description();
  EXPECT_EQ(plugin.name, "good");
  EXPECT_EQ(plugin.version, "1.0");
  EXPECT_EQ(plugin.description, "a test");
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

/// What a baseline of `gemm` offers; `reads`, a function or 0, is its facet of free sizes.
std::string baseline_plugin(const std::string& name, const std::string& reads = "") {
  std::string source = R"(
static int supports(const char* target) { return strcmp(target, "gemm") == 0; }
static const char* open(const autotune_baseline_problem_v1* p, void** i) { return p || i ? 0 : "none"; }
static void close(void* i) { (void)i; }
static uint32_t candidates(void* i) { return i != 0; }
static const char* name(void* i, uint32_t c) { return i || c ? "one" : 0; }
static const char* launch(void* i, uint32_t c, void* const* a, void* s) {
  return i || c || a || s ? 0 : "none";
}
static const autotune_baseline_v1 baseline = {supports, open, close, candidates, name, launch};
)";
  if (reads.empty()) return plugin_with({{"BASELINE", "baseline"}}, name, source);
  source += "static const autotune_free_sizes_v1 free_sizes = {" + reads + "};\n";
  return plugin_with({{"BASELINE", "baseline"}, {"FREE_SIZES", "free_sizes"}}, name, source);
}

TEST_F(PluginLibraryTest, OnlyABaselineThatReadsFreeSizesIsOfferedWithThem) {
  const fs::path packed = workshop_.build("packed", baseline_plugin("packed"));
  const fs::path any = workshop_.build("any", baseline_plugin("any", "supports"));
  const fs::path broken = workshop_.build("broken", baseline_plugin("broken", "0"));
  const auto offering = [&](std::vector<fs::path> plugins, bool has_free_sizes,
                            const char* target = "gemm") {
    return library_offering(plugins, target, {}, has_free_sizes);
  };
  EXPECT_EQ(offering({packed, any}, false), "packed");
  EXPECT_EQ(offering({packed, any}, true), "any");
  EXPECT_EQ(offering({packed}, true), "");
  EXPECT_EQ(offering({broken}, true), "");
  EXPECT_EQ(offering({any}, true, "reduction"), "");
  EXPECT_TRUE(PluginLibrary(any).reads_free_sizes("gemm"));
  EXPECT_FALSE(PluginLibrary(any).reads_free_sizes("reduction"));
  EXPECT_REFUSAL(Error, PluginLibrary(broken).reads_free_sizes("gemm"),
                 "free_sizes/1: there is no reads()");
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
    return workshop_.build(name, plugin_with({{"COUNTERS", "counters"}}, "fake", R"(
static const char* count(int (*call)(void*), void* host, uint32_t* number,
                         const autotune_counter_v1** found) {
  (void)call, (void)host, (void)number, (void)found;
)" + body + R"(
}
static const autotune_counters_v1 counters = {count};
)"));
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
  EXPECT_REFUSAL(Error, count_with_plugin(file, [] {}),
                 "the driver allows hardware counters to administrators only");
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
    return thrown_by([&] { count_with_plugin(file, [] {}); });
  };
  EXPECT_THAT(answering("blank", R"({"two words", "", 1})"),
              HasSubstr("\"two words\" may have only letters, digits and _"));
  EXPECT_THAT(answering("infinite", R"({"bytes", "", __builtin_inf()})"),
              HasSubstr("bytes is inf"));
}

TEST_F(PluginCountersTest, RefusesAPluginThatCountsNothing) {
  const auto file = workshop_.build("plain", testing::plain_plugin("plain"));
  EXPECT_REFUSAL(Error, count_with_plugin(file, [] {}), "it counts nothing");
}

TEST(PlainBuffers, AreThoseOfTheProblemThenTheScalars) {
  std::vector<BufferSpec> specs(2);
  specs[0] = {.name = "A", .type = ElementType::bf16, .length = 12, .role = Role::input};
  specs[1] = {.name = "C", .type = ElementType::f32, .length = 6, .role = Role::output};
  float a = 0, c = 0;
  const std::array<void*, 2> addresses{&a, &c};
  const std::vector<Scalar> scalars{{ElementType::i32, 7, 0, "n"},
                                    {ElementType::f32, 0, 0.5, "alpha"}};
  const PlainScalars values(scalars);
  PlainBuffers buffers(specs, addresses);
  buffers.add(scalars, values);
  ASSERT_EQ(buffers.count(), 4u);
  const autotune_buffer_v1* const plain = buffers.data();
  EXPECT_STREQ(plain[0].name, "A");
  EXPECT_STREQ(plain[0].type, "bf16");
  EXPECT_STREQ(plain[0].role, "input");
  EXPECT_EQ(plain[0].length, 12);
  EXPECT_STREQ(plain[1].role, "output");
  EXPECT_STREQ(plain[3].name, "alpha");
  EXPECT_STREQ(plain[3].role, "scalar");
  std::int32_t n = 0;
  std::memcpy(&n, values.address(0), sizeof n);
  EXPECT_EQ(n, 7);
  float alpha = 0;
  std::memcpy(&alpha, values.address(1), sizeof alpha);
  EXPECT_EQ(alpha, 0.5F);
}

TEST(PlainBuffers, OfStructsSaySo) {
  std::vector<BufferSpec> specs(1);
  specs[0].name = "particles";
  specs[0].members = {{"x", ElementType::f32, 0}, {"id", ElementType::i32, 4}};
  EXPECT_STREQ(PlainBuffers(specs, {}).data()[0].type, "struct");
}

Workload two_buffers() {
  Workload workload;
  workload.problem = "N=4";
  workload.buffers = {{"in", ElementType::f32, 4, Role::input, Fill::iota},
                      {"out", ElementType::f32, 4, Role::output}};
  return workload;
}

const char* add_a_half(const char*, std::uint64_t, std::uint32_t, const autotune_buffer_v1* all) {
  auto* const in = static_cast<float*>(all[0].data);
  for (int i = 0; i < 4; ++i) in[i] += 0.5f;
  return nullptr;
}

const char* twice(const char* problem, std::uint32_t count, const autotune_buffer_v1* all) {
  if (std::string(problem) != "N=4" || count != 2) return "another problem";
  for (int i = 0; i < 4; ++i) {
    static_cast<float*>(all[1].data)[i] = 2 * static_cast<const float*>(all[0].data)[i];
  }
  return nullptr;
}

const char* write_nothing(const char*, std::uint32_t, const autotune_buffer_v1*) { return nullptr; }

std::vector<float> floats_in(const std::filesystem::path& file) {
  std::vector<float> values(4);
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(values.data()), 16);
  return values;
}

TEST(TargetHooks, FillChangesWhatTheManifestFilledAndReferenceSeesIt) {
  const testing::PluginWorkshop workshop;
  const Workload workload =
      with_hooks({"", nullptr, add_a_half, twice}, two_buffers(), workshop.folder());
  EXPECT_THAT(floats_in(workload.buffers[0].file), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_TRUE(workload.buffers[1].file.empty());
  EXPECT_THAT(floats_in(workload.expected_file), ElementsAre(1, 3, 5, 7));
}

TEST(TargetHooks, ABufferWithAFileIsFilledFromIt) {
  const testing::PluginWorkshop workshop;
  const Workload workload =
      with_hooks({"", nullptr, add_a_half, nullptr}, two_buffers(), workshop.folder());
  EXPECT_TRUE(workload.expected_file.empty());
  std::vector<float> got(4);
  const auto bytes = std::as_writable_bytes(std::span(got));
  fill(bytes, workload.buffers[0], InputSet::integers, 9);
  EXPECT_THAT(got, ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_EQ(check_unchanged(workload.buffers[0], bytes, InputSet::uniform, 9).outcome, Outcome::ok);
  got[2] = 7;
  EXPECT_THAT(check_unchanged(workload.buffers[0], bytes, InputSet::uniform, 9).message,
              HasSubstr("in[2] was 2.5 and is 7"));
  std::filesystem::resize_file(workload.buffers[0].file, 8);
  EXPECT_THROW(fill(bytes, workload.buffers[0], InputSet::uniform, 9), Error);
}

TEST(TargetHooks, AnOutputThatIsLeftUnwrittenIsNoAnswer) {
  const testing::PluginWorkshop workshop;
  EXPECT_REFUSAL(
      Error, with_hooks({"", nullptr, nullptr, write_nothing}, two_buffers(), workshop.folder()),
      "wrote nothing to out");
}

}  // namespace
}  // namespace autotune
