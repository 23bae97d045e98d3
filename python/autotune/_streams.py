# SPDX-License-Identifier: Apache-2.0
"""The stream of a launch, and the GPU, as the caller's libraries have them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ._arrays import is_torch
from ._errors import UsageError


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


def current_ordinal() -> int:
    """PyTorch's or CuPy's current GPU if one of them is in use; else 0."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return int(cupy.cuda.runtime.getDevice()) if cupy is not None else 0
