// SPDX-License-Identifier: Apache-2.0
// What the host's function around a launch says of it: what is passed, allocated and launched.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/target/kernel_file.hpp"

namespace autotune {

class HostCode {
 public:
  /// Without a launch, it says nothing. `function` has numbers in place of `sizeof(float)`.
  HostCode() = default;
  explicit HostCode(Tokens function) : body_(std::move(function)) {}

  const Tokens& tokens() const { return body_; }
  /// With `pitch = width; cudaMalloc(&x, (width) * (height))` in place of
  /// `cudaMallocPitch(&x, &pitch, width, height)`: rows without gaps.
  static Tokens without_pitches(const Tokens& function);
  /// Without limits that ordinary sizes do not meet, as in `if (blocks > most) blocks = most;`.
  static Tokens without_limits(Tokens function);
  /// Without the 0 of `int n = 0; read(&n);`, which is no value of n.
  static Tokens without_placeholders(Tokens function);
  /// The words that tokens depend on, through variables.
  Words words_behind(const Tokens& tokens) const;
  /// What memory is allocated for.
  Tokens allocated() const;
  /// The bytes that a function allocates for a pointer, through variables; empty if it does not.
  static Tokens bytes_of(const Tokens& function, const std::string& pointer);
  /// Whether it multiplies the word by another variable in the bytes that it allocates.
  bool multiplies_in_length(const std::string& word) const;
  /// The first value of a loop's variable.
  std::optional<std::string> first_turn(const std::string& word) const;
  /// The dimensions of a `dim3` or an integer.
  std::vector<Tokens> dimensions(const Tokens& shape) const;
  /// Code with the dimensions of each `dim3` but one in place of what reads its members: `grid.x`.
  Tokens with_dimensions(const Tokens& code, const Tokens& but) const;

 private:
  /// From `at` to the end of the statement.
  Tokens rest_of_statement(std::size_t at) const;

  Tokens body_;
};

}  // namespace autotune
