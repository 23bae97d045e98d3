// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kPage = 4096;

template <class T>
std::vector<double> values_as(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

}  // namespace

HostBuffer::HostBuffer(BufferSpec spec) : spec_(std::move(spec)) {
  const auto bytes = static_cast<std::size_t>(spec_.bytes());
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage + 2 * kRedZoneBytes;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, whole)));
  if (!memory_) {
    throw Error(
        format("no memory for {} ({}): use smaller sizes", spec_.name, bytes_text(spec_.bytes())));
  }
  paint_red_zones();
}

void HostBuffer::paint_red_zones() {
  std::fill_n(memory_.get(), kRedZoneBytes, kRedZoneByte);
  std::fill_n(start() + spec_.bytes(), kRedZoneBytes, kRedZoneByte);
}

void HostBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Verdict HostBuffer::check_red_zones() {
  return autotune::check_red_zones(spec_, {memory_.get(), kRedZoneBytes},
                                   {start() + spec_.bytes(), kRedZoneBytes});
}

void HostBuffer::evict() {
  constexpr std::size_t kLine = 64;
  const auto all = bytes();
  for (std::size_t i = 0; i < all.size(); i += kLine) {
#if defined(__x86_64__)
    __builtin_ia32_clflush(all.data() + i);
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" ::"r"(all.data() + i) : "memory");
#else
#error "say here how a line is put out of the caches of this processor"
#endif
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

HostBuffers::HostBuffers(std::span<const BufferSpec> specs, InputSet set, std::uint64_t seed)
    : set_(set), seed_(seed) {
  for (const BufferSpec& spec : specs) {
    HostBuffer& buffer = buffers_.emplace_back(spec);
    if (spec.role == Role::input) fill(buffer.bytes(), spec, set_, seed_);
  }
}

void HostBuffers::prepare() {
  for (HostBuffer& buffer : buffers_) {
    const BufferSpec& spec = buffer.spec();
    if (spec.role == Role::inout) fill(buffer.bytes(), spec, set_, seed_);
    if (spec.role == Role::output || spec.role == Role::workspace) {
      poison(buffer.bytes(), spec.type);
    }
  }
}

Verdict HostBuffers::check_untouched() {
  for (HostBuffer& buffer : buffers_) {
    Verdict verdict = buffer.check_red_zones();
    if (verdict.outcome == Outcome::ok && buffer.spec().role == Role::input) {
      verdict = check_unchanged(buffer.spec(), buffer.bytes(), set_, seed_);
    }
    if (verdict.outcome == Outcome::ok) continue;
    restore();
    return verdict;
  }
  return {};
}

void HostBuffers::restore() {
  for (HostBuffer& buffer : buffers_) {
    buffer.paint_red_zones();
    const BufferSpec& spec = buffer.spec();
    if (spec.role == Role::input) fill(buffer.bytes(), spec, set_, seed_);
  }
}

std::vector<double> values_of(HostBuffer& buffer) {
  switch (buffer.spec().type) {
    case ElementType::f32:
      return values_as<float>(buffer.bytes());
    case ElementType::f64:
      return values_as<double>(buffer.bytes());
    case ElementType::i32:
      return values_as<std::int32_t>(buffer.bytes());
    case ElementType::i64:
      break;
  }
  return values_as<std::int64_t>(buffer.bytes());
}

}  // namespace autotune
