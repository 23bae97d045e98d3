// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/word_hash.hpp"

#include <gmock/gmock.h>

#include <set>

namespace autotune::blas {
namespace {

using Words = std::array<std::uint64_t, 17>;

TEST(WordHash, EveryBitOfEveryWordMatters) {
  std::set<std::uint64_t> seen{word_hash(Words{})};
  for (std::size_t word = 0; word < Words{}.size(); ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      Words words{};
      words[word] = std::uint64_t{1} << bit;
      seen.insert(word_hash(words));
    }
  }
  EXPECT_EQ(seen.size(), 1 + 64 * Words{}.size());
}

TEST(WordHash, WordsMayNotChangePlaces) {
  Words one{}, other{};
  one[0] = other[4] = 5;
  EXPECT_NE(word_hash(one), word_hash(other));
}

TEST(WordHash, ItsLowBitsSpread) {
  std::set<std::uint64_t> slots;
  for (std::uint64_t size = 1; size <= 64; ++size) slots.insert(word_hash(Words{size}) % 4096);
  EXPECT_GE(slots.size(), 60U);
}

}  // namespace
}  // namespace autotune::blas
