// SPDX-License-Identifier: Apache-2.0
// autotune tune: finds the fastest configurations and stores them.
#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// The results of the request's problems.
std::vector<db::TunedEntry> results_of(const TuningRequest& request, const db::TunedStore& store,
                                       const Target& target, const DeviceInfo& info) {
  std::vector<db::TunedEntry> results;
  for (const Problem& problem : request.problems) {
    auto found = store.tuned({.device_name = info.name,
                              .target = target.name,
                              .problem = problem.text(),
                              .policy = key_text(request.policy)});
    if (!found.empty()) results.push_back(std::move(found.front()));
  }
  return results;
}

/// If counters are not permitted or missing, the run is still good: its times are stored.
void count_results(const Arguments& arguments, const TuningRequest& request, const Target& target,
                   const DeviceInfo& info, db::TunedStore& store,
                   const std::function<void(const std::string&)>& warn) {
  if (!arguments.has("counters") || InterruptGuard::requested()) return;
  try {
    Plugins plugins(arguments);
    count_entries(results_of(request, store, target, info), target, plugins, store,
                  arguments.text("device"), warn);
  } catch (const Error& error) {
    warn(format("nothing was counted: {}", error.what()));
  }
}

/// An interrupted run may fail in what it waits for.
TuningReport tuned(const Target& target, const std::vector<std::unique_ptr<Device>>& devices,
                   db::TunedStore& store, const TuningRequest& request,
                   const TuningCallbacks& callbacks) try {
  return tune(target, devices, &store, request, callbacks);
} catch (const Error&) {
  if (!InterruptGuard::requested()) throw;
  TuningReport report;
  report.interrupted = true;
  return report;
}

/// --bits and --over: the verb cover chooses for several problems at a time.
int tune_together(const Arguments& arguments, std::string_view why) {
  const Verb& cover = verb_called("cover");
  std::vector<std::string> words;
  for (const Option& option : arguments.verb().options) {
    if (!arguments.has(option.name)) continue;
    if (std::ranges::find(cover.options, option.name, &Option::name) == cover.options.end()) {
      throw UsageError(
          format("--{} cannot be combined with --{}: leave one out", option.name, why));
    }
    for (const std::string& value : arguments.all(option.name)) {
      words.push_back(format("--{}", option.name));
      if (!option.value.empty()) words.push_back(value);
    }
  }
  return cover.run(Arguments(cover, words));
}

int run_tune(const Arguments& arguments) {
  for (const char* const together : {"bits", "over"}) {
    if (arguments.has(together)) return tune_together(arguments, together);
  }
  if (arguments.has("within")) throw UsageError("--within is for --bits and --over: leave it out");
  catch_interrupts_at_start();
  TuneCommand command(arguments);
  db::TunedStore store(database_path(arguments));
  const LeftOutWarning warning(store);
  const auto devices = open_devices(arguments.text("device"), compile_limit_of(arguments));
  const DeviceInfo& info = devices.front()->info();
  if (arguments.has("counters")) require_counters(info);
  TuningRequest request = command.request(info.kind);
  request.answer_today =
      answers_today(arguments, command.target(), info, key_text(request.policy), store.path());
  const auto reads_ahead = std::async(std::launch::async, request.answer_today,
                                      request.problems.front());  // while the device opens

  TuneOutput output(arguments, command.target(), request, store.path());
  const InterruptGuard guard([&] {
    for (const auto& device : devices) device->stop_compiling();
  });
  output.warn_of(command.misplaced_database());
  output.warn_of(command.left_out());
  TuningCallbacks callbacks;
  callbacks.stop_requested = InterruptGuard::requested;
  callbacks.on_progress = [&](const Progress& progress) { output.show(progress); };
  callbacks.on_warning = [&](const std::string& sentence) { output.warn_of(sentence); };
  callbacks.on_problem = [&](const ProblemReport& report) { output.show(info, report); };
  command.run_hooks_with(callbacks);
  const TuningReport report = tuned(command.target(), devices, store, request, callbacks);
  count_results(arguments, request, command.target(), info, store, callbacks.on_warning);
  return output.end({{info, report}});
}

}  // namespace

