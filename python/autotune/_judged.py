# SPDX-License-Identifier: Apache-2.0
"""The process in which judge() calls a function of PyTorch or NumPy. _judge_case.py starts three by this
path: one knows what is right, the others call the candidate, and the reference for its time. They
answer requests over descriptor 3. Arrays travel in shared memory: inputs in descriptor 4, results in
descriptor 5. A module named on the command line is imported at once.

What it needs of a library is taken before the function's file is imported, so that a file that
replaces functions of the library changes nothing here."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import mmap
import os
import random
import struct
import sys
import traceback
from typing import Any, Optional

if __name__ == "__main__":  # its folder is the first of sys.path
    from _judged_arrays import NumPy, Torch  # type: ignore[import-not-found]
else:
    from ._judged_arrays import NumPy, Torch

HERE = os.path.dirname(os.path.realpath(__file__))  # whose torch.py is not PyTorch
sys.path[:] = [each for each in sys.path if os.path.realpath(each) != HERE]

SAMPLES = 64  # elements of an output that are looked at in a timed call
APART = 0.01  # by which the contents of a chain's calls differ, at most
MOST_CALLS = 2000
FORGOTTEN_BY = 1 << 15  # numbers to sort
POISONS = (0xFF, 0x7F, 0x3E)  # NaN; large; plausible

# Half the distance of numbers at 1, and by how much more than the reference's own error may be lost.
# Sums in another order lose more in f32 and f64; narrow types lose most when they are stored.
ROUNDOFF = {"float64": (2.0**-53, 1024), "float32": (2.0**-24, 32), "float16": (2.0**-11, 6),
            "bfloat16": (2.0**-8, 6), "float8_e4m3fn": (2.0**-4, 4), "float8_e5m2": (2.0**-3, 4),
            "complex64": (2.0**-24, 32), "complex128": (2.0**-53, 1024),
            # Compared as f64.
            "float128": (2.0**-53, 1024), "complex256": (2.0**-53, 1024)}  # fmt: skip
FEW = 6
FLOOR = 4  # roundoffs of the typical result that may be lost, if the reference loses nothing
WITHOUT_F64 = 16  # times as many, where sums are not known exactly
TINY = 1e-300


def function_in(module: str, file: str, name: str) -> Any:
    """The object with this name in a module, or in a file that is no module."""
    if module != "__main__":
        found: Any = importlib.import_module(module)
    else:
        spec = importlib.util.spec_from_file_location("_judged_" + os.path.basename(file)[:-3], file)
        assert spec is not None and spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found
        spec.loader.exec_module(found)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def arrays_in(value: Any) -> list[Any]:
    """What a function returned, as a list; a dictionary in the order of its keys."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, (tuple, list)) else [value]


class Wrong(Exception):
    """The function did not do what it should; the text is for the verdict."""


