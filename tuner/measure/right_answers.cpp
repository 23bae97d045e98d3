// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/verifier.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Absolute values of real scalars, for the run on absolute inputs.
LaunchPlan on_absolute_values(LaunchPlan plan) {
  for (Launch& launch : plan.launches) {
    for_each_scalar(launch, [](Scalar& scalar) { scalar.real = std::abs(scalar.real); });
  }
  return plan;
}

void expect_whole_zones(const ZonedBuffer& buffer) {
  const Verdict zones = check_reference_zones(buffer.spec(), buffer.check_zones());
  if (zones.outcome != Outcome::ok) throw KernelFailure(zones.outcome, zones.message);
}

class Reference {
 public:
  Reference(Memory& memory, const Workload& workload, const BindReference& bind,
            ProblemBuffers& buffers)
      : memory_(memory), workload_(workload), bind_(bind), buffers_(buffers) {}

  /// Writes the prepared inputs.
  void prepare() const {
    for (const InputSet set : kInputSets) run(workload_.preparation, buffers_.all(set));
    buffers_.keep_prepared();
  }

  /// Its outputs and inouts, in order.
  std::vector<ZonedBuffer> values(Contents contents) const {
    return outputs(workload_.reference, contents, false);
  }
  /// Its outputs on absolute values.
  std::vector<ZonedBuffer> magnitudes(Contents contents) const {
    refill_all(set_of(contents), true);
    auto results = outputs(on_absolute_values(workload_.reference), contents, true);
    refill_all(set_of(contents), false);
    return results;
  }

 private:
  std::vector<ZonedBuffer> outputs(const LaunchPlan& plan, Contents contents, bool absolute) const {
    const InputSet set = set_of(contents);
    const bool varied = contents == Contents::varied;
    buffers_.reset(set, Poison::nan);
    if (varied) buffers_.vary(absolute);
    std::vector<ZonedBuffer> buffers = buffers_.all(set);
    for (ZonedBuffer& buffer : buffers) {
      if (is_compared(buffer.spec().role)) buffer = begun(buffer);
    }
    run(plan, buffers);
    if (varied) buffers_.end_variation();
    std::erase_if(buffers, [](const auto& buffer) { return !is_compared(buffer.spec().role); });
    return buffers;
  }

  /// A buffer of the reference's own type that starts like an output: an inout with its contents,
  /// others with poison.
  ZonedBuffer begun(const ZonedBuffer& output) const {
    BufferSpec spec = output.spec();
    spec.type = answer_type(workload_, spec);
    if (spec.type != output.spec().type) spec.shift = 0;  // it may have to be aligned
    ZonedBuffer buffer(memory_, spec, reference_slack(spec));
    if (spec.role == Role::inout) {
      memory_.copy(buffer.start(), output.start(), spec.bytes());
    } else {
      buffer.poison(Poison::nan);
    }
    return buffer;
  }

  /// With a workspace of its own. Throws KernelFailure if a zone was written.
  void run(const LaunchPlan& plan, std::vector<ZonedBuffer> buffers) const {
    const std::size_t shared = buffers.size();
    for (const BufferSpec& spec : plan.workspace) buffers.emplace_back(memory_, spec).clear();
    const std::unique_ptr<Call> call = bind_(plan, buffers);
    call->run();
    call->start_checks();
    memory_.finish();
    for (std::size_t i = 0; i < shared; ++i) expect_whole_zones(buffers[i]);
  }

  void refill_all(InputSet set, bool absolute) const {
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      const Role role = workload_.buffers[i].role;
      if (role == Role::input || role == Role::inout) buffers_.refill(i, set, absolute);
    }
  }

  Memory& memory_;
  const Workload& workload_;
  const BindReference& bind_;
  ProblemBuffers& buffers_;
};

/// Whether all values of floating types are small integers.
bool is_small(Memory& memory, ElementType output, const ZonedBuffer& values) {
  const BufferSpec& spec = values.spec();
  if (!spec.members.empty()) {
    return all_small_integers(spec, memory.read(values.start(), spec.bytes()));
  }
  if (spec.has_gaps()) {
    const auto bytes = memory.read(values.start(), spec.bytes());
    return all_small_integers(spec.type, gathered(spec, bytes, spec.element_bytes()),
                              exact_integers(output));
  }
  std::uint64_t others = 0;
  memory.count_inexact(spec.type, values.start(), spec.length, exact_integers(output), &others);
  memory.finish();
  return others == 0;
}

std::vector<SealedAnswer> answers_of(Memory& memory, const Workload& workload,
                                     const Reference& reference, Contents contents) {
  const std::vector<ZonedBuffer> values = reference.values(contents);
  std::vector<ZonedBuffer> magnitudes;
  const auto rounds = [](const auto& buffer) { return has_floating(buffer.spec()); };
  if (std::ranges::any_of(values, rounds)) magnitudes = reference.magnitudes(contents);
  const bool is_integer = contents == Contents::integers && has_integer_set(workload);
  std::vector<SealedAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_compared(spec.role)) continue;
    const std::size_t output = answers.size();
    SealedAnswer& answer = answers.emplace_back();
    answer.buffer = i;
    answer.type = values[output].spec().type;
    answer.exact =
        !has_floating(spec) || (is_integer && is_small(memory, spec.type, values[output]) &&
                                is_small(memory, spec.type, magnitudes[output]));
    const std::int64_t bytes = values[output].spec().bytes();
    answer.values = memory.seal(values[output].start(), bytes);
    if (!answer.exact) answer.magnitudes = memory.seal(magnitudes[output].start(), bytes);
  }
  return answers;
}

std::vector<SealedAnswer> answers_in_file(Memory& memory, const Workload& workload) {
  std::ifstream file(workload.expected_file, std::ios::binary);
  std::vector<SealedAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_compared(spec.role)) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(spec.elements() * spec.element_bytes()));
    if (!file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes))) {
      throw Error(format("{}: it cannot be read, or ends before {} does ({} elements of {})",
                         workload.expected_file.string(), spec.name, spec.length, type_text(spec)));
    }
    const std::shared_ptr<std::byte> there = memory.allocate(spec.bytes());
    if (spec.has_gaps()) {
      std::vector<std::byte> whole(static_cast<std::size_t>(spec.bytes()));
      spread(whole, spec, bytes);
      bytes = std::move(whole);
    }
    memory.write(there.get(), bytes);
    answers.push_back(
        {i, spec.type, memory.seal(there.get(), spec.bytes()), {}, !has_floating(spec)});
  }
  if (file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(format("{}: it is longer than the outputs", workload.expected_file.string()));
  }
  return answers;
}

}  // namespace

RightAnswers right_answers(Memory& memory, const Workload& workload, const BindReference& bind,
                           ProblemBuffers& buffers) {
  const Reference reference(memory, workload, bind, buffers);
  try {
    if (!workload.preparation.launches.empty()) reference.prepare();
  } catch (const KernelFailure& failure) {
    throw Error(format("{}: a prepare kernel fails: {}", workload.problem, failure.what()));
  }
  RightAnswers all;
  if (!workload.expected_file.empty()) {
    all[index_of(Contents::uniform)] = answers_in_file(memory, workload);
    return all;
  }
  for (const Contents contents : kContents) {
    if (contents == Contents::varied && !buffers.can_vary()) continue;
    try {
      all[index_of(contents)] = answers_of(memory, workload, reference, contents);
    } catch (const KernelFailure& failure) {
      throw Error(format("{}: the reference kernel fails: {}", workload.problem, failure.what()));
    }
  }
  return all;
}

}  // namespace autotune