const Verb kTune{
    .name = "tune",
    .synopsis = "--target T --sizes S | --workload FILE [option…]",
    .summary = "Find the fastest correct configuration for each size, and store it",
    .details =
        R"(`--sizes` takes comma-separated items:

* `512`: this size in every dimension
* `128..1024`: every multiple of the first up to the last
* `128..1024:64`: with a step
* `128..8192*2`: by a factor
* `1037x1031x1055`: the target's sizes in order; for gemm M, N, K
* `M=1,N=4096,K=4096`: by name
* `M=1..4096*2,N=4096,K=4096`: by name, with ranges; several ranges give every combination

Of each problem, the default configuration is timed first, and next the one that a program gets
today (`autotune query`), so that the result of a short budget is no slower than that.

Results name a problem by its sizes and by settings that differ from their default. JSON and the
database have all settings.

`--budget 200` (evaluations) and `10%` (of the valid space) hold for each problem. `60s` or `2m` is
the time of the whole run. `auto` ends a problem when `guided` expects going on to gain less than
0.5 %, after 32 to 400 evaluations; the report has the expected gain. The default is `auto` on a GPU
(128 with another strategy) and 40 on the host.

`--workload FILE` takes the problems from a file of `autotune run --record`, or from PyTorch
TunableOp's CSV of untuned shapes (`tunableop_untuned0.csv`). The target is gemm. `--set` takes
only the calls with a setting, such as `dtype=bf16`; with `units=fp32`, products in f32 are tuned
for FP32 units only. The weight of a problem is its calls times the estimated time of a call. The
heaviest problems come first, and a time budget is shared by weight. Problems
that would get less than a second are left out.

With several devices, each problem is tuned on one of them. A device without a problem of its own
helps another: it measures some of the configurations. It may help if the default configuration
takes the same time on both, to within 1 %. Its times are scaled by the difference. A device that
fails drops out, and the others measure the rest of its problem.

`--fix TILE_SIZE=4` searches only configurations with this value of a parameter. It may be repeated.
The trials are stored, but the stored best of the problem does not change.

Ctrl-C ends the run after the running launch. Every trial is kept, and the best so far is printed
(exit status 130). A second Ctrl-C ends the run at once. The same command continues from the stored
trials. `--retune` measures again.

`--objective energy` chooses the finalist that uses the least energy a call, `edp` the one with the
least product of energy and time. The search is by time; finalists are those within 15 % of the
fastest. It needs a GPU whose board has an energy counter. Results are kept apart from those by
time.

`--counters` counts the finalists of each problem when all are decided, in a process of its own:
instructions, FLOPs, memory transactions, bank conflicts, stalls. `explain` shows them.

With `--json`, stdout holds one document:

    {"target": "gemm",
     "device": {"name": "NVIDIA H200", "kind": "cuda", "count": 1, "busy_seconds": 33.0},
     "db": "/home/me/tuned.db",
     "problems": [
       {"problem": {"M": 128, "N": 128, "K": 128, "dtype": "f32"}, "space": 5000,
        "trials": {"ok": 150, "pruned": 40, "compile_error": 0, …},
        "taken_over": 0, "quarantined": 0, "started_from": {"configurations": 0, "devices": []},
        "search": {"tried": 200, "ranked": 188, "rank_correlation": 0.82, "misled": false,
                   "failed": 12, "main_failure": {"outcome": "compile_error", "reason": "…",
                                                  "count": 9},
                   "last_quarter_gain": 0.004, "still_improves": false},
        "best": {"config": {"BM": 16, …}, "median_ns": 2231.0, "low_ns": 2225.0, "high_ns": 2240.0,
                 "samples": 17, "gflops": 1880.0, "verified": true, "repeats": true,
                 "provenance": "measured", "cold_ns": 3100.0,
                 "contexts": {"chain": 1930.0, "in_order": 2300.0, "alone": 5900.0}},
        "default": {"config": {…}, "median_ns": 6900.0}, "ties": [{…}],
        "baselines": [{"plugin": "cublas", "name": "cublasSgemm", "median_ns": 2400.0,
                       "to_best": [1.08, 1.07, 1.09], "wins": false, …}],
        "noise_floor": 0.002, "tie_margin": 0.005, "open_after_blocks": 0, "seconds": 5.1,
        "phases": {"compile_wait": 2.6, "open": 0.1, "verify": 0.2, "measure": 0.6,
                   "decide": 0.6, "record": 0.1}}],
     "compile": {"compiled": 180, "cached": 20, "cpu_seconds": 60.0, "busy_threads": 14.2},
     "interrupted": false, "seconds": 41.0}

* `expected_gain`: with `--budget auto`, the largest share by which going on was expected to lower
  the best time; else null.
* `repeats`: whether the runs that verified the best gave the same bits; null if that is not known.
* `taken_over`: trials that the database already had.
* `quarantined`: configurations not run again after two crashes or timeouts.
* `started_from`: configurations tried first, because they are fast on other devices.
* `search`: whether the search went well. `rank_correlation` is Spearman's, of predicted and measured
  times; below 0.5, with 30 times and more, the search is `misled`, unless everything was tried.
  `failed` counts configurations that were neither timed nor stopped early, `main_failure` their
  most frequent reason. `last_quarter_gain` is the share by which the last quarter of the
  evaluations lowered the best time; from 0.01 on, and unless everything was tried, the search
  `still_improves`. What is not known is null.
* `best`: null if no configuration is correct, or if the time ran out before it was compared with the
  holder and the vendor's library (`out_of_time`). Times are nanoseconds per call: the median and its
  95 % interval from the playoff. With fewer than six `samples`, the interval is their range.
* `open_after_blocks`: not 0 if another finalist seems faster, but so few blocks replace nothing.
* `tie_margin`: by how much a tie may be slower than the fastest; 0 if it is not known.
* `contexts`: the best configuration's times in the contexts that do not decide. `in_order` is a
  chain without early start.
* `refused`: only where no configuration is valid for the problem; says why. Other problems are tuned.
* `default`: has `failure` instead of a time if the default configuration fails.
* With `--objective energy` or `edp`, `best` and `default` have `joules` a call, the board's `watts`
  and the relative `energy_resolution`. `pareto` lists the finalists of which no other is both faster
  and uses less energy. A stored answer has no `watts` and no `pareto`.
* `busy_seconds`: the time that the devices' workers spent opening, loading, verifying and timing,
  without compiling. Divided by `seconds` times `count`, it is the devices' utilization.
* `phases`: the seconds of a problem spent waiting for compilers, opening buffers, verifying,
  measuring, deciding between the finalists, and storing. The rest is the search's own time.)",
    .options =
        {{"target", "T", "A target's name (autotune list targets) or the path of a manifest"},
         {"sizes", "S",
          "The problems: 512, 128..1024, 128..1024:64, 1037x1031x1055, M=1..64*2,N=8,K=9"},
         {"workload", "FILE", "The problems that a program called: autotune run --record FILE"},
         {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
         kBitsOption,
         kOverOption,
         {"within", "PERCENT",
          "With --bits and --over: how much slower than each size's fastest may be; default: 900%"},
         {"fix",
          "NAME=VALUE",
          "Search only configurations with this value of a parameter",
          {},
          true},
         kDevicesOption,
         {"db", "FILE", "The database; default: $AUTOTUNE_DB, else the user's data folder"},
         {"strategy", "STRATEGY", "The search strategy (autotune list strategies)", "guided"},
         kPluginOption,
         {"budget", "B",
          "auto, evaluations for each problem (200), a share of its space (10%), or the time of "
          "the "
          "run (60s, 2m)"},
         {"seed", "N", "Seed of all random choices", "1"},
         {"l2", "STATE", "State of the L2 cache before a launch: hot or cold", "hot", false,
          "hot cold"},
         {"launch", "FORM", "How launches are timed: graph or stream", "graph", false,
          "graph stream"},
         {"context",
          "C",
          "The context of a call that decides winners: between ordinary kernels, in a chain of "
          "calls, or alone; default: between on a GPU, else chain",
          {},
          false,
          "between chain alone"},
         {"objective", "WHAT", "What to minimize: time, energy, or edp (energy times delay)",
          "time", false, "time energy edp"},
         {"jobs", "N", "Compile threads; default: all cores"},
         kCompileLimitOption,
         {"retune", "", "Measure again what the database already has"},
         {"no-baseline", "", "Do not time baselines (vendors' libraries)"},
         kCountersOption,
         {"quiet", "", "No progress on stderr"},
         {"json", "", "Print one JSON document"}},
    .positional = {},
    .run = run_tune};

}  // namespace autotune::cli
