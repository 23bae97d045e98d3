// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/verifier.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "tuner/gpu/cuda_check.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

std::size_t index_of(InputSet set) { return static_cast<std::size_t>(set); }

void copy(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copy memory");
}

template <class T>
T element(const DeviceMemory& array, std::size_t index) {
  T value{};
  check_cuda(cudaMemcpy(&value, array.as<T>() + index, sizeof(T), cudaMemcpyDefault),
             "copy memory");
  return value;
}

std::vector<std::byte> downloaded(const std::byte* from, std::int64_t bytes) {
  std::vector<std::byte> to(static_cast<std::size_t>(bytes));
  check_cuda(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDefault), "copy memory");
  return to;
}

}  // namespace

/// What the checking kernels left, in one piece of memory: one trip for all.
struct Verifier::Report {
  Report(std::size_t buffers, std::size_t answers)
      : zones(buffers),
        words(2 * buffers + answers * 3),
        memory(static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t))) {
    static_assert(sizeof(Finding) == 3 * sizeof(std::uint64_t));
  }

  std::uint64_t* zone(std::size_t buffer) const { return memory.as<std::uint64_t>() + buffer; }
  std::uint64_t* hash(std::size_t buffer) const { return zone(zones + buffer); }
  Finding* finding(std::size_t answer) const {
    return reinterpret_cast<Finding*>(zone(2 * zones + 3 * answer));
  }

  void clear(cudaStream_t stream) {
    std::ranges::fill(words, 0);
    for (std::size_t i = 2 * zones; i < words.size(); i += 3) words[i + 1] = Finding{}.first;
    copy(stream, memory.get(), words.data(), words.size() * sizeof(std::uint64_t));
  }
  void fetch(cudaStream_t stream) {
    copy(stream, words.data(), memory.get(), words.size() * sizeof(std::uint64_t));
  }

  std::uint64_t fetched_zone(std::size_t buffer) const { return words[buffer]; }
  std::uint64_t fetched_hash(std::size_t buffer) const { return words[zones + buffer]; }
  Finding fetched_finding(std::size_t answer) const {
    const std::size_t at = 2 * zones + 3 * answer;
    return {words[at], words[at + 1], words[at + 2]};
  }

  std::size_t zones;
  std::vector<std::uint64_t> words;  // a copy on the host
  DeviceMemory memory;
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
    std::vector<std::vector<std::byte>> first;
    for (int run = 0; run < std::max(runs, 1); ++run) {
      Verdict verdict = run_once(*plans[index_of(set)], workspace, set, report);
      if (verdict.outcome != Outcome::ok) return verdict;
      worst.seconds = verdict.seconds;
      if (std::exchange(first_launch, false) && give_up_seconds > 0 &&
          verdict.seconds > give_up_seconds) {
        worst.outcome = Outcome::pruned;
        return worst;
      }
      worst.worst_error = std::max(worst.worst_error, verdict.worst_error);
      if (run == 0 && runs > 1) first = outputs(set);
      if (run == 0) continue;
      verdict = runs_verdict(first, set);
      if (verdict.outcome != Outcome::ok) return verdict;
    }
  }
  return worst;
}

Verdict Verifier::run_once(const BoundWork& plan, const Workspace& workspace, InputSet set,
                           Report& report) const {
  buffers_.reset(stream_, set);
  for (std::size_t i = 0; i < workspace.buffers.size(); ++i) {
    fill_workspace(stream_, workspace.specs[i], workspace.buffers[i]);
  }
  check_cuda(cudaEventRecord(begin_.get(), stream_), "record an event");
  plan.launch(stream_);
  check_cuda(cudaEventRecord(end_.get(), stream_), "record an event");
  report.clear(stream_);
  inspect(workspace, set, report);
  report.fetch(stream_);
  check_kernel(cudaStreamSynchronize(stream_), "running it");
  float milliseconds = 0;
  check_kernel(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "running it");
  Verdict found = verdict(workspace, set, report);
  found.seconds = static_cast<double>(milliseconds) * 1e-3;
  return found;
}

void Verifier::inspect(const Workspace& workspace, InputSet set, Report& report) const {
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
    const RightAnswer& answer = answers[i];
    kernels_.compare(stream_, workload_.buffers[answer.buffer],
                     buffers_.buffer(answer.buffer, set).start(), answer.values.as<double>(),
                     answer.magnitudes.as<double>(), answer.exact, report.finding(i));
  }
}

Verdict Verifier::verdict(const Workspace& workspace, InputSet set, const Report& report) const {
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
  return found;
}

Verdict Verifier::zone_verdict(const BufferSpec& spec, const ZonedBuffer& buffer) const {
  const auto before = downloaded(buffer.start() - kRedZoneBytes, kRedZoneBytes);
  const auto after = downloaded(buffer.start() + buffer.bytes(), kRedZoneBytes);
  buffer.reset_zones(stream_);
  return check_red_zones(spec, before, after);
}

Verdict Verifier::input_verdict(std::size_t index, InputSet set) const {
  const ZonedBuffer& buffer = buffers_.buffer(index, set);
  const auto now = downloaded(buffer.start(), buffer.bytes());
  buffers_.upload(stream_, index, set);
  return check_unchanged(workload_.buffers[index], now, set, workload_.seed);
}

Verdict Verifier::answer_verdict(const RightAnswer& answer, InputSet set,
                                 const Finding& finding) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  Mismatch mismatch;
  mismatch.wrong = finding.wrong;
  mismatch.worst_error = std::bit_cast<double>(finding.worst);
  if (finding.wrong == 0) return verdict_of(spec, {}, mismatch);
  mismatch.first = finding.first;
  mismatch.expected = element<double>(answer.values, mismatch.first);
  if (!answer.exact) {
    const double size = std::abs(mismatch.expected);
    const double magnitude = answer.magnitudes.get() == nullptr
                                 ? size
                                 : element<double>(answer.magnitudes, mismatch.first);
    mismatch.tolerance = unit_roundoff(spec.type) * (spec.tolerance * magnitude + size);
  }
  const std::int64_t bytes = bytes_of(spec.type);
  const std::byte* const start = buffers_.buffer(answer.buffer, set).start();
  const auto at = static_cast<std::int64_t>(mismatch.first) * bytes;
  return verdict_of(spec, downloaded(start + at, bytes), mismatch);
}

std::vector<std::vector<std::byte>> Verifier::outputs(InputSet set) const {
  std::vector<std::vector<std::byte>> all;
  for (const RightAnswer& answer : answers_[index_of(set)]) {
    const ZonedBuffer& buffer = buffers_.buffer(answer.buffer, set);
    all.push_back(downloaded(buffer.start(), buffer.bytes()));
  }
  return all;
}

Verdict Verifier::runs_verdict(const std::vector<std::vector<std::byte>>& first,
                               InputSet set) const {
  const auto again = outputs(set);
  for (std::size_t i = 0; i < again.size(); ++i) {
    const BufferSpec& spec = workload_.buffers[answers_[index_of(set)][i].buffer];
    const Verdict verdict = compare_runs(spec, first[i], again[i]);
    if (verdict.outcome != Outcome::ok) return verdict;
  }
  return {};
}

}  // namespace autotune
