// SPDX-License-Identifier: Apache-2.0
// Reads the shared memory of kernels from a shared object.
#pragma once

#include <cstdint>
#include <string_view>

namespace autotune {

/// Bytes of the `__shared__` variables of all its kernels together. 0 if it is not a 64-bit ELF
/// file with a symbol table.
std::int64_t shared_bytes_of(std::string_view shared_object);

}  // namespace autotune
