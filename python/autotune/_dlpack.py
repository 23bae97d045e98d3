# SPDX-License-Identifier: Apache-2.0
"""Reads the tensor of a DLPack capsule (dlpack.h, versions 0.8 and 1.0) without consuming it."""

from __future__ import annotations

import ctypes
from typing import NamedTuple, Optional

CPU, CUDA, CUDA_MANAGED = 1, 2, 13


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Tensor(NamedTuple):
    """`strides` in elements; None if rows are contiguous."""

    address: int
    type: str
    shape: tuple[int, ...]
    strides: Optional[tuple[int, ...]]
    device: int
    ordinal: int
    read_only: bool


def tensor_of(capsule: object) -> Tensor:
    """Valid as long as the capsule."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    managed = _Tensor.from_address(pointer(capsule, b"dltensor"))
    rank = managed.ndim
    codes = {0: "i", 1: "u", 2: "f", 4: "bf"}
    eights = {10: "e4m3", 12: "e5m2"}  # numbers of 8 bits: float8_e4m3fn, float8_e5m2
    return Tensor(
        address=(managed.data or 0) + managed.byte_offset,
        type=eights.get(managed.code)
        or f"{codes.get(managed.code, f'code{managed.code}_')}{managed.bits}",
        shape=tuple(managed.shape[:rank]),
        strides=tuple(managed.strides[:rank]) if managed.strides else None,
        device=managed.device_type,
        ordinal=managed.device_id,
        read_only=False,
    )
