// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/first_use.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kHeatsShare = 0.75;  // share of the time before the playoff
constexpr double kNear = 1.1;         // times the fastest: kept for the playoff
constexpr double kNearSeconds = 0.2e-6;
constexpr std::size_t kAlwaysKept = 2;  // of each kind
constexpr std::size_t kMostFinalists = 6;
constexpr std::size_t kMostWays = 2;  // of libraries
constexpr int kBatches = 5;
constexpr std::uint64_t kSeed = 1;

/// A short playoff in one context.
Policy race_policy(Policy policy) {
  policy.visit_seconds = 20e-3;
  policy.playoff_seconds = 0.5;
  policy.fewest_blocks = 7;
  policy.most_blocks = 25;
  policy.tie_margin = 0.02;  // settled within 1 %
  policy.other_l2_blocks = 0;
  policy.other_context_blocks = 0;
  return policy;
}

struct Compiled {
  std::size_t number = 0;  // of the entrant
  CompiledKernel kernel;
};

/// The compiled kernels. Shared, because compilations may outlast the race.
class Arrivals {
 public:
  explicit Arrivals(std::size_t expected) : expected_(expected) {}

  void add(Compiled one) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(one));
    changed_.notify_one();
  }

  /// Waits for the next compiled kernel; nullopt after the last, or when the time is over.
  std::optional<Compiled> next(const Deadline& deadline) {
    std::unique_lock lock(mutex_);
    if (taken_ == expected_ || deadline.has_passed()) return std::nullopt;
    const std::chrono::duration<double> left(deadline.seconds_left());
    if (!changed_.wait_for(lock, left, [&] { return !waiting_.empty(); })) return std::nullopt;
    Compiled one = std::move(waiting_.front());
    waiting_.pop_front();
    ++taken_;
    return one;
  }

 private:
  const std::size_t expected_;
  std::size_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Compiled> waiting_;
};

/// A kernel that the machine fails to compile leaves the race.
CompiledKernel compiled(Device& device, const SourceUnit& source) try {
  return device.compile(source);
} catch (const std::exception& error) {
  CompiledKernel none;
  none.outcome = Outcome::compile_error;
  none.log = error.what();
  return none;
}

/// A verified entrant, loaded on the device.
struct Runner {
  std::string name;  // the configuration, or the library's candidate
  std::string key;   // of the binary, or the plugin's name
  bool is_library = false;
  std::unique_ptr<Candidate> candidate;
  double seconds = 0;  // the median of a few batches
};

double quick_seconds(Candidate& candidate, const Policy& policy) {
  InContext timer(candidate, policy.context);
  const int launches = launches_for(timer.time(1, policy.l2).seconds, policy);
  std::array<double, kBatches> times;
  for (double& time : times) time = timer.time(launches, policy.l2).seconds;
  return median(times);
}

class Running {
 public:
  Running(Device& device, const Target& target, const Problem& problem, const Policy& policy,
          const Deadline& deadline)
      : device_(device),
        target_(target),
        problem_(problem),
        policy_(policy),
        deadline_(deadline),
        heats_(deadline.after(kHeatsShare)),
        program_(target, problem, device.info()) {}

  SourceUnit source(const std::string& configuration) const {
    return program_.source_unit(program_.levels(parse_named_values(configuration)));
  }

  /// Verifies and times kernels while others compile.
  void open() {
    Workload workload = prepared_workload_of(target_, problem_, device_.info());
    workload.form = policy_.form;
    bench_ = device_.open(workload);
  }

  /// A library that cannot be used, or computes a wrong result, leaves the race.
  void take_library(const BaselineSource& source) try {
    const std::vector<std::string> ways = bench_->baselines(source);
    for (std::size_t i = 0; i < ways.size() && !heats_.has_passed(); ++i) {
      take({ways[i], source.plugin.stem().string(), true, bench_->load_baseline(source, i)});
    }
  } catch (const Error&) {
  } catch (const KernelFailure&) {
  }

