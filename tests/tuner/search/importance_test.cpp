// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/importance.hpp"

#include <cmath>

#include <gmock/gmock.h>

namespace autotune {
namespace {

/// 4 x 4 x 4 configurations of A, B and C.
ParameterSpace cube() {
  const std::vector<Value> values{1, 2, 4, 8};
  return ParameterSpace({{"A", values, {}}, {"B", values, {}}, {"C", values, {}}}, {}, Scope());
}

/// The time of every configuration.
template <class Seconds>
std::vector<Evaluation> answers(const ParameterSpace& space, Seconds&& seconds) {
  std::vector<Evaluation> all;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Configuration at = space.at(i);
    all.push_back({i, Outcome::ok, seconds(at[0].value.number(), at[1].value.number())});
  }
  return all;
}

TEST(Importance, TheParameterThatDecidesTheTimeComesFirst) {
  const ParameterSpace space = cube();
  const auto found = importance_of(
      space, answers(space, [](double a, double b) { return 1e-3 * a * std::pow(b, 0.2); }));
  ASSERT_TRUE(found);
  EXPECT_GT(found->r2, 0.9);
  ASSERT_EQ(found->parameters.size(), 3u);
  EXPECT_EQ(found->parameters[0].name, "A");
  EXPECT_EQ(found->parameters[1].name, "B");
  EXPECT_GT(found->parameters[0].r2_loss, 10 * found->parameters[1].r2_loss);
  EXPECT_NEAR(found->parameters[2].r2_loss, 0, 0.02);
}

TEST(Importance, NoiseHasNoR2) {
  const ParameterSpace space = cube();
  std::uint64_t state = 1;
  const auto found = importance_of(space, answers(space, [&](double, double) {
                                     state = state * 6364136223846793005u + 1442695040888963407u;
                                     return 1e-3 * (1 + static_cast<double>(state >> 40) * 0x1p-24);
                                   }));
  ASSERT_TRUE(found);
  EXPECT_LT(found->r2, 0.3);
}

TEST(Importance, NeedsTwentyTimesThatDiffer) {
  const ParameterSpace space = cube();
  const auto equal = answers(space, [](double, double) { return 1e-3; });
  EXPECT_FALSE(importance_of(space, equal));
  auto few = answers(space, [](double a, double) { return 1e-3 * a; });
  few.resize(kFewestForImportance - 1);
  EXPECT_FALSE(importance_of(space, few));
  for (Evaluation& answer : few) answer.seconds.reset();
  EXPECT_FALSE(importance_of(space, few));
}

}  // namespace
}  // namespace autotune
