// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/fibre_stack.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kGuardBytes = 4096;

}  // namespace

FibreStack::FibreStack()
    : bottom_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
  if (bottom_ == MAP_FAILED) {
    throw Error(format("no memory for the stack of a thread of a block: {}", std::strerror(errno)));
  }
  mprotect(bottom_, kGuardBytes, PROT_NONE);
}

FibreStack::~FibreStack() {
  forget_frames();
  munmap(bottom_, kBytes);
}

void FibreStack::forget_frames() { ASAN_UNPOISON_MEMORY_REGION(bottom_, kBytes); }

}  // namespace autotune
