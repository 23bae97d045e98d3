#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tuned gemm from Python, through libautotune's C interface (autotune.h).

usage: gemm.py PREFIX [M N K]

PREFIX is where autotune is installed; sizes are 512 512 512 unless given. With PyTorch and a GPU it
launches the kernel on PyTorch's stream, with memory of PyTorch's, and compares the result with
torch.matmul. Without, it shows the configuration that a program would get."""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("target", c_char_p), ("settings", c_char_p), ("policy", c_char_p),
                ("user_database", c_char_p), ("site_database", c_char_p), ("shipped_database", c_char_p),
                ("device", c_char_p), ("ordinal", c_int32), ("tuned_only", c_int32),
                ("early_start", c_int32)]


class Answer(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("configuration", c_char_p), ("provenance", c_char_p),
                ("origin", c_int32), ("validity", c_int32), ("median_ns", c_double),
                ("default_ns", c_double), ("factor", c_double), ("baseline", c_char_p),
                ("baseline_ns", c_double)]


class Autotune:
    """One target on one device. Every call that fails raises RuntimeError with the library's sentence."""

    def __init__(self, prefix, target, settings=""):
        library = next(Path(prefix).glob("lib*/**/libautotune.so"), None)
        if library is None:
            raise RuntimeError(f"{prefix} has no libautotune.so: give the prefix of cmake --install")
        self.api = ctypes.CDLL(str(library))
        for name in ("message", "device", "kernel_buffer", "kernel_configuration"):
            getattr(self.api, "autotune_" + name).restype = c_char_p
        self.api.autotune_kernel_buffers.restype = c_size_t
        options = Options(size=ctypes.sizeof(Options), target=target.encode(), settings=settings.encode())
        self.handle = c_void_p()
        self.check(self.api.autotune_open(byref(options), byref(self.handle)))

    def close(self):
        self.api.autotune_close(self.handle)

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.api.autotune_message().decode())

    def device(self):
        return self.api.autotune_device(self.handle).decode()

    def lookup(self, *sizes):
        answer = Answer(size=ctypes.sizeof(Answer))
        self.check(self.api.autotune_lookup(self.handle, (c_int64 * len(sizes))(*sizes),
                                            c_size_t(len(sizes)), byref(answer)))
        return answer

    def prepare(self, *sizes):
        """The compiled kernel; release() it before close()."""
        kernel = c_void_p()
        self.check(self.api.autotune_prepare(self.handle, (c_int64 * len(sizes))(*sizes),
                                             c_size_t(len(sizes)), byref(kernel)))
        return kernel

    def release(self, kernel):
        self.api.autotune_release(kernel)

    def buffers(self, kernel):
        """The names of the arrays that launch() takes, in order."""
        bytes_ = c_uint64()
        return [self.api.autotune_kernel_buffer(kernel, c_size_t(i), byref(bytes_)).decode()
                for i in range(self.api.autotune_kernel_buffers(kernel))]

    def launch(self, kernel, addresses, stream):
        self.check(self.api.autotune_launch(kernel, (c_void_p * len(addresses))(*addresses),
                                            c_size_t(len(addresses)), c_void_p(stream)))


def compare(tuned, sizes, torch):
    """Relative Frobenius error of the tuned kernel against float64."""
    m, n, k = sizes
    arrays = {"A": torch.randn(m, k, device="cuda"), "B": torch.randn(k, n, device="cuda"),
              "C": torch.zeros(m, n, device="cuda"), "D": torch.full((m, n), float("nan"), device="cuda")}
    kernel = tuned.prepare(*sizes)
    tuned.launch(kernel, [arrays[name].data_ptr() for name in tuned.buffers(kernel)],
                 torch.cuda.current_stream().cuda_stream)
    right = arrays["A"].double() @ arrays["B"].double()
    error = float((arrays["D"].double() - right).norm() / right.norm())  # waits
    tuned.release(kernel)
    return error


def main():
    if len(sys.argv) not in (2, 5):
        sys.exit(__doc__)
    sizes = [int(size) for size in sys.argv[2:]] or [512, 512, 512]
    tuned = Autotune(sys.argv[1], "gemm")
    answer = tuned.lookup(*sizes)
    origin = [answer.provenance.decode(), "from near sizes", "tuned on another GPU like it", "the default"][answer.origin]
    print(f"gemm {sizes} on {tuned.device()}, {origin}: {answer.configuration.decode()}")
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("nothing is launched: that needs PyTorch and a GPU")
        return 0
    error = compare(tuned, sizes, torch)
    tuned.close()
    print(f"relative error {error:.1e}, {'right' if error < 2e-6 else 'wrong'}")
    return 0 if error < 2e-6 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as error:
        sys.exit(f"error: {error}")
