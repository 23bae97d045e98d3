// SPDX-License-Identifier: Apache-2.0
// GoogleTest, with the matchers that many tests use under their own names.
#pragma once

#include <gmock/gmock.h>

namespace autotune {

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
