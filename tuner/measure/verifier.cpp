// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/verifier.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kChainSeconds = 2e-3;
constexpr int kMostChecked = 4;            // calls of a chain that are compared
constexpr double kUnseenSeconds = 0.5;     // of a few rounds of calls, or more
constexpr double kSightingSeconds = 0.05;  // of calls ahead of one of them, at most
constexpr double kMostSightings = 100;
constexpr int kMostAhead = 7;  // other calls ahead of one of them

bool is_zero_workspace(const BufferSpec& spec) {
  return spec.role == Role::workspace && spec.fill == Fill::zero;
}

bool is_compared_on_host(const BufferSpec& spec) {
  return !spec.members.empty() || spec.has_gaps();
}

void poison_unchecked(const Workspace& workspace, Poison poison) {
  for (const ZonedBuffer& buffer : workspace) {
    if (buffer.spec().role == Role::unchecked) buffer.poison(poison);
  }
}

/// Keeps the first failure, else the first message, and the largest error.
void keep_first(Verdict& kept, const Verdict& next) {
  kept.worst_error = std::max(kept.worst_error, next.worst_error);
  kept.repeats = kept.repeats && next.repeats;
  if (kept.outcome != Outcome::ok) return;
  if (next.outcome != Outcome::ok || kept.message.empty()) {
    kept.message = next.message;
    kept.unwritten = next.unwritten;
    kept.is_undefined = next.is_undefined;
  }
  kept.outcome = next.outcome;
}

}  // namespace

Workspace allocated_workspace(Memory& memory, const LaunchPlan& plan) {
  Workspace workspace;
  for (BufferSpec spec : plan.workspace) {
    if (spec.role != Role::unchecked) spec.role = Role::workspace;
    workspace.emplace_back(memory, std::move(spec)).clear();
  }
  return workspace;
}

/// What the device finds, for the workload's buffers, the workspace and the answers.
struct Verifier::Report {
  std::vector<std::uint64_t> zones, hashes;            // by buffer
  std::vector<std::uint64_t> space_zones, space_left;  // by workspace
  std::vector<Finding> findings, repeats;              // by answer

  Report(std::size_t buffers, std::size_t spaces, std::size_t answers)
      : zones(buffers),
        hashes(buffers),
        space_zones(spaces),
        space_left(spaces),
        findings(answers),
        repeats(answers) {}
};

Verifier::Verifier(Memory& memory, const Workload& workload, ProblemBuffers& buffers,
                   const RightAnswers& answers)
    : memory_(memory), workload_(workload), buffers_(buffers), answers_(answers) {}

Verdict Verifier::verify(const CallOfSet& calls, Workspace& workspace, int runs,
                         double give_up_seconds) {
  Verdict worst;
  bool first_launch = true;
  for (const InputSet set : kInputSets) {
    if (answers_[index_of(set)].empty()) continue;
    Outputs first;
    for (int run = 0; run < std::max(runs, 1); ++run) {
      // One run after the other, each on the next poison: both sets see another one first.
      const auto poison = static_cast<Poison>((static_cast<int>(index_of(set)) + run) % kPoisons);
      const Verdict verdict = run_once(*calls[index_of(set)], workspace, set, poison, first);
      if (verdict.outcome != Outcome::ok) return verdict;
      worst.seconds = verdict.seconds;
      if (std::exchange(first_launch, false) && give_up_seconds > 0 &&
          verdict.seconds > give_up_seconds) {
        worst.outcome = Outcome::pruned;
        return worst;
      }
      keep_first(worst, verdict);
      if (run == 0 && runs > 1) first = outputs(set);
    }
  }
  return worst;
}

Verdict Verifier::recheck(Call& call, Workspace& workspace) {
  return run_once(call, workspace, InputSet::uniform, Poison::low, {});
}

