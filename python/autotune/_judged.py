# SPDX-License-Identifier: Apache-2.0
"""The process in which judge() calls a function of PyTorch or NumPy. _judge_case.py starts three by this
path: one knows what is right, the others call the candidate, and the reference for its time. They
answer requests over descriptor 3. Arrays travel in shared memory: inputs in descriptor 4, results in
descriptor 5. A module named on the command line is imported at once.

What it needs of a library is taken before the function's file is imported, so that a file that
replaces functions of the library changes nothing here."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import math
import mmap
import os
import random
import struct
import sys
import traceback
from typing import Any, Callable, Optional

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


class NumPy:
    """NumPy's part of the work; Torch has the same."""

    name = "numpy"

    def __init__(self) -> None:
        import numpy

        self.version = str(numpy.__version__)
        self.device = "cpu"
        self._copyto, self._empty, self._frombuffer = numpy.copyto, numpy.empty, numpy.frombuffer
        self._dtype, self._kinds = numpy.dtype, (numpy.ndarray, numpy.generic)
        self._finite: Any = numpy.isfinite
        self._nan: Any = numpy.isnan

    def is_array(self, value: Any) -> bool:
        """No other class of arrays: it might compute later."""
        return type(value) is self._kinds[0] or isinstance(value, self._kinds[1])

    def describe(self, array: Any) -> dict[str, Any]:
        return {"type": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes,
                "strides": [each // max(array.itemsize, 1) for each in array.strides]}  # fmt: skip

    def store(self, array: Any, arena: mmap.mmap, at: int) -> None:
        if array.nbytes:
            target = self._frombuffer(arena, array.dtype, array.size, at)
            self._copyto(target.reshape(array.shape), array)

    def load(self, arena: mmap.mmap, at: int, what: dict[str, Any]) -> Any:
        made = self._empty(what["shape"], self._dtype(what["type"]))
        if made.nbytes:
            stored = self._frombuffer(arena, made.dtype, made.size, at)
            self._copyto(made, stored.reshape(made.shape))
        return made

    def is_float(self, array: Any) -> bool:
        return bool(array.dtype.kind in "fc")

    def clone(self, array: Any) -> Any:
        made = self._empty(array.shape, array.dtype)
        self._copyto(made, array)
        return made

    def scale(self, array: Any, factor: float) -> None:
        array *= array.dtype.type(factor)

    def widened(self, array: Any) -> Any:
        if not self.is_float(array):
            return self.clone(array)
        return array.astype("complex128" if array.dtype.kind == "c" else "float64")

    def real(self, array: Any) -> Any:
        """As float64; a complex number is two."""
        wide = self.widened(array).reshape(-1)
        return wide.view("float64") if wide.dtype.kind == "c" else wide.astype("float64")

    def zero_part(self, array: Any, low: int, high: int) -> None:
        array.reshape(-1)[low:high] = 0

    def sample(self, array: Any, places: list[int]) -> Any:
        return array.reshape(-1)[places]

    def numbers(self, array: Any) -> Any:
        """As a list of them can be compared: integers as they are, others as float64."""
        return self.real(array) if self.is_float(array) else array.reshape(-1)

    def samples(self, parts: list[Any]) -> list[list[float]]:
        return [self.numbers(part).tolist() for part in parts]

    def is_same(self, one: Any, other: Any) -> bool:
        return bool(one.tobytes() == other.tobytes())

    def poison(self, sizes: list[int], byte: int) -> None:
        held = [self._empty(size, "uint8") for size in sizes for _ in range(3)]
        for each in held:
            each[...] = byte

    def synchronize(self) -> None:
        pass

    def figures(self, values: Any) -> tuple[float, float]:
        """The root mean square and the maximum of absolute values."""
        if values.size == 0:
            return 0.0, 0.0
        return math.sqrt(float((values * values).mean())), float(abs(values).max())

    def isfinite(self, values: Any) -> Any:
        return self._finite(values)

    def isnan(self, values: Any) -> Any:
        return self._nan(values)

    def first(self, mask: Any) -> Optional[int]:
        """The index of the first true element."""
        return int(mask.argmax()) if mask.size and bool(mask.any()) else None

    def about(self) -> dict[str, Any]:
        return {"library": f"numpy {self.version}", "device": "cpu"}

    def peak_rate(self) -> float:
        """Bytes a second that no device writes."""
        return 1e12 * (os.cpu_count() or 1)


class Torch(NumPy):
    """PyTorch. Methods are those of the C++ class, which a file cannot replace."""

    name = "torch"

    def __init__(self, device: str = "cpu") -> None:
        import torch

        self.torch = torch
        self.version = str(torch.__version__)
        self.device = device
        self._base = getattr(torch._C, "TensorBase", None) or torch._C._TensorBase
        self._tensor, self._parameter = torch.Tensor, torch.nn.Parameter
        self._torch_empty, self._from, self._uint8 = torch.empty, torch.frombuffer, torch.uint8
        self._double, self._complex = torch.float64, torch.complex128
        self._view_as_real = torch.view_as_real
        self._finite, self._nan = torch.isfinite, torch.isnan
        self._sync: Callable[[], None] = lambda: None
        self._torch_tensor, self._int64, self._cat = torch.tensor, torch.int64, torch.cat
        if device.startswith("cuda"):
            torch.cuda.set_device(device)
            torch.cuda.init()
            self._sync = torch._C._cuda_synchronize

    def is_array(self, value: Any) -> bool:
        return type(value) in (self._tensor, self._parameter)

    def _flat(self, array: Any) -> Any:
        """The elements as they lie in memory."""
        array = self._base.detach(array)
        if self._is_dense(array):
            return self._base.as_strided(array, (array.numel(),), (1,), array.storage_offset())
        return self._base.reshape(self._base.contiguous(array), (-1,))

    @staticmethod
    def _is_dense(array: Any) -> bool:
        expected = 1
        for stride, size in sorted(zip(array.stride(), array.shape)):
            if size == 1:
                continue
            if stride != expected:
                return False
            expected *= size
        return True

    def _bytes(self, array: Any) -> Any:
        return self._base.view(self._flat(array), self._uint8)

    def describe(self, array: Any) -> dict[str, Any]:
        dense = self._is_dense(array)
        return {"type": str(array.dtype).replace("torch.", ""), "shape": list(array.shape),
                "strides": list(array.stride()) if dense else None,
                "bytes": array.numel() * array.element_size(), "device": str(array.device)}  # fmt: skip

    def store(self, array: Any, arena: mmap.mmap, at: int) -> None:
        count = array.numel() * array.element_size()
        if count:
            target = self._from(arena, dtype=self._uint8, count=count, offset=at)
            self._base.copy_(target, self._bytes(array))

    def load(self, arena: mmap.mmap, at: int, what: dict[str, Any]) -> Any:
        kind = getattr(self.torch, what["type"])
        made = self._torch_empty(math.prod(what["shape"]), dtype=kind, device=what["device"])
        if what["bytes"]:
            source = self._from(arena, dtype=self._uint8, count=what["bytes"], offset=at)
            self._base.copy_(self._base.view(made, self._uint8), source)
        if what["strides"] is None:
            return self._base.reshape(made, what["shape"])
        return self._base.as_strided(made, what["shape"], what["strides"])

    def is_float(self, array: Any) -> bool:
        return bool(array.dtype.is_floating_point or array.dtype.is_complex)

    def clone(self, array: Any) -> Any:
        return self._base.clone(self._base.detach(array))

    def scale(self, array: Any, factor: float) -> None:
        if array.element_size() > 1:  # types of 8 bits have no arithmetic
            self._base.mul_(array, factor)

    def widened(self, array: Any) -> Any:
        array = self._base.detach(array)
        if not self.is_float(array):
            return self.clone(array)
        wide = self._complex if array.dtype.is_complex else self._double
        return self.clone(array) if array.dtype == wide else self._base.to(array, wide)

    def real(self, array: Any) -> Any:
        wide = self._base.reshape(self.widened(array), (-1,))
        if wide.dtype.is_complex:
            wide = self._base.reshape(self._view_as_real(wide), (-1,))
        return self._base.to(wide, self._double)

    def zero_part(self, array: Any, low: int, high: int) -> None:
        if array.element_size() > 1:
            self._base.zero_(self._flat(array)[low:high])

    def sample(self, array: Any, places: Any) -> Any:
        flat = self._base.reshape(self._base.detach(array), (-1,))
        return self._base.index_select(flat, 0, self._base.to(places, array.device))

    def places(self, places: list[int]) -> Any:
        return self._torch_tensor(places, dtype=self._int64, device=self.device)

    def samples(self, parts: list[Any]) -> list[list[float]]:
        """Floating numbers in one transfer."""
        wide = [self.numbers(part) for part in parts]
        floats = [part for part in wide if part.dtype == self._double]
        values = iter(self._cat(floats).tolist() if floats else [])
        return [[next(values) for _ in range(len(part))] if part.dtype == self._double
                else part.tolist() for part in wide]  # fmt: skip

    def is_same(self, one: Any, other: Any) -> bool:
        return bool(self._base.equal(self._bytes(one), self._bytes(other)))

    def poison(self, sizes: list[int], byte: int) -> None:
        held = [self._torch_empty(size, dtype=self._uint8, device=self.device)
                for size in sizes for _ in range(3)]  # fmt: skip
        for each in held:
            self._base.fill_(each, byte)

    def synchronize(self) -> None:
        self._sync()

    def figures(self, values: Any) -> tuple[float, float]:
        if values.numel() == 0:
            return 0.0, 0.0
        return math.sqrt(float((values * values).mean())), float(values.abs().max())

    def first(self, mask: Any) -> Optional[int]:
        return int(mask.int().argmax()) if mask.numel() and bool(mask.any()) else None

    def about(self) -> dict[str, Any]:
        found: dict[str, Any] = {"library": f"torch {self.version}", "device": self.device}
        if self.device.startswith("cuda"):
            properties = self.torch.cuda.get_device_properties(self.device)
            found |= {"device": properties.name, "uuid": str(getattr(properties, "uuid", "")),
                      "cuda": self.torch.version.cuda}  # fmt: skip
        try:
            found["triton"] = importlib.metadata.version("triton")
        except importlib.metadata.PackageNotFoundError:
            pass
        return found

    def peak_rate(self) -> float:
        if not self.device.startswith("cuda"):
            return super().peak_rate()
        properties = self.torch.cuda.get_device_properties(self.device)
        return float(properties.multi_processor_count * 128 * 3e9)


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
