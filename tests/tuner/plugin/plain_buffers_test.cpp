// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plain_buffers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

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

}  // namespace
}  // namespace autotune
