# SPDX-License-Identifier: Apache-2.0
"""Matrix products on a GPU, and the target that computes each fastest."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Optional

from ._kernel import Kernel
from ._target import Setting, Target, values_of

# Of an ordinal, a target and settings; None if there is no such target.
Open = Callable[[int, str, Mapping[str, Setting]], Optional[Target]]


class Product(NamedTuple):
    """D[M,N] = op(A) op(B), and perhaps a bias[N] added to each row, `batch` times."""

    ordinal: int  # of the GPU
    dtype: str
    layout: str  # of A and B: NN, NT, TN, TT
    sizes: tuple[int, int, int]  # M, N, K
    batch: int = 1
    has_bias: bool = False
    output: str = ""  # of D and bias, where it is not that of `dtype` itself
    scales: str = "none"  # of types of 8 bits: those of A and B
    sums: str = "promoted"  # or fast
    groups: int = 0  # of the rows of A, each with a B of its own; 0: A has none
    is_padded: bool = False  # groups have room for M / groups rows each, else they are packed
    mean: int = 0  # rows of a group, as expected; 0: A is full


class Problem(NamedTuple):
    """A problem of a target."""

    target: str
    settings: Mapping[str, Setting]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Launcher:
    """A kernel, and the operand of the product that each of its buffers is."""

    kernel: Kernel
    operands: tuple[str, ...]  # A, B, bias, scale_a, scale_b, offsets, scale_d, D, amax

    def launch(self, addresses: Mapping[str, int], stream: int) -> None:
        """Launches the product. The address of the bias is read only if there is one."""
        self.kernel.launch_at([addresses[operand] for operand in self.operands], stream)


def problem_of(product: Product) -> Optional[Problem]:
    """None if no target computes the product."""
    _, dtype, layout, sizes, batch, has_bias, output, scales, sums, groups = product[:10]
    if has_bias and (batch > 1 or groups):
        return None
    if groups:
        m, n, k = sizes
        settings = {"dtype": dtype, "layout": layout}
        if scales != "none":
            settings |= {"output": output, "sums": sums, "scales": scales}
        if product.is_padded:
            settings |= {"groups": "padded"}
        room = m // groups if product.is_padded else m
        return Problem("gemm_grouped", settings, (groups, n, k, groups * product.mean or m, room))
    if dtype not in ("f16", "bf16", "e4m3", "e5m2", "f32", "f64") or (has_bias and dtype == "f64"):
        return None
    settings = {"dtype": dtype, "layout": layout}
    if dtype in ("e4m3", "e5m2"):
        settings |= {"output": output, "scales": scales, "sums": sums}
    if dtype == "f32" and os.environ.get("AUTOTUNE_BLAS_UNITS") == "fp32":
        settings["units"] = "fp32"
    if has_bias:
        settings["epilogue"] = "bias"
    return Problem("gemm", settings, (*sizes, batch))


def has_rival(product: Product) -> bool:
    """Whether PyTorch computes it. It has no largest magnitude of an output in 8 bits, and no groups
    in 8 bits that are padded or have scales of blocks."""
    if product.output == "e4m3":
        return False
    is_scaled = product.groups > 0 and product.scales != "none"
    return not is_scaled or (product.scales == "rows" and not product.is_padded)


def prepare_fastest(product: Product, open_target: Open) -> Optional[Launcher]:
    """None where PyTorch computes the product, and no kernel is known to be faster. Raises Error if
    one cannot be prepared."""
    problem = problem_of(product)
    if problem is None:
        return None
    target = open_target(product.ordinal, problem.target, problem.settings)
    if target is None:
        return None
    answer = target.lookup(*problem.sizes)
    if answer.baseline or (answer.origin == "default" and has_rival(product)):
        return None
    kernel = target.prepare(*problem.sizes)
    if values_of(kernel.configuration) != answer.configuration:
        return None  # it did not compile, and this is the default
    operands = tuple(_operand(buffer.name, product.has_bias) for buffer in kernel.buffers)
    return Launcher(kernel, operands)


def _operand(buffer: str, has_bias: bool) -> str:
    """The bias is in the place of C. What is not read gets the address of D."""
    if buffer == "C":
        return "bias" if has_bias else "D"
    return buffer
