// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/formula_values.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(Question, NamesTheManifestTheKeyAndTheValues) {
  Target target;
  target.name = "toy";
  target.parameters = {{"KERNEL", {"plain", "split"}, {}, false}, {"TILE", {8, 16}, {}, false}};
  const Problem problem{{{"M", 5}}};
  const Levels levels = {1, 0};
  const Question with{target, problem, levels}, without{target, problem, {}};
  EXPECT_THAT([&] { with.fail("kernels[0].grid[1]", "it is bad"); },
              ThrowsMessage<Error>(
                  HasSubstr("kernels[0].grid[1]: it is bad (for M=5 KERNEL=split TILE=8)")));
  EXPECT_THAT([&] { without.fail("length", "it is bad"); },
              ThrowsMessage<Error>(EndsWith("length: it is bad (for M=5)")));
}

}  // namespace
}  // namespace autotune
