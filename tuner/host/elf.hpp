// SPDX-License-Identifier: Apache-2.0
// What a shared object says of its kernels' memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace autotune {

/// Bytes of the `__shared__` variables of all kernels in it together; 0 where the bytes are no
/// 64-bit ELF file with a symbol table.
std::int64_t shared_bytes_of(std::string_view shared_object);

}  // namespace autotune
