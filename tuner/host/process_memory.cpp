// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kPage = 4096;
/// On each side, which costs addresses only; the second where addresses are limited. The pages are
/// odd in number, so that buffers of 2^n bytes start in different cache sets.
constexpr std::size_t kGuards[] = {(std::size_t{64} << 20) + 17 * kPage, 17 * kPage};

/// Numbers to sort, whose comparisons take the place of all others in a predictor.
constexpr std::size_t kForgottenBy = 32768;

[[noreturn]] void fail_for_memory(std::int64_t bytes) {
  throw Error(format("no memory for {}: use smaller sizes", bytes_text(bytes)));
}

/// A file in memory, without a name.
class SealedFile {
 public:
  SealedFile(const std::byte* from, std::int64_t bytes)
      : file_(memfd_create("autotune", MFD_CLOEXEC)) {
    for (std::int64_t done = 0; done < bytes;) {
      const ssize_t written = ::write(file_, from + done, static_cast<std::size_t>(bytes - done));
      if (written <= 0) {
        ::close(file_);
        fail_for_memory(bytes);
      }
      done += written;
    }
  }
  SealedFile(const SealedFile&) = delete;
  SealedFile& operator=(const SealedFile&) = delete;
  ~SealedFile() { ::close(file_); }

  int get() const { return file_; }

 private:
  int file_;
};

int file_of(const Sealed& sealed) { return static_cast<const SealedFile*>(sealed.get())->get(); }

/// Sealed bytes while they are mapped; empty for none.
class Unsealed {
 public:
  Unsealed(const Sealed& sealed, std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
    if (!sealed || bytes == 0) return;
    void* const at = mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, file_of(sealed), 0);
    if (at == MAP_FAILED) fail_for_memory(bytes);
    start_ = static_cast<const std::byte*>(at);
  }
  Unsealed(const Unsealed&) = delete;
  Unsealed& operator=(const Unsealed&) = delete;
  ~Unsealed() {
    if (start_ != nullptr) munmap(const_cast<std::byte*>(start_), size_);
  }
  std::span<const std::byte> bytes() const {
    return start_ == nullptr ? std::span<const std::byte>() : std::span(start_, size_);
  }

 private:
  const std::byte* start_ = nullptr;
  std::size_t size_;
};

std::span<const std::byte> bytes_at(const std::byte* start, std::int64_t bytes) {
  return {start, static_cast<std::size_t>(bytes)};
}

}  // namespace

std::shared_ptr<std::byte> ProcessMemory::allocate(std::int64_t bytes) {
  const std::size_t whole = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
  for (const std::size_t guard : kGuards) {
    const std::size_t reserved = whole + 2 * guard;
    void* const base =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    const std::shared_ptr<std::byte> start(static_cast<std::byte*>(base) + guard,
                                           [=](std::byte*) { munmap(base, reserved); });
    if (whole == 0 || mprotect(start.get(), whole, PROT_READ | PROT_WRITE) == 0) return start;
  }
  fail_for_memory(bytes);
}

void ProcessMemory::set(std::byte* to, std::byte value, std::int64_t bytes) {
  threads_.run_pieces(bytes, [&](std::int64_t first, std::int64_t count) {
    std::fill_n(to + first, count, value);
  });
}

void ProcessMemory::set_columns(std::byte* to, std::byte value, std::int64_t width,
                                std::int64_t pitch, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) std::fill_n(to + row * pitch, width, value);
}

void ProcessMemory::copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  threads_.run_pieces(bytes, [&](std::int64_t first, std::int64_t count) {
    std::copy_n(from + first, count, to + first);
  });
}

void ProcessMemory::write(std::byte* to, std::span<const std::byte> from) {
  copy(to, from.data(), std::ssize(from));
}

std::vector<std::byte> ProcessMemory::read(const std::byte* from, std::int64_t bytes) {
  return {from, from + bytes};
}

void ProcessMemory::draw(std::byte* to, ElementType type, const ElementRule& rule,
                         std::int64_t count) {
  const auto size = static_cast<std::size_t>(bytes_of(type));
  threads_.run_pieces(count, [&](std::int64_t first, std::int64_t elements) {
    const std::span piece(to + static_cast<std::size_t>(first) * size,
                          static_cast<std::size_t>(elements) * size);
    fill_elements(piece, type, rule, first);
  });
}