  void take(const std::string& configuration, const CompiledKernel& kernel) try {
    if (kernel.outcome != Outcome::ok) return;
    const LaunchPlan plan = program_.plan(program_.levels(parse_named_values(configuration)));
    take({configuration, kernel.key, false, bench_->load(kernel, plan)});
  } catch (const KernelFailure&) {
  }

  /// Without a verified configuration there is no playoff.
  const Deadline& heats_end() const { return fastest(false) ? heats_ : deadline_; }

  std::vector<Trial> failed() && { return std::move(failed_); }

  /// Repeats the playoff without an entrant that turns out to be wrong.
  std::optional<RaceResult> decide() {
    while (fastest(false)) {
      keep_finalists();
      const PlayoffResult result = play();
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        refute(runners_[i], {result.finalists[i].outcome, result.finalists[i].message});
      }
      if (!result.winner || is_open(result)) return std::nullopt;
      if (const auto wrong = wrong_leader(result)) {
        runners_.erase(runners_.begin() + static_cast<std::ptrdiff_t>(*wrong));
        continue;
      }
      return result_of(result);
    }
    return std::nullopt;
  }

 private:
  /// Of those of one kind.
  std::optional<double> fastest(bool library) const {
    std::optional<double> least;
    for (const Runner& one : runners_) {
      if (one.is_library == library) least = std::min(least.value_or(one.seconds), one.seconds);
    }
    return least;
  }

  void take(Runner one) try {
    const double best = fastest(one.is_library).value_or(0);
    const Verdict verdict = verdict_or_failure(
        [&] { return one.candidate->verify(1, give_up_seconds(best, policy_)); });
    if (verdict.outcome != Outcome::ok) return refute(one, verdict);
    const auto again = [&] { return one.candidate->time(1, L2State::hot).seconds; };
    if (is_hopeless(verdict.seconds, best) && is_hopeless(again(), best)) return;
    one.seconds = quick_seconds(*one.candidate, policy_);
    runners_.push_back(std::move(one));
    drop_slow();
  } catch (const KernelFailure&) {
  }

  bool is_hopeless(double single_launch, double best) const {
    return best > 0 && single_launch > policy_.hopeless_ratio * best + policy_.single_launch_excess;
  }

  /// Removes slow entrants to free their workspaces. The first few stay, as the fastest may prove
  /// wrong.
  void drop_slow() {
    std::ranges::stable_sort(runners_, {}, &Runner::seconds);
    for (const bool library : {false, true}) {
      const double limit = kNear * fastest(library).value_or(0) + kNearSeconds;
      std::size_t ahead = 0;
      std::erase_if(runners_, [&](const Runner& one) {
        return one.is_library == library && ahead++ >= kAlwaysKept && one.seconds > limit;
      });
    }
  }

  void keep_finalists() {
    std::size_t finalists = 0, ways = 0;
    std::erase_if(runners_, [&](const Runner& one) {
      return one.is_library ? ways++ >= kMostWays : finalists++ >= kMostFinalists;
    });
  }

  PlayoffResult play() {
    std::vector<Finalist> finalists;
    for (const Runner& one : runners_) {
      Finalist& finalist = finalists.emplace_back();
      finalist.timer = one.candidate.get();
      finalist.seconds = one.seconds;
      finalist.is_baseline = one.is_library;
    }
    return play_off(std::move(finalists), policy_, kSeed, {}, 0,
                    [this] { return deadline_.has_passed(); });
  }

  /// The fastest library in the playoff.
  std::optional<std::size_t> library_in(const PlayoffResult& result) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      const FinalistResult& one = result.finalists[i];
      if (!runners_[i].is_library || one.outcome != Outcome::ok) continue;
      const bool leads =
          !best || one.measurement.median < result.finalists[*best].measurement.median;
      if (leads) best = i;
    }
    return best;
  }

  /// Whether a library took part in too few blocks to tell whether it is faster.
  bool is_open(const PlayoffResult& result) const {
    const auto best = library_in(result);
    const std::optional<Ratio> ratio = best ? result.finalists[*best].to_winner : std::nullopt;
    return ratio && ratio->samples < kFewestForInterval;
  }

  /// A kernel may fail after many calls.
  std::optional<std::size_t> wrong_leader(const PlayoffResult& result) {
    for (const auto leader : {result.winner, library_in(result)}) {
      if (!leader) continue;
      const Runner& one = runners_[*leader];
      const Verdict verdict = verdict_or_failure([&] { return one.candidate->recheck(); });
      if (verdict.outcome == Outcome::ok) continue;
      refute(one, verdict);
      return leader;
    }
    return std::nullopt;
  }

  /// Whatever else can happen to a configuration in a short race is no fault of its own.
  void refute(const Runner& one, const Verdict& verdict) {
    constexpr std::array kOwnFaults{Outcome::wrong, Outcome::nondeterministic, Outcome::crash};
    if (one.is_library || std::ranges::find(kOwnFaults, verdict.outcome) == kOwnFaults.end())
      return;
    Trial& trial = failed_.emplace_back();
    trial.configuration = parse_named_values(one.name);
    trial.fail(verdict.outcome, verdict.message);
    trial.binary_key = one.key;
  }

  RaceResult result_of(const PlayoffResult& played) const {
    const Runner& winner = runners_[*played.winner];
    RaceResult result{winner.name, winner.key, played.finalists[*played.winner].measurement,
                      played.noise_floor, std::nullopt};
    if (const auto best = library_in(played)) {
      const FinalistResult& one = played.finalists[*best];
      const bool wins = one.to_winner && is_clearly_below_one(*one.to_winner);
      result.library = {runners_[*best].key, runners_[*best].name, one.measurement, wins};
    }
    return result;
  }

  Device& device_;
  const Target& target_;
  const Problem& problem_;
  const Policy policy_;
  const Deadline deadline_, heats_;
  const TargetProgram program_;
  std::unique_ptr<Workbench> bench_;
  std::vector<Runner> runners_;
  std::vector<Trial> failed_;
};

