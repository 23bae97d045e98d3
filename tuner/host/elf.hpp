// SPDX-License-Identifier: Apache-2.0
// Reads the thread-local variables of a shared object, in which kernels have shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace autotune {

/// Bytes of the `__shared__` variables of all its kernels together. 0 if it is not a 64-bit ELF
/// file with a symbol table.
std::int64_t shared_bytes_of(std::string_view shared_object);

/// Bytes of all its thread-local variables, as they lie in memory. 0 if it has none.
std::size_t thread_local_bytes_of(std::string_view shared_object);

}  // namespace autotune
