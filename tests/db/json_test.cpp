// SPDX-License-Identifier: Apache-2.0
// The text of a row is what its id is a hash of: it never changes.
#include "db/json.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace autotune::db
