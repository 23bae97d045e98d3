// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr double kRequestSeconds = 0.5;  // of repeated runs
constexpr double kMostInRequest = 50;    // runs, on each input set
constexpr int kMostRepeats = 3000;       // of one problem
constexpr int kFewestRepeats = 1500;     // if they take no more than kMostPatience times as long
constexpr double kMostPatience = 5;
constexpr int kRounds = 15;             // of calls on unseen and on seen contents
constexpr int kMostAttempts = 3;        // at so many rounds, until the ratio is known
constexpr double kClearLead = 0.5;      // of a speedup: a smaller one must show twice
constexpr double kRemembers = 1.25;     // an unseen call takes so much longer, at least
constexpr double kTimerSeconds = 2e-6;  // by which one call alone may differ from another

/// It is not right, and why.
struct Refusal {
  Ruling ruling = Ruling::wrong;
  Outcome outcome = Outcome::wrong;
  std::string why;
  std::string where = {};  // empty: the problem that is judged
};

constexpr const char* kElsewhere = "at a size that was not named";

void expect_right(const Verdict& verdict, std::string_view when = {}) {
  if (verdict.outcome == Outcome::ok) return;
  throw Refusal{Ruling::wrong, verdict.outcome,
                when.empty() ? verdict.message : format("{}: {}", when, verdict.message)};
}

/// The message names the size.
void expect_right_elsewhere(const Verdict& verdict) {
  if (verdict.outcome == Outcome::ok) return;
  throw Refusal{Ruling::wrong, verdict.outcome, verdict.message, kElsewhere};
}

}  // namespace

std::string_view name_of(Ruling ruling) {
  static constexpr std::array<std::string_view, 3> kNames = {"right", "wrong", "cheats"};
  return kNames[static_cast<std::size_t>(ruling)];
}

std::string_view name_of(Pace pace) {
  static constexpr std::array<std::string_view, 3> kNames = {"faster", "within noise", "slower"};
  return kNames[static_cast<std::size_t>(pace)];
}

namespace {

/// One kernel before the judge.
class Case {
 public:
  Case(const Target& candidate, const JudgeRequest& request, Device& device, CompilePool& pool,
       const std::function<void(const std::string&)>& warn)
      : candidate_(candidate),
        against_(*candidate.against),
        request_(request),
        device_(device),
        requests_(pool),
        warn_(warn) {}

  KernelJudgement judged() {
    for (SourceUnit& unit : units_of(candidate_, request_, device_.info())) {
      compiled_.push_back(requests_.compile(std::move(unit)));
    }
    std::string where;
    try {
      for (const Problem& problem : request_.problems) {
        where = problem_text(candidate_, problem);
        judge(problem);
      }
      where.clear();
    } catch (const Refusal& refusal) {
      result_.ruling = refusal.ruling;
      result_.outcome = refusal.outcome;
      result_.why = refusal.why;
      result_.where = refusal.where.empty() ? where : refusal.where;
    } catch (const KernelFailure& failure) {
      result_.ruling = Ruling::wrong;
      result_.outcome = failure.outcome();
      result_.why = failure.what();
      result_.where = where;
    }
    result_.pace = overall_pace();
    return std::move(result_);
  }

 private:
  struct Loaded {
    Configuration configuration;
    std::shared_ptr<const CompiledKernel> kernel;
    std::unique_ptr<Candidate> candidate;
  };

  /// A late compiler says nothing of the kernel: Error.
  std::shared_ptr<const CompiledKernel> built(SourceUnit unit) {
    const std::string name = unit.name;
    auto kernel = requests_.compile(std::move(unit)).get();
    if (kernel->outcome != Outcome::timeout) return kernel;
    throw Error(format("{}: its compilation was ended (raise --compile-limit): {}", name,
                       first_error(kernel->log)));
  }

  std::shared_ptr<const CompiledKernel> compiled(SourceUnit unit) {
    auto kernel = built(std::move(unit));
    if (kernel->outcome != Outcome::ok) {
      throw KernelFailure(kernel->outcome, first_error(kernel->log));
    }
    return kernel;
  }

  Loaded loaded(const Target& target, const Problem& problem, Workbench& bench) {
    const TargetProgram program(target, problem, device_.info());
    Loaded one{valid_default(target, problem, device_.info()), nullptr, nullptr};
    const Levels levels = program.levels(one.configuration);
    const LaunchPlan plan = program.plan(levels);
    one.kernel = compiled(program.source_unit(levels));
    one.candidate = bench.load(*one.kernel, plan);
    return one;
  }

