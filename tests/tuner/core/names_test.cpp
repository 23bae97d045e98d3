// SPDX-License-Identifier: Apache-2.0
// The names of enumerations are what is stored and typed: they must round-trip.
#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "tuner/core/device.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/outcome.hpp"

namespace autotune {
namespace {

TEST(ElementType, NamesRoundTrip) {
  for (const auto* name :
       {"f32", "f64", "i32", "i64", "f16", "bf16", "i8", "u8", "i16", "u16", "u32", "u64"}) {
    ASSERT_TRUE(element_type(name));
    EXPECT_EQ(name_of(*element_type(name)), name);
  }
  EXPECT_FALSE(element_type("f8"));
}

TEST(ElementType, KnowsBytesAndRoundoff) {
  EXPECT_EQ(bytes_of(ElementType::f32), 4);
  EXPECT_EQ(bytes_of(ElementType::i64), 8);
  EXPECT_EQ(unit_roundoff(ElementType::f32), 0x1p-24);
  EXPECT_EQ(unit_roundoff(ElementType::i32), 0);
  EXPECT_TRUE(is_floating(ElementType::f64));
  EXPECT_FALSE(is_floating(ElementType::i64));
  EXPECT_EQ(bytes_of(ElementType::bf16), 2);
  EXPECT_EQ(unit_roundoff(ElementType::f16), 0x1p-11);
  EXPECT_EQ(sum_roundoff(ElementType::bf16), 0x1p-24);
  EXPECT_EQ(exact_integers(ElementType::bf16), 256);
  EXPECT_EQ(cpp_name_of(ElementType::f16), "__half");
}

TEST(ElementType, KnowsWhatIntegersItHas) {
  EXPECT_TRUE(holds(ElementType::i8, -128));
  EXPECT_FALSE(holds(ElementType::i8, 128));
  EXPECT_TRUE(holds(ElementType::u8, 255));
  EXPECT_FALSE(holds(ElementType::u8, -1));
  EXPECT_FALSE(holds(ElementType::u16, 65536));
  EXPECT_TRUE(holds(ElementType::u32, 4294967295));
  EXPECT_FALSE(holds(ElementType::u32, -1));
  EXPECT_TRUE(holds(ElementType::u64, std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(holds(ElementType::u64, -1));
  EXPECT_TRUE(holds(ElementType::i32, 2147483647));
  EXPECT_FALSE(holds(ElementType::i32, 2147483648));
  EXPECT_TRUE(holds(ElementType::i64, std::numeric_limits<std::int64_t>::max()));
}

TEST(Outcome, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto each = static_cast<Outcome>(i);
    EXPECT_EQ(outcome(name_of(each)), each);
    names.insert(name_of(each));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kOutcomes));
  EXPECT_EQ(name_of(Outcome::compile_error), "compile_error");
  EXPECT_FALSE(outcome("fine"));
}

TEST(DeviceInfo, BindsWhatExpressionsMaySee) {
  DeviceInfo info;
  info.kind = DeviceKind::host;
  info.multiprocessors = 2;
  Scope scope;
  bind_device(scope, info);
  EXPECT_EQ(scope.evaluate(Expression::parse("device.is_host * 10 + device.multiprocessors")), 12);
  EXPECT_EQ(scope["device.shared_bytes"], 48 << 10);
}

TEST(Scope, ALaterBindingHidesAnEarlierAndAnUnknownNameIsNamed) {
  Scope scope;
  scope.bind("BM", 1);
  scope.bind({{"BM", 2}, {"MODE", "fast"}});
  EXPECT_EQ(scope["BM"], 2);
  EXPECT_EQ(scope.evaluate(Expression::parse("MODE == 'fast'")), 1);
  try {
    (void)scope["BMM"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "nothing is called BMM here (did you mean BM?)");
  }
}

}  // namespace
}  // namespace autotune
