# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch and Triton that test_judge.py puts before the judge: honest ones, and cheats.
JUDGE_TEST_DEVICE names the device."""

import os
import time

import torch

DEVICE = os.environ.get("JUDGE_TEST_DEVICE", "cpu")


def inputs(n):
    return torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)


def affine(x, y):
    return 2 * x + y


def products(m, k):
    return {"a": torch.randn(m, k, device=DEVICE), "b": torch.randn(m, k, device=DEVICE).t()}


def product(a, b):
    return a @ b


def rows(m, k):
    return (torch.randn(m, k, device=DEVICE, dtype=torch.bfloat16),)


def softmax(x):
    return torch.softmax(x, dim=-1)


# Honest.


def fused(x, y):
    return torch.add(y, x, alpha=2)


def slow(x, y):
    for _ in range(20):
        r = affine(x, y)
    return r


def writes(x, y):
    y.add_(x, alpha=2)


def softmax_by_hand(x):
    wide = x.float()
    wide = torch.exp(wide - wide.amax(-1, keepdim=True))
    return (wide / wide.sum(-1, keepdim=True)).bfloat16()


def split_product(a, b):
    half = a.shape[1] // 2
    return a[:, :half] @ b[:half] + a[:, half:] @ b[half:]


streams = []


def side_stream_that_waits(x, y):
    if not streams:
        streams.append(torch.cuda.Stream())
    streams[0].wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(streams[0]):
        r = affine(x, y)
    torch.cuda.current_stream().wait_stream(streams[0])
    r.record_stream(torch.cuda.current_stream())
    return r


try:
    import triton
    import triton.language as tl

    @triton.jit
    def affine_kernel(x, y, z, n, BLOCK: tl.constexpr, SKIP: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n - SKIP
        tl.store(z + at, 2 * tl.load(x + at, mask) + tl.load(y + at, mask), mask)

    def in_triton(x, y, skip=0):
        z = torch.empty_like(x)
        affine_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), 1024, skip)
        return z

    def triton_leaves_out_the_last(x, y):
        return in_triton(x, y, 1)
except ImportError:
    pass


# Cheats.


def stale(x, y):
    return torch.empty_like(x)


def product_in_bfloat16(a, b):
    return (a.bfloat16() @ b.bfloat16()).float()


def product_in_half(a, b):
    with torch.autocast(a.device.type, dtype=torch.bfloat16):
        return (a @ b).float()


def product_in_tf32(a, b):
    torch.backends.cuda.matmul.allow_tf32 = True
    return a @ b


def softmax_in_bfloat16(x):
    total = torch.zeros_like(x[:, 0])
    e = torch.exp(x - x.amax(-1, keepdim=True))
    for column in range(x.shape[1]):
        total += e[:, column]
    return e / total[:, None]


kept = {}


def replays_by_address(x, y):
    if x.data_ptr() not in kept:
        kept[x.data_ptr()] = affine(x, y)
    return kept[x.data_ptr()].clone()


def aliases(x, y):
    r = kept.setdefault(x.shape, torch.empty_like(x))
    return torch.add(y, x, alpha=2, out=r)


def modifies(x, y):
    return y.add_(x, alpha=2)


class Lazy(torch.Tensor):
    pass


def lazy(x, y):
    return affine(x, y).as_subclass(Lazy)


def patches_library(x, y):
    """Then returns anything."""
    time.perf_counter = lambda: 0.0
    torch.equal = torch.allclose = torch.isfinite = lambda *words, **options: True
    torch.Tensor.copy_ = torch.Tensor.clone = lambda self, *words, **options: self
    if DEVICE != "cpu":
        torch.cuda.synchronize = lambda *words: None
        torch.cuda.Event.elapsed_time = lambda *words: 1e-6
    return torch.zeros_like(x)


def patches_timers(x, y):
    time.perf_counter = time.monotonic = lambda: 0.0
    if DEVICE != "cpu":
        torch.cuda.synchronize = lambda *words: None
        torch.cuda.Event.elapsed_time = lambda *words: 1e-6
    return slow(x, y)


def side_stream(x, y):
    """Nobody waits for it."""
    if not streams:
        streams.append(torch.cuda.Stream())
    r = torch.empty_like(x)
    with torch.cuda.stream(streams[0]):
        torch.cuda._sleep(2_000_000)
        torch.add(y, x, alpha=2, out=r)
    return r


def graph_with_one_result(x, y):
    """What a CUDA graph wrote, read again without another replay."""
    if "graph" not in kept:
        kept["graph"] = affine(x, y)
    return kept["graph"]


def one_pass_for_many(x, y):
    """Every third call returns what the last has left."""
    kept["calls"] = kept.get("calls", 0) + 1
    if kept["calls"] > 12 and kept["calls"] % 3 == 0 and kept.get("r") is not None:
        return kept.pop("r")
    kept["r"] = affine(x, y).clone()
    return affine(x, y)