  /// The kernel that counts as right must be right itself, or the judge knows nothing.
  void expect_right_rival(Candidate& rival) const {
    const Verdict verdict = verdict_or_failure([&] { return rival.verify(); });
    if (verdict.outcome == Outcome::ok) return;
    throw Error(format("{}: the kernel to compare with is not right itself ({}): {}",
                       place_of(against_), name_of(verdict.outcome), verdict.message));
  }

  void judge(const Problem& problem) {
    const Device::Turn turn = device_.take_turn();
    JudgedProblem judged;
    judged.problem = problem;
    const TargetProgram program(candidate_, problem, device_.info());
    const Configuration own = valid_default(candidate_, problem, device_.info());
    (void)compiled(program.source_unit(program.levels(own)));  // the reference may take long
    Workload workload = prepared_workload_of(candidate_, problem, device_.info());
    workload.form = request_.policy.form;
    const auto bench = device_.open(workload);
    Loaded candidate = loaded(candidate_, problem, *bench);
    result_.binary_key = candidate.kernel->key;
    verify(candidate, judged);
    verify_elsewhere(candidate, problem);
    time(candidate, *bench, judged);
    expect_right(candidate.candidate->recheck(), "after it was timed");
    expect_no_memory(*candidate.candidate, judged);
    verify_often(*candidate.candidate, judged);
    result_.problems.push_back(std::move(judged));
  }

  void verify(const Loaded& candidate, JudgedProblem& judged) {
    const Verdict verdict = candidate.candidate->verify(kFinalistRuns);
    expect_right(verdict);
    judged.worst_error = verdict.worst_error;
    judged.repeats = verdict.repeats;
    judged.checked_calls += 2 * kFinalistRuns;
  }

  /// On edge problems and on sizes of the judge's own.
  void verify_elsewhere(const Loaded& candidate, const Problem& problem) {
    const auto compile = [&](SourceUnit unit) { return built(std::move(unit)); };
    const EdgeProblems edges = judged_edges(candidate_, problem, device_.info());
    EdgeCheck edge(candidate_, edges, device_);
    expect_right_elsewhere(edge.verify(candidate.configuration, compile));
    if (edges == EdgeProblems{}) note_refused_sizes(problem);
    if (const std::vector<std::string> unknown = unknown_sizes(candidate_); !unknown.empty()) {
      note(format("it does not take {}: it was checked at the defaults", joined(unknown, ", ")));
    }
    for (const Problem& own :
         own_problems(candidate_, problem, device_.info(), request_.own_sizes, request_.seed)) {
      try {
        const Verdict verdict =
            EdgeCheck(candidate_, {{own}, {}}, device_).verify(candidate.configuration, compile);
        if (verdict.is_undefined) throw Error(verdict.message);
        expect_right_elsewhere(verdict);
        result_.own.push_back(own);
      } catch (const Error& error) {  // the reference fails there
        note(format("it was not checked at a size of the judge's own: {}", error.what()));
      }
    }
  }

  void note_refused_sizes(const Problem& problem) {
    std::string constraints;
    for (const Expression& each : candidate_.constraints) {
      const bool is_of_sizes = std::ranges::any_of(each.names(), [&](const std::string& name) {
        return std::ranges::find(candidate_.sizes, name) != candidate_.sizes.end();
      });
      if (is_of_sizes) constraints += (constraints.empty() ? "" : ", ") + each.text();
    }
    note(constraints.empty()
             ? format("at other sizes than {}, it was not checked: files or rules belong to these",
                      problem_text(candidate_, problem))
             : format("it was launched for, and checked at, no other sizes than those with {}",
                      constraints));
  }

  void note(std::string text) {
    if (std::ranges::find(result_.notes, text) == result_.notes.end()) {
      result_.notes.push_back(std::move(text));
    }
  }

  double seconds_of(Candidate& candidate) const {
    InContext timer(candidate, search_context(request_.policy));
    return timer.time(request_.policy.fewest_launches, request_.policy.l2).seconds;
  }

