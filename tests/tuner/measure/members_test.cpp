// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/members.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace autotune {
namespace {

struct Body {
  double mass;
  std::int32_t id;  // then 4 bytes of padding
};

BufferSpec bodies() {
  BufferSpec buffer;
  buffer.name = "bodies";
  buffer.type = ElementType::f64;
  buffer.length = 2;
  buffer.file = "bodies.npy";
  buffer.members = {{"mass", ElementType::f64, 0}, {"id", ElementType::i32, 8}};
  return buffer;
}

std::vector<std::byte> bytes_of(const void* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), data, size);
  return bytes;
}

TEST(Members, AreBuffersOfTheirOwn) {
  const BufferSpec ids = member_buffer(bodies(), 1);
  EXPECT_EQ(ids.name, "bodies.id");
  EXPECT_EQ(ids.type, ElementType::i32);
  EXPECT_EQ(ids.bytes(), 8);
  EXPECT_TRUE(ids.members.empty());
  EXPECT_TRUE(ids.file.empty());  // the file has whole structs
}

TEST(Members, AreTakenOutWithoutGaps) {
  const Body two[] = {{1.5, 7}, {2.5, 9}};
  const std::vector<std::byte> ids = member_elements(bodies(), 1, bytes_of(two, sizeof two));
  ASSERT_EQ(ids.size(), 8U);
  std::int32_t values[2];
  std::memcpy(values, ids.data(), sizeof values);
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], 9);
}

TEST(Members, ArePutBackAndOtherBytesStay) {
  std::vector<std::byte> bytes(32, std::byte{0xab});
  const std::int32_t ids[] = {7, 9};
  put_member(bodies(), 1, bytes_of(ids, sizeof ids), bytes);
  EXPECT_EQ(member_elements(bodies(), 1, bytes), bytes_of(ids, sizeof ids));
  for (const std::size_t untouched : {0, 7, 12, 15, 16, 23, 28, 31}) {
    EXPECT_EQ(bytes[untouched], std::byte{0xab}) << untouched;
  }
}

}  // namespace
}  // namespace autotune
