// SPDX-License-Identifier: Apache-2.0
// The buffers of one problem in the memory of a device, with red zones, and what they hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/memory.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

inline constexpr std::array kInputSets{InputSet::integers, InputSet::uniform};
inline std::size_t index_of(InputSet set) { return static_cast<std::size_t>(set); }

/// A buffer between two red zones.
class ZonedBuffer {
 public:
  ZonedBuffer() = default;
  /// `slack` bytes behind the second zone are not checked. `memory` must outlive it.
  ZonedBuffer(Memory& memory, BufferSpec spec, std::int64_t slack = 0);

  const BufferSpec& spec() const { return spec_; }
  std::byte* start() const { return block_.get() + kRedZoneBytes + spec_.shift; }
  /// Fills it, structs member by member.
  void poison(Poison with) const;
  /// Fills a workspace, as when a program allocates it.
  void clear() const;
  /// Fills the zones.
  void paint_zones(Poison with);
  /// Adds the number of changed bytes in the zones to `changed`, as Memory does. Gaps are left to
  /// check_zones().
  void count_changes(std::uint64_t* changed) const;
  /// Outcome::wrong if bytes of a zone or of a gap between elements changed. Waits.
  Verdict check_zones() const;

 private:
  Memory* memory_ = nullptr;
  BufferSpec spec_;
  std::shared_ptr<std::byte> block_;
  Poison zones_ = Poison::nan;
};

/// Bytes of device memory that a problem's buffers and right answers need, copies for verification
/// included.
std::int64_t verification_bytes(const Workload& workload);

/// The buffers of a problem: inputs once for each input set, outputs and inouts once.
class ProblemBuffers {
 public:
  /// Fills inputs. Both must outlive it. Throws Error.
  ProblemBuffers(Memory& memory, const Workload& workload);

  const std::vector<BufferSpec>& specs() const { return workload_.buffers; }
  /// Addresses for an input set, in the workload's order.
  std::vector<std::byte*> addresses(InputSet set) const;
  const ZonedBuffer& buffer(std::size_t index, InputSet set) const;
  std::vector<ZonedBuffer> all(InputSet set) const;

  /// What a verified call finds: poisoned outputs and zones, inouts as filled.
  void reset(InputSet set, Poison poison);
  bool any_inouts() const { return any_inouts_; }
  bool any_streams() const { return any_streams_; }
  /// The contents of an inout.
  const std::byte* pristine(std::size_t index, InputSet set) const {
    return slots_[index].pristine[index_of(set)].get();
  }
  /// Gives inouts their contents again.
  void restore_inouts(InputSet set) const;
  /// Repairs an input that a kernel changed, or replaces inputs and inouts by absolute values.
  void refill(std::size_t index, InputSet set, bool absolute = false) const;
  /// Makes the current contents of prepared inputs their contents.
  void keep_prepared();
  /// Memory::hash() of an input as filled.
  std::uint64_t hash(std::size_t index, InputSet set) const;
  const PreparedInputs& prepared() const { return prepared_; }

  /// Whether contents may change: some inputs or inouts are random, and no input is prepared from
  /// others.
  bool can_vary() const;
  /// Changes a few elements of the uniform set, chosen and drawn from a seed that no source can
  /// know, in inputs and in what inouts hold now. With `absolute`, to absolute values.
  void vary(bool absolute = false) const;
  /// Draws all elements of what may change anew, from this seed; without one, as they were.
  void redraw(std::optional<std::uint64_t> seed) const;
  /// Gives inputs their elements back.
  void end_variation() const;
  /// Poisons a few elements of each output.
  void scribble(Poison with) const;

 private:
  /// A few elements of a buffer, by their positions, in device memory.
  struct Variation {
    std::int64_t count = 0;
    std::shared_ptr<std::byte> positions, original, drawn, magnitudes;
    std::array<std::shared_ptr<std::byte>, kPoisons> poison;
  };
  struct Slot {
    std::array<ZonedBuffer, kInputSets.size()> buffers;  // inputs: one per set; others: the first
    std::array<std::shared_ptr<std::byte>, kInputSets.size()> pristine;  // contents of inouts
    std::array<std::uint64_t, kInputSets.size()> hashes{};
    Variation variation;
  };
  void refill(std::size_t index, InputSet set, const BufferSpec& spec, bool absolute) const;
  void choose_variation(std::size_t index, std::mt19937_64& secret);
  void scatter(std::size_t index, const std::shared_ptr<std::byte>& elements) const;
  std::shared_ptr<std::byte> uploaded(std::span<const std::byte> bytes) const;
  void note_hash(std::size_t index, InputSet set);
  std::byte* contents(std::size_t index, InputSet set) const;
  bool varies(const BufferSpec& spec) const;

  Memory& memory_;
  const Workload& workload_;
  bool any_inouts_ = false, any_streams_ = false;
  std::vector<Slot> slots_;
  PreparedInputs prepared_;  // on the host
};

}  // namespace autotune
