// SPDX-License-Identifier: Apache-2.0
// The --sizes syntax with free sizes.
#pragma once

#include "tuner/core/problem.hpp"

namespace autotune {

/// parse_sizes() that also reads the sizes of `free`. They are given by name, from 0 to 2^63-1,
/// also after an item of another form: `512,lda=520`. They follow the others in the result, if
/// given.
std::vector<NamedValues> parse_sizes(std::string_view text, const std::vector<std::string>& names,
                                     std::string_view option, std::size_t needed,
                                     const std::vector<std::string>& free);

}  // namespace autotune