RowBits Verifier::rows(Call& call, const Workspace& workspace, std::int64_t columns) {
  buffers_.reset(InputSet::uniform, Poison::nan);
  poison_unchecked(workspace, Poison::nan);
  call.run();
  memory_.finish();
  RowBits rows;
  const auto output = std::ranges::find(workload_.buffers, Role::output, &BufferSpec::role);
  if (output == workload_.buffers.end() || output->has_gaps() || output->element_bytes() > 8 ||
      columns < 1 || columns > output->length) {
    return rows;
  }
  const auto index = static_cast<std::size_t>(output - workload_.buffers.begin());
  const std::byte* const start = buffers_.buffer(index, InputSet::uniform).start();
  const std::vector<std::byte> bytes = memory_.read(start, output->bytes());
  const auto width = static_cast<std::size_t>(output->element_bytes());
  const auto row = static_cast<std::size_t>(columns) * width;
  rows.first.resize(static_cast<std::size_t>(columns));
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    if (at < row) {
      std::memcpy(&rows.first[at / width], &bytes[at], width);
    } else if (std::memcmp(&bytes[at], &bytes[at % row], width) != 0) {
      ++rows.different;
    }
  }
  return rows;
}

Verdict Verifier::run_once(Call& call, Workspace& workspace, InputSet set, Poison poison,
                           const Outputs& first) {
  buffers_.reset(set, poison);
  for (ZonedBuffer& buffer : workspace) buffer.paint_zones(poison);
  poison_unchecked(workspace, poison);
  const double seconds = call.run();
  call.start_checks();
  Report report(workload_.buffers.size(), workspace.size(), answers_[index_of(set)].size());
  inspect(workspace, set, first, report);
  memory_.finish();
  Verdict found = verdict(workspace, set, poison, first, report);
  found.seconds = seconds;
  return found;
}

void Verifier::inspect(const Workspace& workspace, InputSet set, const Outputs& first,
                       Report& report) const {
  for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
    const ZonedBuffer& buffer = buffers_.buffer(i, set);
    buffer.count_changes(&report.zones[i]);
    if (buffer.spec().role != Role::input) continue;
    memory_.hash(buffer.start(), buffer.spec().bytes(), &report.hashes[i]);
  }
  for (std::size_t i = 0; i < workspace.size(); ++i) {
    const ZonedBuffer& buffer = workspace[i];
    buffer.count_changes(&report.space_zones[i]);
  }
  count_left(workspace, report.space_left);
  const auto& answers = answers_[index_of(set)];
  compare(answers, set, report.findings);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const BufferSpec& spec = workload_.buffers[answers[i].buffer];
    if (is_compared_on_host(spec)) continue;
    memory_.compare_bits(spec, first[i].get(), got(answers[i], set), &report.repeats[i]);
  }
}

/// Counts the bytes of each zero workspace that are not zero.
void Verifier::count_left(const Workspace& workspace, std::vector<std::uint64_t>& left) const {
  for (std::size_t i = 0; i < workspace.size(); ++i) {
    const BufferSpec& spec = workspace[i].spec();
    if (!is_zero_workspace(spec)) continue;
    memory_.count_other(workspace[i].start(), spec.bytes(), std::byte{0}, &left[i]);
  }
}

void Verifier::compare(const std::vector<SealedAnswer>& answers, InputSet set,
                       std::vector<Finding>& findings) const {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const BufferSpec& spec = workload_.buffers[answers[i].buffer];
    if (is_compared_on_host(spec)) continue;
    memory_.compare(spec, got(answers[i], set), answers[i], &findings[i]);
  }
}

Verdict Verifier::verdict(Workspace& workspace, InputSet set, Poison poison, const Outputs& first,
                          const Report& report) {
  Verdict found;
  for (std::size_t i = 0; i < report.zones.size(); ++i) {
    const ZonedBuffer& buffer = buffers_.buffer(i, set);
    if (report.zones[i] != 0 || buffer.spec().has_gaps()) keep_first(found, buffer.check_zones());
  }
  for (std::size_t i = 0; i < report.space_zones.size(); ++i) {
    if (report.space_zones[i] != 0) keep_first(found, workspace[i].check_zones());
    if (report.space_left[i] != 0) keep_first(found, workspace_verdict(workspace[i]));
  }
  for (std::size_t i = 0; i < report.hashes.size(); ++i) {
    if (workload_.buffers[i].role != Role::input) continue;
    if (report.hashes[i] != buffers_.hash(i, set)) keep_first(found, input_verdict(i, set));
  }
  const auto& answers = answers_[index_of(set)];
  for (std::size_t i = 0; i < answers.size(); ++i) {
    keep_first(found, answer_verdict(answers[i], set, poison, report.findings[i]));
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    keep_first(found, repeat_verdict(answers[i], set, first[i].get(), report.repeats[i]));
  }
  if (found.outcome == Outcome::ok) return found;
  for (const ZonedBuffer& buffer : workspace) buffer.clear();
  return found;
}

