// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/target_hooks.hpp"

#include <cstring>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/inputs.hpp"

namespace autotune {
namespace {

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
  try {
    with_hooks({"", nullptr, nullptr, write_nothing}, two_buffers(), workshop.folder());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrote nothing to out"));
  }
}

}  // namespace
}  // namespace autotune
