// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/verifier.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tuner/gpu/cuda_check.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {

namespace {

/// The first wrong element of an array; nothing when there is none.
std::vector<std::byte> first_wrong(const std::byte* array, ElementType type,
                                   const Finding& finding) {
  if (finding.wrong == 0 || array == nullptr) return {};
  const std::int64_t size = bytes_of(type);
  return downloaded(array + static_cast<std::int64_t>(finding.first) * size, size);
}

}  // namespace

/// The results of the checking kernels, in one piece of memory: one copy fetches all.
struct Verifier::Report {
  Report(std::size_t buffers, std::size_t answers)
      : zones(buffers),
        answers_from(2 * buffers),
        repeats_from(answers_from + answers * kWords),
        words(repeats_from + answers * kWords),
        memory(static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t))) {}

  static constexpr std::size_t kWords = sizeof(Finding) / sizeof(std::uint64_t);

  std::uint64_t* zone(std::size_t buffer) const { return memory.as<std::uint64_t>() + buffer; }
  std::uint64_t* hash(std::size_t buffer) const { return zone(zones + buffer); }
  /// Against the right answer.
  Finding* finding(std::size_t answer) const {
    return reinterpret_cast<Finding*>(zone(answers_from + answer * kWords));
  }
  /// Against the first run.
  Finding* repeat(std::size_t answer) const {
    return reinterpret_cast<Finding*>(zone(repeats_from + answer * kWords));
  }

  void clear(cudaStream_t stream) {
    std::ranges::fill(words, 0);
    for (std::size_t at = answers_from; at < words.size(); at += kWords) {
      std::memcpy(&words[at], &kNothing, sizeof kNothing);
    }
    copy(stream, memory.get(), words.data(), words.size() * sizeof(std::uint64_t));
  }
  void fetch(cudaStream_t stream) {
    copy(stream, words.data(), memory.get(), words.size() * sizeof(std::uint64_t));
  }

  std::uint64_t fetched_zone(std::size_t buffer) const { return words[buffer]; }
  std::uint64_t fetched_hash(std::size_t buffer) const { return words[zones + buffer]; }
  Finding fetched_finding(std::size_t answer) const { return fetched(answers_from, answer); }
  Finding fetched_repeat(std::size_t answer) const { return fetched(repeats_from, answer); }

  std::size_t zones, answers_from, repeats_from;
  std::vector<std::uint64_t> words;  // a copy on the host
  DeviceMemory memory;

 private:
  static constexpr Finding kNothing{};
  Finding fetched(std::size_t from, std::size_t answer) const {
    Finding finding;
    std::memcpy(static_cast<void*>(&finding), &words[from + answer * kWords], sizeof finding);
    return finding;
  }
};

Verifier::Verifier(cudaStream_t stream, const Workload& workload, const DeviceKernels& kernels,
                   const ProblemBuffers& buffers, const RightAnswers& answers)
    : stream_(stream),
      workload_(workload),
      kernels_(kernels),
      buffers_(buffers),
      answers_(answers) {}

Verdict Verifier::verify(const PlanOfSet& plans, const Workspace& workspace, int runs,
                         double give_up_seconds) const {
  Verdict worst;
  bool first_launch = true;
  for (const InputSet set : kInputSets) {
    const auto& answers = answers_[index_of(set)];
    if (answers.empty()) continue;
    Report report(workload_.buffers.size() + workspace.buffers.size(), answers.size());
    Outputs first;
    for (int run = 0; run < std::max(runs, 1); ++run) {
      const Verdict verdict = run_once(*plans[index_of(set)], workspace, set, first, report);
      if (verdict.outcome != Outcome::ok) return verdict;
      worst.seconds = verdict.seconds;
      if (std::exchange(first_launch, false) && give_up_seconds > 0 &&
          verdict.seconds > give_up_seconds) {
        worst.outcome = Outcome::pruned;
        return worst;
      }
      worst.worst_error = std::max(worst.worst_error, verdict.worst_error);
      if (run == 0 && runs > 1) first = outputs(set);
    }
  }
  return worst;
}

Verdict Verifier::recheck(const BoundWork& plan, const Workspace& workspace) const {
  constexpr InputSet kTimed = InputSet::uniform;
  Report report(workload_.buffers.size() + workspace.buffers.size(),
                answers_[index_of(kTimed)].size());
  return run_once(plan, workspace, kTimed, {}, report);
}

Verdict Verifier::run_once(const BoundWork& plan, const Workspace& workspace, InputSet set,
                           const Outputs& first, Report& report) const {
  buffers_.reset(stream_, set);
  for (std::size_t i = 0; i < workspace.buffers.size(); ++i) {
    fill_workspace(stream_, workspace.specs[i], workspace.buffers[i]);
  }
  check_cuda(cudaEventRecord(begin_.get(), stream_), "record an event");
  plan.launch(stream_, EarlyStart::everywhere);
  check_cuda(cudaEventRecord(end_.get(), stream_), "record an event");
  plan.check(stream_);
  report.clear(stream_);
  inspect(workspace, set, first, report);
  report.fetch(stream_);
  check_kernel(cudaStreamSynchronize(stream_), "running it");
  float milliseconds = 0;
  check_kernel(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "running it");
  Verdict found = verdict(workspace, set, first, report);
  found.seconds = static_cast<double>(milliseconds) * 1e-3;
  return found;
}

