// SPDX-License-Identifier: Apache-2.0
// GoogleTest, with the matchers that many tests use under their own names.
#pragma once

#include <gmock/gmock.h>

#include <exception>
#include <string>

/// Expects that a statement throws an exception of this type with these words.
#define EXPECT_REFUSAL(Type, statement, words) \
  EXPECT_THAT([&] { statement; }, ::testing::ThrowsMessage<Type>(::testing::HasSubstr(words)))

namespace autotune {

/// The message of what `work` throws.
inline std::string thrown_by(const auto& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

}  // namespace autotune
