// SPDX-License-Identifier: Apache-2.0
// Reads the symbols of a shared object. Kernels have shared memory in thread-local variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// Bytes of the `__shared__` variables of all its kernels together. 0 if it is not a 64-bit ELF
/// file with a symbol table.
std::int64_t shared_bytes_of(std::string_view shared_object);

/// The names of its symbols that have this part.
std::vector<std::string> symbols_with(std::string_view shared_object, std::string_view part);

/// Bytes of all its thread-local variables, as they lie in memory. 0 if it has none.
std::size_t thread_local_bytes_of(std::string_view shared_object);

}  // namespace autotune