Verdict Verifier::input_verdict(std::size_t index, InputSet set) const {
  const ZonedBuffer& buffer = buffers_.buffer(index, set);
  const auto now = memory_.read(buffer.start(), buffer.spec().bytes());
  buffers_.refill(index, set);
  return check_unchanged(buffer.spec(), now, set, workload_.seed,
                         buffers_.prepared().of(set, index));
}

Verdict Verifier::workspace_verdict(const ZonedBuffer& buffer) const {
  const BufferSpec& spec = buffer.spec();
  const auto left = memory_.read(buffer.start(), spec.bytes());
  const auto other =
      std::ranges::find_if(left, [](std::byte byte) { return byte != std::byte{0}; });
  return {Outcome::wrong,
          format("the call leaves {0}[{1}] of its workspace other than zero: with fill = \"zero\" "
                 "each call resets {0} to zeros, because the next call finds it as it is",
                 spec.name, (other - left.begin()) / spec.element_bytes()),
          infinity()};
}

Verdict Verifier::answer_verdict(const SealedAnswer& answer, InputSet set, Poison before,
                                 const Finding& finding) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  const bool at_once = is_compared_on_host(spec);
  if (!at_once && finding.wrong == 0) return verdict_of(spec, finding, {}, {answer.type, {}});
  // The first wrong element, or all of what is compared on the host.
  const auto first = static_cast<std::int64_t>(at_once ? 0 : finding.first);
  const std::int64_t size = at_once ? spec.bytes() : bytes_of(spec.type);
  const std::int64_t answer_size = at_once ? answer_bytes(workload_, spec) : bytes_of(answer.type);
  const auto value = memory_.read(got(answer, set) + first * size, size);
  const auto right = memory_.unsealed(answer.values, first * answer_size, answer_size);
  std::vector<std::byte> magnitude;
  if (answer.magnitudes) {
    magnitude = memory_.unsealed(answer.magnitudes, first * answer_size, answer_size);
  }
  const Expected expected{answer.type, right, magnitude, answer.exact};
  return at_once ? autotune::compare(spec, value, expected, before)
                 : verdict_of(spec, finding, value, expected, before);
}

/// Other bits are wrong only where the output must be repeatable.
Verdict Verifier::repeat_verdict(const SealedAnswer& answer, InputSet set, const std::byte* first,
                                 const Finding& finding) const {
  const BufferSpec& spec = workload_.buffers[answer.buffer];
  const bool at_once = is_compared_on_host(spec);
  if (!at_once && finding.wrong == 0) return {};
  const std::int64_t size = at_once ? spec.bytes() : bytes_of(spec.type);
  const std::int64_t offset = at_once ? 0 : static_cast<std::int64_t>(finding.first) * size;
  const auto one = memory_.read(first + offset, size);
  const auto other = memory_.read(got(answer, set) + offset, size);
  Verdict verdict =
      at_once ? compare_runs(spec, one, other) : runs_verdict(spec, finding, one, other);
  verdict.repeats = verdict.outcome == Outcome::ok;
  if (spec.repeatable || verdict.repeats) return verdict;
  Verdict differs;
  differs.repeats = false;
  return differs;
}

Verifier::Outputs Verifier::outputs(InputSet set) const {
  Outputs all;
  for (const SealedAnswer& answer : answers_[index_of(set)]) {
    const std::int64_t bytes = workload_.buffers[answer.buffer].bytes();
    memory_.copy(all.emplace_back(memory_.allocate(bytes)).get(), got(answer, set), bytes);
  }
  return all;
}

/// Compares what the outputs hold now.
Verdict Verifier::answers_verdict(Contents contents, Poison before) {
  const auto& answers = answers_[index_of(contents)];
  std::vector<Finding> findings(answers.size());
  compare(answers, set_of(contents), findings);
  memory_.finish();
  Verdict found;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    keep_first(found, answer_verdict(answers[i], set_of(contents), before, findings[i]));
  }
  return found;
}

