// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_tuner.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/session/trial_evaluator.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Of a problem's time, at most, kept for usual finals.
constexpr double kFinalsShare = 0.3;

/// What was measured against what the model said.
std::vector<PastTrial> past_trials(const ProblemRun& run, const std::vector<double>& predicted) {
  std::vector<PastTrial> past;
  for (const auto& [index, trial] : run.ledger().trials()) {
    if (!run.ledger().is_timed(index)) continue;
    past.push_back(
        {run.problem().values, trial.configuration, trial.measurement->median, predicted[index]});
  }
  return past;
}

std::string default_failure_of(const ProblemRun& run) {
  const auto& trials = run.ledger().trials();
  const auto trial = trials.find(run.default_index());
  if (trial == trials.end() || trial->second.outcome == Outcome::ok) return "";
  return format("{}: {}", name_of(trial->second.outcome), first_error(trial->second.message));
}

/// Every trial, in the order in which they came.
std::vector<SearchStep> steps_of(const ProblemRun& run) {
  std::vector<SearchStep> steps;
  for (const Evaluation& evaluation : run.ledger().evaluations()) {
    const Trial& trial = run.ledger().trials().at(evaluation.index);
    SearchStep step{trial.outcome, {}, trial.predicted_seconds, trial.message};
    if (trial.measurement) step.seconds = trial.measurement->median;
    steps.push_back(std::move(step));
  }
  return steps;
}

ProblemReport report_of(const ProblemRun& run, const ProblemDecision& decision) {
  ProblemReport report;
  report.problem = run.problem();
  report.space = run.space().size();
  for (const auto& [index, trial] : run.ledger().trials()) {
    ++report.outcomes[static_cast<std::size_t>(trial.outcome)];
  }
  report.taken_over = run.ledger().taken_over();
  report.quarantined = run.ledger().quarantined();
  report.health =
      search_health(steps_of(run), report.space, static_cast<std::size_t>(report.taken_over));
  report.decision = decision;
  if (!decision.default_configuration) report.default_failure = default_failure_of(run);
  report.flops = run.recorder().flops();
  report.phases = run.bench().phases();
  return report;
}

Progress progress_of(const ProblemRun& run, std::size_t number, std::size_t budget,
                     Deadline::Clock::time_point started) {
  Progress progress;
  progress.problem = number;
  progress.problem_text = problem_text(run.target(), run.problem());
  progress.done = run.ledger().trials().size();
  progress.total = std::min(budget, run.space().size());
  if (run.ledger().fastest()) progress.best_seconds = run.ledger().best_seconds();
  progress.flops = run.recorder().flops();
  progress.elapsed_seconds = seconds_since(started);
  return progress;
}

}  // namespace

ProblemReport ProblemTuner::tune(const TuningOrder& order) {
  const auto started = Deadline::Clock::now();
  const TuningRequest& request = shared_.request;
  const Problem& problem = request.problems[order.number];
  PreparedProblem prepared = shared_.problems.take(order.number, order.ahead);
  if (const std::string refused = why_refused(shared_.target, prepared.space); !refused.empty()) {
    ProblemReport report;
    report.problem = problem;
    report.refused = refused;
    return report;
  }
  Recorder recorder = recorder_of(problem);
  ProblemRun run({shared_.target, device_, shared_.pool, recorder, request.policy, order.batch,
                  request.baselines, callbacks_.on_warning, request.answer_today},
                 problem, std::move(prepared.space), std::move(prepared.corrected), order.retune);
  EdgeCheck& edge = edge_of(problem);

  started_from_ = {};
  const std::optional<double> expected_gain = search(run, edge, order, started);
  warn_of_machine(run);
  warn_of_disturbance(run);
  warn_of_bounds(run);
  teach(past_trials(run, prepared.predicted));
  prepare_next(order.place);
  const ProblemDecision decision = finish(run, edge, order);
  recorder.flush();

  ProblemReport report = report_of(run, decision);
  report.started_from = started_from_;
  report.expected_gain = expected_gain;
  report.out_of_time = !decision.undone.empty();
  report.seconds = seconds_since(started);
  return report;
}

/// Many problems have the same edge problems, whose buffers and right answers are then kept.
EdgeCheck& ProblemTuner::edge_of(const Problem& problem) {
  EdgeProblems problems = edge_problems(shared_.target, problem, device_.info());
  if (!edge_ || edge_->problems() != problems) {
    edge_.reset();
    edge_ = std::make_unique<EdgeCheck>(shared_.target, std::move(problems), device_);
  }
  return *edge_;
}

db::ProblemKey ProblemTuner::key_of(const Problem& problem) {
  if (!rows_) rows_ = begin_session(store_, shared_.target, device_, shared_.request);
  return {rows_->device, rows_->kernel, problem.text(), key_text(shared_.request.policy)};
}

