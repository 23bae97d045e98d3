// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/tuning_session.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/calibrated.hpp"
#include "tuner/session/finals.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a problem's time, at most, kept for usual finals.
constexpr double kFinalsShare = 0.3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What is the same for every problem of the run.
struct SessionRows {
  std::string session, device, kernel;
};

SessionRows begin(db::TunedStore* store, const Target& target, const Device& device,
                  const TuningRequest& request) {
  if (!store) return {};
  store->settle_leftovers();
  db::SessionRow session;
  session.started_at = db::now_text();
  session.tool_version = request.tool_version;
  session.environment = device.info().environment;
  session.command = request.command;
  session.strategy = request.strategy;
  session.seed = static_cast<std::int64_t>(request.seed);
  session.budget = request.budget_text;
  session.partial = request.partial;
  return {store->begin_session(session), store->add_device(device_row(device.info())),
          store->add_kernel(kernel_row(target))};
}

/// One session over one target; holds what its problems share.
class Session {
 public:
  Session(const Target& target, Device& device, db::TunedStore* store, const TuningRequest& request,
          const TuningCallbacks& callbacks, RunGroup* group)
      : target_(target),
        device_(device),
        store_(store),
        request_(request),
        callbacks_(callbacks),
        group_(group),
        rows_(begin(store, target, device, request)),
        calibration_(calibration_of(store, device)),
        pool_(device, request.compile_threads) {}

  TuningReport run() {
    for (const Problem& problem : request_.problems) expect_to_fit(problem);
    TuningReport report;
    for (std::size_t i = 0; i < request_.problems.size() && !stopped(); ++i) {
      report.problems.push_back(tune_problem(i));
      if (callbacks_.on_problem) callbacks_.on_problem(report.problems.back());
    }
    report.compile = pool_.statistics();
    report.interrupted = stopped();
    report.seconds = seconds_since(start_);
    report.busy_seconds = device_.busy_seconds() - busy_before_;
    return report;
  }

 private:
  bool stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  /// Refuses what can never be allocated before anything is compiled.
  void expect_to_fit(const Problem& problem) const {
    const std::int64_t limit = device_.info().memory_bytes;
    std::int64_t bytes = 0;
    for (const BufferSpec& buffer : buffers_of(target_, problem, device_.info())) {
      bytes += buffer.bytes();
    }
    if (limit <= 0 || bytes <= limit || !device_.runs()) return;
    throw Error(format("{} {}: its buffers take {}, {} has {}; give smaller sizes", target_.name,
                       problem_text(target_, problem), bytes_text(bytes), device_.info().name,
                       bytes_text(limit)));
  }

  /// A problem's share of a time budget: what is left over the problems that are left.
  Deadline deadline_of(std::size_t number) const {
    if (request_.budget.kind != Budget::Kind::seconds) return {};
    const double left = request_.budget.amount - seconds_since(request_.started);
    return Deadline::in(left / static_cast<double>(request_.problems.size() - number));
  }

  /// The search ends in time for what the finals usually take, if that is not most of the time, and
  /// in any case for the least that they take.
  StopRequested stop_of_search(const ProblemRun& run, const RunContext& context,
                               const Deadline& deadline) const {
    if (!deadline.is_set()) return [this] { return stopped(); };
    const double most_kept = kFinalsShare * deadline.seconds_left();
    return [this, &run, &context, deadline, most_kept] {
      const FinalsSeconds finals = finals_seconds(run, context);
      const double kept = std::max(finals.least, std::min(finals.usual, most_kept));
      return stopped() || deadline.seconds_left() < kept + run.trial_seconds();
    };
  }

  /// What there is to try for a problem, what the cost model says of it, and the same corrected by
  /// what was measured so far.
  struct Candidates {
    ParameterSpace space;
    std::vector<double> predicted, corrected;
  };

  Candidates candidates_of(const Problem& problem) {
    PreparedProblems& problems = group_ ? group_->prepared() : prepared_;
    auto [space, predicted] = problems.take(problem, device_.info(), calibration_);
    std::vector<double> corrected =
        corrected_predictions(space, problem.values, predicted, history());
    return {std::move(space), std::move(predicted), std::move(corrected)};
  }

