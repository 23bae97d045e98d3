# SPDX-License-Identifier: Apache-2.0
"""Matrix products of PyTorch by tuned kernels, where one is known to be faster.

    import autotune.torch
    y = autotune.torch.linear(x, weight)

mm() is the registered operator `autotune::mm` (`autotune::mm_out` with out=). torch.compile and
CUDA graphs take it, and it has a gradient. linear() and matmul() consist of it. All return what
their namesakes of torch return. PyTorch computes whatever no tuned kernel is known to compute
faster, and everything on the CPU, of types other than float32 and float64, under autocast, and in
float32 if TF32 is allowed.
"""

import threading
import warnings
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from ._errors import Error
from ._kernel import Kernel
from ._target import Target
from ._target import open as open_target

_TYPES = {torch.float32: "f32", torch.float64: "f64"}


class _Product(NamedTuple):
    """D[M,N] = op(A) op(B) on one GPU."""

    ordinal: int
    dtype: str
    layout: str  # of gemm: NN, NT, TN, TT
    sizes: tuple[int, int, int]  # M, N, K


class _Kernels:
    """Kernels of this process, made when they are first needed."""

    def __init__(self) -> None:
        self._targets: dict[tuple[int, str, str], Optional[Target]] = {}
        self._is_tuned: dict[_Product, bool] = {}
        self._kernels: dict[tuple[_Product, int], Kernel] = {}
        self._captured: list[Kernel] = []
        self._lock = threading.RLock()  # gradients are computed on other threads

    def kernel(self, product: _Product, stream: int) -> Optional[Kernel]:
        """For launches on `stream`; None if PyTorch is to compute the product."""
        with self._lock:
            return self._known(product, stream)

    def _known(self, product: _Product, stream: int) -> Optional[Kernel]:
        if not self._is_tuned.setdefault(product, True):
            return None
        known = self._kernels.get((product, stream))
        if known is None:
            known = self._prepared(product)
            if known is None:
                self._is_tuned[product] = False
                return None
            self._kernels[product, stream] = known
        if not known.workspace_bytes or not torch.cuda.is_current_stream_capturing():
            return known
        # A graph may run beside others and beside this stream, and its workspace is its own.
        captured = self._prepared(product)
        if captured is not None:
            self._captured.append(captured)
        return captured

    def give_up(self, product: _Product, error: Error) -> None:
        """From now on PyTorch computes it."""
        self._is_tuned[product] = False
        warnings.warn(f"PyTorch computes {product} from now on: {error}", stacklevel=4)

    def _prepared(self, product: _Product) -> Optional[Kernel]:
        try:
            target = self._target(product)
            if target is None:
                return None
            answer = target.lookup(*product.sizes)
            if answer.origin == "default" or answer.baseline:
                return None
            return target.prepare(*product.sizes)
        except Error as error:
            self.give_up(product, error)
            return None

    def _target(self, product: _Product) -> Optional[Target]:
        key = product[:3]
        if key not in self._targets:
            self._targets[key] = None
            ordinal, dtype, layout = key
            self._targets[key] = open_target(
                "gemm", ordinal=ordinal, tuned_only=True, dtype=dtype, layout=layout
            )
        return self._targets[key]


_kernels = _Kernels()


def _order(matrix: Tensor) -> Optional[str]:
    """N for rows that follow one another, T for columns; None for anything else."""
    if matrix.is_contiguous():
        return "N"
    return "T" if matrix.t().is_contiguous() else None


def _product_of(a: Tensor, b: Tensor) -> Optional[_Product]:
    """What a tuned kernel may compute; None if only PyTorch can."""
    if not a.is_cuda or a.device != b.device or a.dtype != b.dtype or a.dtype not in _TYPES:
        return None
    if a.dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32:
        return None
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    first, second = _order(a), _order(b)
    if first is None or second is None or b.shape[0] != k or 0 in (m, k, n):
        return None
    return _Product(a.device.index, _TYPES[a.dtype], first + second, (m, n, k))