constexpr std::size_t kFewest = 8, kMost = 32;  // configurations in a race

/// As many configurations as two rounds of compiling on all cores make.
std::size_t entrant_count() {
  return std::clamp<std::size_t>(std::size_t{2} * std::thread::hardware_concurrency(), kFewest,
                                 kMost);
}

/// Whether this source was never measured at these sizes on this device.
bool is_untuned(const LookupAnswer& answer) {
  if (answer.is_pinned()) return false;
  return answer.origin != db::Origin::exact || answer.provenance == "predicted" ||
         (answer.library_is_expected && !answer.baseline.empty()) ||
         answer.validity == db::Validity::source_drifted;
}

db::BaselineFigures figures_of(const RacedLibrary& library) {
  const db::Times times = times_of(library.time);
  return {library.plugin, library.candidate, times.median_ns,
          times.low_ns,   times.high_ns,     library.wins};
}

/// Without session and key.
db::DecisionRow row_of(const RaceResult& result, double flops) {
  db::DecisionRow row;
  row.provenance = "first use";
  row.configuration = result.configuration;
  static_cast<db::Times&>(row) = times_of(result.time);
  if (flops > 0 && result.time.median > 0) row.gflops = flops / result.time.median / 1e9;
  row.noise_floor = result.noise_floor;
  row.verified = true;
  row.binary_key = result.binary_key;
  row.created_at = db::now_text();
  if (result.library) row.baseline = figures_of(*result.library);
  return row;
}

}  // namespace

Race race(const std::shared_ptr<Device>& device, const Target& target, const Problem& problem,
          const Policy& policy, const RaceEntrants& entrants, const Deadline& deadline) {
  Running running(*device, target, problem, race_policy(policy), deadline);
  const auto arrivals = std::make_shared<Arrivals>(entrants.configurations.size());
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < entrants.configurations.size(); ++i) {
    tasks.emplace_back([device, arrivals, i, source = running.source(entrants.configurations[i])] {
      arrivals->add({i, compiled(*device, source)});
    });
  }
  Race race;
  race.compilations = std::make_unique<BackgroundTasks>(std::move(tasks));
  running.open();
  for (const BaselineSource& source : entrants.libraries) running.take_library(source);
  while (const auto one = arrivals->next(running.heats_end())) {
    running.take(entrants.configurations[one->number], one->kernel);
  }
  race.compilations->drop();
  race.result = running.decide();
  race.failed = std::move(running).failed();
  return race;
}

