// SPDX-License-Identifier: Apache-2.0
// Hashes all bytes of an object, for tables that every call of cuBLAS looks into.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace autotune::blas {

/// Multiplications carry bits upwards only; the shift brings them down.
constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits *= 0x9e3779b97f4a7c15u;
  return bits ^ (bits >> 32);
}

/// A sum of products, so that no multiplication waits for another.
template <class Object>
std::uint64_t word_hash(const Object& object) noexcept {
  static_assert(std::has_unique_object_representations_v<Object>);
  static_assert(sizeof object % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof object / sizeof(std::uint64_t)>;
  constexpr Words kFactors = [] {
    Words factors{};
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = mixed(mixed(i + 1)) | 1;
    return factors;
  }();
  const auto words = std::bit_cast<Words>(object);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    hash += (words[i] ^ (words[i] >> 32)) * kFactors[i];
  return mixed(hash);
}

}  // namespace autotune::blas
