// SPDX-License-Identifier: Apache-2.0
// The text of a row is what its id is a hash of: it never changes.
#include "db/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "db/problem_text.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

template <class T>
std::string json_of(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

TEST(RowJson, TextIsEscaped) {
  EXPECT_EQ(json_of(std::string_view("a\"b\\c")), R"("a\"b\\c")");
  EXPECT_EQ(json_of(std::string_view("\n\t\r")), R"("\n\t\r")");
  EXPECT_EQ(json_of(std::string_view("\x01\x1f")), R"("\u0001\u001f")");
  EXPECT_EQ(json_of(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json_of(std::string_view("Bär\x7f")), "\"Bär\x7f\"");
}

TEST(RowJson, NumbersAreTheShortestTextThatReadsBackTheSame) {
  EXPECT_EQ(json_of(0.1), "0.1");
  EXPECT_EQ(json_of(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(json_of(2871.0), "2871");
  EXPECT_EQ(json_of(-0x1.fffffffffffffp1023), "-1.7976931348623157e+308");
  EXPECT_EQ(json_of(std::int64_t{INT64_MIN}), "-9223372036854775808");
  EXPECT_EQ(json_of(true), "true");
  EXPECT_EQ(json_of(std::optional<double>()), "null");
}

TEST(RowJson, HasTheColumnsInOrderWithoutTheId) {
  DeviceRow device = h200();
  device.id = "anything";
  EXPECT_EQ(to_json(device),
            R"({"table":"device","name":"NVIDIA H200","kind":"cuda","pci_id":"10de:2335",)"
            R"("compute_capability":90,"multiprocessors":132,"l2_bytes":62914560,)"
            R"("memory_bytes":150754820096,"mig_profile":""})");
}

TEST(RowJson, ColumnsOfLaterSchemasAppearWhereTheyHaveAValue) {
  DecisionRow decision;
  EXPECT_EQ(to_json(decision).find("baseline"), std::string::npos);
  EXPECT_EQ(to_json(decision).find("joules"), std::string::npos);
  EXPECT_NE(to_json(decision).find("\"median_ns\":null"), std::string::npos);
  decision.baseline.plugin = "cublas";
  decision.joules = 0.5;
  EXPECT_NE(to_json(decision).find(R"("baseline":"cublas")"), std::string::npos);
  EXPECT_NE(to_json(decision).find(R"("joules":0.5)"), std::string::npos);
}

TEST(ProblemText, SizesAreTakenFromTheFrontAndSettingsAreLeft) {
  std::string_view problem = "M=512 N=64 K=7 dtype=f32";
  std::array<std::int64_t, 3> sizes{};
  EXPECT_EQ(take_sizes(problem, "M N K", sizes), 3u);
  EXPECT_EQ(sizes, (std::array<std::int64_t, 3>{512, 64, 7}));
  EXPECT_EQ(problem, "dtype=f32");
}

TEST(ProblemText, WithoutSettingsNothingIsLeft) {
  std::string_view problem = "N=64";
  EXPECT_TRUE(take_sizes(problem, "N"));
  EXPECT_EQ(problem, "");
}

TEST(ProblemText, ATextOfOtherSizesIsLeftAsItIs) {
  for (const std::string_view text : {"K=5 M=4", "M=4", "M=4 K=", "M=4 K=5x", "M=4 K=0", "M=4 K=-5",
                                      "M4 K=5", "M=4 K=99999999999999999999", "MM=4 K=5", ""}) {
    std::string_view problem = text;
    EXPECT_FALSE(take_sizes(problem, "M K")) << text;
    EXPECT_EQ(problem, text);
  }
}

TEST(ProblemText, MoreSizesThanThereIsRoomForAreRefused) {
  std::string_view problem = "M=4 K=5";
  std::array<std::int64_t, 1> sizes{};
  EXPECT_EQ(take_sizes(problem, "M K", sizes), std::nullopt);
}

TEST(ProblemText, DistanceIsTheRootMeanSquareOfLogarithms) {
  using TwoSizes = std::array<std::int64_t, 2>;
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{8, 8}), 0);
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{16, 4}, TwoSizes{8, 8}), 1);  // twice, and half
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{16, 4}), 1);
  EXPECT_DOUBLE_EQ(size_distance({}, {}), 0);
}

}  // namespace
}  // namespace autotune::db
