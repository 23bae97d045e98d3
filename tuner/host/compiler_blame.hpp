// SPDX-License-Identifier: Apache-2.0
// Why a C++ compiler has failed.
#pragma once

#include <cstdint>
#include <string>

namespace autotune {

enum class Blame : std::uint8_t {
  source,   // the compiler refuses it
  crash,    // the compiler breaks over it
  machine,  // no memory, no descriptors, a compiler or linker that was killed
  disk,     // nothing can be written
};

/// `status` is that of the program, 128 + signal when one ended it; `log` is in English. What does
/// not name a place in the source, or something that it lacks or has twice, is the machine's.
Blame blame(int status, const std::string& log);

}  // namespace autotune
