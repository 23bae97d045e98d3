// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire_value.hpp"

#include <gmock/gmock.h>

#include "tuner/worker/wire.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
T read(const Json& json) {
  return WireValue(json);
}

TEST(WireValue, ReadsWhatIsOfItsType) {
  EXPECT_EQ(read<int>(-7), -7);
  EXPECT_EQ(read<std::uint64_t>(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(read<double>(3), 3.0);
  EXPECT_EQ(read<std::string>("text"), "text");
  EXPECT_TRUE(read<bool>(true));
  EXPECT_EQ(read<std::vector<int>>({1, 2}), (std::vector<int>{1, 2}));
}

TEST(WireValue, RefusesWhatIsNotAndSaysWhy) {
  const auto expect = [](auto call, const char* text) {
    EXPECT_THAT(call, ThrowsMessage<WireError>(HasSubstr(text)));
  };
  expect([] { read<int>(1.5); }, "1.5 is not a whole number");
  expect([] { read<int>(2.0); }, "2.0 is not a whole number");
  expect([] { read<int>(true); }, "true is not a whole number");
  expect([] { read<int>(1LL << 40); }, "1099511627776 is not a number of this range");
  expect([] { read<std::uint32_t>(-1); }, "-1 is not a number of this range");
  expect([] { read<bool>(1); }, "1 is not a truth value");
  expect([] { read<double>("1"); }, "\"1\" is not a number");
  expect([] { read<std::string>(nullptr); }, "null is not a text");
  expect([] { read<std::vector<int>>({1, 0.5}); }, "0.5 is not a whole number");
  expect([] { read<std::string>(Json::array({std::string(1000, 'a')})); }, "aaa… is not a text");
}

TEST(WireValue, AFloatIsNoNumberOfAnOutcome) {
  EXPECT_THAT(
      [] {
        verdict_of({{"outcome", 2.5}, {"message", ""}, {"worst_error", 0}, {"seconds", 0}});
      },
      ThrowsMessage<WireError>(HasSubstr("2.5 is not a whole number")));
}

}  // namespace
}  // namespace autotune
