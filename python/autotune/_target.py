# SPDX-License-Identifier: Apache-2.0
"""One target with fixed settings on one device: lookups, and kernels."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Optional, Union

from ._errors import ClosedError, UsageError
from ._kernel import Kernel
from ._library import check, ffi, library, text
from ._streams import current_ordinal

Setting = Union[str, int]
ORIGINS = ("exact", "transferred", "same architecture", "default")
DEFAULT_SIZE = -1  # AUTOTUNE_DEFAULT_SIZE
VALIDITIES = ("valid", "environment drifted", "source drifted", "alike settings")


@dataclass(frozen=True)
class Answer:
    """The configuration for some sizes, and how it was found. Times are nanoseconds per call; None:
    unknown."""

    configuration: dict[str, Setting]
    origin: str  # of ORIGINS: found for these sizes, from near ones, on a GPU like it, or nothing
    validity: str  # of VALIDITIES
    provenance: str  # pinned, measured, imported, predicted; empty for a default
    median_ns: Optional[float]
    default_ns: Optional[float]  # of the default configuration
    factor: float  # distance of the near sizes: 2 if each is off by two; 1 if exact
    baseline: str  # a vendor's library that is faster, which launch() then calls; else empty
    baseline_ns: Optional[float]
    target: str = ""  # whose configuration it is: that of the target that was opened
    #: Of the configuration at these very sizes: measured if exact, else expected.
    expected_ns: Optional[float] = None


def values_of(words: str) -> dict[str, Setting]:
    """`BM=64 KERNEL=fast` as a dictionary; what reads as an integer is one."""
    pairs = (word.split("=", 1) for word in words.split())
    return {name: int(value) if value.lstrip("-").isdigit() else value for name, value in pairs}


def words_of(values: Mapping[str, Any]) -> str:
    """The reverse of values_of()."""
    return " ".join(f"{name}={value}" for name, value in values.items())


class Target:
    """What autotune.open() returns. Thread-safe. Close it, or use it in a `with` statement."""

    def __init__(self, name: str, handle: Any) -> None:
        c = library()
        self.name = name
        self._handle = handle
        self._kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        #: The device's name.
        self.device = text(c.autotune_device(handle))
        #: The ordinal of the GPU that kernels are launched on; -1: this computer's processor;
        #: -2: the device is not here.
        self.place = int(c.autotune_place(handle))
        #: The names of the sizes, in the order in which methods take them; free sizes come last.
        self.sizes = tuple(
            text(c.autotune_size_name(handle, i)) for i in range(c.autotune_all_sizes(handle))
        )
        #: How many of them must be given; those after them have a default.
        self._needed_sizes = int(c.autotune_sizes(handle))

    def __repr__(self) -> str:
        return f"<autotune.Target {self.name} on {self.device}>"

    def __enter__(self) -> Target:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def close(self) -> None:
        """Closes its kernels, too. Later uses raise ClosedError; closing again does nothing."""
        for kernel in list(self._kernels):
            kernel.close()
        if self._handle is not None:
            library().autotune_close(self._handle)
        self._handle = None

    @property
    def warnings(self) -> list[str]:
        """Problems with the databases when they were last read, one sentence each."""
        return text(library().autotune_warnings(self._open())).splitlines()

    def lookup(self, *sizes: int, **named: int) -> Answer:
        """The configuration for sizes in the target's order, or by name: `lookup(512, 512, 64)`,
        `lookup(M=512, N=512, K=64)`. Sizes with a default may be left out, or be -1, as in
        `lookup(M=512, N=512, K=64, lda=72)`. Raises UsageError for wrong sizes, NotFoundError if
        no configuration is valid for them."""
        answer = ffi.new("autotune_answer *")
        answer.size = ffi.sizeof("autotune_answer")
        values = self._values(sizes, named)
        check(library().autotune_lookup(self._open(), values, len(values), answer))
        return Answer(
            values_of(text(answer.configuration)),
            ORIGINS[answer.origin],
            VALIDITIES[answer.validity],
            text(answer.provenance),
            answer.median_ns or None,
            answer.default_ns or None,
            answer.factor,
            text(answer.baseline),
            answer.baseline_ns or None,
            text(answer.target),
            answer.expected_ns or None,
        )

    def is_faster(self, sizes: Sequence[int], other: Target, other_sizes: Sequence[int]) -> bool:
        """Whether the answer of lookup() is to be preferred to that of another target or of other
        settings that compute the same: it was measured to be faster, or is clearly expected to."""
        own, others = self._values(tuple(sizes), {}), other._values(tuple(other_sizes), {})
        faster = ffi.new("int32_t *")
        status = library().autotune_is_faster(
            self._open(), own, len(own), other._open(), others, len(others), faster
        )
        check(status)
        return bool(faster[0])

    def explain(self, *sizes: int, **named: int) -> str:
        """lookup() as sentences."""
        values, characters = self._values(sizes, named), ffi.new("char[]", 8192)
        check(library().autotune_explain(self._open(), values, len(values), characters, 8192))
        return text(characters)

    def prepare(self, *sizes: int, **named: int) -> Kernel:
        """Compiles the configuration for these sizes, or takes it from the cache of compiled
        kernels. Raises NoDeviceError if nothing can be compiled for the device."""
        kernel, values = ffi.new("autotune_kernel **"), self._values(sizes, named)
        check(library().autotune_prepare(self._open(), values, len(values), kernel))
        shown = ", ".join(f"{n}={v}" for n, v in zip(self.sizes, values))
        made = Kernel(f"{self.name} {shown}", kernel[0], self)
        self._kernels.add(made)
        return made

    def pin(self, sizes: Sequence[int], configuration: Union[str, Mapping[str, Any], None]) -> None:
        """Makes a configuration the answer for these sizes until refresh(); None removes it. Raises
        NotFoundError if it is not valid for them."""
        values = self._values(tuple(sizes), {})
        words = words_of(configuration) if isinstance(configuration, Mapping) else configuration
        pinned = ffi.NULL if words is None else ffi.new("char[]", words.encode())
        check(library().autotune_pin(self._open(), values, len(values), pinned))

    def refresh(self) -> None:
        """Reads the databases again. If one cannot be read, its answers stay, and Error says why."""
        check(library().autotune_refresh(self._open()))

    def _open(self) -> Any:
        if self._handle is None:
            raise ClosedError(f"{self.name} is closed: open it again with autotune.open()")
        return self._handle

    def _values(self, sizes: tuple[int, ...], named: dict[str, int]) -> Any:
        if sizes and named:
            raise UsageError(f"{self.name}: give all sizes in order, or all by name")
        if named:
            if not set(self.sizes[: self._needed_sizes]) <= set(named) <= set(self.sizes):
                raise UsageError(
                    f"{self.name} has the sizes {', '.join(self.sizes)}, not {', '.join(named)}"
                )
            sizes = tuple(named.get(name, DEFAULT_SIZE) for name in self.sizes)
            while sizes[-1] == DEFAULT_SIZE and len(sizes) > self._needed_sizes:
                sizes = sizes[:-1]
        for size in sizes:
            if isinstance(size, bool) or not hasattr(size, "__index__"):
                given_as = f"{self.name}: the size {size!r}"
                raise UsageError(f"{given_as} is not an integer")
            if size.__index__() >= 1 << 63:
                raise UsageError(f"{self.name}: the size {size} is 2^63 or more")
        return ffi.new("int64_t[]", [size.__index__() for size in sizes])


def open(
    target: Union[str, os.PathLike[str]],
    *,
    device: Optional[str] = None,
    ordinal: Optional[int] = None,
    policy: Optional[str] = None,
    user_database: Union[str, os.PathLike[str], None] = None,
    site_database: Union[str, os.PathLike[str], None] = None,
    shipped_database: Union[str, os.PathLike[str], None] = None,
    tuned_only: bool = False,
    early_start: bool = False,
    first_use_ms: int = 0,
    earn: bool = False,
    **settings: Setting,
) -> Target:
    """Opens a target: a name such as "gemm", or the path of a manifest.

    `settings` are those of the target, such as dtype="f64"; others have the target's default.
    `device`: its name, or "host" for this computer's processor. Without, the GPU `ordinal`: the
    current one of PyTorch or CuPy, else 0. Without a GPU, the device with the most results.
    `policy` and the databases are those of autotune_options in autotune.h; an empty
    `shipped_database` is none. `tuned_only`: never call a vendor's library. `early_start`: kernels
    may start early in every stream. `first_use_ms`: what prepare() may take, in milliseconds, to
    race configurations at sizes that nobody tuned; 0: no race. `earn`: where no times of this
    machine tell, launches find out whether the configuration or the vendor's library is faster.

    Raises UsageError for an unknown target or setting, NoDeviceError if there is no such device.
    """
    c, kept = library(), []

    def characters(value: object) -> Any:
        if value is None:
            return ffi.NULL
        kept.append(ffi.new("char[]", os.fsencode(str(value))))
        return kept[-1]

    options = ffi.new("autotune_options *")
    options.size = ffi.sizeof("autotune_options")
    options.target = characters(os.fspath(target))
    options.settings = characters(words_of(settings))
    options.policy, options.device = characters(policy), characters(device)
    options.user_database = characters(user_database)
    options.site_database = characters(site_database)
    options.shipped_database = characters(shipped_database)
    options.ordinal = current_ordinal() if ordinal is None else ordinal
    options.tuned_only, options.early_start = int(tuned_only), int(early_start)
    options.first_use_ms, options.earn = first_use_ms, int(earn)
    handle = ffi.new("autotune_handle **")
    check(c.autotune_open(options, handle))
    return Target(os.fspath(target), handle[0])