void ProcessMemory::scatter(std::byte* to, const std::byte* from, const std::int64_t* positions,
                            std::int64_t count, std::int64_t element_bytes) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + positions[i] * element_bytes, from + i * element_bytes,
                static_cast<std::size_t>(element_bytes));
  }
}

Sealed ProcessMemory::seal(std::byte* from, std::int64_t bytes) {
  auto sealed = std::make_shared<const SealedFile>(from, bytes);
  set(from, std::byte{0}, bytes);
  return sealed;
}

std::vector<std::byte> ProcessMemory::unsealed(const Sealed& sealed, std::int64_t offset,
                                               std::int64_t bytes) {
  std::vector<std::byte> to(static_cast<std::size_t>(bytes));
  if (pread(file_of(sealed), to.data(), to.size(), offset) != bytes) fail_for_memory(bytes);
  return to;
}

void ProcessMemory::compare(const BufferSpec& buffer, const std::byte* got,
                            const SealedAnswer& right, Finding* to) {
  const std::int64_t bytes = buffer.length * bytes_of(right.type);
  const Unsealed values(right.values, bytes), magnitudes(right.magnitudes, bytes);
  const Expected expected{right.type, values.bytes(), magnitudes.bytes(), right.exact};
  const std::span<const std::byte> all = bytes_at(got, buffer.bytes());
  std::mutex mutex;
  threads_.run_pieces(buffer.length, [&](std::int64_t first, std::int64_t count) {
    const Finding part = compare_elements(buffer, all, expected, first, count);
    const std::lock_guard lock(mutex);
    add(*to, part);
  });
}

void ProcessMemory::compare_bits(const BufferSpec& buffer, const std::byte* one,
                                 const std::byte* other, Finding* to) {
  add(*to, autotune::compare_bits(buffer.type, bytes_at(one, buffer.bytes()),
                                  bytes_at(other, buffer.bytes()), 0, buffer.length));
}

void ProcessMemory::count_other(const std::byte* start, std::int64_t bytes, std::byte value,
                                std::uint64_t* to) {
  *to += static_cast<std::uint64_t>(bytes - std::count(start, start + bytes, value));
}

void ProcessMemory::hash(const std::byte* start, std::int64_t bytes, std::uint64_t* to) {
  std::atomic<std::uint64_t> sum{0};
  threads_.run_pieces(bytes, [&](std::int64_t first, std::int64_t count) {
    const auto* const piece = reinterpret_cast<const char*>(start + first);
    sum +=
        mix(hash64({piece, static_cast<std::size_t>(count)}) + static_cast<std::uint64_t>(first));
  });
  *to += sum;
}

void ProcessMemory::count_inexact(ElementType type, const std::byte* values, std::int64_t count,
                                  double limit, std::uint64_t* to) {
  const bool all = all_small_integers(type, bytes_at(values, count * bytes_of(type)), limit);
  *to += all ? 0 : 1;
}

void ProcessMemory::forget_branches() {
  threads_.run([](unsigned number) {
    thread_local std::mt19937 random(number);
    std::vector<std::uint32_t> other(kForgottenBy);
    std::ranges::generate(other, std::ref(random));
    std::ranges::sort(other);
  });
}

std::vector<HostMemory> memory_of(std::span<const ZonedBuffer> buffers) {
  std::vector<HostMemory> memory;
  for (const ZonedBuffer& buffer : buffers) {
    const auto bytes = static_cast<std::size_t>(buffer.spec().bytes());
    memory.push_back({{buffer.start(), bytes}, buffer.spec().type});
  }
  return memory;
}

void evict(const ZonedBuffer& buffer) {
  constexpr std::int64_t kLine = 64;
  for (std::int64_t i = 0; i < buffer.spec().bytes(); i += kLine) {
#if defined(__x86_64__)
    __builtin_ia32_clflush(buffer.start() + i);
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" ::"r"(buffer.start() + i) : "memory");
#else
#error "add the instruction that flushes a cache line on this processor"
#endif
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace autotune
