// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/problem_buffers.hpp"

#include <algorithm>
#include <utility>

#include "tuner/measure/inputs.hpp"
#include "tuner/text/random_bits.hpp"

namespace autotune {
namespace {

/// Few, so that a call may follow at once.
constexpr std::int64_t kMostVaried = 64;

bool has_contents(const BufferSpec& spec) {
  return spec.role == Role::input || spec.role == Role::inout;
}

/// One of each of `count` equal parts of the buffer.
std::vector<std::int64_t> random_positions(std::int64_t length, std::int64_t count,
                                           std::mt19937_64& secret) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = length * i / count, end = length * (i + 1) / count;
    positions.push_back(first + static_cast<std::int64_t>(secret() % (end - first)));
  }
  return positions;
}

}  // namespace

ZonedBuffer::ZonedBuffer(Memory& memory, BufferSpec spec, std::int64_t slack)
    : memory_(&memory),
      spec_(std::move(spec)),
      block_(memory.allocate(spec_.shift + spec_.bytes() + 2 * kRedZoneBytes + slack)) {
  paint_zones(Poison::nan);
}

void ZonedBuffer::poison(Poison with) const {
  memory_->set(start(), poison_byte(spec_.type, with), spec_.bytes());
  for (const Member& member : spec_.members) {
    memory_->set_columns(start() + member.offset, poison_byte(member.type, with),
                         bytes_of(member.type), spec_.element_bytes(), spec_.length);
  }
}

void ZonedBuffer::clear() const { memory_->set(start(), workspace_byte(spec_), spec_.bytes()); }

void ZonedBuffer::paint_zones(Poison with) {
  zones_ = with;
  memory_->set(start() - kRedZoneBytes, poison_byte(spec_.type, with), kRedZoneBytes);
  memory_->set(start() + spec_.bytes(), poison_byte(spec_.type, with), kRedZoneBytes);
}

void ZonedBuffer::count_changes(std::uint64_t* changed) const {
  memory_->count_other(start() - kRedZoneBytes, kRedZoneBytes, poison_byte(spec_.type, zones_),
                       changed);
  memory_->count_other(start() + spec_.bytes(), kRedZoneBytes, poison_byte(spec_.type, zones_),
                       changed);
}

Verdict ZonedBuffer::check_zones() const {
  const Verdict around =
      check_red_zones(spec_, zones_, memory_->read(start() - kRedZoneBytes, kRedZoneBytes),
                      memory_->read(start() + spec_.bytes(), kRedZoneBytes));
  if (around.outcome != Outcome::ok || !spec_.has_gaps()) return around;
  const Poison gaps = has_contents(spec_) ? Poison::nan : zones_;
  return check_gaps(spec_, poison_byte(spec_.type, gaps), memory_->read(start(), spec_.bytes()));
}

std::int64_t verification_bytes(const Workload& workload) {
  std::int64_t needed = 0;
  for (const BufferSpec& spec : workload.buffers) {
    const std::int64_t one = spec.bytes() + 2 * kRedZoneBytes;
    // Right answers and magnitudes of three contents, the reference's output, and the results of
    // one run that the next is compared with.
    const std::int64_t answers =
        6 * answer_bytes(workload, spec) + spec.length * bytes_of(ElementType::f64) + one;
    needed += spec.role == Role::input   ? 2 * one
              : spec.role == Role::inout ? 3 * one + answers
              : is_compared(spec.role)   ? one + answers
                                         : one;
  }
  return needed;
}