  void time(Loaded& candidate, Workbench& bench, JudgedProblem& judged) {
    std::vector<Finalist> entries;
    std::vector<BaselineCandidate> baselines;
    Loaded rival;
    if (request_.baselines.empty()) {
      rival = loaded(against_, judged.problem, bench);
      result_.rival_key = rival.kernel->key;
      expect_right_rival(*rival.candidate);
      judged.rival = against_.name;
    } else {
      baselines = find_baselines(bench, request_.baselines, warn_);
      if (baselines.empty()) {
        throw Error(
            format("{}: the library has nothing for it: compare with the target itself, "
                   "--against {}",
                   problem_text(against_, judged.problem), against_.name));
      }
    }
    try {
      entries.push_back({candidate.candidate.get(), seconds_of(*candidate.candidate)});
    } catch (const KernelFailure& failure) {
      refuse_timed(failure);
    }
    if (rival.candidate) {
      entries.push_back({rival.candidate.get(), seconds_of(*rival.candidate), true});
    }
    for (BaselineCandidate& each : baselines) {
      entries.push_back({each.candidate.get(), each.seconds, false, false, true});
    }
    const auto play = [&](std::uint64_t seed) {
      const PlayoffResult result = play_off(entries, request_.policy, seed);
      const FinalistResult& own = result.finalists.front();
      if (own.outcome != Outcome::ok) refuse_timed(KernelFailure(own.outcome, own.message));
      judged.candidate_seconds = own.measurement;
      judged.noise_floor = result.noise_floor;
      expect_possible(judged);
      compare(result, baselines, judged);
    };
    play(request_.seed);
    if (judged.pace == Pace::alike || std::abs(judged.speedup.median - 1) >= kClearLead) return;
    // A kernel is a little faster than itself now and then, on a busy machine or by where it lies
    // in memory, but not twice, and not where both are loaded again.
    const Pace first = judged.pace;
    const Loaded again = loaded(candidate_, judged.problem, bench);
    Loaded rival_again;
    entries[0].timer = again.candidate.get();
    if (rival.candidate) {
      rival_again = loaded(against_, judged.problem, bench);
      entries[1].timer = rival_again.candidate.get();
    }
    play(request_.seed + 1);
    if (judged.pace != first) judged.pace = Pace::alike;
  }

  /// A call of a timed chain was wrong, after calls that were right.
  [[noreturn]] static void refuse_timed(const KernelFailure& failure) {
    const bool is_wrong = failure.outcome() == Outcome::wrong;
    throw Refusal{is_wrong ? Ruling::cheats : Ruling::wrong, failure.outcome(),
                  is_wrong ? format("right in calls by themselves, but not while it is timed: {}",
                                    failure.what())
                           : failure.what()};
  }

  void expect_possible(JudgedProblem& judged) const {
    judged.time_floor =
        time_floor(TargetProgram(against_, judged.problem, device_.info()), device_.info());
    const double seconds = judged.candidate_seconds.median;
    if (seconds >= judged.time_floor) return;
    throw Refusal{Ruling::cheats, Outcome::wrong, too_fast_text(seconds, judged.time_floor)};
  }

  void compare(const PlayoffResult& result, std::span<const BaselineCandidate> baselines,
               JudgedProblem& judged) const {
    std::size_t rival = 0;
    for (std::size_t i = 1; i < result.finalists.size(); ++i) {
      const FinalistResult& one = result.finalists[i];
      if (one.outcome != Outcome::ok) continue;
      if (rival == 0 || one.measurement.median < result.finalists[rival].measurement.median) {
        rival = i;
      }
    }
    if (rival == 0) {
      const FinalistResult& one = result.finalists.back();
      throw Error(format("{}: the kernel to compare with failed while it was timed ({}): {}",
                         place_of(against_), name_of(one.outcome), one.message));
    }
    const FinalistResult& other = result.finalists[rival];
    if (!baselines.empty()) {
      const BaselineCandidate& one = baselines[rival - 1];
      judged.rival = format("{}: {}", one.source.plugin.stem().string(), one.name);
      judged.speedup = *other.to_winner;
    } else {
      const Ratio& to_default = *result.finalists.front().to_default;
      judged.speedup = {1 / to_default.median, 1 / to_default.high, 1 / to_default.low,
                        to_default.samples};
    }
    judged.rival_seconds = other.measurement;
    judged.pace =
        pace_of(judged.speedup, std::max(result.noise_floor, request_.policy.replace_margin));
  }

  /// The same kernel twice differs by more than its noise floor now and then: the whole interval
  /// has to be beyond the margin.
  static Pace pace_of(const Ratio& speedup, double margin) {
    if (speedup.samples < kFewestForInterval) return Pace::alike;
    if (speedup.low > 1 + margin) return Pace::faster;
    return speedup.high < 1 / (1 + margin) ? Pace::slower : Pace::alike;
  }

  /// A kernel may keep results of the timed contents only. Of a kernel whose time depends on
  /// contents, those of other contents differ as much.
  static bool keeps_what_is_timed(const UnseenCalls& calls) {
    const double least = std::ranges::min(calls.unseen), timed = median(calls.timed);
    return least - timed > kTimerSeconds &&
           least / timed > std::max(kRemembers, median(calls.unseen) / least);
  }

