#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The field's score by the package itself, to compare with `autotune replay --score`.

usage: score_by_package.py score SPACE RUNS... [--calls N]
       score_by_package.py runs SPACE STRATEGY OUTPUT [--seeds N]

`score` prints the package's score of each file of runs: the mean of N calls (100) and the deviation
of one, because the package resamples at random. `runs` lets Kernel Tuner search the space in its
simulation mode, and writes the runs. SPACE is a Kernel Tuner cache with times, gzip'd or not. RUNS
are files of `autotune replay SPACE --score --write-trace RUNS` or of `runs`.

Needs `pip install autotuning_methodology==1.1.0 kernel_tuner==1.5.0` in a virtual environment.
Nothing else should run meanwhile: the searches' own time counts.
"""
import argparse
import gzip
import json
import random
import statistics
import tempfile
import warnings
from pathlib import Path

import numpy
from autotuning_methodology.baseline import RandomSearchCalculatedBaseline
from autotuning_methodology.caching import ResultsDescription
from autotuning_methodology.curves import StochasticOptimizationAlgorithm
from autotuning_methodology.report_experiments import get_strategies_aggregated_performance
from autotuning_methodology.searchspace_statistics import SearchspaceStatistics

COSTS = ["compile_time", "verification_time", "framework_time", "strategy_time"]


def text_of(path):
    data = Path(path).read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def cost_of(entry):
    """All that a configuration cost, in seconds."""
    if "total_ms" in entry:
        return entry["total_ms"] * 1e-3
    runs = sum(entry["times"]) if "times" in entry else entry.get("benchmark_time", 0)
    return (sum(entry.get(name, 0) for name in COSTS) + runs) * 1e-3


class Space:
    def __init__(self, path):
        self.cache = json.loads(text_of(path))
        self.times, self.costs = {}, {}  # ms, nan: fails; seconds
        for key, entry in self.cache["cache"].items():
            works = "__error__" not in entry and not isinstance(entry["time"], str)
            self.times[key] = entry["time"] if works else numpy.nan
            self.costs[key] = cost_of(entry)

    def statistics(self, folder):
        """The package's view of the space."""
        results = [
            {"configuration": {}, "times": {"compilation": self.costs[key]}, "objectives": ["time"],
             "invalidity": "runtime" if numpy.isnan(time) else "correct", "correctness": 1,
             "measurements": [{"name": "time", "unit": "ms", "value":
                               "RuntimeFailedConfig" if numpy.isnan(time) else time}]}
            for key, time in self.times.items()]
        file = Path(folder) / "space_T4.json"
        file.write_text(json.dumps({"schema_version": "1.0.0", "results": results,
                                    "metadata": {"timeunit": "seconds"}}))
        return SearchspaceStatistics("kernel", "device", True, ["compilation"], ["time"], file,
                                     full_validate=False)


def described(space, runs, folder):
    """The package's view of runs: a row an evaluation, a column a run."""
    lines = [line.split() for line in text_of(runs).splitlines()]
    shape = (max(len(line) for line in lines) - 2, len(lines))
    evaluations, seconds, times, best = (numpy.full(shape, numpy.nan) for _ in range(4))
    for run, (_, own_seconds, *keys) in enumerate(lines):
        count = len(keys)
        own = float(own_seconds) / count
        evaluations[:count, run] = numpy.arange(1, count + 1)
        seconds[:count, run] = numpy.cumsum([space.costs[key] + own for key in keys])
        times[:count, run] = [space.times[key] for key in keys]
        best[:count, run] = numpy.fmin.accumulate(times[:count, run])
    description = ResultsDescription(
        run_folder=Path(tempfile.mkdtemp(dir=folder)), application_name="kernel",
        device_name="device", group_name="search", group_display_name="search", stochastic=True,
        objective_time_keys=["compilation"], objective_performance_keys=["time"],
        minimization=True)
    description.set_results({
        "fevals_results": evaluations, "objective_time_results": seconds,
        "objective_performance_results": times, "objective_performance_best_results": best,
        "objective_performance_stds": numpy.zeros(shape),
        "objective_time_results_per_key": seconds[None],
        "objective_performance_results_per_key": times[None]})
    return description


def scores_of(known, description, calls):
    first, last, begin, end = known.cutoff_point_fevals_time_start_end(0.01, 0.95)
    scores = []
    for call in range(calls):
        numpy.random.seed(call)
        curve = StochasticOptimizationAlgorithm(description)
        case = (RandomSearchCalculatedBaseline(known), [curve], known,
                numpy.linspace(begin, end, 1000), numpy.arange(first, last + 1))
        scores.append(get_strategies_aggregated_performance([case], 0.95)[0][0].mean())
    return scores


def score(space, files, calls):
    with tempfile.TemporaryDirectory() as folder:
        known = space.statistics(folder)
        for file in files:
            scores = scores_of(known, described(space, file, folder), calls)
            print(f"{statistics.mean(scores):6.3f} +- {statistics.pstdev(scores):.3f}  {file}")


def searched(space, cache_file, strategy, seed, seconds):
    """The configurations in order, and Kernel Tuner's own time in seconds."""
    from kernel_tuner import tune_kernel

    cache = space.cache
    names = cache["tune_params_keys"]

    def key_of(configuration):
        return ",".join(str(configuration[name]) for name in names)

    def is_recorded(configuration):
        return key_of(configuration) in space.times

    random.seed(seed)
    numpy.random.seed(seed)
    results, _ = tune_kernel(
        cache["kernel_name"], "__global__ void " + cache["kernel_name"] + "() {}",
        cache["problem_size"], [], {name: cache["tune_params"][name] for name in names},
        lang="CUDA", block_size_names=["none"], restrictions=is_recorded, cache=cache_file,
        quiet=True, simulation_mode=True, strategy=strategy,
        strategy_options={"time_limit": seconds})
    own = sum(result["strategy_time"] + result["framework_time"] for result in results) * 1e-3
    return list(dict.fromkeys(key_of(result) for result in results)), own


def write_runs(space, strategy, output, seeds):
    with tempfile.TemporaryDirectory() as folder:
        seconds = 1.1 * space.statistics(folder).cutoff_point_fevals_time_start_end(0.01, 0.95)[3]
        cache_file = Path(folder) / "cache.json"
        entries = {}
        for key, entry in space.cache["cache"].items():
            entry = {name: entry[name] for name in space.cache["tune_params_keys"]}
            works = not numpy.isnan(space.times[key])
            entry |= {"time": space.times[key]} if works else {"__error__": "RuntimeFailedConfig"}
            entries[key] = entry | {
                "compile_time": space.costs[key] * 1e3, "verification_time": 0, "benchmark_time": 0,
                "strategy_time": 0, "framework_time": 0, "times": [], "timestamp": ""}
        cache_file.write_text(json.dumps(space.cache | {"cache": entries}))
        with open(output, "w") as file:
            for seed in range(1, seeds + 1):
                keys, own = searched(space, str(cache_file), strategy, seed, seconds)
                print(seed, f"{own:.4f}", *keys, file=file)


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("score")
    verb.add_argument("space", type=Space)
    verb.add_argument("runs", nargs="+")
    verb.add_argument("--calls", type=int, default=100)
    verb = verbs.add_parser("runs")
    verb.add_argument("space", type=Space)
    verb.add_argument("strategy")
    verb.add_argument("output")
    verb.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    if given.verb == "score":
        score(given.space, given.runs, given.calls)
    else:
        write_runs(given.space, given.strategy, given.output, given.seeds)


if __name__ == "__main__":
    main()
