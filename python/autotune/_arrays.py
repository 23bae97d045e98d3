# SPDX-License-Identifier: Apache-2.0
"""The memory of any library's arrays: address, device, type, length and layout."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional

from . import _dlpack
from ._errors import UsageError
from ._library import ffi

HOST = -1
SOME_GPU = -2  # of an interface that does not say which

# Type strings of NumPy's interfaces, and formats of the buffer protocol; little endian.
_TYPES = {"<f2": "f16", "<f4": "f32", "<f8": "f64",
          "|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64",
          "|u1": "u8", "<u2": "u16", "<u4": "u32", "<u8": "u64"}  # fmt: skip
_FORMATS = {"e": "f", "f": "f", "d": "f", "b": "i", "h": "i", "i": "i", "l": "i", "q": "i",
            "B": "u", "H": "u", "I": "u", "L": "u", "Q": "u"}  # fmt: skip


@dataclass(frozen=True)
class View:
    """An array, as it is passed to a kernel."""

    address: int
    type: str  # of its elements, as in manifests: f32, u8; others as their library says
    length: int  # elements
    contiguous: bool  # in row-major order, without gaps
    device: int  # the GPU's ordinal, HOST or SOME_GPU
    read_only: bool = False
    owner: Any = None  # keeps what was made for this view
    stream: Optional[int] = None  # a cudaStream_t with work that the array waits for


def is_torch(array: object) -> bool:
    """Whether it is a tensor of PyTorch. Does not import PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, getattr(torch, "Tensor", ()))


def view(array: Any, stream: int = 0) -> View:
    """The memory of an array: a tensor of PyTorch, or anything with `__cuda_array_interface__`,
    `__array_interface__`, DLPack or the buffer protocol. DLPack's producer makes it ready for use
    on `stream`. Raises UsageError for anything else."""
    if is_torch(array):
        return _of_torch(array)
    # A property that raises, as some libraries' does, is not absent.
    for name, device in (("__cuda_array_interface__", SOME_GPU), ("__array_interface__", HOST)):
        interface = getattr(array, name, None)
        if interface is not None:
            return _of_interface(interface, device)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(array, stream)
    try:
        return _of_buffer(memoryview(array))
    except TypeError:
        raise UsageError(
            f"a {type(array).__name__} is not an array: it has neither __cuda_array_interface__, "
            "__array_interface__, DLPack nor the buffer protocol"
        ) from None


def _of_torch(tensor: Any) -> View:
    kind = tensor.device.type
    if kind not in ("cpu", "cuda"):
        raise UsageError(f"a tensor on {kind}: move it to cuda or cpu")
    known = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64",
             "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16",
             "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
             "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}  # fmt: skip
    name = str(tensor.dtype).replace("torch.", "")
    device = HOST if kind == "cpu" else (tensor.device.index or 0)
    return View(tensor.data_ptr(), known.get(name, name), tensor.numel(), tensor.is_contiguous(),
                device)  # fmt: skip


def _product(shape: tuple[int, ...]) -> int:
    length = 1
    for side in shape:
        length *= side
    return length


def _is_contiguous(shape: tuple[int, ...], strides: Optional[tuple[int, ...]], step: int) -> bool:
    """`strides` in the unit of `step`, the distance of neighbours."""
    if strides is None or _product(shape) == 0:
        return True
    for side, stride in zip(reversed(shape), reversed(strides)):
        if side != 1 and stride != step:
            return False
        step *= side
    return True


def _of_interface(interface: dict[str, Any], device: int) -> View:
    address, read_only = interface["data"]
    shape, strides, kind = tuple(interface["shape"]), interface.get("strides"), interface["typestr"]
    contiguous = _is_contiguous(shape, strides, int(kind[2:]))
    return View(int(address or 0), _TYPES.get(kind, kind), _product(shape), contiguous, device,
                bool(read_only), stream=interface.get("stream"))  # fmt: skip


def _of_dlpack(array: Any, stream: int) -> View:
    device = array.__dlpack_device__()[0]
    # 1 is CUDA's default stream there; 0 is not allowed.
    capsule = array.__dlpack__() if device == _dlpack.CPU else array.__dlpack__(stream=stream or 1)
    tensor = _dlpack.tensor_of(capsule)
    if tensor.device not in (_dlpack.CPU, _dlpack.CUDA, _dlpack.CUDA_MANAGED):
        raise UsageError(
            f"an array on device type {tensor.device} of DLPack: move it to CUDA or CPU"
        )
    place = HOST if tensor.device == _dlpack.CPU else tensor.ordinal
    contiguous = _is_contiguous(tensor.shape, tensor.strides, 1)
    return View(tensor.address, tensor.type, _product(tensor.shape), contiguous, place,
                tensor.read_only, capsule)  # fmt: skip


def _of_buffer(memory: memoryview) -> View:
    kind = _FORMATS.get(memory.format.lstrip("@=<"), "")
    order = "|" if memory.itemsize == 1 else "<"
    name = _TYPES.get(f"{order}{kind}{memory.itemsize}", f"format {memory.format}")
    contiguous = memory.c_contiguous
    start = ffi.from_buffer(memory) if contiguous else ffi.NULL
    address = int(ffi.cast("uintptr_t", start))
    length = memory.nbytes // memory.itemsize
    return View(address, name, length, contiguous, HOST, memory.readonly, start)
