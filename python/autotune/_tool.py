# SPDX-License-Identifier: Apache-2.0
"""The command-line tool as functions: tune, query and judge. It runs in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

from ._errors import Error, UsageError
from ._library import environment, installed
from ._progress import Progress, ProgressBar, terminal_lines

Sizes = Union[str, int, Mapping[str, int], Iterable[Any]]
Show = Union[bool, Callable[[Progress], None]]

_WRONG_USAGE, _NOTHING_CORRECT, _INTERRUPTED = 2, 3, 130
_FASTER, _NOT_FASTER, _WRONG, _CHEATS = 0, 4, 5, 6


@dataclass(frozen=True)
class Result:
    """The best configuration of one problem. Times are nanoseconds per call; None for a pinned
    configuration that was never timed."""

    target: str
    device: str
    problem: dict[str, Any]  # sizes and settings
    configuration: dict[str, Any]
    median_ns: Optional[float]
    low_ns: Optional[float]  # 95 % interval of the median: low_ns..high_ns
    high_ns: Optional[float]
    default_ns: Optional[float]  # of the default configuration
    verified: bool
    provenance: str
    raw: dict[str, Any]  # everything, as in `--json` (docs/cli.md)

    @property
    def speedup(self) -> Optional[float]:
        """Relative to the default configuration."""
        return self.default_ns / self.median_ns if self.default_ns and self.median_ns else None


@dataclass(frozen=True)
class TuningReport:
    """What tune() found. `failed` has the problems without a correct configuration."""

    results: list[Result]
    failed: list[dict[str, Any]]
    interrupted: bool
    seconds: float
    raw: dict[str, Any]  # the document of `autotune tune --json` (docs/cli.md)


@dataclass(frozen=True)
class Judgement:
    """What judge() says of a kernel."""

    verdict: str  # right, wrong or cheats
    pace: Optional[str]  # of a right kernel: faster, within noise or slower
    speedup: Optional[float]  # over the reference; of several sizes the geometric mean
    text: str  # the verdict in one line, with the place and the reason
    notes: list[str]  # what was guessed, and what was not checked
    raw: dict[str, Any]  # everything, with the receipt, as in `--json` (docs/judge.md)

    @property
    def is_right(self) -> bool:
        return self.verdict == "right"

    @property
    def is_faster(self) -> bool:
        return self.pace == "faster"


def tool() -> Path:
    """The program `autotune` of this installation."""
    return installed("bin/autotune")


def sizes_text(sizes: Sizes) -> str:
    """As the tool takes them: 512, "128..1024", (512, 512, 64), {"M": 1, "N": 2, "K": 3}, or a list
    of these."""
    if isinstance(sizes, str):
        return sizes
    if isinstance(sizes, Mapping):
        return ",".join(f"{name}={value}" for name, value in sizes.items())
    if isinstance(sizes, tuple):
        return "x".join(str(size) for size in sizes)
    if isinstance(sizes, Iterable):
        return ",".join(sizes_text(each) for each in sizes)
    return str(sizes)


def tune(
    target: Union[str, os.PathLike[str]],
    sizes: Sizes,
    *,
    settings: Optional[Mapping[str, Any]] = None,
    fix: Optional[Mapping[str, Any]] = None,
    device: Optional[str] = None,
    db: Union[str, os.PathLike[str], None] = None,
    budget: Union[str, int, None] = None,
    strategy: Optional[str] = None,
    progress: Show = True,
    **options: Any,
) -> TuningReport:
    """Finds the fastest correct configuration for each size, and stores it.

    `sizes`: see sizes_text(). `settings` of the problem, such as {"dtype": "f64"}; `fix`: values of
    parameters that are not searched. `device`: auto, cuda, cuda:N, cuda:all, host, model:NAME.
    `budget`: evaluations for each problem, "10%", "60s", "auto". Other `options` are those of
    `autotune tune`, with _ for -: retune=True, l2="cold", seed=2, jobs=4.

    `progress`: True draws a bar on sys.stderr; False shows warnings only; a function is called with
    a Progress some ten times a second. Ctrl-C ends the run after the running launch, keeps every
    trial, and raises KeyboardInterrupt.

    Raises UsageError for wrong arguments, Error with the tool's own text if it fails.
    """
    words = ["tune", "--target", os.fspath(target), "--sizes", sizes_text(sizes), "--json"]
    words += _options(device=device, db=db, budget=budget, strategy=strategy, **options)
    words += _repeated("--set", settings) + _repeated("--fix", fix)
    show = ProgressBar() if progress is True else progress
    if not show:
        words.append("--quiet")
    return _report(_run(words, show or None, (0, _NOTHING_CORRECT)))


def query(
    target: Union[str, os.PathLike[str], None] = None,
    sizes: Optional[Sizes] = None,
    *,
    settings: Optional[Mapping[str, Any]] = None,
    device: Optional[str] = None,
    db: Union[str, os.PathLike[str], None] = None,
) -> list[Result]:
    """The best known configurations: of a size, of a target, or all. For a size that was not tuned,
    that which programs get: `raw["exact"]` is False, `median_ns` is None, and
    `raw["expected_ns"]` has the expected time. Raises Error if there are none."""
    words = ["query", "--json"]
    words += _options(target=target, device=device, db=db) + _repeated("--set", settings)
    if sizes is not None:
        words += ["--size", sizes_text(sizes)]
    return [_stored(row) for row in _run(words, None, (0,))["results"]]


def judge(
    candidate: Union[str, os.PathLike[str], Callable[..., Any]],
    against: Union[str, os.PathLike[str], Callable[..., Any]],
    sizes: Any = None,
    *,
    inputs: Union[str, Callable[..., Any], None] = None,
    settings: Optional[Mapping[str, Any]] = None,
    device: Optional[str] = None,
    **options: Any,
) -> Judgement:
    """Says whether a CUDA kernel, or a function, is right, and whether it is faster than `against`.

    `candidate` is the path of a .cu file, or its text. `against` is another one, whose kernel takes
    the same arguments, or a target. Other `options` are those of `autotune judge`, with _ for -.

    With `inputs`, both are functions of PyTorch (Triton's kernels in them) or NumPy, or texts such
    as "fast.py:forward". `inputs` is a function of the sizes, such as {"n": 4096}, that draws the
    arguments: a tuple, or a dictionary. Options: seed, own_sizes=3, compile_limit=120 (seconds of
    the first call), seconds=2 (of timing), repeat_seconds=1, least_bytes (that a call moves, or a
    function of the sizes), confined=True.

    Kernels and functions run in processes of their own. Raises UsageError for wrong arguments, Error
    if there is no verdict."""
    if inputs is not None:
        from ._judge import judge_functions

        one, other = (x if callable(x) else os.fspath(x) for x in (candidate, against))
        return _judgement(judge_functions(one, other, inputs, sizes, **options))
    if callable(candidate) or callable(against):
        raise UsageError("judge needs inputs=…, a function that draws the arguments")
    with tempfile.TemporaryDirectory() as folder:
        words = ["judge", _source(candidate, Path(folder, "candidate.cu")), "--json"]
        words += ["--against", _source(against, Path(folder, "reference.cu"))]
        words += _options(device=device, **options) + _repeated("--set", settings)
        if sizes is not None:
            words += ["--sizes", sizes_text(sizes)]
        return _judgement(_run(words, None, (_FASTER, _NOT_FASTER, _WRONG, _CHEATS)))


def _judgement(document: dict[str, Any]) -> Judgement:
    ratios = [each["speedup"]["median"] for each in document["problems"]]
    is_right = document["verdict"] == "right"
    return Judgement(document["verdict"], document["pace"],
                     statistics.geometric_mean(ratios) if is_right else None,
                     document["text"], document["notes"], document)  # fmt: skip


def _source(kernel: Union[str, os.PathLike[str]], file: Path) -> str:
    """A path; a text is written to `file`."""
    if isinstance(kernel, str) and "__global__" in kernel:
        file.write_text(kernel)
        return str(file)
    return os.fspath(kernel)


def _options(**values: Any) -> list[str]:
    words: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    return words


def _repeated(option: str, values: Optional[Mapping[str, Any]]) -> list[str]:
    return [word for name, value in (values or {}).items() for word in (option, f"{name}={value}")]


def _run(words: list[str], show: Optional[Callable[[Progress], None]],
         fine: tuple[int, ...]) -> dict[str, Any]:  # fmt: skip
    """The tool's JSON document. Its lines on stderr go to sys.stderr, progress to `show`."""
    # A file, since a pipe that nobody reads makes the tool wait: stderr is read first.
    with terminal_lines(show) as (writer, relay), tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(tool()), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=writer,
            env=environment(),
            start_new_session=True,  # Ctrl-C comes from us, once
        )
        os.close(writer)
        with process:
            lines = _attended(process, relay)
        output.seek(0)
        document = output.read().decode()
    errors = [line[len("error: ") :] for line in lines if line.startswith("error: ")]
    if process.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if process.returncode in fine and document.strip():
        parsed = json.loads(document)
        assert isinstance(parsed, dict)
        return parsed
    kind = UsageError if process.returncode == _WRONG_USAGE else Error
    raise kind("\n".join(errors or lines) or f"autotune ended with status {process.returncode}")


def _attended(process: subprocess.Popen[bytes], relay: Callable[[], list[str]]) -> list[str]:
    """The lines on stderr, at the end of the process."""
    while True:
        try:
            lines = relay()
            process.wait()
            return lines
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)


def _report(document: dict[str, Any]) -> TuningReport:
    target, device = document["target"], document["device"]["name"]
    results, failed = [], []
    for problem in document["problems"]:
        best = problem["best"]
        if best is None:
            failed.append(problem["problem"])
            continue
        default = problem["default"]
        results.append(_result(target, device, problem["problem"], best, default, problem))
    return TuningReport(results, failed, document["interrupted"], document["seconds"], document)


def _stored(row: dict[str, Any]) -> Result:
    return _result(row["target"], row["device"]["name"], row["problem"], row, row["default"], row)


def _result(target: str, device: str, problem: dict[str, Any], best: dict[str, Any],
            default: Optional[dict[str, Any]], raw: dict[str, Any]) -> Result:  # fmt: skip
    default_ns = (default or {}).get("median_ns")
    return Result(target, device, problem, best["config"], best["median_ns"], best["low_ns"],
                  best["high_ns"], default_ns, best["verified"], best["provenance"], raw)  # fmt: skip
