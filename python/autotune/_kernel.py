# SPDX-License-Identifier: Apache-2.0
"""One configuration, compiled for the device, and its launch on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from ._arrays import HOST, SOME_GPU, View, view
from ._errors import ClosedError, NoDeviceError, UsageError
from ._library import check, ffi, library, text
from ._streams import current_stream, stream_address, wait_for

if TYPE_CHECKING:
    from ._target import Target

USES = ("read", "written", "read and written", "not used")
ENGINES = ("tuned kernel", "vendor library", "vendor missing")


@dataclass(frozen=True)
class Buffer:
    """An array that launch() takes: contiguous, of `length` elements."""

    name: str
    type: str  # of its elements, as in manifests: f32, u8
    length: int
    use: str  # of USES


@dataclass(frozen=True)
class Geometry:
    """A launch of the kernel, for programs that load `binary` themselves."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_bytes: int


class Kernel:
    """What Target.prepare() returns. Close it before its target, or use it in a `with` statement. A
    kernel with `workspace_bytes`, or with a vendor's library, must not run twice at a time."""

    def __init__(self, name: str, kernel: Any, target: Target) -> None:
        c = library()
        self.name = name
        self._kernel = kernel
        self._target = target  # open as long as this
        self._place = target.place
        #: The arrays that launch() takes, in order.
        self.buffers = tuple(self._buffer(i) for i in range(c.autotune_kernel_buffers(kernel)))
        #: The target's scalars, such as alpha, with the values that the kernel was tuned with.
        self.scalars = self._read_scalars()
        #: The configuration that was finally compiled: `BM=64 BN=64`.
        self.configuration = text(c.autotune_kernel_configuration(kernel))
        #: Bytes of device memory that it holds itself.
        self.workspace_bytes = int(c.autotune_kernel_workspace(kernel))

    def __repr__(self) -> str:
        arrays = ", ".join(f"{buffer.name}: {buffer.type}" for buffer in self.buffers)
        return f"<autotune.Kernel {self.name} ({arrays})>"

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_kernel", None) is not None:
            self.close()

    def close(self) -> None:
        """Frees the code and the workspace; not while it runs, nor while a CUDA graph holds it."""
        if self._kernel is not None:
            library().autotune_release(self._kernel)
        self._kernel = None

    @property
    def engine(self) -> tuple[str, str]:
        """What launch() runs, one of ENGINES; and the library's name, or why it is missing."""
        reason = ffi.new("char const **")
        engine = library().autotune_kernel_engine(self._open(), reason)
        return ENGINES[engine], text(reason[0])

    @property
    def earns(self) -> bool:
        """Whether launches time the kernel and the vendor's library; see `earn` of open()."""
        return bool(library().autotune_kernel_earns(self._open()))

    @property
    def binary(self) -> bytes:
        """The compiled code: a cubin; on the host, a shared object."""
        size = ffi.new("size_t *")
        data = library().autotune_kernel_binary(self._open(), size)
        return bytes(ffi.buffer(data, size[0]))

    @property
    def geometry(self) -> list[Geometry]:
        """The launches of `binary`, in order."""
        c, kernel, all_of_them = library(), self._open(), []
        for index in range(c.autotune_kernel_launches(kernel)):
            one = ffi.new("autotune_geometry *")
            one.size = ffi.sizeof("autotune_geometry")
            check(c.autotune_kernel_geometry(kernel, index, one))
            grid, block, cluster = tuple(one.grid), tuple(one.block), tuple(one.cluster)
            shared = int(one.dynamic_shared_bytes)
            all_of_them.append(Geometry(text(one.entry), grid, block, cluster, shared))
        return all_of_them

    def launch(self, *arrays: Any, stream: Any = None, **scalars: float) -> None:
        """Launches it on one array for each of `buffers`, without waiting for a GPU to finish.

        Arrays are contiguous, of the buffer's type and number of elements, in any shape; see
        autotune/_arrays.py for the kinds. None stands for an array that is not used, or for one of
        a single element that the settings make unused, such as C of gemm without scale="beta".
        `stream` is one of PyTorch or CuPy, or a cudaStream_t as int; without, the current one. It
        waits for the streams that `__cuda_array_interface__` and DLPack name.
        `scalars` replace those that the kernel was tuned with: alpha=2.0.

        Raises UsageError for arrays or scalars that do not fit, NoDeviceError if the device is not
        here.
        """
        self._open()
        place = self._place
        if place < HOST:
            raise NoDeviceError(
                f"{self.name}: {self._target.device} is not here: kernels can be prepared for it, "
                'not launched; autotune.open(…, device="host") is for this computer\'s processor'
            )
        if len(arrays) != len(self.buffers):
            names = ", ".join(buffer.name for buffer in self.buffers)
            raise UsageError(f"{self.name} takes {len(self.buffers)} arrays ({names}), "
                             f"not {len(arrays)}")  # fmt: skip
        where = 0
        if place >= 0:
            where = current_stream(arrays, place) if stream is None else stream_address(stream)
        views = [self._view(i, array, where) for i, array in enumerate(arrays)]
        if place >= 0:
            wait_for({seen.stream for _, seen in views if seen and seen.stream}, where, place)
        self.launch_at([address for address, _ in views], where, **scalars)

    def launch_at(self, addresses: Sequence[int], stream: int = 0, **scalars: float) -> None:
        """launch() on addresses of memory, which nothing checks, and a cudaStream_t."""
        c, pointer = library(), ffi.cast("void *", stream)
        buffers = ffi.new("void *[]", [ffi.cast("void *", address) for address in addresses])
        if not scalars:
            check(c.autotune_launch(self._open(), buffers, len(buffers), pointer))
            return
        values = ffi.new("double[]", self._scalar_values(scalars))
        count = len(values)
        check(c.autotune_launch_with(self._open(), buffers, len(buffers), values, count, pointer))

    __call__ = launch

    def hold_constant(self, name: Optional[str]) -> None:
        """Promises that the contents of a buffer, such as "B", do not change, so that later launches
        leave out what depends on it alone. None takes the promise back."""
        held = ffi.NULL if name is None else ffi.new("char[]", name.encode())
        check(library().autotune_hold_constant(self._open(), held))

    def invalidate(self) -> None:
        """Call it when the constant buffer has changed: the next launch does all of its work."""
        check(library().autotune_invalidate(self._open()))

    def _view(self, index: int, array: Any, stream: int) -> tuple[int, Optional[View]]:
        """The address, and the object that keeps it valid."""
        buffer = self.buffers[index]
        if array is None:
            if buffer.use == "not used" or (buffer.use == "read" and buffer.length == 1):
                return 0, None
            raise UsageError(f"{self.name}: {buffer.name} is {buffer.use} and cannot be None")
        try:
            seen = view(array, stream)
        except UsageError as error:
            raise UsageError(f"{self.name}: {buffer.name}: {error}") from None
        problem = self._problem(buffer, seen)
        if problem:
            raise UsageError(f"{self.name}: {buffer.name} {problem}")
        return seen.address, seen

    def _problem(self, buffer: Buffer, seen: View) -> str:
        """Why the array cannot be this buffer; empty if it can."""
        if (seen.device == HOST) != (self._place == HOST):
            there = "host memory" if seen.device == HOST else "a GPU's memory"
            return f"is in {there}, and the kernel runs on {self._target.device}: copy it there"
        if seen.device not in (HOST, SOME_GPU, self._place):
            return (f"is on GPU {seen.device}, and the kernel runs on GPU {self._place}: copy it "
                    "there, or open the target with ordinal=")  # fmt: skip
        is_code = seen.type == "u8" and buffer.type in ("e4m3", "e5m2")  # NumPy has only codes
        if seen.type != buffer.type and not is_code:
            return (f"has elements of {seen.type}, not {buffer.type}: convert it, or open the "
                    "target with another dtype=")  # fmt: skip
        if seen.length != buffer.length:
            return (f"has {seen.length} elements, not {buffer.length}: prepare the kernel for the "
                    "sizes of the arrays")  # fmt: skip
        if not seen.contiguous:
            return "is not contiguous in row-major order: pass a contiguous copy"
        if seen.read_only and buffer.use != "read":
            return f"is read-only, and the kernel writes it ({buffer.use})"
        return ""

    def _scalar_values(self, given: dict[str, float]) -> list[float]:
        for name, value in given.items():
            if not hasattr(value, "__float__"):
                given_as = f"{self.name}: the scalar {name}={value!r}"
                raise UsageError(f"{given_as} is not a number")
            if name not in self.scalars:
                known = ", ".join(self.scalars) or "none"
                raise UsageError(f"{self.name} has no scalar {name}; its scalars: {known}")
        return [float(given.get(name, value)) for name, value in self.scalars.items()]

    def _buffer(self, index: int) -> Buffer:
        one = ffi.new("autotune_buffer *")
        one.size = ffi.sizeof("autotune_buffer")
        check(library().autotune_describe_buffer(self._kernel, index, one))
        return Buffer(text(one.name), text(one.type), int(one.length), USES[one.use])

    def _read_scalars(self) -> dict[str, float]:
        c, value, scalars = library(), ffi.new("double *"), {}
        for index in range(c.autotune_kernel_scalars(self._kernel)):
            name = text(c.autotune_kernel_scalar(self._kernel, index, value))
            scalars[name] = float(value[0])
        return scalars

    def _open(self) -> Any:
        if self._kernel is None:
            raise ClosedError(f"{self.name} is closed: prepare it again")
        return self._kernel