/// One call like those of the chain, after others. Only the contents differ.
Verdict Verifier::check_one(Call& call, const Workspace& workspace, Contents contents) {
  const auto poison = static_cast<Poison>(secret_() % kPoisons);
  buffers_.restore_inouts(InputSet::uniform);
  buffers_.scribble(poison);
  poison_unchecked(workspace, poison);
  const bool varied = contents == Contents::varied;
  if (varied) buffers_.vary();
  call.start();
  call.start_checks();
  if (varied) buffers_.end_variation();
  std::vector<std::uint64_t> left(workspace.size());
  count_left(workspace, left);
  Verdict found = answers_verdict(contents, poison);
  for (std::size_t i = 0; i < workspace.size(); ++i) {
    if (left[i] != 0) keep_first(found, workspace_verdict(workspace[i]));
  }
  if (found.outcome != Outcome::ok) {
    found.message =
        format("in a chain of calls{}: {}",
               varied ? ", after some elements of its inputs changed" : "", found.message);
  }
  return found;
}

UnseenCalls Verifier::time_unseen(Call& call, int rounds) {
  UnseenCalls times;
  if (!buffers_.can_vary()) return times;
  // A kernel may keep only results of contents that it has seen some times. All measured calls come
  // behind as many others, because on a busy machine a call depends on what ran before it.
  double others = 0;
  const auto seconds_on = [&](std::optional<std::uint64_t> seed,
                              std::optional<std::uint64_t> before) {
    buffers_.redraw(before);
    for (int i = 0; i < static_cast<int>(others); ++i) {
      buffers_.restore_inouts(InputSet::uniform);
      call.start();
    }
    buffers_.redraw(seed);
    buffers_.restore_inouts(InputSet::uniform);
    memory_.finish();
    memory_.forget_branches();
    return call.run();
  };
  const auto start = Deadline::Clock::now();
  for (int round = -1; round < rounds; ++round) {  // the first may load something
    if (round >= kFewestForInterval && seconds_since(start) > kUnseenSeconds) break;
    const std::uint64_t seed = secret_();
    const double unseen = seconds_on(seed, std::nullopt), again = seconds_on(seed, seed);
    const double timed = seconds_on(std::nullopt, seed);
    if (round < 0) {
      const double fewest = timed < kUnseenSeconds / 5 ? 5 : 0;
      others = std::clamp(kSightingSeconds / std::max(timed, 1e-9), fewest, kMostSightings);
      continue;
    }
    times.unseen.push_back(unseen);
    times.again.push_back(again);
    times.timed.push_back(timed);
  }
  return times;
}

void Verifier::check_chain(Call& call, Workspace& workspace, double seconds) {
  const auto expect_right = [](const Verdict& verdict) {
    if (verdict.outcome != Outcome::ok) throw KernelFailure(verdict.outcome, verdict.message);
  };
  if (answers_[index_of(Contents::uniform)].empty()) return;
  if (!buffers_.any_inouts()) {
    call.start_checks();
    Verdict left = answers_verdict(Contents::uniform, Poison::nan);
    left.message = "after a chain of calls: " + left.message;
    expect_right(left);
  }
  const bool can_vary = !answers_[index_of(Contents::varied)].empty();
  double spent = 0;
  for (int checked = 0; checked < kMostChecked && (checked == 0 || spent < kChainSeconds);
       ++checked) {
    const int most = static_cast<int>(
        std::min(kChainSeconds / std::max(seconds, 1e-9), static_cast<double>(kMostAhead)));
    const int ahead = static_cast<int>(secret_() % static_cast<unsigned>(most + 1));
    for (int i = 0; i < ahead; ++i) {
      buffers_.restore_inouts(InputSet::uniform);
      call.start();
    }
    const bool varied = can_vary && (checked == 0 || secret_() % 2 == 0);
    expect_right(check_one(call, workspace, varied ? Contents::varied : Contents::uniform));
    spent += (ahead + 1) * seconds;
  }
}

}  // namespace autotune