void FirstUse::settle(TargetLookup& lookup, std::span<const std::int64_t> sizes) {
  if (!is_untuned(lookup.find(sizes))) return;
  const std::lock_guard lock(mutex_);
  if (!settled_.emplace(sizes.begin(), sizes.end()).second) return;
  race_and_store(lookup, sizes, Deadline::in(options_.seconds));
}

void FirstUse::race_and_store(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                              const Deadline& deadline) {
  const Problem problem = lookup.problem_for(sizes);
  const auto warn = [&](bool& is_known, const std::string& sentence) {
    if (!std::exchange(is_known, true)) lookup.warn(sentence);
  };
  try {
    const Race raced = race_for(lookup, sizes, deadline);
    std::vector<std::string> failed;
    for (const Trial& one : raced.failed) failed.push_back(to_text(one.configuration));
    if (!failed.empty()) lookup.keep_failures(sizes, std::move(failed));
    std::optional<db::DecisionRow> row;
    if (raced.result) {
      row = row_of(*raced.result, work_of(lookup.target(), problem, lookup.device()).flops);
      lookup.keep_found(sizes, *row);
    }
    try {
      db::SessionRow session;
      session.command = "autotune_prepare()";
      session.strategy = "first use";
      session.budget = format("{} ms", std::lround(options_.seconds * 1e3));
      if (row || !raced.failed.empty()) {
        store_found(options_.database, lookup, problem, std::move(session), row, raced.failed);
      }
    } catch (const std::exception& error) {
      warn(store_failed_, format("what is found at first use is not stored: {}", error.what()));
    }
    if (!row) {
      throw Error(
          format("no configuration was compiled, right and timed within {} ms, {} failed; raise "
                 "autotune_options.first_use_ms, or tune these sizes",
                 std::lround(options_.seconds * 1e3), raced.failed.size()));
    }
  } catch (const std::exception& error) {
    warn(race_failed_,
         format("{} {}: its first use is answered without a race: {}", lookup.target().name,
                problem_text(lookup.target(), problem), error.what()));
  }
}

/// Throws Error if the race cannot take place.
Race FirstUse::race_for(TargetLookup& lookup, std::span<const std::int64_t> sizes,
                        const Deadline& deadline) {
  std::erase_if(compilations_, [](const auto& one) { return one->have_ended(); });
  if (!device_) device_ = options_.open_device();
  const RaceEntrants entrants{lookup.likely(sizes, entrant_count()),
                              options_.libraries(lookup.target().name)};
  Race raced = race(device_, lookup.target(), lookup.problem_for(sizes), options_.policy, entrants,
                    deadline);
  compilations_.push_back(std::move(raced.compilations));
  return raced;
}

void store_found(const std::optional<std::filesystem::path>& database, const TargetLookup& lookup,
                 const Problem& problem, db::SessionRow session, std::optional<db::DecisionRow> row,
                 std::span<const Trial> failed) {
  if (!database) throw Error("there is no home folder: name a database");
  db::TunedStore store(*database, db::Mode::read_write,
                       std::chrono::steady_clock::now() + kLongestWait);
  session.started_at = db::now_text();
  session.environment = lookup.device().environment;
  session.space = lookup.target().space_fingerprint;
  const std::string id = store.begin_session(session);
  const db::ProblemKey key = {store.add_device(device_row(lookup.device())),
                              store.add_kernel(kernel_row(lookup.target())), problem.text(),
                              lookup.policy()};
  std::vector<db::TrialRow> trials;
  for (const Trial& one : failed) {
    db::TrialRow& trial = trials.emplace_back(trial_row(one, 0));
    trial.session = id;
    trial.key = key;
    trial.created_at = session.started_at;
  }
  store.append(trials);
  if (!row) return;
  row->session = id;
  row->key = key;
  store.add_decision(*row);
}

}  // namespace autotune