  /// While this one is decided, unless that is by the same cores.
  void begin_next(std::size_t number) {
    const bool is_ours = !group_ && number < request_.problems.size();
    if (!is_ours || device_.info().kind == DeviceKind::host) return;
    next_ = std::async(std::launch::async,
                       [this, number] { return candidates_of(request_.problems[number]); });
  }

  ProblemReport tune_problem(std::size_t number) {
    const auto started = Clock::now();
    const Deadline deadline = deadline_of(number);
    const Problem& problem = request_.problems[number];
    const double flops = work_of(target_, problem, device_.info()).flops;
    auto [space, predicted, corrected] = next_.valid() ? next_.get() : candidates_of(problem);
    ProblemReport report;
    report.problem = problem;
    report.space = space.size();
    report.flops = flops;

    Recorder recorder(store_, rows_.session,
                      {rows_.device, rows_.kernel, problem.text(), key_text(request_.policy)},
                      flops, !request_.partial);
    const RunContext context{target_,  device_,         pool_,
                             recorder, request_.policy, request_.baselines};
    const std::size_t budget = request_.budget.evaluations(space.size());
    EdgeCheck edge(target_, problem, device_);
    ProblemRun run(context, problem, std::move(space), std::move(corrected), budget,
                   request_.retune);
    const StopRequested stop = stop_of_search(run, context, deadline);
    run.stop_when(stop);
    run.on_trial([&] { show_progress(number, run, budget, flops, started); });
    search(run, edge, stop);
    warn_of_machine(run);
    remember(run, predicted);
    begin_next(number + 1);
    double decide = 0;
    {
      const Stopwatch watch(decide);
      report.decision = finish(run, context, edge, deadline);
    }
    report.out_of_time = !report.decision.best && deadline.has_passed();
    if (!report.decision.default_configuration) report.default_failure = default_failure_of(run);
    if (request_.prune_audit > 0 && device_.runs() && report.decision.best && !stopped()) {
      report.prune_check =
          check_pruning(run, recorder, request_.policy, report.decision.best->measurement.median,
                        request_.prune_audit, hash64("prune audit", request_.seed),
                        [&] { return stopped() || deadline.has_passed(); });
    }
    recorder.flush();
    pool_.clear();
    for (const auto& [index, trial] : run.trials()) {
      ++report.outcomes[static_cast<std::size_t>(trial.outcome)];
    }
    report.taken_over = run.taken_over();
    report.quarantined = run.quarantined();
    report.phases = run.phases();
    report.phases.decide = decide;
    report.seconds = seconds_since(started);
    return report;
  }

  std::vector<PastTrial> history() const { return group_ ? group_->history() : history_; }

  /// For the problems that follow: what was measured here against what the model said.
  void remember(const ProblemRun& run, const std::vector<double>& predicted) {
    std::vector<PastTrial> past;
    for (const auto& [index, trial] : run.trials()) {
      if (trial.outcome != Outcome::ok || !trial.measurement) continue;
      past.push_back(
          {run.problem().values, trial.configuration, trial.measurement->median, predicted[index]});
    }
    if (group_) {
      group_->remember(std::move(past));
    } else {
      history_.insert(history_.end(), past.begin(), past.end());
    }
  }

  void search(ProblemRun& run, EdgeCheck& edge, const StopRequested& stop) {
    const std::uint64_t seed = hash64(run.problem().text(), request_.seed);
    const std::size_t standard = run.default_index();
    if (group_) group_->begins(run);
    // However the search ends, nobody may hold on to the run after it.
    const auto end = [this](ProblemRun* one) {
      if (group_) group_->ends(*one);
    };
    const std::unique_ptr<ProblemRun, decltype(end)> open(&run, end);
    if (device_.runs() && run.must_compile(standard)) compile_ahead(run, edge, standard);
    run.evaluate({&standard, 1});
    run.take_over_stored();
    if (run.remaining() == 0) return;
    if (device_.runs()) {
      expect_default_right_at_edge(run, edge, stop);
      run.on_contender([&](std::size_t index) { compile_ahead(run, edge, index); });
    }
    make_strategy(request_.strategy)->search(run, seed);
    run.on_contender({});
  }

