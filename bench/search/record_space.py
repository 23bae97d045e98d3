#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the search trials of a tuned database into a recorded space that `autotune replay` reads.

usage: record_space.py TUNED.db MANIFEST OUTPUT.json.gz [CACHED.db]

The database holds one target, one problem and one device, swept by
`autotune tune --strategy exhaustive --budget 100%`. The output is Kernel Tuner's cache format (times in ms);
each time comes with registers, bytes of shared memory and occupancy. A configuration whose timing was
stopped early has the lower bound as its time. The output has the cost model's predictions and
marks the default configuration. CACHED.db holds the same sweep, repeated with all builds in the
cache: the time between two of its trials is what the second cost beside compiling. With it, the
output has that cost (`total_ms`), which --threads and --score of `autotune replay` use.
"""
import gzip
import json
import re
import sqlite3
import statistics
import sys
import tomllib
from datetime import datetime


def manifest_parameters(path):
    """Names with values; of a parameter of several families, the values of all."""
    with open(path, "rb") as file:
        manifest = tomllib.load(file)
    families = manifest.get("families", {})
    parameters = {manifest.get("family", "FAMILY"): list(families)} if families else {}
    parts = manifest.get("parts", {})
    tables = [manifest]
    for family in families.values():
        tables += [parts[name] for name in family.get("parts", [])] + [family]
    for table in tables:
        for name, given in table.get("parameters", {}).items():
            values = given if isinstance(given, list) else given["values"]
            known = parameters.setdefault(name, [])
            known += [value for value in values if value not in known]
    return parameters


def time_or_failure(outcome, median_ns):
    if outcome in ("ok", "pruned"):
        return round(median_ns * 1e-6, 7)
    return "CompilationFailedConfig" if outcome == "compile_error" else "RuntimeFailedConfig"


def seconds_between(database):
    """By configuration, the seconds since the trial before. The first trial's are the median of all."""
    rows = sqlite3.connect(database).execute(
        "SELECT configuration, created_at, compile_seconds FROM trial WHERE stage = 'search'"
        " ORDER BY created_at, id").fetchall()
    ends = [datetime.fromisoformat(created_at).timestamp() for _, created_at, _ in rows]
    seconds = {rows[i][0]: max(ends[i] - ends[i - 1] - rows[i][2], 0) for i in range(1, len(rows))}
    seconds[rows[0][0]] = statistics.median(seconds.values())
    return seconds


def main(database, manifest, output, cached=None):
    parameters = manifest_parameters(manifest)
    rows = sqlite3.connect(database).execute(
        "SELECT configuration, outcome, median_ns, compile_seconds, registers, shared_bytes, occupancy, message,"
        " predicted_ns, is_default, problem, target, device.name FROM trial JOIN kernel ON kernel.id = trial.kernel"
        " JOIN device ON device.id = trial.device WHERE stage = 'search' ORDER BY created_at, trial.id").fetchall()
    beside_compiling = seconds_between(cached) if cached else {}
    cache = {}
    for (configuration, outcome, median_ns, compile_seconds, registers, shared, occupancy, message, predicted,
         is_default, *_) in rows:
        given = dict(pair.split("=") for pair in configuration.split())
        # An inactive parameter has its first value.
        values = {name: next((v for v in known if str(v) == given.get(name)), known[0])
                  for name, known in parameters.items()}
        entry = dict(values, time=time_or_failure(outcome, median_ns), compile_time=round(compile_seconds * 1e3, 1))
        if predicted:
            entry.update(predicted_ms=round(predicted * 1e-6, 7))
        if is_default:
            entry.update(is_default=True)
        if configuration in beside_compiling:
            entry.update(total_ms=round((compile_seconds + beside_compiling[configuration]) * 1e3, 1))
        if outcome != "compile_error":
            entry.update(registers=registers, shared_bytes=shared, occupancy=occupancy)
        elif refused := re.search(r"too much shared data \((0x[0-9a-f]+|\d+) bytes", message):
            entry.update(shared_bytes=int(refused[1], 0))
        cache[",".join(str(v) for v in values.values())] = entry
    *_, problem, target, device = rows[0]
    recorded = {
        "device_name": device, "kernel_name": target, "problem_size": problem,
        "tune_params_keys": list(parameters), "tune_params": parameters, "objective": "time", "cache": cache}
    with gzip.GzipFile(output, "w", mtime=0) as file:
        file.write(json.dumps(recorded, separators=(",", ":")).encode())
    failed = sum(isinstance(e["time"], str) for e in cache.values())
    best = min(e["time"] for e in cache.values() if not isinstance(e["time"], str))
    print(f"{output}: {len(cache)} configurations, {failed} failed, best {best} ms")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
