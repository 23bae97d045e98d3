// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/fill.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

using testing::HasSubstr;

BufferSpec buffer(ElementType type, Fill fill, std::vector<double> values) {
  BufferSpec spec{"x", type, 100, Role::input, fill};
  spec.fill_values = std::move(values);
  return spec;
}

TEST(FillComplaint, IsOfWhatTheTypeCannotHold) {
  EXPECT_EQ(fill_complaint(buffer(ElementType::f32, Fill::uniform, {0, 0.5})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::uniform, {-5, 5})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::uniform, {0, 0.5})),
            "0.5 is not a value of i32");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::value, {3e9})),
            "3000000000 to 3000000000 does not fit i32");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i64, Fill::value, {3e9})), "");
  EXPECT_THAT(fill_complaint(buffer(ElementType::i32, Fill::range, {0, 1 << 25})),
              HasSubstr("does not fit i32"));
  EXPECT_EQ(fill_complaint(buffer(ElementType::u8, Fill::uniform, {0, 255})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i8, Fill::uniform, {0, 255})),
            "0 to 255 does not fit i8");
  EXPECT_EQ(fill_complaint(buffer(ElementType::f16, Fill::value, {70000})),
            "70000 to 70000 does not fit f16");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::normal, {0.5, 3.5})), "");
  EXPECT_THAT(fill_complaint(buffer(ElementType::i32, Fill::normal, {0, 1e9})),
              HasSubstr("does not fit i32"));
}

TEST(FillComplaint, IsOfRulesThatMakeNoSense) {
  EXPECT_EQ(fill_complaint(buffer(ElementType::f32, Fill::uniform, {2, 1})), "2 to 1 is empty");
  EXPECT_THAT(fill_complaint(buffer(ElementType::f32, Fill::normal, {0, -1})),
              HasSubstr("negative"));
  EXPECT_THAT(fill_complaint(buffer(ElementType::f64, Fill::uniform, {-1e308, 1e308 * 10})),
              HasSubstr("finite"));
}

TEST(FillText, NamesTheRuleOrTheFileOfAnInput) {
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::random, {})), "");
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::uniform, {0, 0.5})), "uniform 0 to 0.5");
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::range, {1, 2})), "1, 3, …");
  BufferSpec file = buffer(ElementType::f32, Fill::random, {});
  file.file = "data/points.npy";
  EXPECT_EQ(fill_text(file), "from points.npy");
}

}  // namespace
}  // namespace autotune
