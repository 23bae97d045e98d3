# SPDX-License-Identifier: Apache-2.0
"""Matrix products of PyTorch by tuned kernels, where one is known to be faster.

    import autotune.torch
    y = autotune.torch.linear(x, weight, bias)

mm(), matmul() and linear() consist of the registered operators `autotune::mm`, `autotune::bmm` and
`autotune::linear`, and of `autotune::mm_out`, … with out=. torch.compile and CUDA graphs take them,
and they have gradients. So does grouped_mm(); scaled_mm() and scaled_grouped_mm() have none. All
return what their namesakes of torch return. PyTorch computes whatever no tuned kernel is known to
compute faster, and everything on the CPU, of types other than float32, float64, bfloat16, float16
and those of 8 bits, under autocast, and in float32 if TF32 is allowed.
"""

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch import Tensor
from torch.nn import functional

from ._torch_kernels import is_computed, is_grouped, is_scaled


def _shape_of(a: Tensor, b: Tensor, dimensions: int) -> Optional[tuple[int, ...]]:
    """Of the product; None if there is none."""
    if a.dim() != dimensions or b.dim() != dimensions:
        return None
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        return None
    return (*a.shape[:-1], b.shape[-1])


def _register_product(name: str, dimensions: int, theirs: Callable[..., Any]) -> tuple[Any, Any]:
    """The operators autotune::NAME and autotune::NAME_out, a product of matrices or of batches."""

    @torch.library.custom_op(f"autotune::{name}", mutates_args=())
    def product(a: Tensor, b: Tensor) -> Tensor:
        shape = _shape_of(a, b, dimensions)
        if shape is None:
            return theirs(a, b)  # it says what is wrong
        out = a.new_empty(shape)
        return out if is_computed(a, b, None, out) else theirs(a, b)

    @product.register_fake
    def _(a: Tensor, b: Tensor) -> Tensor:
        return theirs(a, b)

    def remember(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    def gradients(ctx: Any, of: Tensor) -> tuple[Optional[Tensor], Optional[Tensor]]:
        a, b = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        return (product(of, b.mH) if wanted[0] else None, product(a.mH, of) if wanted[1] else None)

    product.register_autograd(gradients, setup_context=remember)

    @torch.library.custom_op(f"autotune::{name}_out", mutates_args=("out",))
    def product_out(a: Tensor, b: Tensor, out: Tensor) -> None:
        if not is_computed(a, b, None, out):
            theirs(a, b, out=out)

    @product_out.register_fake
    def _(a: Tensor, b: Tensor, out: Tensor) -> None:
        return None

    return product, product_out


_mm, _mm_out = _register_product("mm", 2, torch.mm)
_bmm, _bmm_out = _register_product("bmm", 3, torch.bmm)


@torch.library.custom_op("autotune::linear", mutates_args=())
def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    if not _is_linear(x, weight, bias):
        return functional.linear(x, weight, bias)  # it says what is wrong
    out = x.new_empty(x.shape[0], weight.shape[0])
    is_done = is_computed(x, weight.t(), bias, out)
    return out if is_done else functional.linear(x, weight, bias)


@_linear.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.linear(x, weight, bias)


def _remember_linear(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _linear_gradients(ctx: Any, of: Tensor) -> tuple[Optional[Tensor], ...]:
    x, weight = ctx.saved_tensors
    wanted = ctx.needs_input_grad
    return (
        _mm(of, weight.conj()) if wanted[0] else None,
        _mm(of.mT, x.conj()) if wanted[1] else None,
        of.sum(0) if wanted[2] else None,
    )


_linear.register_autograd(_linear_gradients, setup_context=_remember_linear)


@torch.library.custom_op("autotune::linear_out", mutates_args=("out",))
def _linear_out(x: Tensor, weight: Tensor, bias: Tensor, out: Tensor) -> None:
    if not is_computed(x, weight.t(), bias, out):
        torch.addmm(bias, x, weight.t(), out=out)


@_linear_out.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor, out: Tensor) -> None:
    return None


def _is_linear(x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Whether these are x[M,K], weight[N,K] and bias[N]."""
    return (
        x.dim() == weight.dim() == 2
        and x.shape[1] == weight.shape[1]
        and bias.shape == weight.shape[:1]
    )


@torch.library.custom_op("autotune::scaled_mm", mutates_args=())
def _scaled_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Optional[Tensor],
    out_dtype: torch.dtype,
    use_fast_accum: bool,
) -> Tensor:
    if a.dim() == 2 and _shape_of(a, b, 2) is not None:
        out = a.new_empty(a.shape[0], b.shape[1], dtype=out_dtype)
        if is_scaled(a, b, scale_a, scale_b, bias, out, "fast" if use_fast_accum else "promoted"):
            return out
    return torch._scaled_mm(a, b, scale_a, scale_b, bias, None, out_dtype, use_fast_accum)


@_scaled_mm.register_fake
def _(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Optional[Tensor],
    out_dtype: torch.dtype,
    use_fast_accum: bool,
) -> Tensor:
    return a.new_empty(a.shape[0], b.shape[1], dtype=out_dtype)


def scaled_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Optional[Tensor] = None,
    out_dtype: torch.dtype = torch.bfloat16,
    use_fast_accum: bool = False,
) -> Tensor:
    """torch._scaled_mm: a[M,K] times b[K,N] in float8_e4m3fn or float8_e5m2, with scales of one
    element, or of [M,1] and [1,N], plus bias[N]. PyTorch computes scales of blocks."""
    result: Tensor = _scaled_mm(a, b, scale_a, scale_b, bias, out_dtype, use_fast_accum)
    return result


@torch.library.custom_op("autotune::scaled_mm_amax", mutates_args=())
def _scaled_mm_amax(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    scale_result: Tensor,
    use_fast_accum: bool,
) -> tuple[Tensor, Tensor]:
    if a.dim() == 2 and _shape_of(a, b, 2) is not None:
        out = a.new_empty(a.shape[0], b.shape[1], dtype=torch.float8_e4m3fn)
        amax, sums = scale_a.new_empty(1), "fast" if use_fast_accum else "promoted"
        if is_scaled(a, b, scale_a, scale_b, None, out, sums, (scale_result, amax)):
            return out, amax
    plain = torch._scaled_mm(a, b, scale_a, scale_b, None, None, torch.bfloat16, use_fast_accum)
    largest = torch.finfo(torch.float8_e4m3fn).max
    scaled = (plain.float() * scale_result).clamp(-largest, largest)
    return scaled.to(torch.float8_e4m3fn), plain.float().abs().amax().reshape(1)


@_scaled_mm_amax.register_fake
def _(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    scale_result: Tensor,
    use_fast_accum: bool,
) -> tuple[Tensor, Tensor]:
    out = a.new_empty(a.shape[0], b.shape[1], dtype=torch.float8_e4m3fn)
    return out, scale_a.new_empty(1)


def scaled_mm_amax(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    scale_result: Tensor,
    use_fast_accum: bool = False,
) -> tuple[Tensor, Tensor]:
    """scaled_mm() times scale_result, of one element, in float8_e4m3fn, where the largest number
    stands for what is beyond; and the largest magnitude before that, of one element in float32.
    PyTorch has no such product: where no kernel computes it, it rounds to bfloat16 between."""
    result: tuple[Tensor, Tensor] = _scaled_mm_amax(
        a, b, scale_a, scale_b, scale_result, use_fast_accum
    )
    return result


def _takes_groups(a: Tensor, b: Tensor, offs: Tensor) -> bool:
    """Whether these are a[M,K] or a[G,R,K], b[G,K,N] and offs[G]."""
    if a.dim() not in (2, 3) or b.dim() != 3 or offs.shape != b.shape[:1]:
        return False
    return a.shape[-1] == b.shape[1] and (a.dim() == 2 or a.shape[0] == b.shape[0])


@torch.library.custom_op("autotune::grouped_mm", mutates_args=())
def _grouped_mm(a: Tensor, b: Tensor, offs: Tensor, mean: Optional[int]) -> Tensor:
    if _takes_groups(a, b, offs):
        out = a.new_empty(*a.shape[:-1], b.shape[2])
        if is_grouped(a, b, offs, out, mean=mean):
            return out
    result: Tensor = torch.bmm(a, b) if a.dim() == 3 else torch._grouped_mm(a, b, offs)
    return result


@_grouped_mm.register_fake
def _(a: Tensor, b: Tensor, offs: Tensor, mean: Optional[int]) -> Tensor:
    return a.new_empty(*a.shape[:-1], b.shape[2])


def _remember_groups(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:3])
    ctx.mean = inputs[3]


def _group_gradients(ctx: Any, of: Tensor) -> tuple[Optional[Tensor], ...]:
    a, b, offs = ctx.saved_tensors
    of, wanted, of_a, of_b = of.contiguous(), ctx.needs_input_grad, None, None
    if a.dim() == 2:
        of_a = _grouped_mm(of, b.mT, offs, ctx.mean) if wanted[0] else None
        of_b = torch._grouped_mm(a.t(), of, offs) if wanted[1] else None
        return of_a, of_b, None, None
    room = torch.arange(a.shape[1], device=a.device)
    is_row = (room < offs[:, None])[:, :, None]
    if wanted[0]:
        of_a = torch.where(is_row, _grouped_mm(of, b.mT, offs, ctx.mean), 0)
    if wanted[1]:
        of_b = torch.where(is_row, a, 0).mT @ torch.where(is_row, of, 0)
    return of_a, of_b, None, None


_grouped_mm.register_autograd(_group_gradients, setup_context=_remember_groups)


def grouped_mm(a: Tensor, b: Tensor, offs: Tensor, mean: Optional[int] = None) -> Tensor:
    """torch._grouped_mm of a[M,K], whose rows are in groups, and b[G,K,N]: rows offs[g - 1] …
    offs[g] - 1 times b[g]. offs[G] are of int32. Rows from offs[G - 1] on are not written. Or of
    a[G,R,K]: the first offs[g] rows of a[g] times b[g]; others are undefined, as torch.bmm computes
    all. `mean` is the number of rows of a group that the caller expects where A has room for more; it
    chooses the kernel only."""
    result: Tensor = _grouped_mm(a, b, offs, mean)
    return result


@torch.library.custom_op("autotune::scaled_grouped_mm", mutates_args=())
def _scaled_grouped_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor,
    out_dtype: torch.dtype,
    use_fast_accum: bool,
    mean: Optional[int],
) -> Tensor:
    if _takes_groups(a, b, offs):
        out = a.new_empty(*a.shape[:-1], b.shape[2], dtype=out_dtype)
        sums = "fast" if use_fast_accum else "promoted"
        if is_grouped(a, b, offs, out, (scale_a, scale_b), sums, mean):
            return out
    result: Tensor = torch._scaled_grouped_mm(
        a, b, scale_a, scale_b, offs, out_dtype=out_dtype, use_fast_accum=use_fast_accum
    )
    return result


@_scaled_grouped_mm.register_fake
def _(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor,
    out_dtype: torch.dtype,
    use_fast_accum: bool,
    mean: Optional[int],
) -> Tensor:
    return a.new_empty(*a.shape[:-1], b.shape[2], dtype=out_dtype)


def scaled_grouped_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor,
    out_dtype: torch.dtype = torch.bfloat16,
    use_fast_accum: bool = False,
    mean: Optional[int] = None,
) -> Tensor:
    """torch._scaled_grouped_mm: grouped_mm() in float8_e4m3fn or float8_e5m2, with scales [M] of
    the rows of a (of a[G,R,K]: [G R]) and [G,N] of the columns of b, each of which lies along k.
    PyTorch has none of a[G,R,K], nor scales of blocks: [M,K/128] of a, whose first stride is 1 and
    the other a multiple of four, and [G,N/128,K/128] of b, whose last stride is 1 and the one before
    a multiple of four, each the least."""
    result: Tensor = _scaled_grouped_mm(
        a, b, scale_a, scale_b, offs, out_dtype, use_fast_accum, mean
    )
    return result


def _is_autocast(matrix: Tensor) -> bool:
    return torch.is_autocast_enabled(matrix.device.type)


def _takes(out: Tensor, shape: Optional[tuple[int, ...]], *inputs: Tensor) -> bool:
    """Whether our operators write this output; PyTorch resizes, casts or complains."""
    if torch.is_grad_enabled() and any(each.requires_grad for each in (*inputs, out)):
        return False
    return (
        shape is not None
        and out.shape == shape
        and all(each.dtype == out.dtype and each.device == out.device for each in inputs)
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
    if not _takes(out, _shape_of(a, b, 2), a, b):
        return torch.mm(a, b, out=out)
    _mm_out(a, b, out)
    return out


def _batched(a: Tensor, b: Tensor, out: Optional[Tensor]) -> Tensor:
    """a[…,M,K] times b[…,K,N], with the same shape in front."""
    shape = (*a.shape[:-1], b.shape[-1])
    first, second = (each.reshape(-1, *each.shape[-2:]) for each in (a, b))
    if out is None:
        result: Tensor = _bmm(first, second).reshape(shape)
        return result
    if not _takes(out, shape, a, b):
        return torch.matmul(a, b, out=out)
    _bmm_out(first, second, out.view(-1, *shape[-2:]))
    return out


def matmul(a: Tensor, b: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    """torch.matmul. A tuned kernel may compute a[…,M,K] times b[K,N], and times b[…,K,N] with the
    same shape in front; for vectors and where shapes are broadcast, torch.matmul does. Raises what
    torch.matmul raises."""
    are_matrices = a.dim() >= 2 and b.dim() >= 2 and a.shape[-1] == b.shape[-2]
    if not are_matrices or a.numel() == 0 or b.numel() == 0 or _is_autocast(a):
        return torch.matmul(a, b) if out is None else torch.matmul(a, b, out=out)
    if b.dim() > 2:
        if a.shape[:-2] == b.shape[:-2]:
            return _batched(a, b, out)
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
    """torch.nn.functional.linear: x[…,K] times the transpose of weight[N,K], plus bias[N], which
    the tuned kernel adds. With `out`, it writes there and returns it."""
    if weight.dim() == 2 and bias is None:
        return matmul(x, weight.t(), out=out)
    is_theirs = bias is None or x.dim() < 2 or x.numel() == 0 or _is_autocast(x)
    rows = x if is_theirs else x.reshape(-1, x.shape[-1])
    if is_theirs or bias is None or not _is_linear(rows, weight, bias):
        result = functional.linear(x, weight, bias)
        return result if out is None else out.copy_(result)
    shape = (*x.shape[:-1], weight.shape[0])
    if out is None:
        return _linear(rows, weight, bias).reshape(shape)
    if not _takes(out, shape, x, weight, bias):
        return out.copy_(functional.linear(x, weight, bias))
    _linear_out(rows, weight, bias, out.view(-1, weight.shape[0]))
    return out