ProblemBuffers::ProblemBuffers(Memory& memory, const Workload& workload)
    : memory_(memory), workload_(workload) {
  slots_.reserve(workload.buffers.size());  // hashes arrive later, where they were asked for
  std::mt19937_64 secret{random_bits()};
  for (std::size_t i = 0; i < specs().size(); ++i) {
    const BufferSpec& spec = specs()[i];
    Slot& slot = slots_.emplace_back();
    any_inouts_ = any_inouts_ || spec.role == Role::inout;
    any_streams_ = any_streams_ || spec.streams;
    for (const InputSet set : kInputSets) {
      const std::size_t at = index_of(set);
      if (at == 0 || spec.role == Role::input) slot.buffers[at] = ZonedBuffer(memory, spec);
      if (spec.role == Role::inout) slot.pristine[at] = memory.allocate(spec.bytes());
      if (!has_contents(spec)) continue;
      refill(i, set);
      note_hash(i, set);
    }
    choose_variation(i, secret);
  }
  memory.finish();
}

void ProblemBuffers::note_hash(std::size_t index, InputSet set) {
  std::uint64_t& hash = slots_[index].hashes[index_of(set)];
  hash = 0;
  memory_.hash(contents(index, set), specs()[index].bytes(), &hash);
}

void ProblemBuffers::keep_prepared() {
  for (std::size_t i = 0; i < specs().size(); ++i) {
    if (specs()[i].fill != Fill::prepared) continue;
    for (const InputSet set : kInputSets) {
      note_hash(i, set);
      prepared_.keep(set, i, memory_.read(contents(i, set), specs()[i].bytes()));
    }
  }
  memory_.finish();
}

std::vector<std::byte*> ProblemBuffers::addresses(InputSet set) const {
  std::vector<std::byte*> all;
  for (std::size_t i = 0; i < slots_.size(); ++i) all.push_back(buffer(i, set).start());
  return all;
}

std::vector<ZonedBuffer> ProblemBuffers::all(InputSet set) const {
  std::vector<ZonedBuffer> all;
  for (std::size_t i = 0; i < slots_.size(); ++i) all.push_back(buffer(i, set));
  return all;
}

const ZonedBuffer& ProblemBuffers::buffer(std::size_t index, InputSet set) const {
  return slots_[index].buffers[specs()[index].role == Role::input ? index_of(set) : 0];
}

/// Where the contents of an input or inout are kept.
std::byte* ProblemBuffers::contents(std::size_t index, InputSet set) const {
  return specs()[index].role == Role::inout ? slots_[index].pristine[index_of(set)].get()
                                            : buffer(index, set).start();
}

void ProblemBuffers::reset(InputSet set, Poison poison) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Role role = specs()[i].role;
    ZonedBuffer& buffer = slots_[i].buffers[role == Role::input ? index_of(set) : 0];
    buffer.paint_zones(poison);
    if (role != Role::input && role != Role::inout) buffer.poison(poison);
  }
  restore_inouts(set);
}

void ProblemBuffers::restore_inouts(InputSet set) const {
  for (std::size_t i = 0; any_inouts_ && i < slots_.size(); ++i) {
    if (specs()[i].role != Role::inout) continue;
    memory_.copy(buffer(i, set).start(), contents(i, set), specs()[i].bytes());
  }
}

void ProblemBuffers::refill(std::size_t index, InputSet set, bool absolute) const {
  refill(index, set, specs()[index], absolute);
}

/// As `spec` says, which may differ from the buffer's in its seed.
void ProblemBuffers::refill(std::size_t index, InputSet set, const BufferSpec& spec,
                            bool absolute) const {
  std::byte* const to = contents(index, set);
  const bool on_device =
      spec.fill != Fill::prepared && spec.file.empty() && spec.members.empty() && !spec.has_gaps();
  if (on_device) {
    const ElementRule rule = element_rule(spec, set, workload_.seed, absolute);
    return memory_.draw(to, spec.type, rule, spec.length);
  }
  std::vector<std::byte> elements(static_cast<std::size_t>(spec.bytes()));
  if (spec.fill != Fill::prepared) {
    fill(elements, spec, set, workload_.seed, absolute);
  } else if (const auto kept = prepared_.of(set, index); kept.empty()) {
    return buffer(index, set).poison(Poison::nan);  // not prepared yet
  } else {
    std::ranges::copy(kept, elements.begin());
    if (absolute) make_absolute(elements, spec);
  }
  memory_.write(to, elements);
}

