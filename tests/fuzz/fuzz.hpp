// SPDX-License-Identifier: Apache-2.0
// What all fuzzers share: each defines feed(), which libFuzzer or replay.cpp calls.
#pragma once

#include <string_view>

namespace autotune::fuzz {

/// Reads the input as if a user, a file or another process had sent it. May throw Error or
/// StoreError, which refuse the input. Anything else that it throws is a finding.
void feed(std::string_view input);

/// Ends the process with this sentence where what must hold does not.
void require(bool holds, std::string_view sentence);

}  // namespace autotune::fuzz