void Verifier::inspect(const Workspace& workspace, InputSet set, const Outputs& first,
                       Report& report) const {
  const std::size_t shared = workload_.buffers.size();
  for (std::size_t i = 0; i < shared; ++i) {
    const ZonedBuffer& buffer = buffers_.buffer(i, set);
    kernels_.check_zones(stream_, buffer.start(), buffer.bytes(), report.zone(i));
    if (workload_.buffers[i].role != Role::input) continue;
    kernels_.hash(stream_, buffer.start(), buffer.bytes(), report.hash(i));
  }
  for (std::size_t i = 0; i < workspace.buffers.size(); ++i) {
    const ZonedBuffer& buffer = workspace.buffers[i];
    kernels_.check_zones(stream_, buffer.start(), buffer.bytes(), report.zone(shared + i));
  }
  const auto& answers = answers_[index_of(set)];
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const BufferSpec& spec = workload_.buffers[answers[i].buffer];
    if (!spec.members.empty()) continue;  // compared on the host
    const std::byte* const got = buffers_.buffer(answers[i].buffer, set).start();
    kernels_.compare(stream_, spec, got, answers[i].on_device(), report.finding(i));
    if (first.empty()) continue;
    kernels_.compare_bits(stream_, spec, first[i].get(), got, report.repeat(i));
  }
}

Verdict Verifier::verdict(const Workspace& workspace, InputSet set, const Outputs& first,
                          const Report& report) const {
  const std::size_t shared = workload_.buffers.size();
  Verdict found;
  const auto keep_first = [&](const Verdict& verdict) {
    found.worst_error = std::max(found.worst_error, verdict.worst_error);
    if (found.outcome != Outcome::ok || verdict.outcome == Outcome::ok) return;
    found.outcome = verdict.outcome;
    found.message = verdict.message;
  };
  for (std::size_t i = 0; i < report.zones; ++i) {
    if (report.fetched_zone(i) == 0) continue;
    keep_first(i < shared
                   ? zone_verdict(workload_.buffers[i], buffers_.buffer(i, set))
                   : zone_verdict(workspace.specs[i - shared], workspace.buffers[i - shared]));
  }
  for (std::size_t i = 0; i < shared; ++i) {
    if (workload_.buffers[i].role != Role::input) continue;
    if (report.fetched_hash(i) != buffers_.hash(i, set)) keep_first(input_verdict(i, set));
  }
  const auto& answers = answers_[index_of(set)];
  for (std::size_t i = 0; i < answers.size(); ++i) {
    keep_first(answer_verdict(answers[i], set, report.fetched_finding(i)));
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    keep_first(repeat_verdict(answers[i], set, first[i], report.fetched_repeat(i)));
  }
  return found;
}

Verdict Verifier::zone_verdict(const BufferSpec& spec, const ZonedBuffer& buffer) const {
  Verdict verdict = buffer.check_zones(spec);
  buffer.reset_zones(stream_);
  return verdict;
}

Verdict Verifier::input_verdict(std::size_t index, InputSet set) const {
  const ZonedBuffer& buffer = buffers_.buffer(index, set);
  const auto now = downloaded(buffer.start(), buffer.bytes());
  buffers_.refill(stream_, index, set);
  return check_unchanged(workload_.buffers[index], now, set, workload_.seed,
                         buffers_.prepared().of(set, index));
}

Verdict Verifier::answer_verdict(const RightAnswer& answer, InputSet set,
                                 const Finding& finding) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  if (!spec.members.empty()) return struct_verdict(answer, set);
  const auto got = first_wrong(buffers_.buffer(answer.buffer, set).start(), spec.type, finding);
  const auto value = first_wrong(answer.values.get(), answer.type, finding);
  const auto magnitude = first_wrong(answer.magnitudes.get(), answer.type, finding);
  return verdict_of(spec, finding, got, {answer.type, value, magnitude, answer.exact});
}

Verdict Verifier::struct_verdict(const RightAnswer& answer, InputSet set) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  const auto got = downloaded(buffers_.buffer(answer.buffer, set).start(), spec.bytes());
  const auto values = downloaded(answer.values.get(), spec.bytes());
  std::vector<std::byte> magnitudes;
  if (answer.magnitudes.get() != nullptr) {
    magnitudes = downloaded(answer.magnitudes.get(), spec.bytes());
  }
  return compare(spec, got, {answer.type, values, magnitudes, answer.exact});
}

Verdict Verifier::repeat_verdict(const RightAnswer& answer, InputSet set, const DeviceMemory& first,
                                 const Finding& finding) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  const std::byte* const now = buffers_.buffer(answer.buffer, set).start();
  if (!spec.members.empty()) {
    return compare_runs(spec, downloaded(first.get(), spec.bytes()), downloaded(now, spec.bytes()));
  }
  return runs_verdict(spec, finding, first_wrong(first.get(), spec.type, finding),
                      first_wrong(now, spec.type, finding));
}

Verifier::Outputs Verifier::outputs(InputSet set) const {
  Outputs all;
  for (const RightAnswer& answer : answers_[index_of(set)]) {
    const ZonedBuffer& buffer = buffers_.buffer(answer.buffer, set);
    const DeviceMemory& to = all.emplace_back(buffer.bytes());
    copy(stream_, to.get(), buffer.start(), static_cast<std::size_t>(buffer.bytes()));
  }
  return all;
}

}  // namespace autotune
