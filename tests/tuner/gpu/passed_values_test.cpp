// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/passed_values.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tuner/core/device.hpp"

namespace autotune {
namespace {

template <class T>
T passed(const PassedValues& values, std::size_t argument) {
  T value;
  std::memcpy(&value, values.pointers()[argument], sizeof value);
  return value;
}

/// f(a, alpha, b, a, n), where only alpha has a name.
Launch launch() {
  Launch launch;
  launch.entry = "f";
  launch.arguments = {BufferRef{0}, Scalar{ElementType::f32, 0, 1.5, "alpha"}, BufferRef{1},
                      BufferRef{0}, Scalar{ElementType::i32, 7, 0}};
  return launch;
}

const std::vector<BufferSpec> kBuffers = {{"a", ElementType::f32, 8}, {"b", ElementType::f32, 8}};

class PassedValuesTest : public testing::Test {
 protected:
  std::byte memory_[3];
  std::byte *a_ = memory_, *b_ = memory_ + 1, *other_ = memory_ + 2;
  std::byte* addresses_[2] = {a_, b_};
  PassedValues values_{launch(), addresses_, kBuffers};
};

TEST_F(PassedValuesTest, EachArgumentHasItsValue) {
  EXPECT_EQ(passed<std::byte*>(values_, 0), a_);
  EXPECT_EQ(passed<float>(values_, 1), 1.5f);
  EXPECT_EQ(passed<std::byte*>(values_, 2), b_);
  EXPECT_EQ(passed<std::byte*>(values_, 3), a_);
  EXPECT_EQ(passed<int>(values_, 4), 7);
}

TEST_F(PassedValuesTest, ABufferMovesWhereverItIsPassed) {
  values_.move(0, other_);
  EXPECT_EQ(passed<std::byte*>(values_, 0), other_);
  EXPECT_EQ(passed<std::byte*>(values_, 2), b_);
  EXPECT_EQ(passed<std::byte*>(values_, 3), other_);
  EXPECT_EQ(passed<float>(values_, 1), 1.5f);
}

TEST_F(PassedValuesTest, AScalarIsSetByItsName) {
  values_.set({ElementType::f32, 0, -2, "alpha"});
  values_.set({ElementType::i32, 9, 0, "n"});  // nothing is called n
  EXPECT_EQ(passed<float>(values_, 1), -2.0f);
  EXPECT_EQ(passed<int>(values_, 4), 7);
}

TEST_F(PassedValuesTest, ABufferThatIsNotThereIsRefused) {
  Launch wrong = launch();
  wrong.arguments.push_back(BufferRef{2});
  EXPECT_THROW(PassedValues(wrong, addresses_, kBuffers), KernelFailure);
}

TEST(PassedValues, AFieldOfAStructIsSetByItsName) {
  Launch launch;
  launch.entry = "f";
  launch.arguments = {Record{
      "s", {{{ElementType::f32, 0, 0.5, "s.by"}, 0}, {{ElementType::i32, 3, 0, "s.n"}, 196}}, 200}};
  PassedValues values(launch, {}, {});
  struct Passed {
    float by;
    int between[48];
    int n;
  };
  static_assert(sizeof(Passed) == 200);
  values.set({ElementType::i32, 9, 0, "s.n"});
  const auto given = passed<Passed>(values, 0);
  EXPECT_EQ(given.by, 0.5f);
  EXPECT_EQ(given.n, 9);
}

}  // namespace
}  // namespace autotune
