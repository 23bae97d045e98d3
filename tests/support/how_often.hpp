// SPDX-License-Identifier: Apache-2.0
// How often a test repeats what it does.
#pragma once

#include <cstdlib>

namespace autotune::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// The number in an environment variable, else `otherwise`, or `sanitized` where sanitizers make
/// everything take several times as long.
inline int how_often(const char* variable, int otherwise, int sanitized) {
  const char* const text = std::getenv(variable);
  if (text != nullptr) return std::atoi(text);
  return kSanitized ? sanitized : otherwise;
}

}  // namespace autotune::testing
