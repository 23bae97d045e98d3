// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/problem_buffers.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_check.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

constexpr int kMostCopies = 1024;

/// The alignment that textures need.
std::int64_t aligned(std::int64_t bytes) { return (bytes + 511) / 512 * 512; }

void set_bytes(cudaStream_t stream, std::byte* to, std::byte value, std::int64_t bytes) {
  check_cuda(cudaMemsetAsync(to, static_cast<int>(value), static_cast<std::size_t>(bytes), stream),
             "set memory");
}

/// Fills files and structs on the host, and synchronizes so that the host's copy can go.
void upload(cudaStream_t stream, const BufferSpec& spec, InputSet set, std::uint64_t seed,
            bool absolute, std::byte* to) {
  std::vector<std::byte> contents(static_cast<std::size_t>(spec.bytes()));
  fill(contents, spec, set, seed, absolute);
  copy(stream, to, contents.data(), spec.bytes());
  check_cuda(cudaStreamSynchronize(stream), "copy memory");
}

}  // namespace

void copy(cudaStream_t stream, void* to, const void* from, std::int64_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream),
             "copy memory");
}

std::vector<std::byte> downloaded(const std::byte* from, std::int64_t bytes) {
  std::vector<std::byte> to(static_cast<std::size_t>(bytes));
  check_cuda(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDefault), "copy memory");
  return to;
}

void poison(cudaStream_t stream, const BufferSpec& spec, std::byte* to) {
  set_bytes(stream, to, poison_byte(spec.type), spec.bytes());
  for (const Member& member : spec.members) {
    check_cuda(cudaMemset2DAsync(to + member.offset, static_cast<std::size_t>(spec.element_bytes()),
                                 static_cast<int>(poison_byte(member.type)),
                                 static_cast<std::size_t>(bytes_of(member.type)),
                                 static_cast<std::size_t>(spec.length), stream),
               "set memory");
  }
}

ZonedBuffer::ZonedBuffer(cudaStream_t stream, std::int64_t bytes, std::int64_t slack)
    : memory_(bytes + 2 * kRedZoneBytes + slack), bytes_(bytes) {
  reset_zones(stream);
}

void ZonedBuffer::reset_zones(cudaStream_t stream) const {
  set_bytes(stream, memory_.get(), kRedZoneByte, kRedZoneBytes);
  set_bytes(stream, start() + bytes_, kRedZoneByte, kRedZoneBytes);
}

Verdict ZonedBuffer::check_zones(const BufferSpec& spec) const {
  return check_red_zones(spec, downloaded(memory_.get(), kRedZoneBytes),
                         downloaded(start() + bytes_, kRedZoneBytes));
}

void fill_workspace(cudaStream_t stream, const BufferSpec& spec, const ZonedBuffer& buffer) {
  set_bytes(stream, buffer.start(), workspace_byte(spec), spec.bytes());
}

ProblemBuffers::ProblemBuffers(cudaStream_t stream, const DeviceInfo& device,
                               const Workload& workload, const DeviceKernels& kernels)
    : device_(device), kernels_(kernels), seed_(workload.seed), specs_(workload.buffers) {
  check_memory(workload);
  for (const BufferSpec& spec : specs_) {
    Slot& slot = slots_.emplace_back();
    for (std::size_t set = 0; set < kInputSets.size(); ++set) {
      if (set == 0 || spec.role == Role::input) {
        slot.buffers[set] = ZonedBuffer(stream, spec.bytes());
      }
      if (spec.role == Role::inout) slot.pristine[set] = DeviceMemory(spec.bytes());
    }
    copy_bytes_ += aligned(spec.bytes());
  }
  fill_slots(stream);
}

/// Memory for the buffers and, for each output: right answers and magnitudes on both sets, the
/// reference's output, and the results of one run that the next is compared with.
void ProblemBuffers::check_memory(const Workload& workload) const {
  std::int64_t needed = 0;
  for (const BufferSpec& spec : specs_) {
    const std::int64_t one = spec.bytes() + 2 * kRedZoneBytes;
    const std::int64_t answers = 4 * answer_bytes(workload, spec) +
                                 spec.length * bytes_of(ElementType::f64) + 2 * kRedZoneBytes;
    needed += spec.role == Role::input   ? 2 * one
              : spec.role == Role::inout ? 4 * one + answers
              : is_compared(spec.role)   ? 2 * one + answers
                                         : one;
  }
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "ask for the free memory");
  if (needed <= static_cast<std::int64_t>(free)) return;
  throw Error(
      format("{} needs {} of memory on {} with its reference results, and {} is free: try a "
             "smaller size",
             workload.problem, bytes_text(needed), device_.name,
             bytes_text(static_cast<std::int64_t>(free))));
}

void ProblemBuffers::fill_slots(cudaStream_t stream) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const bool has_contents = specs_[i].role == Role::input || specs_[i].role == Role::inout;
    for (const InputSet set : kInputSets) {
      if (!has_contents) continue;
      refill(stream, i, set);
      note_hash(stream, i, set);
    }
  }
  check_cuda(cudaStreamSynchronize(stream), "fill the buffers");
}