void ProblemBuffers::redraw(std::optional<std::uint64_t> seed) const {
  for (std::size_t i = 0; i < specs().size(); ++i) {
    BufferSpec spec = specs()[i];
    if (!varies(spec)) continue;
    if (seed) spec.seed = seed;
    refill(i, InputSet::uniform, spec, false);
  }
}

std::uint64_t ProblemBuffers::hash(std::size_t index, InputSet set) const {
  return slots_[index].hashes[index_of(set)];
}

bool ProblemBuffers::varies(const BufferSpec& spec) const {
  const bool is_random =
      spec.fill == Fill::random || spec.fill == Fill::uniform || spec.fill == Fill::normal;
  return has_contents(spec) && is_random && spec.file.empty() &&
         workload_.preparation.launches.empty();
}

bool ProblemBuffers::can_vary() const {
  return std::ranges::any_of(specs(), [&](const BufferSpec& spec) { return varies(spec); });
}

std::shared_ptr<std::byte> ProblemBuffers::uploaded(std::span<const std::byte> bytes) const {
  std::shared_ptr<std::byte> to = memory_.allocate(static_cast<std::int64_t>(bytes.size()));
  memory_.write(to.get(), bytes);
  return to;
}

void ProblemBuffers::choose_variation(std::size_t index, std::mt19937_64& secret) {
  const BufferSpec& spec = specs()[index];
  const bool is_output = spec.role == Role::output || spec.role == Role::unchecked;
  if (!varies(spec) && !is_output) return;
  Variation& variation = slots_[index].variation;
  variation.count = std::min(spec.elements(), kMostVaried);
  auto positions = random_positions(spec.elements(), variation.count, secret);
  for (std::int64_t& each : positions) each = position_of(spec, each);
  std::ranges::sort(positions);  // elements may be at one place
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  variation.count = std::ssize(positions);
  variation.positions = uploaded(std::as_bytes(std::span(positions)));
  BufferSpec few = without_gaps(spec);
  few.length = variation.count;
  if (is_output) {
    for (int i = 0; i < kPoisons; ++i) {
      std::vector<std::byte> elements(static_cast<std::size_t>(few.bytes()));
      poison(elements, few, static_cast<Poison>(i));
      variation.poison[static_cast<std::size_t>(i)] = uploaded(elements);
    }
    return;
  }
  std::vector<std::byte> original;
  for (const std::int64_t position : positions) {
    const auto element = memory_.read(
        contents(index, InputSet::uniform) + position * spec.element_bytes(), spec.element_bytes());
    original.insert(original.end(), element.begin(), element.end());
  }
  variation.original = uploaded(original);
  few.seed = secret();
  std::vector<std::byte> drawn(static_cast<std::size_t>(few.bytes()));
  fill(drawn, few, InputSet::uniform, 0);
  variation.drawn = uploaded(drawn);
  make_absolute(drawn, few);
  variation.magnitudes = uploaded(drawn);
}

void ProblemBuffers::scatter(std::size_t index, const std::shared_ptr<std::byte>& elements) const {
  if (elements == nullptr) return;
  const Variation& variation = slots_[index].variation;
  memory_.scatter(buffer(index, InputSet::uniform).start(), elements.get(),
                  reinterpret_cast<const std::int64_t*>(variation.positions.get()), variation.count,
                  specs()[index].element_bytes());
}

void ProblemBuffers::vary(bool absolute) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Variation& variation = slots_[i].variation;
    scatter(i, absolute ? variation.magnitudes : variation.drawn);
  }
}

void ProblemBuffers::end_variation() const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (specs()[i].role == Role::input) scatter(i, slots_[i].variation.original);
  }
}

void ProblemBuffers::scribble(Poison with) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    scatter(i, slots_[i].variation.poison[static_cast<std::size_t>(with)]);
  }
}

}  // namespace autotune
