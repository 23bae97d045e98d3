# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels on tensors of PyTorch: which products they compute, and their launch."""

import threading
import warnings
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch import Tensor

from ._errors import Error
from ._products import Launcher, Product, prepare_fastest
from ._target import Target, words_of
from ._target import open as open_target

_TYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
}
_FLOAT8 = {torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
_ALIGNMENT = 16  # of addresses, in bytes: kernels read that much at a time


class _Kernels:
    """Kernels of this process, made when they are first needed."""

    def __init__(self) -> None:
        self._targets: dict[tuple[int, str, str], Optional[Target]] = {}
        self._is_tuned: dict[Product, bool] = {}
        self._kernels: dict[tuple[Product, int], Launcher] = {}
        self._captured: list[Launcher] = []
        self._lock = threading.RLock()  # gradients are computed on other threads

    def kernel(self, product: Product, stream: int) -> Optional[Launcher]:
        """For launches on `stream`; None if PyTorch is to compute the product."""
        with self._lock:
            return self._known(product, stream)

    def _known(self, product: Product, stream: int) -> Optional[Launcher]:
        if not self._is_tuned.setdefault(product, True):
            return None
        known = self._kernels.get((product, stream))
        if known is None:
            known = self._prepared(product)
            if known is None:
                self._is_tuned[product] = False
                return None
            self._kernels[product, stream] = known
        if not known.kernel.workspace_bytes or not torch.cuda.is_current_stream_capturing():
            return known
        # A graph may run beside others and beside this stream, and its workspace is its own.
        captured = self._prepared(product)
        if captured is not None:
            self._captured.append(captured)
        return captured

    def give_up(self, product: Product, error: Error) -> None:
        """Leaves this product to PyTorch from now on."""
        self._is_tuned[product] = False
        warnings.warn(f"PyTorch computes {product} from now on: {error}", stacklevel=4)

    def _prepared(self, product: Product) -> Optional[Launcher]:
        try:
            return prepare_fastest(product, self._target)
        except Error as error:
            self.give_up(product, error)
            return None

    def _target(
        self, ordinal: int, name: str, settings: Mapping[str, Any]
    ) -> Optional[Target]:
        """Raises Error if it cannot be opened; None the next time."""
        key = ordinal, name, words_of(settings)
        if key not in self._targets:
            self._targets[key] = None
            self._targets[key] = open_target(name, ordinal=ordinal, **settings)
        return self._targets[key]


_kernels = _Kernels()


def _order(matrices: Tensor) -> Optional[str]:
    """N for rows that follow one another, T for columns; None for anything else."""
    if matrices.is_contiguous():
        return "N"
    return "T" if matrices.mT.is_contiguous() else None


def _allows_tf32() -> bool:
    # allow_tf32 raises an error where the newer fp32_precision was set.
    precision = getattr(torch.backends.cuda.matmul, "fp32_precision", None)
    if precision is None:
        return bool(torch.backends.cuda.matmul.allow_tf32)
    return bool(precision == "tf32")


def _is_usable(tensors: list[Tensor]) -> bool:
    """Whether they are on one GPU, of one type that kernels have, not empty, and aligned."""
    first = tensors[0]
    if first.dtype not in _TYPES or (first.dtype == torch.float32 and _allows_tf32()):
        return False
    return all(
        each.is_cuda
        and each.device == first.device
        and each.dtype == first.dtype
        and each.numel() > 0
        for each in tensors
    )


def _product_of(a: Tensor, b: Tensor, bias: Optional[Tensor]) -> Optional[Product]:
    """What a tuned kernel may compute; None if only PyTorch can."""
    if not _is_usable([a, b] if bias is None else [a, b, bias]):
        return None
    first, second = _order(a), _order(b)
    if first is None or second is None or (bias is not None and not bias.is_contiguous()):
        return None
    sizes = a.shape[-2], b.shape[-1], a.shape[-1]
    batch = a.shape[0] if a.dim() == 3 else 1
    dtype = _TYPES[a.dtype]
    return Product(a.device.index, dtype, first + second, sizes, batch, bias is not None)


def is_computed(a: Tensor, b: Tensor, bias: Optional[Tensor], out: Tensor) -> bool:
    """Launches a[…,M,K] times b[…,K,N], plus bias[N], into `out`, which is contiguous. False if
    PyTorch has to compute it."""
    product = _product_of(a, b, bias)
    if product is None:
        return False
    return _is_launched(product, a.device, {"A": a, "B": b, "D": out}, _given(bias=bias))


def _scales_of(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Optional[str]:
    """The setting of gemm, as PyTorch tells it from shapes; None for scales of blocks."""
    if any(each.dtype != torch.float32 or not each.is_contiguous() for each in (scale_a, scale_b)):
        return None
    if scale_a.numel() == 1 and scale_b.numel() == 1:
        return "tensor"
    are_rows = scale_a.shape == (a.shape[0], 1) and scale_b.shape == (1, b.shape[1])
    return "rows" if are_rows else None


def is_scaled(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Optional[Tensor],
    out: Tensor,
    sums: str,
    of_output: Optional[tuple[Tensor, Tensor]] = None,
) -> bool:
    """Launches a[M,K] times b[K,N] in 8 bits, scaled, plus bias[N], into `out`, as is_computed().
    `of_output`, of 8 bits: its scale, and its largest magnitude before that, which is written."""
    tensors = [a, b, scale_a, scale_b] + ([] if bias is None else [bias])
    words = _TYPES if of_output is None else {torch.float8_e4m3fn: "e4m3"}
    if a.dtype not in _FLOAT8 or a.dtype != b.dtype or out.dtype not in words:
        return False
    unaligned = _given(bias=bias)
    if of_output is not None:
        tensors += of_output
        unaligned |= {"scale_d": of_output[0], "amax": of_output[1]}
        if any(each.numel() != 1 or each.dtype != torch.float32 for each in of_output):
            return False
    if any(each.device != out.device or each.numel() == 0 for each in tensors) or not out.is_cuda:
        return False
    if bias is not None and (bias.dtype != out.dtype or not bias.is_contiguous()):
        return False
    scales = _scales_of(a, b, scale_a, scale_b)
    first, second = _order(a), _order(b)
    if scales is None or first is None or second is None:
        return False
    sizes = a.shape[0], b.shape[1], a.shape[1]
    product = Product(out.device.index, _FLOAT8[a.dtype], first + second, sizes, 1,
                      bias is not None, words[out.dtype], scales, sums)  # fmt: skip
    operands = {"A": a, "B": b, "scale_a": scale_a, "scale_b": scale_b, "D": out}
    return _is_launched(product, out.device, operands, unaligned)


def _scales_of_groups(rows: int, b: Tensor, of_a: Tensor, of_b: Tensor) -> Optional[str]:
    """The setting of gemm_grouped; None if these are no scales of it. Scales of blocks lie as those
    of gemm: those of A along its rows, in lines of a multiple of four, those of B along k, too."""
    groups, k, n = b.shape
    if of_a.dtype != torch.float32 or of_b.dtype != torch.float32:
        return None
    if of_a.shape == (rows,) and of_b.shape == (groups, n):
        return "rows" if of_a.is_contiguous() and of_b.is_contiguous() else None
    across, down = -(-k // 128), n // 128
    if n % 128 or of_a.shape != (rows, across) or of_b.shape != (groups, down, across):
        return None
    line_a, line_b = -(-rows // 4) * 4, -(-across // 4) * 4
    is_stored = of_a.stride() == (1, line_a) and of_b.stride() == (down * line_b, line_b, 1)
    return "blocks" if is_stored else None


def is_grouped(
    a: Tensor,
    b: Tensor,
    offs: Tensor,
    out: Tensor,
    scales: Optional[tuple[Tensor, Tensor]] = None,
    sums: str = "promoted",
    mean: Optional[int] = None,
) -> bool:
    """Launches the groups of rows of a[M,K], which end at offs[G], times b[G,K,N] into `out`, as
    is_computed(); or of a[G,R,K], where groups have offs[G] rows. `scales`, of 8 bits: of the rows
    and of the columns [G,N], or of blocks. `mean`: rows of a group, as expected."""
    groups, k, n = b.shape
    types = (torch.bfloat16, torch.float16) if scales is None else tuple(_FLOAT8)
    if a.dtype not in types or a.dtype != b.dtype or a.numel() == 0 or b.numel() == 0:
        return False
    rows = a.numel() // k
    kind: Optional[str] = "none"
    unaligned = {"offsets": offs}
    if scales is not None:
        kind = _scales_of_groups(rows, b, *scales)
        unaligned |= {"scale_a": scales[0], "scale_b": scales[1]}
    if kind is None or not a.is_contiguous() or not offs.is_contiguous() or not a.is_cuda:
        return False
    if any(each.device != a.device for each in (b, *unaligned.values())):
        return False
    if offs.dtype != torch.int32 or out.dtype not in _TYPES:
        return False
    order = _order(b)
    if order is None or k % 16 or n % 8 or groups > 1024:
        return False
    words = _TYPES | _FLOAT8
    product = Product(a.device.index, words[a.dtype], "N" + order, (rows, n, k),
                      output=words[out.dtype], scales=kind, sums=sums, groups=groups,
                      is_padded=a.dim() == 3, mean=mean or 0)  # fmt: skip
    return _is_launched(product, a.device, {"A": a, "B": b, "D": out}, unaligned)


def _given(**tensors: Optional[Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def _is_launched(
    product: Product,
    device: torch.device,
    tensors: Mapping[str, Tensor],
    unaligned: Mapping[str, Tensor],
) -> bool:
    addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
    if any(address % _ALIGNMENT for address in addresses.values()):
        return False
    stream = torch.cuda.current_stream(device).cuda_stream
    launcher = _kernels.kernel(product, stream)
    if launcher is None:
        return False
    addresses.update((name, tensor.data_ptr()) for name, tensor in unaligned.items())
    try:
        launcher.launch(addresses, stream)
    except Error as error:
        _kernels.give_up(product, error)
        return False
    return True
