# SPDX-License-Identifier: Apache-2.0
"""What _judged.py does with the arrays of a library: NumPy's, or PyTorch's. What it needs of the library
is taken when an object is made."""

from __future__ import annotations

import importlib.metadata
import math
import mmap
import os
from typing import Any, Callable, Optional


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