Recorder ProblemTuner::recorder_of(const Problem& problem) {
  const double flops = work_of(shared_.target, problem, device_.info()).flops;
  const db::ProblemKey key = key_of(problem);
  return {store_, rows_->session, key, flops, !shared_.request.partial};
}

std::optional<double> ProblemTuner::search(ProblemRun& run, EdgeCheck& edge,
                                           const TuningOrder& order,
                                           Deadline::Clock::time_point started) {
  const std::size_t budget = shared_.request.budget.evaluations(run.space().size());
  run.end().when(stop_of_search(run, order.deadline));
  TrialEvaluator evaluator(run, budget);
  if (shared_.request.budget.kind == Budget::Kind::automatic) evaluator.end_automatically();
  const auto show = [this, &run, budget, number = order.number, started](std::size_t) {
    if (callbacks_.on_progress) callbacks_.on_progress(progress_of(run, number, budget, started));
  };
  run.ledger().on_trial(show);
  shared_.queue.open(evaluator, order.place);
  const auto close = [this](TrialEvaluator* search) { shared_.queue.close(*search); };
  const std::unique_ptr<TrialEvaluator, decltype(close)> open(&evaluator, close);
  const std::unique_ptr<SearchStrategy> strategy = make_strategy(shared_.request.strategy);
  const std::uint64_t seed = hash64(run.problem().text(), shared_.request.seed);
  if (evaluator.must_compile(run.default_index())) {
    compile_ahead(run, edge, run.default_index());
    if (const auto given = run.given()) evaluator.prefetch({&*given, 1});
    if (evaluator.remaining() > 1) evaluator.prefetch(strategy->first(evaluator, seed));
  }
  if (!begin_search(run, edge, evaluator)) return std::nullopt;
  run.ledger().on_trial([this, &run, &edge, show](std::size_t index) {
    show(index);
    if (run.ledger().is_within(run.policy().finalist_margin, index)) {
      compile_ahead(run, edge, index);
    }
  });
  strategy->search(evaluator, seed);
  return evaluator.expected_gain();
}

/// Tries the default configuration, takes over all that is known, and tries what programs get.
/// False if nothing is left to search for.
bool ProblemTuner::begin_search(ProblemRun& run, EdgeCheck& edge, TrialEvaluator& evaluator) {
  const std::size_t by_default = run.default_index();
  evaluator.evaluate({&by_default, 1});
  run.ledger().take_over_all();
  if (evaluator.remaining() == 0) return false;
  if (run.ledger().is_timed(by_default)) expect_default_right_at_edge(run, edge);
  if (const auto given = run.given()) evaluator.suggest({&*given, 1});
  start_from_elsewhere(run, evaluator);
  return true;
}

/// What is fast on other devices is measured here before the search begins.
void ProblemTuner::start_from_elsewhere(const ProblemRun& run, TrialEvaluator& evaluator) {
  if (!store_) return;
  const std::vector<FoundElsewhere> found =
      found_elsewhere(*store_, run.target(), run.problem(), key_of(run.problem()),
                      device_.info().kind, run.space());
  std::vector<std::size_t> indices;
  for (const FoundElsewhere& one : found) indices.push_back(one.index);
  const std::vector<std::size_t> tried = evaluator.suggest(indices);
  started_from_.configurations = tried.size();
  for (const FoundElsewhere& one : found) {
    const bool was_tried = std::ranges::find(tried, one.index) != tried.end();
    auto& devices = started_from_.devices;
    if (!was_tried || std::ranges::find(devices, one.device) != devices.end()) continue;
    devices.push_back(one.device);
  }
}

/// If the default fails the edge check, every finalist would too: nothing is searched.
void ProblemTuner::expect_default_right_at_edge(ProblemRun& run, EdgeCheck& edge) {
  const Configuration configuration = run.space().at(run.default_index());
  using Kernel = std::shared_ptr<const CompiledKernel>;
  const auto compile = [&](SourceUnit unit) -> Kernel {
    try {
      return wait_for(run.requests().compile(std::move(unit)), [&] { return run.end().ask(); });
    } catch (const NotCompiled&) {  // this says nothing about the configuration
      return nullptr;
    }
  };
  const Verdict verdict = edge.verify(configuration, compile, 1, EdgeCheck::Extent::first);
  if (verdict.outcome != Outcome::ok && verdict.outcome != Outcome::killed)
    throw TargetError(edge_complaint(run.target(), verdict));
}

/// Compiles what a finalist needs on the edge problem while the search goes on.
void ProblemTuner::compile_ahead(ProblemRun& run, const EdgeCheck& edge, std::size_t index) {
  if (!device_.runs()) return;
  for (SourceUnit& unit : edge.units(run.space().at(index))) {
    run.requests().prefetch(std::move(unit));
  }
}

