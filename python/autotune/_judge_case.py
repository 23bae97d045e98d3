# SPDX-License-Identifier: Apache-2.0
"""One judgement of a function: what its calls return, beside the reference, and how long they take. The
clock, the seeds and the verdict are here. The candidate runs in a process of its own, and so do the
reference that says what is right, and the reference that is timed (_judged.py); _judge_process.py has
the processes."""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from ._errors import Error
from ._judge_process import Ended, Late, Process, shared_memory
from ._judged import APART, POISONS, SAMPLES

DRAWS = 3  # of inputs, for each size
SMALL = 64
BLOCKS = (10, 60)  # fewest and most
CHAIN_SECONDS = 0.03
CHAIN_CALLS = (4, 2000)
CHAIN_BYTES = 1 << 30  # of inputs of one chain
LOOKED_AT = 8  # calls of a chain
UNSEEN_PAIRS = ((6, 15), (12, 30), (24, 60))  # of calls on inputs that no call has seen, and again
UNSEEN_SECONDS = 1
SIGHTINGS = 50  # calls on the same inputs in between, in so many seconds at most
SIGHTING_SECONDS = 0.03
REMEMBERS = 1.25  # an unseen call takes so much longer, at least
APART_SECONDS = 2e-5  # by which one call alone may differ from another
MARGIN = 0.01
ANSWERS: dict[str, dict[str, type]] = {
    "call": {"results": list, "returned": int, "keeps_results": bool},
    "chain": {"samples": list},
    "repeat": {"calls": int, "differing": int, "results": list},
}


class Refused(Exception):
    """The verdict is `wrong` or `cheats`. `where`: the size."""

    def __init__(self, verdict: str, why: str, where: str = "", outcome: str = "wrong"):
        super().__init__(why)
        self.verdict, self.why, self.where, self.outcome = verdict, why, where, outcome


def interval(values: list[float]) -> tuple[float, float, float]:
    """Median and its 95 % interval from ranks, as of the tool's times."""
    ordered, n = sorted(values), len(values)
    half = 1.96 * math.sqrt(n) / 2
    low, high = max(0, math.floor(n / 2 - half)), min(n - 1, math.ceil(n / 2 + half))
    return statistics.median(ordered), ordered[low], ordered[high]


def time_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def sizes_text(sizes: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in sizes.items()) or "its inputs"


