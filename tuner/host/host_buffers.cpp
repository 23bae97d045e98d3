// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

HostBuffer::HostBuffer(BufferSpec spec, std::int64_t slack) : spec_(std::move(spec)) {
  const auto bytes = static_cast<std::size_t>(spec_.bytes() + slack);
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

Verdict HostBuffer::check_red_zones() const {
  return autotune::check_red_zones(spec_, {memory_.get(), kRedZoneBytes},
                                   {start() + spec_.bytes(), kRedZoneBytes});
}

void HostBuffer::fill(ThreadPool& threads, InputSet set, std::uint64_t seed, bool absolute,
                      std::span<const std::byte> prepared) {
  if (!prepared.empty()) {
    std::ranges::copy(prepared, start());
    if (absolute) make_absolute(bytes(), spec_);
    return;
  }
  const bool at_once = !spec_.file.empty() || !spec_.members.empty();
  if (at_once) return autotune::fill(bytes(), spec_, set, seed, absolute);
  const ElementRule rule = element_rule(spec_, set, seed, absolute);
  const auto element = static_cast<std::size_t>(bytes_of(spec_.type));
  threads.run_pieces(spec_.length, [&](std::int64_t first, std::int64_t count) {
    const std::span piece(start() + static_cast<std::size_t>(first) * element,
                          static_cast<std::size_t>(count) * element);
    fill_elements(piece, spec_.type, rule, first);
  });
}

void HostBuffer::poison(ThreadPool& threads) {
  if (!spec_.members.empty()) return autotune::poison(bytes(), spec_);
  set_bytes(threads, poison_byte(spec_.type));
}

void HostBuffer::set_bytes(ThreadPool& threads, std::byte value) {
  threads.run_pieces(spec_.bytes(), [&](std::int64_t first, std::int64_t count) {
    std::fill_n(start() + first, count, value);
  });
}

std::vector<std::uint64_t> HostBuffer::hashes(ThreadPool& threads) const {
  constexpr std::int64_t kPiece = ThreadPool::kPiece;
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(spec_.bytes() / kPiece + 1));
  threads.run_pieces(spec_.bytes(), [&](std::int64_t first, std::int64_t count) {
    const auto* const piece = reinterpret_cast<const char*>(start() + first);
    hashes[static_cast<std::size_t>(first / kPiece)] =
        hash64({piece, static_cast<std::size_t>(count)});
  });
  return hashes;
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
#error "add the instruction that flushes a cache line on this processor"
#endif
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::vector<HostMemory> memory_of(std::span<HostBuffer> buffers, std::span<HostBuffer> workspace) {
  std::vector<HostMemory> memory;
  for (HostBuffer& buffer : buffers) memory.push_back({buffer.bytes(), buffer.spec().type});
  for (HostBuffer& buffer : workspace) memory.push_back({buffer.bytes(), buffer.spec().type});
  return memory;
}

HostBuffers::HostBuffers(std::span<const BufferSpec> specs, InputSet set, std::uint64_t seed,
                         const PreparedInputs& prepared, ThreadPool& threads)
    : set_(set), seed_(seed), prepared_(prepared), threads_(threads) {
  for (const BufferSpec& spec : specs) {
    buffers_.emplace_back(spec);
    hashes_.emplace_back();
    if (spec.role != Role::input) continue;
    fill(buffers_.size() - 1);
    hashes_.back() = buffers_.back().hashes(threads_);
  }
}

void HostBuffers::fill(std::size_t index) {
  buffers_[index].fill(threads_, set_, seed_, false, prepared_.of(set_, index));
}

void HostBuffers::prepare() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Role role = buffers_[i].spec().role;
    if (role == Role::inout) {
      fill(i);
    } else if (role != Role::input) {
      buffers_[i].poison(threads_);
    }
  }
}

Verdict HostBuffers::check_untouched() {
  Verdict verdict;
  for (const HostBuffer& buffer : buffers_) {
    if (verdict.outcome == Outcome::ok) verdict = buffer.check_red_zones();
  }
  if (verdict.outcome == Outcome::ok) verdict = check_inputs();
  if (verdict.outcome != Outcome::ok) restore();
  return verdict;
}

Verdict HostBuffers::check_inputs() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const HostBuffer& buffer = buffers_[i];
    const bool same = hashes_[i].empty() || buffer.hashes(threads_) == hashes_[i];
    if (same) continue;
    return check_unchanged(buffer.spec(), buffer.bytes(), set_, seed_, prepared_.of(set_, i));
  }
  return {};
}

void HostBuffers::restore() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    buffers_[i].paint_red_zones();
    if (buffers_[i].spec().role == Role::input) fill(i);
  }
}

}  // namespace autotune
