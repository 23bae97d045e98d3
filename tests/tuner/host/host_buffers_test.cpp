// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_buffers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tuner/host/thread_pool.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLength = 1000;

class HostBuffersTest : public testing::Test {
 protected:
  static BufferSpec spec(const char* name, Role role) {
    return {name, ElementType::f32, kLength, role};
  }
  HostBuffer& buffer(std::size_t index) { return buffers_.all()[index]; }
  float* floats(std::size_t index) { return static_cast<float*>(buffer(index).data()); }

  ThreadPool threads_{2};
  const PreparedInputs none_{};
  const std::vector<BufferSpec> specs_{spec("a", Role::input), spec("b", Role::inout),
                                       spec("c", Role::output)};
  HostBuffers buffers_{specs_, InputSet::uniform, 7, none_, threads_};
};

TEST_F(HostBuffersTest, OutputsStartAsNanAndInoutsWithTheirFill) {
  buffers_.prepare();
  const std::vector<float> filled(floats(1), floats(1) + kLength);
  EXPECT_TRUE(std::ranges::all_of(filled, [](float value) { return value == value; }));
  EXPECT_NE(floats(2)[kLength - 1], floats(2)[kLength - 1]);
  floats(1)[3] = 1e9f;
  floats(2)[3] = 0;
  buffers_.prepare();
  EXPECT_EQ(std::vector<float>(floats(1), floats(1) + kLength), filled);
  EXPECT_NE(floats(2)[3], floats(2)[3]);
}

TEST_F(HostBuffersTest, WhatAKernelMayWriteIsNoFault) {
  buffers_.prepare();
  floats(1)[0] = floats(2)[0] = 5;
  EXPECT_EQ(buffers_.check_untouched().outcome, Outcome::ok);
}

TEST_F(HostBuffersTest, AChangedInputIsWrongAndIsRestored) {
  buffers_.prepare();
  const float before = floats(0)[kLength - 1];
  floats(0)[kLength - 1] = before + 1;
  const Verdict verdict = buffers_.check_untouched();
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("a[999]"));
  EXPECT_EQ(floats(0)[kLength - 1], before);
  EXPECT_EQ(buffers_.check_untouched().outcome, Outcome::ok);
}

TEST_F(HostBuffersTest, AWriteBesideABufferIsWrongOnce) {
  for (const std::int64_t at : {std::int64_t{-1}, kLength}) {
    buffers_.prepare();
    floats(2)[at] = 5;
    const Verdict verdict = buffers_.check_untouched();
    EXPECT_EQ(verdict.outcome, Outcome::wrong);
    EXPECT_THAT(verdict.message, HasSubstr("c[" + std::to_string(at) + "]"));
    EXPECT_EQ(buffers_.check_untouched().outcome, Outcome::ok) << "the zones are painted again";
  }
}

TEST_F(HostBuffersTest, PreparedElementsReplaceTheFill) {
  HostBuffer buffer(spec("a", Role::input));
  std::vector<float> prepared(kLength, 2.5f);
  buffer.fill(threads_, InputSet::uniform, 7, false, std::as_bytes(std::span(prepared)));
  EXPECT_EQ(std::memcmp(buffer.data(), prepared.data(), kLength * sizeof(float)), 0);
}

TEST_F(HostBuffersTest, AHashTellsWhetherOneElementChanged) {
  const auto before = buffer(0).hashes(threads_);
  EXPECT_EQ(buffer(0).hashes(threads_), before);
  floats(0)[500] += 1;
  EXPECT_NE(buffer(0).hashes(threads_), before);
}

}  // namespace
}  // namespace autotune