def own_sizes(sizes: Mapping[str, int], count: int, chance: random.Random) -> list[dict[str, int]]:
    """Sizes that nobody has named: smaller and odd. The last are small, and of any kind."""
    drawn = [{name: chance.randint(max(1, value // 2), value) - 1 | 1 if i + 1 < count else
              chance.randint(1, min(value, SMALL)) for name, value in sizes.items()}
             for i in range(count)]  # fmt: skip
    return [each for i, each in enumerate(drawn) if each != dict(sizes) and each not in drawn[:i]]


class Case:
    """One judgement. `candidate`, `against`, `inputs`: see place_of()."""

    def __init__(self, candidate: tuple[str, str, str], against: tuple[str, str, str],
                 inputs: tuple[str, str, str], seed: int, options: argparse.Namespace):  # fmt: skip
        self.candidate_place, self.against_place, self.options = candidate, against, options
        self.chance = random.Random(seed)  # of inputs and sizes
        self.order = random.Random(~seed)  # of chains, whose number depends on the time
        self.memory = [shared_memory(name) for name in ("inputs", "results")]
        self.problems: list[dict[str, Any]] = []
        self.own: list[dict[str, int]] = []
        self.notes: list[str] = []
        self.about: dict[str, Any] = {}
        self.where = ""
        self.slowest = 0.0  # of the reference, in seconds a request
        needs_torch = any(b"torch" in Path(file).read_bytes() for _, file, _ in (against, inputs))
        modules = ["torch"] if needs_torch else []
        self.processes: list[Process] = []
        try:
            for place, is_judged in ((against, False), (against, False), (candidate, True)):
                confined = is_judged and options.confined
                self.processes.append(Process(self.memory, is_judged, confined, place, modules))
            self.reference, self.rival, self.candidate = self.processes
            self.of_reference("load", function=against, inputs=inputs, path=sys.path)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        for each in self.processes:
            each.end()
        for memory in self.memory:
            os.close(memory)

    def of_reference(self, do: str, **request: Any) -> dict[str, Any]:
        return self.right(self.reference, do, **request)[0]

    def right(self, process: Process, do: str, **request: Any) -> tuple[dict[str, Any], float]:
        """Of a process that runs the reference. Between its requests, it does nothing itself."""
        if process.left not in (None, process.scheduling()):
            raise Refused("cheats", "it changes how the reference's process is scheduled")
        try:
            answer, spent = process.timed(600, do, **request)
            process.left = process.scheduling()
        except (Late, Ended) as failure:
            raise Error(f"the reference: {failure}") from None
        if do == "draw":
            self.slowest = max(self.slowest, spent)
        if "failed" in answer:
            raise Error(f"the reference: {answer['failed']}")
        return answer, spent

    def of_candidate(self, do: str, limit: float, **request: Any) -> tuple[dict[str, Any], float]:
        try:
            answer, spent = self.candidate.timed(limit, do, **request)
        except Late as late:
            raise Refused("wrong", str(late), outcome="timeout") from None
        except Ended as ended:
            raise Refused("wrong", str(ended), outcome="crash") from None
        if "failed" in answer:
            raise Refused("wrong", str(answer["failed"]), outcome="error")
        for name, kind in ANSWERS.get(do, {}).items():
            if type(answer.get(name)) is not kind:
                raise Refused("cheats", f"its process answers {do} with something else")
        return answer, spent

    def limit(self) -> float:
        """As for a worker of kernels: 50 times what the reference takes."""
        return min(max(5.0, 50 * self.slowest), 60.0)

    def judge(self, sizes: list[dict[str, int]]) -> None:
        for each in sizes:
            self.where = sizes_text(each)
            problem = {"problem": each, "checked_calls": 0, "worst_error": 0.0}
            self.verify(each, problem, DRAWS, True)
            self.time(problem)
            self.repeat(problem)
            self.expect_no_memory(each)
            self.problems.append(problem)
            self.elsewhere(each)

    def load(self, drawn: dict[str, Any]) -> None:
        """Tells the others which library it is."""
        self.about = drawn["about"]
        given = {"path": sys.path, "library": drawn["library"], "device": drawn["device"]}
        self.right(self.rival, "load", function=self.against_place, **given)
        self.of_candidate("load", self.options.compile_limit, function=self.candidate_place, **given)

    def verify(self, sizes: dict[str, int], problem: dict[str, Any], draws: int,
               with_zeros: bool) -> None:  # fmt: skip
        """Ends with inputs that are as drawn, and known to both."""
        kinds = [False] + ([True] if with_zeros else []) + [False] * (draws - 1)
        for i, zeros in enumerate(kinds):
            drawn = self.of_reference("draw", sizes=sizes, seed=self.chance.getrandbits(31),
                                      zeros=zeros)  # fmt: skip
            if not self.about:
                self.load(drawn)
            if zeros and not (drawn["has_zeros"] and drawn["is_finite"]):
                continue  # a division by zero says nothing
            if not drawn["is_exact"]:
                self.note("the reference computes nothing in f64: its own results count as exact")
            self.drawn = drawn
            given = {"arguments": drawn["arguments"], "names": drawn["names"]}
            self.right(self.rival, "take", **given)
            self.of_candidate("take", self.limit(), **given)
            self.check(problem, POISONS[i % len(POISONS)], first=i == 0)

    def check(self, problem: dict[str, Any], poison: int, first: bool) -> None:
        limit = self.options.compile_limit if first else self.limit()
        sizes = [each["bytes"] for each in self.drawn["outputs"]]
        answer, _ = self.of_candidate("call", limit, poison=poison, sizes=sizes)
        self.expect_right(answer["results"], answer["returned"], problem)
        if not answer["keeps_results"]:
            raise Refused("wrong", "a later call changes the results of an earlier one: they share "
                                   "memory")  # fmt: skip

    def expect_right(self, results: Any, returned: Any, problem: dict[str, Any]) -> None:
        compared = self.of_reference("compare", results=results, returned=returned)
        if compared["why"]:
            raise Refused("wrong", compared["why"])
        if compared["note"]:
            self.note(compared["note"])
        problem["checked_calls"] += 1
        problem["worst_error"] = max(problem["worst_error"], compared["worst_error"])
        self.limits = compared["limits"]

    def elsewhere(self, sizes: dict[str, int]) -> None:
        """An exception at a size that nobody named is a refusal, and no wrong result."""
        for each in own_sizes(sizes, self.options.own_sizes, self.chance):
            try:
                self.verify(each, {"checked_calls": 0, "worst_error": 0.0}, 1, False)
            except Error as error:
                self.note(f"at {sizes_text(each)} it was not checked: {error}")
                continue
            except Refused as refused:
                if refused.outcome != "error":
                    refused.where = f"{sizes_text(each)}, a size that was not named"
                    raise
                self.note(f"it refuses {sizes_text(each)}: {refused.why}")
                continue
            self.own.append(each)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # The timing.

    def time(self, problem: dict[str, Any]) -> None:
        calls = CHAIN_CALLS[0]
        blocks: list[dict[str, float]] = []
        self.block(calls)
        slowest = max(self.block(calls).values()) / calls
        size = max(1, sum(each.get("bytes", 0) for each in self.drawn["arguments"]))
        calls = int(min(max(CHAIN_SECONDS / max(slowest, 1e-9), CHAIN_CALLS[0]), CHAIN_CALLS[1],
                        max(CHAIN_CALLS[0], CHAIN_BYTES // size)))  # fmt: skip
        self.block(calls)  # grown memory, raised clocks
        start = time.monotonic()
        while len(blocks) < BLOCKS[0] or (len(blocks) < BLOCKS[1] and
                                          time.monotonic() - start < self.options.seconds):  # fmt: skip
            blocks.append(self.block(calls))
            problem["checked_calls"] += min(LOOKED_AT, calls)
        self.compare_times(problem, calls, blocks)

    def block(self, calls: int) -> dict[str, float]:
        """A chain of each, and a second one of the reference in its other process, in random order.
        One process may run faster than another for as long as it lives."""
        chance = self.order
        looked_at = sorted(chance.sample(range(calls), min(LOOKED_AT, calls)))
        chain = {"late": chance.choice(looked_at), "looked_at": looked_at,
                 "factor": 1 + APART * (2 * chance.random() - 1),
                 "places": [self.places(each) for each in self.drawn["outputs"]]}  # fmt: skip
        seed, samples = chance.getrandbits(31), {}
        order = ["candidate", "reference", "again"]
        chance.shuffle(order)
        times = {}
        for who in order:
            self.candidate.rest(who != "candidate")
            if who == "candidate":
                self.of_candidate("prepare", self.limit(), seed=seed, calls=calls)
                try:
                    answer, times[who] = self.of_candidate("chain", self.limit(), **chain)
                except Refused as refused:
                    refused.verdict = "cheats" if refused.outcome == "error" else refused.verdict
                    raise
            else:
                process = self.rival if who == "reference" else self.reference
                self.right(process, "prepare", seed=seed, calls=calls)
                answer, times[who] = self.right(process, "chain", **chain)
            samples[who] = answer["samples"]
        self.candidate.rest(False)
        if why := self.difference(samples["candidate"], samples["reference"]):
            raise Refused("cheats", f"right in calls by themselves, but not while it is timed: {why}")
        return times

    def difference(self, samples: list[Any], right: list[list[float]]) -> str:
        """Between elements of a chain of the candidate and those of the reference."""
        if [len(each) if isinstance(each, list) else -1 for each in samples] != list(map(len, right)):
            return "a call returned another number of arrays"
        for i, (theirs, ours) in enumerate(zip(samples, right)):
            absolute, relative = self.limits[i % len(self.limits)]
            for got, expected in zip(theirs, ours):
                if not isinstance(got, (int, float)):
                    return "a call returned no numbers"
                if got == expected or math.isnan(got) and math.isnan(expected):
                    continue
                if not abs(got - expected) <= 2.5 * (absolute + relative * abs(expected)):
                    return (f"an element of result {i % len(self.limits)} is {got:.9g}, expected "
                            f"{expected:.9g}")  # fmt: skip
        return ""

    def places(self, output: dict[str, Any]) -> list[int]:
        count = math.prod(output["shape"])
        return [self.order.randrange(count) for _ in range(SAMPLES)] if count else []

    def compare_times(self, problem: dict[str, Any], calls: int,
                      blocks: list[dict[str, float]]) -> None:  # fmt: skip
        """The empty chain's time, which both have, is not subtracted: it is in every call."""
        ratio, other = (interval([each[who] / each["candidate"] for each in blocks])
                        for who in ("reference", "again"))  # fmt: skip
        alike = interval([each["again"] / each["reference"] for each in blocks])
        noise = max(abs(bound - 1) for bound in alike[1:])
        times = {who: interval([each[who] / calls for each in blocks])
                 for who in ("candidate", "reference")}  # fmt: skip
        margin = max(noise, MARGIN)
        pace = ("faster" if min(ratio[1], other[1]) > 1 + margin else
                "slower" if max(ratio[2], other[2]) < 1 / (1 + margin) else "within noise")  # fmt: skip
        floor = self.least_bytes(problem["problem"]) / self.drawn["peak_rate"]
        problem |= {"pace": pace, "calls": calls, "noise_floor": noise,
                    "time_floor_ns": floor * 1e9, "blocks": blocks,
                    "speedup": {"median": ratio[0], "low": ratio[1], "high": ratio[2],
                                "pairs": len(blocks)},
                    **{who: {"median_ns": each[0] * 1e9, "low_ns": each[1] * 1e9,
                             "high_ns": each[2] * 1e9} for who, each in times.items()}}  # fmt: skip
        if times["candidate"][0] < floor:
            raise Refused("cheats", f"{time_text(times['candidate'][0])} is less than its bytes take: "
                                    f"{time_text(floor)} at the peak rate of caches")  # fmt: skip

    def least_bytes(self, sizes: dict[str, int]) -> int:
        stated = self.options.least_bytes
        if stated is not None:
            return int(stated(**sizes) if callable(stated) else stated)
        returned = len(self.drawn["outputs"]) - sum("at" in each for each in self.drawn["arguments"])
        return int(sum(each["bytes"] for each in self.drawn["outputs"][:returned]))

    def repeat(self, problem: dict[str, Any]) -> None:
        seconds = self.options.repeat_seconds
        answer, _ = self.of_candidate("repeat", seconds + self.limit(), seconds=seconds)
        problem["repeats"] = not answer["differing"]
        if answer["differing"]:
            returned = len(answer["results"]) - sum("at" in each for each in self.drawn["arguments"])
            try:
                self.expect_right(answer["results"], returned, problem)
            except Refused as refused:
                refused.why = f"in {answer['differing']} of {answer['calls']} calls: {refused.why}"
                raise
        problem["checked_calls"] += answer["calls"]

    def expect_no_memory(self, sizes: dict[str, int]) -> None:
        """Contents of a chain differ by a factor, or not at all: the results of some functions stay.
        So the first call on a new draw is timed, and after several calls another one on the same.
        A busy machine may hide it in a few calls, or show it by chance: then there are more of them."""
        pairs: list[tuple[float, float]] = []
        taken, first = self.take(sizes, self.order.getrandbits(31)), None
        for fewest, most in UNSEEN_PAIRS:
            start = time.monotonic()
            while len(pairs) < fewest or (len(pairs) < most and
                                          time.monotonic() - start < UNSEEN_SECONDS):  # fmt: skip
                before, taken = taken, self.take(sizes, self.order.getrandbits(31))
                if taken == before:
                    self.note("its inputs are the same whenever they are drawn: a function that keeps "
                              "results of earlier calls would not be noticed")  # fmt: skip
                    return
                sightings, began = 0, time.monotonic()
                while sightings < 2 or (sightings < SIGHTINGS and
                                        time.monotonic() - began < SIGHTING_SECONDS):  # fmt: skip
                    self.once("before")
                    sightings += 1
                seen = self.once("before", forgets=True)
                if first is not None:
                    pairs.append((first, seen))
                first = self.once("arguments", forgets=True)
            unseen, again = (statistics.median(each) for each in zip(*pairs))
            _, low, high = interval([one / other for one, other in pairs])
            if high < REMEMBERS or unseen - again < APART_SECONDS:
                return
        if low < REMEMBERS:
            return
        raise Refused("cheats", "keeps results of earlier calls: a call on inputs that it has not "
                                f"seen takes {time_text(unseen)}, one on inputs that it has seen "
                                f"{time_text(again)}")  # fmt: skip

    def take(self, sizes: dict[str, int], seed: int) -> bytes:
        """Gives the candidate inputs without results to compare. Returns some of their bytes."""
        drawn = self.of_reference("draw", sizes=sizes, seed=seed, zeros=False, expect=False)
        given = {"arguments": drawn["arguments"], "names": drawn["names"]}
        self.of_candidate("take", self.limit(), **given)
        return os.pread(self.memory[0], 1 << 20, 0)

    def once(self, on: str, forgets: bool = False) -> float:
        """The time of a call on the inputs taken last, or on those before. The processor may forget what
        it has learnt of branches that follow these inputs: that is no result that a function keeps."""
        self.of_candidate("ready", self.limit(), on=on, forgets=forgets)
        return self.of_candidate("once", self.limit())[1]
