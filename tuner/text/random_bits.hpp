// SPDX-License-Identifier: Apache-2.0
// Random bits of the system. std::random_device of GCC 12 would need glibc 2.36 where programs run.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace autotune {

inline std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::system_error(errno, std::generic_category(), "no random bits");
  }
  return bits;
}

}  // namespace autotune