  /// What a configuration needs to be verified on the edge problem, while the search goes on.
  void compile_ahead(const ProblemRun& run, const EdgeCheck& edge, std::size_t index) {
    if (auto unit = edge.unit(run.space().at(index))) pool_.prefetch(*std::move(unit));
  }

  /// A search whose finalists will all be refuted is not begun.
  void expect_default_right_at_edge(const ProblemRun& run, EdgeCheck& edge,
                                    const StopRequested& stop) {
    const Trial& trial = run.trials().at(run.default_index());
    if (trial.outcome != Outcome::ok) return;
    std::optional<SourceUnit> unit = edge.unit(trial.configuration);
    if (!unit) return;
    std::shared_ptr<const CompiledKernel> kernel;
    try {
      kernel = wait_for(pool_.compile(*std::move(unit)), stop);
    } catch (const NotCompiled&) {  // which says nothing of it
    }
    if (!kernel) return;
    const Verdict verdict = edge.verify(trial.configuration, *kernel);
    if (verdict.outcome != Outcome::ok) throw TargetError(edge_complaint(target_, verdict));
  }

  ProblemDecision finish(ProblemRun& run, const RunContext& context, EdgeCheck& edge,
                         const Deadline& deadline) {
    if (!device_.runs()) return decide_by_prediction(run, context);
    if (!request_.retune) {
      if (auto stored = stored_decision(run, context)) return *std::move(stored);
    }
    try {
      return decide(run, context, edge, deadline, hash64("playoff", request_.seed),
                    callbacks_.on_warning);
    } catch (const NotCompiled& failure) {
      warn(format("{}: no playoff, times are from the search ({}); the same command runs it",
                  problem_text(target_, run.problem()), failure.what()));
      return undecided(run);
    }
  }

  /// Of trials that are not stored.
  void warn_of_machine(const ProblemRun& run) const {
    std::size_t count = 0;
    std::string why;
    for (const auto& [index, trial] : run.trials()) {
      if (trial.of_machine && count++ == 0) why = trial.message;
    }
    if (count == 0 || stopped()) return;
    warn(
        format("{}: {} configurations could not be compiled on this machine: {}; "
               "the same command tries them again (fewer --jobs need less memory)",
               problem_text(target_, run.problem()), count, why));
  }

  void warn(const std::string& sentence) const {
    if (callbacks_.on_warning) callbacks_.on_warning(sentence);
  }

  static std::string default_failure_of(const ProblemRun& run) {
    const auto trial = run.trials().find(run.default_index());
    if (trial == run.trials().end() || trial->second.outcome == Outcome::ok) return "";
    return format("{}: {}", name_of(trial->second.outcome), first_error(trial->second.message));
  }

  void show_progress(std::size_t number, const ProblemRun& run, std::size_t budget, double flops,
                     Clock::time_point started) const {
    if (!callbacks_.on_progress) return;
    Progress progress;
    progress.problem = number;
    progress.problems = request_.problems.size();
    progress.problem_text = problem_text(target_, run.problem());
    progress.done = run.done();
    progress.total = std::min(budget, run.space().size());
    if (run.best()) progress.best_seconds = run.trials().at(*run.best()).measurement->median;
    progress.flops = flops;
    progress.elapsed_seconds = seconds_since(started);
    callbacks_.on_progress(progress);
  }

  const Target& target_;
  Device& device_;
  db::TunedStore* store_;
  const TuningRequest& request_;
  const TuningCallbacks& callbacks_;
  RunGroup* const group_;
  const Clock::time_point start_ = Clock::now();
  const double busy_before_ = device_.busy_seconds();
  SessionRows rows_;
  const Calibration calibration_;
  CompilePool pool_;
  std::vector<PastTrial> history_;
  PreparedProblems prepared_{target_, request_.problems};
  std::future<Candidates> next_;  // of the problem after the one at hand
};

}  // namespace

TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks, RunGroup* group) {
  return Session(target, device, store, request, callbacks, group).run();
}

}  // namespace autotune
