// SPDX-License-Identifier: Apache-2.0
// A problem: one call with its sizes and settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/value.hpp"

namespace autotune {

/// Sizes (integers, in the target's order), then settings: `M=512 N=512 K=512 dtype=f32`.
struct Problem {
  NamedValues values;
  /// The free sizes that are away from their defaults. They are not part of the key.
  NamedValues free = {};

  /// The key of results: without free sizes.
  std::string text() const { return to_text(values); }
  std::string text_with_free() const {
    return free.empty() ? text() : text() + ' ' + to_text(free);
  }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// A size that is left out: its default is meant.
inline constexpr std::int64_t kDefaultSize = -1;

/// Reads the `--sizes` syntax: the sizes of several problems, with one number for each of `names`.
/// Items are separated by commas: `512` (every name), `128..1024` (multiples of the first up to the
/// last), `128..1024:64` (a step), `128..8192*2` (a factor), `1037x1031x1055` (in the order of
/// names), `M=1,N=4096,K=4096` (by name; a name that is repeated starts a new item). A named size
/// may be a range, `M=1..4096*2,N=4096,K=4096`; several ranges give every combination. Duplicates
/// are dropped.
///
/// The sizes after the first `needed` names may be left out, and a single number leaves them out.
///
/// The sizes of `free` are given by name, from 0 to 2^63-1, also after an item of another form:
/// `512,lda=520`. They follow the others in the result, if given.
///
/// Throws UsageError, which starts with `option`, quotes the item, says what is wrong and shows a
/// valid one. Errors: an empty item, not a number, below 1, over 2^31-1, a wrong count of sizes, a
/// descending range, a step of 0, a factor of 1, a missing, repeated or unknown name, more than
/// 10,000 problems.
std::vector<NamedValues> parse_sizes(std::string_view text, const std::vector<std::string>& names,
                                     std::string_view option = "--sizes",
                                     std::optional<std::size_t> needed = std::nullopt,
                                     const std::vector<std::string>& free = {});

}  // namespace autotune