  /// A kernel that keeps results may compare whole inputs. Then it is right, but slow on new ones.
  /// A busy machine may hide it in a few calls, or show it by chance: then there are more of them.
  void expect_no_memory(Candidate& candidate, JudgedProblem& judged) {
    UnseenCalls all;
    for (int i = 0; i < kMostAttempts; ++i) {
      const UnseenCalls calls = candidate.time_unseen(kRounds);
      if (calls.unseen.empty()) {
        note("its inputs cannot be drawn again: results kept from earlier calls are not noticed");
        return;
      }
      for (const auto part : {&UnseenCalls::unseen, &UnseenCalls::again, &UnseenCalls::timed}) {
        (all.*part).insert((all.*part).end(), (calls.*part).begin(), (calls.*part).end());
      }
      judged.unseen = paired_ratio(all.unseen, all.again);
      const double apart = median(all.unseen) - median(all.again);
      const bool is_alike = judged.unseen.high < kRemembers || apart < kTimerSeconds;
      if (is_alike && !keeps_what_is_timed(all)) return;
    }
    if (judged.unseen.low < kRemembers && !keeps_what_is_timed(all)) return;
    throw Refusal{Ruling::cheats, Outcome::wrong,
                  format("keeps results of earlier calls: a call on inputs that it has not seen "
                         "takes {}, one on inputs that it has seen {}",
                         time_text(median(all.unseen)),
                         time_text(std::min(median(all.again), median(all.timed))))};
  }

  void verify_often(Candidate& candidate, JudgedProblem& judged) const {
    const auto start = Deadline::Clock::now();
    const auto is_enough = [&](int runs) {
      const double spent = seconds_since(start) / request_.repeat_seconds;
      return spent >= (runs < kFewestRepeats ? kMostPatience : 1);
    };
    int runs = 0;
    for (int repeats = 1; runs < kMostRepeats && !is_enough(runs);) {
      const auto request = Deadline::Clock::now();
      const Verdict verdict = candidate.verify(repeats);
      judged.repeats = judged.repeats && verdict.repeats;
      judged.checked_calls += 2 * repeats;
      expect_right(verdict, format("in one of {} calls", judged.checked_calls));
      runs += 2 * repeats;
      const double one = seconds_since(request) / repeats;  // the worker has a deadline
      repeats = static_cast<int>(std::clamp(kRequestSeconds / one, 1.0, kMostInRequest));
    }
  }

  Pace overall_pace() const {
    bool faster = false, slower = false;
    for (const JudgedProblem& each : result_.problems) {
      faster = faster || each.pace == Pace::faster;
      slower = slower || each.pace == Pace::slower;
    }
    return faster == slower ? Pace::alike : faster ? Pace::faster : Pace::slower;
  }

  const Target& candidate_;
  const Target& against_;
  const JudgeRequest& request_;
  Device& device_;
  CompileRequests requests_;
  const std::function<void(const std::string&)>& warn_;
  std::vector<CompileRequests::Result> compiled_;
  KernelJudgement result_;
};

}  // namespace

std::vector<SourceUnit> units_of(const Target& candidate, const JudgeRequest& request,
                                 const DeviceInfo& device) {
  std::vector<SourceUnit> units;
  const auto add = [&](const Target& target, const Problem& problem) {
    const TargetProgram program(target, problem, device);
    const auto valid = program.first_valid_default();
    if (valid) units.push_back(program.source_unit(*valid));
  };
  for (const Problem& problem : request.problems) {
    add(candidate, problem);
    add(*candidate.against, problem);
    const EdgeProblems edges = judged_edges(candidate, problem, device);
    for (const Problem& each : edges.usual.empty() ? edges.longer : edges.usual) {
      add(candidate, each);
    }
    for (const Problem& each :
         own_problems(candidate, problem, device, request.own_sizes, request.seed)) {
      add(candidate, each);
    }
  }
  return units;
}

KernelJudgement judge_kernel(const Target& candidate, const JudgeRequest& request, Device& device,
                             CompilePool& pool,
                             const std::function<void(const std::string&)>& warn) {
  device.renew();
  KernelJudgement first = Case(candidate, request, device, pool, warn).judged();
  if (first.outcome != Outcome::timeout) return first;
  KernelJudgement second = Case(candidate, request, device, pool, warn).judged();
  if (second.outcome == Outcome::timeout) {
    second.why = "in both attempts: " + second.why;
  } else {
    second.notes.push_back(format("judged again after a late call: {}", first.why));
  }
  return second;
}

}  // namespace autotune