/// What is said of results that are right: once, because it is the same for all configurations.
void ProblemTuner::warn_of_bounds(const ProblemRun& run) const {
  for (const auto& [index, trial] : run.ledger().trials()) {
    if (trial.outcome != Outcome::ok || trial.message.empty() || trial.message == kDisturbed) {
      continue;
    }
    return warn(format("{}: {}", problem_text(run.target(), run.problem()), trial.message));
  }
}

/// Counts the trials that are not stored.
void ProblemTuner::warn_of_machine(const ProblemRun& run) const {
  struct Group {
    const char* what;
    const char* hint;
    std::size_t count = 0;
    std::string why;
  };
  std::array<Group, 2> groups{
      {{"compiled", " (fewer --jobs need less memory)", 0, ""}, {"timed", "", 0, ""}}};
  for (const auto& [index, trial] : run.ledger().trials()) {
    if (!trial.of_machine) continue;
    Group& group = groups[trial.outcome == Outcome::compile_error ? 0 : 1];
    if (group.count++ == 0) group.why = trial.message;
  }
  for (const Group& group : groups) {
    if (group.count == 0 || stopped()) continue;
    warn(format(
        "{}: {} configurations could not be {} on this machine: {}; "
        "the same command tries them again{}",
        problem_text(run.target(), run.problem()), group.count, group.what, group.why, group.hint));
  }
}

/// Once for all problems.
void ProblemTuner::warn_of_disturbance(const ProblemRun& run) {
  const int count = run.ledger().disturbed();
  if (count == 0 || std::exchange(warned_of_disturbance_, true)) return;
  warn(
      format("{}: other programs are running on {}: {} of {} configurations were timed meanwhile, "
             "and may be faster than measured; with fewer programs, --retune measures again",
             problem_text(run.target(), run.problem()), device_.info().name, count,
             run.ledger().trials().size()));
}

void ProblemTuner::teach(std::vector<PastTrial> trials) {
  if (callbacks_.on_lesson) callbacks_.on_lesson(trials);
  shared_.problems.remember(std::move(trials));
}

/// While this problem is decided, unless the same cores do both.
void ProblemTuner::prepare_next(std::size_t place) {
  if (device_.info().kind == DeviceKind::host) return;
  const std::optional<std::size_t> next = shared_.queue.reserve(place);
  if (next) shared_.problems.correct_ahead(*next);
}

/// The reduction classes of the best, the default and the ties. A restricted target may have no
/// configuration for the numbers of rows that classes need.
void ProblemTuner::store_classes(ProblemRun& run, const ProblemDecision& decision) {
  if (!store_ || !decision.best || shared_.request.partial) return;
  if (!has_reduction_classes(run.target(), run.problem())) return;
  std::vector<std::string> configurations{to_text(decision.best->configuration)};
  const auto add = [&](const Configuration& configuration) {
    const std::string text = to_text(configuration);
    if (std::ranges::find(configurations, text) == configurations.end()) {
      configurations.push_back(text);
    }
  };
  if (decision.default_configuration) add(decision.default_configuration->configuration);
  std::ranges::for_each(decision.ties, add);
  const Device::Turn turn = device_.take_turn();
  try {
    reduction_classes(device_, run.target(), run.problem(),
                      builds_of(device_, run.target(), run.problem(), configurations, 1), store_);
  } catch (const Error& error) {  // such as no memory: the decision stands
    warn(format("{}: classes of bits are not stored: {}", problem_text(run.target(), run.problem()),
                error.what()));
  }
}

ProblemDecision ProblemTuner::finish(ProblemRun& run, EdgeCheck& edge, const TuningOrder& order) {
  const Stopwatch watch(run.bench().phases().decide);
  if (!device_.runs()) return decide_by_prediction(run);
  if (!order.retune) {
    if (auto stored = stored_decision(run)) return *std::move(stored);
  }
  try {
    ProblemDecision decision = decide(
        run, edge, order.deadline, hash64("playoff", shared_.request.seed), callbacks_.on_warning);
    if (!order.deadline.has_passed() && !stopped()) store_classes(run, decision);
    return decision;
  } catch (const NotCompiled& failure) {
    warn(format("{}: no playoff, times are from the search ({}); the same command runs it",
                problem_text(run.target(), run.problem()), failure.what()));
    return undecided(run);
  }
}

/// The search leaves time for usual finals, up to a share of what there is, and for the shortest
/// finals in any case.
StopRequested ProblemTuner::stop_of_search(const ProblemRun& run, const Deadline& deadline) const {
  if (!deadline.is_set()) return [this] { return stopped(); };
  const double most_kept = kFinalsShare * deadline.seconds_left();
  return [this, &run, deadline, most_kept] {
    const FinalsSeconds finals = finals_seconds(run);
    const double kept = std::max(finals.least, std::min(finals.usual, most_kept));
    return stopped() || deadline.seconds_left() < kept + run.bench().seconds_of_one();
  };
}

}  // namespace autotune