def _is_computed(a: Tensor, b: Tensor, out: Tensor) -> bool:
    """Launches the product into `out`, which is contiguous; False if PyTorch has to."""
    product = _product_of(a, b)
    if product is None:
        return False
    stream = torch.cuda.current_stream(a.device).cuda_stream
    kernel = _kernels.kernel(product, stream)
    if kernel is None:
        return False
    try:
        # C is not read without scale="beta".
        kernel.launch_at((a.data_ptr(), b.data_ptr(), out.data_ptr(), out.data_ptr()), stream)
    except Error as error:
        _kernels.give_up(product, error)
        return False
    return True


@torch.library.custom_op("autotune::mm", mutates_args=())
def _mm(a: Tensor, b: Tensor) -> Tensor:
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        return torch.mm(a, b)  # it says what is wrong
    out = a.new_empty(a.shape[0], b.shape[1])
    return out if _is_computed(a, b, out) else torch.mm(a, b)


@_mm.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    return torch.mm(a, b)


def _remember(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gradients(ctx: Any, gradient: Tensor) -> tuple[Optional[Tensor], Optional[Tensor]]:
    a, b = ctx.saved_tensors
    wanted = ctx.needs_input_grad
    return (mm(gradient, b.mH) if wanted[0] else None, mm(a.mH, gradient) if wanted[1] else None)


_mm.register_autograd(_gradients, setup_context=_remember)


@torch.library.custom_op("autotune::mm_out", mutates_args=("out",))
def _mm_out(a: Tensor, b: Tensor, out: Tensor) -> None:
    if not _is_computed(a, b, out):
        torch.mm(a, b, out=out)


@_mm_out.register_fake
def _(a: Tensor, b: Tensor, out: Tensor) -> None:
    return None


def _is_autocast(matrix: Tensor) -> bool:
    return torch.is_autocast_enabled(matrix.device.type)


def _takes(a: Tensor, b: Tensor, out: Tensor) -> bool:
    """Whether autotune::mm_out writes this output; torch.mm resizes, casts or complains."""
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or out.requires_grad):
        return False
    return (
        a.dim() == b.dim() == out.dim() == 2
        and a.shape[1] == b.shape[0]
        and out.shape == (a.shape[0], b.shape[1])
        and out.dtype == a.dtype
        and out.device == a.device
        and out.is_contiguous()
    )


def mm(a: Tensor, b: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    """torch.mm: a[M,K] times b[K,N]. Either may be the transpose of a contiguous matrix. With `out`,
    [M,N], it writes there and returns it. Raises what torch.mm raises."""
    if _is_autocast(a):
        return torch.mm(a, b) if out is None else torch.mm(a, b, out=out)
    if out is None:
        result: Tensor = _mm(a, b)
        return result
    if not _takes(a, b, out):
        return torch.mm(a, b, out=out)
    _mm_out(a, b, out)
    return out


def matmul(a: Tensor, b: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    """torch.matmul. A tuned kernel may compute a[…,M,K] times b[K,N]; for vectors and
    for a batch of b, torch.matmul does. Raises what torch.matmul raises."""
    if a.dim() < 2 or b.dim() != 2 or a.shape[-1] != b.shape[0] or a.numel() == 0:
        return torch.matmul(a, b) if out is None else torch.matmul(a, b, out=out)
    shape = (*a.shape[:-1], b.shape[1])
    rows = a.reshape(-1, a.shape[-1])
    if out is None:
        return mm(rows, b).reshape(shape)
    if out.shape != shape or not out.is_contiguous():
        return torch.matmul(a, b, out=out)
    mm(rows, b, out=out.view(-1, b.shape[1]))
    return out


def linear(
    x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, *, out: Optional[Tensor] = None
) -> Tensor:
    """torch.nn.functional.linear: x[…,K] times the transpose of weight[N,K], plus bias[N]. With a
    bias PyTorch computes it, because its library adds the bias in the same kernel."""
    if weight.dim() == 2 and bias is None:
        return matmul(x, weight.t(), out=out)
    result = torch.nn.functional.linear(x, weight, bias)
    return result if out is None else out.copy_(result)
