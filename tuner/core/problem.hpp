// SPDX-License-Identifier: Apache-2.0
// One call to be tuned for: its sizes and settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/value.hpp"

namespace autotune {

/// Sizes (integers, in the target's order) then settings: `M=512 N=512 K=512 dtype=f32`.
struct Problem {
  NamedValues values;

  std::string text() const { return to_text(values); }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The sizes of several problems, each one number a name of `names`, from the `--sizes` syntax:
/// comma-separated items `512` (every name), `128..1024` (multiples of the first up to the last),
/// `128..1024:64` (a step), `128..8192*2` (a factor), `1037x1031x1055` (in the order of names),
/// `M=1,N=4096,K=4096` (by name; an item of this form that repeats a name starts a new problem).
/// Duplicates are dropped. Throws UsageError that quotes the item, says what is wrong and shows a
/// right one: empty, no number, zero or negative, over 2^31-1, a wrong count of sizes, a range
/// that goes down, a step of 0, a name missing or unknown, more than 10,000 problems. `option` is
/// what the sentence begins with.
std::vector<NamedValues> parse_sizes(std::string_view text, const std::vector<std::string>& names,
                                     std::string_view option = "--sizes");

}  // namespace autotune
