// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/block_runner.hpp"

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

// Null in a build without AddressSanitizer.
extern "C" [[gnu::weak]] void* __asan_region_is_poisoned(void* begin, std::size_t size);

namespace autotune {
namespace {

constexpr std::size_t kMark = 64;

/// As the frame of a function that never returns. Gives its address.
void* mark(FibreStack& stack) {
  std::byte* const frame = static_cast<std::byte*>(stack.top()) - kMark;
  ASAN_POISON_MEMORY_REGION(frame, kMark);
  return frame;
}

bool is_marked(void* frame) { return __asan_region_is_poisoned(frame, kMark) != nullptr; }

TEST(FibreStack, LeavesNoMarksOfAddressSanitizerBehind) {
  if (&__asan_region_is_poisoned == nullptr) GTEST_SKIP() << "a build without AddressSanitizer";
  void* frame = nullptr;
  {
    FibreStack stack;
    frame = mark(stack);
    EXPECT_TRUE(is_marked(frame));
    stack.forget_frames();
    EXPECT_FALSE(is_marked(frame));
    mark(stack);
  }
  EXPECT_FALSE(is_marked(frame)) << "the next stack may lie here";
}

}  // namespace
}  // namespace autotune
