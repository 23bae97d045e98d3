// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/checked_json.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

TEST(CheckedJson, AValueOfAnotherTypeIsToldWithItsPath) {
  const Json json = Json::parse(R"({"text": "x", "list": [1, {"in": null}]})");
  const CheckedJson root(json, "x.json");
  EXPECT_EQ(root["text"].text(), "x");
  EXPECT_EQ(root["list"].items().at(0).json(), 1);
  EXPECT_FALSE(root.find("none"));
  const auto expect = [](auto&& work, const char* what) {
    EXPECT_THAT(work, ThrowsMessage<Error>(StartsWith(what)));
  };
  expect([&] { root["list"].text(); }, "x.json: list: expected a text in quotes, got array");
  expect([&] { root["text"]["below"]; }, "x.json: text: expected an object, got string");
  expect([&] { root["text"].items(); }, "x.json: text: expected an array, got string");
  expect([&] { root["list"].items(3); }, "x.json: list: has 2 items, expected 3 or more");
  expect([&] { root["list"].items().at(1)["in"].members(); },
         "x.json: list[1].in: expected an object, got null");
  expect([&] { root["none"]; }, "x.json: \"none\" is missing");
}

}  // namespace
}  // namespace autotune
