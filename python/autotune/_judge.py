# SPDX-License-Identifier: Apache-2.0
"""judge() for functions of PyTorch, Triton and NumPy: its arguments, and the document that it returns.
_judge_case.py has a judgement."""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import inspect
import json
import os
import secrets
import statistics
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Union

from ._errors import Error, UsageError
from ._judge_case import Case, Refused, sizes_text
from ._library import prefix

Function = Union[str, Callable[..., Any]]

FASTER, NOT_FASTER, WRONG, CHEATS = 0, 4, 5, 6


def place_of(function: Function) -> tuple[str, str, str]:
    """Module, file and name: what another process imports. Raises UsageError."""
    if isinstance(function, str):
        file, _, name = function.rpartition(":")
        if not file.endswith(".py") or not os.path.isfile(file):
            raise UsageError(f"{function}: there is no such function: give file.py:name")
        return "__main__", os.path.abspath(file), name
    name = getattr(function, "__qualname__", "")
    try:
        file = inspect.getsourcefile(function) or ""
    except TypeError:
        file = ""
    if not os.path.isfile(file) or not name.replace(".", "").isidentifier():
        raise UsageError(
            f"{name or function}: another process cannot import it: name a function that stands by "
            'itself in a file, or give "file.py:name"'
        )
    module = function.__module__
    is_known = module != "__main__" and importlib.util.find_spec(module) is not None
    return module if is_known else "__main__", os.path.abspath(file), name


def verdict_text(name: str, problems: list[dict[str, Any]], refused: Optional[Refused]) -> str:
    if refused is not None:
        kind = "" if refused.outcome == "wrong" else f" ({refused.outcome})"
        return f"{refused.verdict}{kind}: {refused.where}: {refused.why}"
    if len(problems) > 1:
        faster = sum(each["pace"] == "faster" for each in problems)
        mean = statistics.geometric_mean(each["speedup"]["median"] for each in problems)
        return (f"right and faster than {name} at {faster} of {len(problems)} sizes, {mean:.2f}x in "
                "the geometric mean")  # fmt: skip
    one = problems[0]
    ratio = one["speedup"]
    speedup = f"{ratio['median']:.2f}x [{ratio['low']:.2f}, {ratio['high']:.2f}]"
    rival = f"{name} at {sizes_text(one['problem'])}"
    return {"faster": f"right and {speedup} faster than {rival}",
            "slower": f"right but slower, {speedup} of the speed of {rival}",
            "within noise": f"right but within noise of {rival}, {speedup}"}[one["pace"]]  # fmt: skip


def overall(problems: list[dict[str, Any]]) -> str:
    paces = {each["pace"] for each in problems}
    if ("faster" in paces) == ("slower" in paces):
        return "within noise"
    return "faster" if "faster" in paces else "slower"


def missing_confinement() -> str:
    """What of Landlock this system lacks; the tool says the same of kernels."""
    import ctypes

    version = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return "the candidate's process was not confined: this system has no Landlock"
    if version < 6:
        return f"the candidate's process was confined in part: this system has Landlock {version} of 6"
    return ""


def attempt(places: dict[str, tuple[str, str, str]], sizes: list[dict[str, int]], seed: int,
            options: argparse.Namespace) -> dict[str, Any]:  # fmt: skip
    case = Case(places["candidate"], places["against"], places["inputs"], seed, options)
    refused: Optional[Refused] = None
    try:
        case.judge(sizes)
    except Refused as why:
        refused = why
        refused.where = refused.where or case.where
    finally:
        case.end()
    missing = missing_confinement() if options.confined else "the candidate's process was not confined"
    if missing:
        case.note(missing)
    verdict = refused.verdict if refused else "right"
    pace = None if refused else overall(case.problems)
    status = {"wrong": WRONG, "cheats": CHEATS}.get(verdict, FASTER if pace == "faster" else NOT_FASTER)
    files = {who: {"file": file, "function": name,
                   "hash": hashlib.blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()}
             for who, (_, file, name) in places.items()}  # fmt: skip
    return {
        "candidate": ":".join(places["candidate"][1:]),
        "against": ":".join(places["against"][1:]),
        "verdict": verdict,
        "pace": pace,
        "text": verdict_text(places["against"][2], case.problems, refused),
        "status": status,
        "outcome": refused.outcome if refused else "ok",
        "where": refused.where if refused else "",
        "why": refused.why if refused else "",
        "problems": case.problems,
        "notes": case.notes,
        "receipt": {**files, "device": case.about, "python": sys.version.split()[0], "seed": seed,
                    "own_sizes": case.own, "confined": not missing,
                    "installation": str(prefix())},
    }  # fmt: skip


def judge_functions(candidate: Function, against: Function, inputs: Function,
                    sizes: Union[Mapping[str, int], Iterable[Mapping[str, int]], None] = None, *,
                    seed: Optional[int] = None, seconds: float = 2, own_sizes: int = 3,
                    repeat_seconds: float = 1, compile_limit: float = 120, confined: bool = True,
                    least_bytes: Union[int, Callable[..., int], None] = None) -> dict[str, Any]:  # fmt: skip
    """The document of a judgement: see judge()."""
    options = argparse.Namespace(seconds=seconds, own_sizes=own_sizes, repeat_seconds=repeat_seconds,
                                 compile_limit=compile_limit, confined=confined,
                                 least_bytes=least_bytes)  # fmt: skip
    places = {"candidate": place_of(candidate), "against": place_of(against),
              "inputs": place_of(inputs)}  # fmt: skip
    listed: list[Mapping[str, int]]
    listed = [sizes or {}] if sizes is None or isinstance(sizes, Mapping) else list(sizes)
    problems = [dict(each) for each in listed]
    for name, value in [item for each in problems for item in each.items()]:
        if not isinstance(value, int) or value < 1:
            raise UsageError(f"sizes: {name} is {value!r}: give a positive integer")
    if not problems:
        raise UsageError("sizes: there is none: give a dictionary such as {'n': 4096}")
    seed = secrets.randbits(52) if seed is None else seed
    first = attempt(places, problems, seed, options)
    if first["outcome"] != "timeout":
        return first
    second = attempt(places, problems, seed, options)  # the machine may have been busy
    if second["outcome"] == "timeout":
        why = second["why"]
        second["why"] = f"in both attempts: {why}"
        second["text"] = second["text"].replace(why, second["why"])
    else:
        second["notes"].append(f"judged again after a late call: {first['why']}")
    return second


def main(words: list[str]) -> int:
    """`python -m autotune judge fast.py:f --against plain.py:f --inputs plain.py:inputs`."""
    parser = argparse.ArgumentParser(prog="autotune judge", description=__doc__)
    parser.add_argument("candidate", metavar="FILE.py:FUNCTION")
    parser.add_argument("--against", required=True, metavar="FILE.py:FUNCTION")
    parser.add_argument("--inputs", required=True, metavar="FILE.py:FUNCTION")
    parser.add_argument("--sizes", default="", help="such as n=4096,m=64")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    pairs = (each.partition("=") for each in options.sizes.split(",") if each)
    try:
        sizes = {name: int(value) for name, _, value in pairs}
        found = judge_functions(options.candidate, options.against, options.inputs, sizes,
                                seed=options.seed)  # fmt: skip
    except (Error, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print(found["text"])
        for note in found["notes"]:
            print(f"note      {note}")
    return int(found["status"])
