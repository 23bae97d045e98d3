# SPDX-License-Identifier: Apache-2.0
"""Tuned CUDA kernels from Python.

    import autotune
    with autotune.open("gemm") as gemm:
        kernel = gemm.prepare(512, 512, 512)
        kernel.launch(a, b, None, d)           # arrays of PyTorch, CuPy, JAX, Numba, NumPy …

    autotune.tune("gemm", "128..1024")         # measures, and stores what is fastest
    autotune.query("gemm", 512)                # what is known
    autotune.judge("fast.cu", "plain.cu")      # is a kernel right, and is it faster?

`python -m autotune` is the command-line tool. autotune.torch has operators for PyTorch. Sizes are
elements, times seconds or, in names with _ns, nanoseconds. Errors are subclasses of autotune.Error.
docs/python.md has more."""

from ._errors import ClosedError, Error, NoDeviceError, NotFoundError, UsageError
from ._kernel import Buffer, Geometry, Kernel
from ._library import prefix
from ._progress import Progress
from ._target import Answer, Target, open
from ._tool import Judgement, Result, TuningReport, judge, query, tune

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Buffer",
    "ClosedError",
    "Error",
    "Geometry",
    "Judgement",
    "Kernel",
    "NoDeviceError",
    "NotFoundError",
    "Progress",
    "Result",
    "Target",
    "TuningReport",
    "UsageError",
    "judge",
    "open",
    "prefix",
    "query",
    "tune",
]
