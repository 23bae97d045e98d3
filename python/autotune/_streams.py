# SPDX-License-Identifier: Apache-2.0
"""The stream of a launch, and the GPU, as the caller's libraries have them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._arrays import is_torch
from ._errors import Error, UsageError

_LEGACY = 1  # the driver's handle of the default stream, which is 0 too
_NO_TIMING = 2


def current_stream(arrays: Sequence[Any], ordinal: int) -> int:
    """The current stream of PyTorch or CuPy: of the library that has the arrays, else of the one
    that is loaded; else the default stream."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if cupy is not None and any(isinstance(array, cupy.ndarray) for array in arrays):
        return int(cupy.cuda.get_current_stream().ptr)
    if torch is not None and (any(map(is_torch, arrays)) or torch.cuda.is_initialized()):
        return int(torch.cuda.current_stream(ordinal).cuda_stream)
    return int(cupy.cuda.get_current_stream().ptr) if cupy is not None else 0


def stream_address(stream: Any) -> int:
    """Of a stream of PyTorch, CuPy, anything with `__cuda_stream__`, or a cudaStream_t as int."""
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise UsageError(
        f"a {type(stream).__name__} is not a stream: give one of PyTorch or CuPy, or a "
        "cudaStream_t as an integer"
    )


class _Driver:
    """Calls of the driver's C API. Raises Error where one fails."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Error(f"arrays of a GPU, and no driver of it: {error}") from None

    def __call__(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise Error(f"waiting for the stream of an array: {name} failed with status {status}")


def wait_for(producers: Iterable[int], stream: int, ordinal: int) -> None:
    """Makes what follows on `stream`, of this GPU, wait for what the producers' streams have been
    given. They are cudaStream_t; of those, 1 is the default stream. Does nothing while `stream` is
    captured into a graph: a graph cannot wait for work that is not in it. Raises Error."""
    others = {each for each in producers if each != (stream or _LEGACY)}
    if not others:
        return
    driver, device, context = _Driver(), ctypes.c_int(), ctypes.c_void_p()
    consumer = ctypes.c_void_p(stream or _LEGACY)
    driver("cuDeviceGet", ctypes.byref(device), ordinal)
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        driver("cuCtxPushCurrent_v2", context)
        try:
            captured = ctypes.c_int()
            driver("cuStreamIsCapturing", consumer, ctypes.byref(captured))
            for each in sorted(others) if captured.value == 0 else []:
                _wait_for_one(driver, ctypes.c_void_p(each), consumer)
        finally:
            driver("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    finally:
        driver("cuDevicePrimaryCtxRelease_v2", device)


def _wait_for_one(driver: _Driver, producer: ctypes.c_void_p, consumer: ctypes.c_void_p) -> None:
    event = ctypes.c_void_p()
    driver("cuEventCreate", ctypes.byref(event), _NO_TIMING)
    try:
        driver("cuEventRecord", event, producer)
        driver("cuStreamWaitEvent", consumer, event, 0)
    finally:
        driver("cuEventDestroy_v2", event)  # once it has happened


def current_ordinal() -> int:
    """PyTorch's or CuPy's current GPU if one of them is in use; else 0."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return int(cupy.cuda.runtime.getDevice()) if cupy is not None else 0