class Server:
    """`arrays` is the library; None until the reference's inputs show which."""

    def __init__(self) -> None:
        self.inputs_memory = mmap.mmap(4, 0)
        self.results_memory = mmap.mmap(5, 0)
        self.arrays: Any = None
        self.function: Any = None
        self.inputs: Any = None
        self.names: list[str] = []  # of keyword arguments
        self.arguments: list[Any] = []
        self.before: list[Any] = []  # the arguments that were taken before
        self.kept: list[tuple[Any, Any]] = []  # results of the last call, with their copies
        self.expected: list[Any] = []  # of the reference: its own results
        self.exact: Optional[list[Any]] = None  # in f64
        self.limits: list[tuple[float, float]] = []
        self.sets: list[list[Any]] = []
        self.zeros = ""  # for a verdict on inputs with zeros of the judge's
        self.process, self.own, self.end = os.getpid, os.getpid(), os._exit

    def end_copies(self) -> None:
        """A copy that the function has made by fork() neither answers nor stores."""
        if self.process() != self.own:
            self.end(0)

    # Whatever is called.

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("library"):
            self.arrays = NumPy() if request["library"] == "numpy" else Torch(request["device"])
        sys.path[:] = request["path"]
        try:
            self.function = function_in(*request["function"])
            if request.get("inputs"):
                self.inputs = function_in(*request["inputs"])
        except BaseException as error:
            raise Wrong(f"cannot be imported: {told(error)}") from None
        if not callable(self.function):
            raise Wrong(f"{request['function'][2]} is no function")
        return {}

    def called(self, arguments: list[Any]) -> list[Any]:
        """The results, each checked to be an array."""
        if self.names:
            returned = self.function(**dict(zip(self.names, arguments)))
        else:
            returned = self.function(*arguments)
        results = arrays_in(returned)
        for each in results:
            if not self.arrays.is_array(each):
                raise Wrong(f"it returned {type(each).__name__}, which is no array of {self.arrays.name}")
        return results

    def copies(self, on: str = "arguments") -> list[Any]:
        return [self.arrays.clone(each) if self.arrays.is_array(each) else each
                for each in getattr(self, on)]  # fmt: skip

    def taken(self, arguments: list[Any]) -> list[Any]:
        return [each for each in arguments if self.arrays.is_array(each)]

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """The contents of a chain's calls: each has its own."""
        chance = random.Random(request["seed"])
        factors = [1 + APART * (2 * chance.random() - 1) for _ in range(request["calls"] + 1)]
        self.sets = []  # frees the last ones
        for factor in factors:
            self.sets.append(self.copies())
            for each in self.taken(self.sets[-1]):
                if self.arrays.is_float(each):
                    self.arrays.scale(each, factor)
        self.called(self.sets.pop())
        self.arrays.synchronize()
        return {}

    def chain(self, request: dict[str, Any]) -> dict[str, Any]:
        """Calls one after another. Elements of some results are read at once, on the caller's
        stream. One call's contents change just before it."""
        arrays, function, sets, names = self.arrays, self.function, self.sets, self.names
        late, looked_at = request["late"], set(request["looked_at"])
        places: Any = request["places"]
        if arrays.name == "torch":
            places = [arrays.places(each) for each in places]
        found = []
        for k, arguments in enumerate(sets):
            if k == late:
                for each in arguments:
                    if arrays.is_array(each) and arrays.is_float(each):
                        arrays.scale(each, request["factor"])
            returned = function(**dict(zip(names, arguments))) if names else function(*arguments)
            if k in looked_at:
                results = arrays_in(returned)
                if any(not arrays.is_array(each) for each in results):
                    raise Wrong("in a timed call it returned what is no array")
                results += self.taken(arguments)
                found += [arrays.sample(each, where) for each, where in zip(results, places)]
        arrays.synchronize()
        return {"samples": arrays.samples(found)}

    def repeat(self, request: dict[str, Any]) -> dict[str, Any]:
        """Calls on the same contents, for some seconds. The last result that differs is stored."""
        import time

        first = [self.arrays.clone(each) for each in self.called(self.copies())]
        start, calls, differing = time.monotonic(), 0, 0
        while calls < MOST_CALLS and time.monotonic() - start < request["seconds"]:
            arguments = self.copies()
            results = self.called(arguments)
            calls += 1
            if all(map(self.arrays.is_same, first, results)):
                continue
            differing += 1
            stored = self.stored(results + self.taken(arguments), self.results_memory)
        return {"calls": calls, "differing": differing, "results": stored if differing else []}

    def stored(self, arrays: list[Any], memory: mmap.mmap) -> list[dict[str, Any]]:
        self.end_copies()
        described, at = [], 0
        for each in arrays:
            what = self.arrays.describe(each) | {"at": at}
            at += (what["bytes"] + 4095) // 4096 * 4096
            if at > len(memory):
                raise Wrong(f"its arrays have more than {len(memory)} bytes")
            self.arrays.store(each, memory, what["at"])
            described.append(what)
        return described

    # What is judged or timed.

    def take(self, request: dict[str, Any]) -> dict[str, Any]:
        self.names, self.before = request["names"], self.arguments
        self.arguments = [self.arrays.load(self.inputs_memory, each["at"], each) if "at" in each
                          else each["value"] for each in request["arguments"]]  # fmt: skip
        return {}

    def ready(self, request: dict[str, Any]) -> dict[str, Any]:
        self.sets = [self.copies(request["on"])]
        self.arrays.synchronize()
        if request["forgets"]:  # other comparisons take the place of what a processor has learnt
            others = random.Random()
            sorted(others.random() for _ in range(FORGOTTEN_BY))
        return {}

    def once(self, request: dict[str, Any]) -> dict[str, Any]:
        self.called(self.sets.pop())
        self.arrays.synchronize()
        return {}

    def call(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call. Fresh memory is likely to be poison."""
        arguments = self.copies()
        self.arrays.poison([max(size, 1) for size in request["sizes"]], request["poison"])
        results = self.called(arguments)
        stored = self.stored(results + self.taken(arguments), self.results_memory)
        self.arrays.synchronize()
        is_same = all(self.arrays.is_same(now, then) for now, then in self.kept)
        self.kept = [(each, self.arrays.clone(each)) for each in results]
        return {"results": stored, "returned": len(results), "keeps_results": is_same}

    # What is right.

    def draw(self, request: dict[str, Any]) -> dict[str, Any]:
        """Inputs of a seed, and what is right for them."""
        random.seed(request["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(request["seed"] % 2**32)
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(request["seed"])
        drawn = self.inputs(**request["sizes"])
        self.names = list(drawn) if isinstance(drawn, dict) else []
        self.arguments = list(drawn.values()) if self.names else arrays_in(drawn)
        if self.arrays is None:
            self.arrays = self.library_of(self.arguments)
        for each in self.arguments:
            if not (self.arrays.is_array(each) or isinstance(each, (int, float, str, type(None)))):
                raise Wrong(f"inputs() returned {type(each).__name__}: give arrays, numbers, texts")
        arrays = self.taken(self.arguments)
        chance = random.Random(request["seed"])
        self.zeros = ""
        for each in filter(self.arrays.is_float, arrays if request["zeros"] else []):
            count = math.prod(each.shape)
            low = chance.randrange(max(count, 1))
            self.arrays.zero_part(each, low, min(count, low + count // 8 + 1))
            self.zeros = ", where the judge has set an eighth of each input to zeros"
        arguments = [self.arrays.describe(each) if self.arrays.is_array(each) else {"value": each}
                     for each in self.arguments]  # fmt: skip
        places = iter(self.stored(arrays, self.inputs_memory))
        arguments = [each if "value" in each else next(places) for each in arguments]
        if not request.get("expect", True):
            return {"arguments": arguments, "names": self.names}
        self.expect()
        outputs = [self.arrays.describe(each) for each in self.expected]
        return {"arguments": arguments, "names": self.names, "outputs": outputs,
                "is_exact": self.exact is not None, "is_finite": self.are_finite(),
                "has_zeros": self.zeros != "",
                "library": self.arrays.name, "device": self.arrays.device,
                "peak_rate": self.arrays.peak_rate(), "about": self.arrays.about()}  # fmt: skip

    @staticmethod
    def library_of(arguments: list[Any]) -> Any:
        for each in arguments:
            if type(each).__module__.startswith("torch"):
                return Torch(str(each.device))
        found = NumPy()
        if not any(found.is_array(each) for each in arguments):
            raise Wrong("inputs() returned no array of PyTorch or NumPy")
        return found

    def expect(self) -> None:
        """Outputs are what the function returns, then its arguments as it leaves them."""
        arguments = self.copies()
        self.expected = self.called(arguments) + self.taken(arguments)
        wide = [self.arrays.widened(each) if self.arrays.is_array(each) else each
                for each in self.arguments]  # fmt: skip
        try:
            exact = self.called(wide) + self.taken(wide)
        except Exception:
            exact = []
        is_wide = len(exact) == len(self.expected) and all(
            str(each.dtype).endswith(("float64", "complex128")) and each.shape == own.shape
            for each, own in zip(exact, self.expected) if self.arrays.is_float(own))  # fmt: skip
        self.exact = exact if is_wide else None

    def are_finite(self) -> bool:
        return all(self.arrays.first(~self.arrays.isfinite(self.arrays.real(each))) is None
                   for each in self.expected if self.arrays.is_float(each))  # fmt: skip

    def compare(self, request: dict[str, Any]) -> dict[str, Any]:
        """The candidate's results with what is right. Answers why they are wrong, if they are."""
        results, worst = request["results"], 0.0
        returned = len(self.expected) - len(self.taken(self.arguments))
        if request["returned"] != returned:
            return {"why": f"it returned {request['returned']} arrays, expected {returned}"}
        self.limits, note = [], ""
        for i, (what, own) in enumerate(zip(results, self.expected)):
            name = f"result {i}" if i < returned else f"argument {i - returned} after the call"
            right = self.arrays.describe(own)
            for key in ("type", "shape", "device"):
                if what.get(key) != right.get(key):
                    return {"why": f"{name} has the {key} {what.get(key)}, expected {right.get(key)}"}
            try:
                got = self.arrays.load(self.results_memory, what["at"], what)
            except Exception as error:  # it says what its process wants
                return {"why": f"{name} cannot be read: {told(error)}"}
            is_argument = i >= returned
            if i < returned and self.steps(what) != self.steps(right):
                note = (f"{name} lies in memory with strides of {what['strides']} elements, the "
                        f"reference's with {right['strides']}: who reads it may have to copy it")  # fmt: skip
            why, share = self.compared(i, got, own, is_argument)
            worst = max(worst, share)
            if why:
                return {"why": f"{name}{why}{self.zeros}"}
        return {"why": "", "worst_error": worst, "limits": self.limits, "note": note}

    @staticmethod
    def steps(what: dict[str, Any]) -> Any:
        """The strides of dimensions with several elements."""
        strides, shape = what.get("strides") or [], what["shape"]
        is_known = isinstance(strides, list) and len(strides) == len(shape) and math.prod(shape) > 0
        return [step for step, size in zip(strides, shape) if size > 1] if is_known else None

    def compared(self, i: int, got: Any, own: Any, is_argument: bool) -> tuple[str, float]:
        """Why it is wrong, and the error over what is allowed."""
        arrays = self.arrays
        before = self.taken(self.arguments)
        if is_argument:
            was = before[i - (len(self.expected) - len(before))]
            if arrays.is_same(was, own):  # the reference leaves it alone
                self.limits.append((0.0, 0.0))
                return ("" if arrays.is_same(got, was) else " was changed", 0.0)
        if not arrays.is_float(own):
            self.limits.append((0.0, 0.0))
            at = arrays.first(arrays.numbers(got) != arrays.numbers(own))
            return (self.at(at, got, own), 0.0) if at is not None else ("", 0.0)
        exact = arrays.real(self.exact[i] if self.exact else own)
        g, n = arrays.real(got), arrays.real(own)
        is_known = arrays.isfinite(exact)
        is_plain = arrays.isfinite(n) & is_known
        is_alike = (g == n) | (arrays.isnan(g) & arrays.isnan(n))
        at = arrays.first((is_plain & ~arrays.isfinite(g)) | ~(is_known | is_alike))
        if at is not None:
            return self.at(at, got, own), math.inf
        typical, _ = arrays.figures(exact[is_plain])
        roundoff, slack = ROUNDOFF.get(arrays.describe(own)["type"], (2.0**-3, 4))
        floor = FLOOR * (WITHOUT_F64 if slack > FEW and not self.exact else 1) * max(slack // 32, 1)
        slack, error, lost = min(slack, 32), abs(g - exact), abs(n - exact)
        beyond = (lost - roundoff * abs(exact))[is_plain]  # what rounding the result explains
        excess = float(beyond.max()) if len(beyond) else 0.0
        absolute = max(2 * slack * excess, floor * roundoff * typical)
        relative = 4 * floor * roundoff
        self.limits.append((absolute, relative))
        shares = (error / (absolute + relative * abs(exact) + TINY))[is_plain]
        share = float(shares.max()) if len(shares) else 0.0
        # Where only the reference itself has left the numbers of its type, it need not be followed.
        at = arrays.first(is_known & ~is_plain & ~is_alike & ~(error <= absolute + relative * abs(exact)))
        if at is not None:
            return self.at(at, got, own), math.inf
        if share > 1:
            at = arrays.first(is_plain & (error > absolute + relative * abs(exact) + TINY))
            return self.at(at or 0, got, own), share
        rms, own_rms = arrays.figures(error[is_plain])[0], arrays.figures(lost[is_plain])[0]
        allowed = max(slack * own_rms, floor * roundoff * typical)
        if rms > allowed:
            return (f" has errors of {rms:.3g} in the root mean square, the reference of "
                    f"{own_rms:.3g}: at most {allowed:.3g} is right", rms / allowed)  # fmt: skip
        return "", max(share, rms / (allowed + TINY))

    def at(self, place: int, got: Any, own: Any) -> str:
        g, n = (self.arrays.numbers(each)[place].item() for each in (got, own))
        figures = ".9g" if isinstance(n, float) else ""
        return f"[{place}] is {g:{figures}}, expected {n:{figures}}"


def told(error: BaseException) -> str:
    """An exception as a line, with its place."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}".split("\n")[0]


def serve(channel: int) -> None:
    read, write, pack, unpack = os.read, os.write, struct.pack, struct.unpack
    dumps, loads = json.dumps, json.loads
    end = os._exit

    def exactly(count: int) -> bytes:
        got = b""
        while len(got) < count:
            part = read(channel, count - len(got))
            if not part:
                end(0)
            got += part
        return got

    server = Server()
    while True:
        (length,) = unpack("=Q", exactly(8))
        request = loads(exactly(length))
        try:
            answer = getattr(server, request["do"])(request)
        except Wrong as wrong:
            answer = {"failed": str(wrong)}
        except BaseException as error:
            answer = {"failed": told(error)}
        server.end_copies()
        answer["number"] = request["number"]
        text = dumps(answer).encode()
        text = pack("=Q", len(text)) + text
        while text:
            text = text[write(channel, text) :]


if __name__ == "__main__":
    for each in sys.argv[1:]:
        importlib.import_module(each)
    serve(3)
