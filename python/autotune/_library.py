# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libautotune. Its functions are those of its header, autotune.h."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import threading
from pathlib import Path
from typing import Any

import cffi

from ._errors import Error, NoDeviceError, NotFoundError, UsageError

ffi: Any = cffi.FFI()


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"


_start = _working_folder()  # programs may leave it before the first call
_loading = threading.Lock()
_library: list[tuple[Any, list[Path]]] = []  # one, once it is loaded


def prefix() -> Path:
    """Where autotune is installed: $AUTOTUNE_PREFIX, relative to the working folder at the import,
    else this package's folder. It has the folders of `cmake --install`: bin, include, lib, libexec,
    share."""
    chosen = os.environ.get("AUTOTUNE_PREFIX")
    return Path(_start, chosen) if chosen else Path(__file__).resolve().parent


def installed(*patterns: str) -> Path:
    """The first file below the prefix that matches a pattern. Raises Error if there is none."""
    for pattern in patterns:
        for found in sorted(prefix().glob(pattern)):
            return found
    raise Error(
        f"{prefix()} has no {patterns[0]}: build the wheel (pip install . in autotune's sources), "
        "or set AUTOTUNE_PREFIX to the prefix of cmake --install"
    )


def declarations(header: str) -> str:
    """The C declarations of a header, without comments, directives and `extern "C"`."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text, flags=re.S | re.M)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return text.replace("AUTOTUNE_API ", "")


def _pip_nvrtc() -> list[Path]:
    """NVRTC as the packages nvidia-cuda-nvrtc (CUDA 13) and nvidia-cuda-nvrtc-cu12 install it."""
    package = importlib.util.find_spec("nvidia")
    roots = package.submodule_search_locations if package else None
    return [
        library
        for root in roots or []
        for folder in ("cu13/lib", "cuda_nvrtc/lib")
        for library in sorted(Path(root, folder).glob("libnvrtc.so.*"))
    ]


@functools.lru_cache(maxsize=None)
def _declare() -> None:
    ffi.cdef(declarations(installed("include/autotune/autotune.h").read_text(encoding="utf-8")))


def _loaded() -> tuple[Any, list[Path]]:
    """The library, and the folders of the libraries of pip's that it uses."""
    if not _library:
        with _loading:
            if not _library:
                _library.append(_load())
    return _library[0]


def _load() -> tuple[Any, list[Path]]:
    path = installed("lib/libautotune.so", "lib*/libautotune.so", "lib/*/libautotune.so")
    _declare()
    try:
        loaded = ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    except OSError as error:
        raise Error(f"{path} cannot be loaded: {error}") from None
    # It loads NVRTC from where the loader finds it, or by its name if it is loaded already.
    if b"/libnvrtc.so" in Path("/proc/self/maps").read_bytes():
        return loaded, []
    folders = []
    for nvrtc in _pip_nvrtc():
        try:
            ctypes.CDLL(str(nvrtc), mode=ctypes.RTLD_GLOBAL)
            folders.append(nvrtc.parent)
        except OSError:
            continue  # of another platform, or not whole
    return loaded, folders


def library() -> Any:
    """libautotune, loaded at the first call. Raises Error if that fails."""
    return _loaded()[0]


def environment() -> dict[str, str]:
    """The environment in which the tool finds the libraries that this process found."""
    folders = [str(folder) for folder in _loaded()[1]]
    before = os.environ.get("LD_LIBRARY_PATH")
    path = ":".join(folders + ([before] if before else []))
    return {**os.environ, **({"LD_LIBRARY_PATH": path} if path else {})}


def text(characters: Any) -> str:
    """A C text of the library; empty for a null pointer."""
    if characters == ffi.NULL:
        return ""
    encoded = ffi.string(characters)
    assert isinstance(encoded, bytes)
    return encoded.decode("utf-8", "replace")


def check(status: int) -> None:
    """Raises the exception for a status other than AUTOTUNE_OK, with the library's sentence."""
    c = library()
    if status == c.AUTOTUNE_OK:
        return
    kinds = {
        c.AUTOTUNE_WRONG_USAGE: UsageError,
        c.AUTOTUNE_NOT_FOUND: NotFoundError,
        c.AUTOTUNE_NO_DEVICE: NoDeviceError,
    }
    raise kinds.get(status, Error)(text(c.autotune_message()))