void ProblemBuffers::note_hash(cudaStream_t stream, std::size_t index, InputSet set) {
  const auto* const sum = hash_.as<std::uint64_t>();
  set_bytes(stream, hash_.get(), std::byte{0}, sizeof(std::uint64_t));
  kernels_.hash(stream, contents(index, set), specs_[index].bytes(), hash_.as<std::uint64_t>());
  check_cuda(cudaMemcpyAsync(&slots_[index].hashes[index_of(set)], sum, sizeof(std::uint64_t),
                             cudaMemcpyDefault, stream),
             "copy memory");
}

void ProblemBuffers::keep_prepared(cudaStream_t stream) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].fill != Fill::prepared) continue;
    std::vector<std::byte> elements(static_cast<std::size_t>(specs_[i].bytes()));
    for (const InputSet set : kInputSets) {
      copy(stream, elements.data(), contents(i, set), specs_[i].bytes());
      note_hash(stream, i, set);
      check_cuda(cudaStreamSynchronize(stream), "copy memory");
      prepared_.keep(set, i, elements);
    }
  }
}

std::vector<std::byte*> ProblemBuffers::addresses(InputSet set) const {
  std::vector<std::byte*> all;
  for (std::size_t i = 0; i < slots_.size(); ++i) all.push_back(buffer(i, set).start());
  return all;
}

const ZonedBuffer& ProblemBuffers::buffer(std::size_t index, InputSet set) const {
  return slots_[index].buffers[specs_[index].role == Role::input ? index_of(set) : 0];
}

std::byte* ProblemBuffers::contents(std::size_t index, InputSet set) const {
  return specs_[index].role == Role::inout ? slots_[index].pristine[index_of(set)].get()
                                           : buffer(index, set).start();
}

void ProblemBuffers::reset(cudaStream_t stream, InputSet set) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const BufferSpec& spec = specs_[i];
    std::byte* const start = buffer(i, set).start();
    if (spec.role == Role::inout) {
      copy(stream, start, contents(i, set), spec.bytes());
    } else if (spec.role != Role::input) {
      poison(stream, spec, start);
    }
  }
}

void ProblemBuffers::refill(cudaStream_t stream, std::size_t index, InputSet set,
                            bool absolute) const {
  const BufferSpec& spec = specs_[index];
  std::byte* const to = contents(index, set);
  if (spec.fill == Fill::prepared) return refill_prepared(stream, index, set, absolute);
  const bool on_host = !spec.file.empty() || !spec.members.empty();
  if (on_host) return upload(stream, spec, set, seed_, absolute, to);
  kernels_.fill(stream, spec.type, element_rule(spec, set, seed_, absolute), to, spec.length);
}

/// Poison before keep_prepared().
void ProblemBuffers::refill_prepared(cudaStream_t stream, std::size_t index, InputSet set,
                                     bool absolute) const {
  const BufferSpec& spec = specs_[index];
  std::byte* const to = contents(index, set);
  const std::span<const std::byte> kept = prepared_.of(set, index);
  if (kept.empty()) return poison(stream, spec, to);
  std::vector<std::byte> elements(kept.begin(), kept.end());
  if (absolute) make_absolute(elements, spec);
  copy(stream, to, elements.data(), spec.bytes());
  check_cuda(cudaStreamSynchronize(stream), "copy memory");
}

std::uint64_t ProblemBuffers::hash(std::size_t index, InputSet set) const {
  return slots_[index].hashes[index_of(set)];
}

ProblemBuffers::Rotation ProblemBuffers::rotation(cudaStream_t stream) {
  if (rotation_made_) return rotation_;
  rotation_made_ = true;
  const std::int64_t wanted = 2 * device_.l2_bytes;
  if (copy_bytes_ == 0 || device_.l2_bytes == 0) return rotation_;
  const std::int64_t copies = copy_bytes_ >= wanted ? 1 : (wanted - 1) / copy_bytes_ + 2;
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "ask for the free memory");
  const std::int64_t bytes = (copies - 1) * copy_bytes_;
  if (copies > kMostCopies || bytes > static_cast<std::int64_t>(free / 2)) return rotation_;
  copies_ = DeviceMemory(bytes);
  rotation_ = {static_cast<int>(copies), true};
  for (int i = 1; i < rotation_.copies; ++i) {
    const std::vector<std::byte*> to = copy_addresses(i);
    for (std::size_t b = 0; b < specs_.size(); ++b) {
      copy(stream, to[b], buffer(b, InputSet::uniform).start(), specs_[b].bytes());
    }
  }
  return rotation_;
}

std::vector<std::byte*> ProblemBuffers::copy_addresses(int index) const {
  if (index == 0) return addresses(InputSet::uniform);
  std::vector<std::byte*> all;
  std::byte* next = copies_.get() + (index - 1) * copy_bytes_;
  for (const BufferSpec& spec : specs_) {
    all.push_back(next);
    next += aligned(spec.bytes());
  }
  return all;
}

}  // namespace autotune
