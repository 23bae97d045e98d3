// SPDX-License-Identifier: Apache-2.0
// Decides why a C++ compiler failed.
#pragma once

#include <cstdint>
#include <string>

namespace autotune {

enum class Blame : std::uint8_t {
  source,   // the compiler reports an error in it
  crash,    // the compiler crashes
  machine,  // no memory, no descriptors, a compiler or linker that was killed
  disk,     // the disk is full or read-only
};

/// `status` is the exit status, or 128 + signal. `log` is in English. The machine is to blame,
/// unless the log names a place in the source, an undefined symbol or a duplicate one.
Blame blame(int status, const std::string& log);

}  // namespace autotune
