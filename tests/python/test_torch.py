# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch: on the CPU all are PyTorch's own, with the same results and errors."""

import unittest
import warnings
from unittest import mock

try:
    import torch
except (ImportError, OSError) as error:
    raise unittest.SkipTest(f"PyTorch cannot be imported: {error}")

import autotune
import autotune.torch as tuned
from autotune import _products, _torch_kernels


def on(device, *shape, **options):
    return torch.randn(shape, device=device, dtype=options.pop("dtype", torch.float32), **options)


class Operators(unittest.TestCase):
    device = "cpu"

    def on(self, *shape, **options):
        return on(self.device, *shape, **options)

    def same(self, ours, theirs):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)

    def test_products_are_those_of_pytorch(self):
        a, b, w = self.on(64, 48), self.on(48, 32), self.on(32, 48)
        self.same(tuned.mm(a, b), torch.mm(a, b))
        self.same(tuned.mm(a, w.t()), torch.mm(a, w.t()))
        self.same(tuned.mm(a.t().contiguous().t(), b), torch.mm(a, b))
        self.same(tuned.mm(a[:, ::2], b[::2]), torch.mm(a[:, ::2], b[::2]))
        x = self.on(2, 3, 48)
        self.same(tuned.matmul(x, b), torch.matmul(x, b))
        self.same(tuned.matmul(x, b[:, 0]), torch.matmul(x, b[:, 0]))
        for shape in [(2, 48, 3), (1, 48, 3), (5, 2, 48, 3)]:
            batch = self.on(*shape)
            self.same(tuned.matmul(x, batch), torch.matmul(x, batch))
        heads = self.on(2, 4, 3, 48)
        self.same(tuned.matmul(heads, heads.mT), torch.matmul(heads, heads.mT))
        bias = self.on(32)
        self.same(tuned.linear(x, w), torch.nn.functional.linear(x, w))
        for each in [x, x[0, 0], x[:, :0]]:
            self.same(tuned.linear(each, w, bias), torch.nn.functional.linear(each, w, bias))
        self.same(tuned.linear(x, w, bias[:1]), torch.nn.functional.linear(x, w) + bias[:1])
        self.assertEqual(tuned.mm(a[:0], b).shape, (0, 32))

    def test_sixteen_bits_are_those_of_pytorch(self):
        for dtype in [torch.bfloat16, torch.float16]:
            a, b, bias = (self.on(*shape).to(dtype) for shape in [(64, 48), (48, 32), (32,)])
            right = a.double() @ b.double()
            torch.testing.assert_close(tuned.mm(a, b).double(), right, rtol=2e-2, atol=5e-2)
            torch.testing.assert_close(tuned.linear(a, b.t(), bias).double(),
                                       right + bias.double(), rtol=2e-2, atol=5e-2)

    def test_scaled_products_of_eight_bits_are_those_of_pytorch(self):
        a, b = (self.on(*shape).to(torch.float8_e4m3fn) for shape in [(64, 48), (32, 48)])
        for scales in [((), ()), ((64, 1), (1, 32))]:
            of_a, of_b = (self.on(*shape).abs() for shape in scales)
            right = (a.double() @ b.double().t()) * of_a.double() * of_b.double()
            try:
                ours = tuned.scaled_mm(a, b.t(), of_a, of_b)
            except (RuntimeError, NotImplementedError) as error:
                self.skipTest(f"PyTorch has none here: {error}")
            torch.testing.assert_close(ours.double(), right, rtol=2e-2, atol=5e-2)

    def test_a_result_of_eight_bits_has_a_scale_and_its_largest_magnitude(self):
        a, b = (self.on(*shape).to(torch.float8_e4m3fn) for shape in [(64, 48), (32, 48)])
        of_a, of_b, of_result = (self.on().abs() for _ in range(3))
        right = (a.double() @ b.double().t()) * of_a.double() * of_b.double()
        try:
            ours, amax = tuned.scaled_mm_amax(a, b.t(), of_a, of_b, of_result)
        except (RuntimeError, NotImplementedError) as error:
            self.skipTest(f"PyTorch has none here: {error}")
        scaled = (right * of_result.double()).clamp(-448, 448)
        torch.testing.assert_close(ours.double(), scaled, rtol=0.07, atol=2e-3)
        torch.testing.assert_close(amax.double()[0], right.abs().max(), rtol=5e-3, atol=0)

    def test_groups_are_those_of_pytorch(self):
        offs = torch.tensor([5, 5, 40, 64], dtype=torch.int32, device=self.device)
        a, w = (self.on(*shape).bfloat16() for shape in [(64, 48), (4, 32, 48)])
        plain = w.mT.contiguous()
        right = torch.cat([a[:5] @ plain[0], a[5:40] @ plain[2], a[40:] @ plain[3]])
        try:
            torch._grouped_mm(a, plain, offs)
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            self.skipTest(f"PyTorch has none here: {error}")
        for b in (w.mT, plain):
            torch.testing.assert_close(tuned.grouped_mm(a, b, offs), right, rtol=2e-2, atol=5e-2)
        a.requires_grad_(), plain.requires_grad_()
        tuned.grouped_mm(a, plain, offs).square().sum().backward()
        ours = a.grad, plain.grad
        a.grad = plain.grad = None
        torch._grouped_mm(a, plain, offs).square().sum().backward()
        for gradient, theirs in zip(ours, (a.grad, plain.grad)):
            torch.testing.assert_close(gradient, theirs, rtol=2e-2, atol=0.5)

    def test_padded_groups_have_rows_of_their_own(self):
        counts = torch.tensor([5, 0, 16, 1], dtype=torch.int32, device=self.device)
        a, w = (self.on(*shape).bfloat16().requires_grad_() for shape in [(4, 16, 48), (4, 32, 48)])
        rows = (torch.arange(16, device=self.device) < counts[:, None])[:, :, None]
        right = torch.where(rows, torch.bmm(a, w.mT), 0)
        ours = torch.where(rows, tuned.grouped_mm(a, w.mT, counts, 8), 0)
        torch.testing.assert_close(ours, right, rtol=2e-2, atol=5e-2)
        for mine, other in zip(torch.autograd.grad(ours.square().sum(), (a, w)),
                               torch.autograd.grad(right.square().sum(), (a, w))):
            torch.testing.assert_close(mine, other, rtol=2e-2, atol=0.5)

    def test_scaled_groups_are_those_of_pytorch(self):
        offs = torch.tensor([5, 5, 40, 64], dtype=torch.int32, device=self.device)
        a, w = (self.on(*shape).to(torch.float8_e4m3fn) for shape in [(64, 48), (4, 32, 48)])
        of_rows, of_columns = self.on(64).abs(), self.on(4, 32).abs()
        try:
            right = torch._scaled_grouped_mm(a, w.mT, of_rows, of_columns, offs,
                                             out_dtype=torch.bfloat16)
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            self.skipTest(f"PyTorch has none here: {error}")
        ours = tuned.scaled_grouped_mm(a, w.mT, of_rows, of_columns, offs)
        torch.testing.assert_close(ours, right, rtol=2e-2, atol=5e-2)

    def test_out_is_written_and_returned(self):
        a, b, out = self.on(8, 6), self.on(6, 4), torch.empty(8, 4, device=self.device)
        self.assertIs(tuned.mm(a, b, out=out), out)
        self.same(out, a @ b)
        strided = torch.empty(4, 8, device=self.device).t()
        self.same(tuned.matmul(a, b, out=strided), a @ b)
        self.same(tuned.linear(a, b.t(), out=out.zero_()), a @ b)
        bias = self.on(4)
        self.assertIs(tuned.linear(a, b.t().contiguous(), bias, out=out), out)
        self.same(out, a @ b + bias)
        x, y = self.on(2, 3, 8, 6), self.on(2, 3, 6, 4)
        batch = torch.empty(2, 3, 8, 4, device=self.device)
        self.assertIs(tuned.matmul(x, y, out=batch), batch)
        self.same(batch, x @ y)
        with self.assertRaisesRegex(RuntimeError, "out="):
            tuned.mm(a.requires_grad_(), b, out=out)

    def test_errors_are_those_of_pytorch(self):
        a, b = self.on(8, 6), self.on(5, 4)
        with self.assertRaisesRegex(RuntimeError, "cannot be multiplied"):
            tuned.mm(a, b)
        with self.assertRaisesRegex(RuntimeError, "must be a matrix|dim"):
            tuned.mm(a[0], b)
        with self.assertRaisesRegex(RuntimeError, "cannot be multiplied"):
            tuned.linear(a, b, self.on(5))
        with self.assertRaisesRegex(RuntimeError, "batch|size"):
            tuned.matmul(self.on(2, 8, 6), self.on(3, 6, 4))

    def test_gradients_are_those_of_pytorch(self):
        for name in ["mm", "matmul"]:
            a = self.on(5, 4, dtype=torch.float64, requires_grad=True)
            b = self.on(4, 3, dtype=torch.float64, requires_grad=True)
            self.assertTrue(torch.autograd.gradcheck(getattr(tuned, name), (a, b)))
        x = self.on(2, 5, 4, dtype=torch.float64, requires_grad=True)
        w = self.on(3, 4, dtype=torch.float64, requires_grad=True)
        bias = self.on(3, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(tuned.linear, (x, w)))
        self.assertTrue(torch.autograd.gradcheck(tuned.linear, (x, w, bias)))
        batch = self.on(2, 4, 3, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(tuned.matmul, (x, batch)))
        self.assertTrue(torch.autograd.gradgradcheck(tuned.mm, (a, b)))
        self.assertTrue(torch.autograd.gradgradcheck(tuned.linear, (x, w, bias)))

    def test_the_operators_keep_pytorchs_rules(self):
        a, b = self.on(8, 6, requires_grad=True), self.on(6, 4, requires_grad=True)
        torch.library.opcheck(torch.ops.autotune.mm.default, (a, b))
        out = torch.empty(8, 4, device=self.device)
        torch.library.opcheck(torch.ops.autotune.mm_out.default, (a.detach(), b.detach(), out))
        x, y = self.on(2, 8, 6, requires_grad=True), self.on(2, 6, 4, requires_grad=True)
        torch.library.opcheck(torch.ops.autotune.bmm.default, (x, y))
        w, bias = self.on(4, 6, requires_grad=True), self.on(4, requires_grad=True)
        torch.library.opcheck(torch.ops.autotune.linear.default, (a, w, bias))
        torch.library.opcheck(torch.ops.autotune.linear_out.default,
                              (a.detach(), w.detach(), bias.detach(), out))

    def test_compiled_functions_have_them(self):
        def layer(x, w, bias, v):
            return tuned.matmul(torch.relu(tuned.linear(x, w, bias)), v).sum(0)

        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        x, w, bias, v = self.on(2, 8, 6), self.on(4, 6), self.on(4), self.on(2, 4, 3)
        self.same(compiled(x, w, bias, v), layer(x, w, bias, v))

    def test_autocast_is_pytorchs(self):
        a, b = self.on(8, 6), self.on(6, 4)
        with torch.autocast(self.device, dtype=torch.bfloat16):
            self.assertEqual(tuned.mm(a, b).dtype, torch.bfloat16)
            self.assertEqual(tuned.matmul(a[None], b[None]).dtype, torch.bfloat16)
            self.assertEqual(tuned.linear(a, b.t(), self.on(4)).dtype, torch.bfloat16)


class Kernel:
    buffers = ()
    configuration = "BM=64"

    def __init__(self, workspace_bytes):
        self.workspace_bytes = workspace_bytes


class Target:
    """Stands for an opened gemm in f64, which no other target computes."""

    def __init__(self, origin="exact", baseline="", workspace_bytes=0):
        self.answer = mock.Mock(origin=origin, baseline=baseline, median_ns=5.0, baseline_ns=4.0,
                                configuration={"BM": 64})
        self.lookup = mock.Mock(return_value=self.answer)
        self.prepare = mock.Mock(side_effect=lambda *sizes: Kernel(workspace_bytes))


class Choice(unittest.TestCase):
    product = _products.Product(0, "f64", "NN", (64, 64, 64))

    def kernels_of(self, target, capturing=False):
        kernels = _torch_kernels._Kernels()
        opened = mock.patch.object(_torch_kernels, "open_target", mock.Mock(side_effect=target))
        captured = mock.patch.object(torch.cuda, "is_current_stream_capturing", lambda: capturing)
        for each in (opened, captured):
            each.start()
            self.addCleanup(each.stop)
        return kernels

    def test_each_stream_has_its_kernel(self):
        kernels = self.kernels_of([Target()])
        first = kernels.kernel(self.product, 1)
        self.assertIs(kernels.kernel(self.product, 1), first)
        self.assertIsNot(kernels.kernel(self.product, 2), first)

    def test_each_captured_call_has_its_workspace(self):
        kernels = self.kernels_of([Target(workspace_bytes=8)], capturing=True)
        self.assertIsNot(kernels.kernel(self.product, 1), kernels.kernel(self.product, 1))
        kernels = self.kernels_of([Target()], capturing=True)
        self.assertIs(kernels.kernel(self.product, 1), kernels.kernel(self.product, 1))

    def test_pytorch_computes_what_is_not_known_to_be_faster(self):
        for target in [Target(origin="default"), Target(baseline="cublas cublasSgemm")]:
            kernels = self.kernels_of([target])
            self.assertIsNone(kernels.kernel(self.product, 1))
            self.assertIsNone(kernels.kernel(self.product, 1))
            target.lookup.assert_called_once()
            target.prepare.assert_not_called()

    def test_tf32_is_read_in_either_way(self):
        matmul = torch.backends.cuda.matmul
        self.addCleanup(setattr, matmul, "allow_tf32", False)
        for allowed in (True, False):
            matmul.allow_tf32 = allowed
            self.assertEqual(_torch_kernels._allows_tf32(), allowed)
        if hasattr(matmul, "fp32_precision"):
            matmul.fp32_precision = "tf32"  # allow_tf32 cannot be read now
            self.assertTrue(_torch_kernels._allows_tf32())

    def test_what_fails_is_said_once(self):
        kernels = self.kernels_of(autotune.Error("no such kernel"))
        with self.assertWarnsRegex(UserWarning, "PyTorch computes .*: no such kernel"):
            self.assertIsNone(kernels.kernel(self.product, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIsNone(kernels.kernel(self.product, 1))
            self.assertIsNone(kernels.kernel(self.product._replace(sizes=(8, 8, 8)), 1))


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
class OperatorsOnAGpu(Operators):
    device = "cuda"

    def test_tuned_kernels_compute_what_is_known(self):
        a, b = self.on(512, 512), self.on(512, 512)
        with torch.profiler.profile() as seen:
            self.same(tuned.mm(a, b), torch.mm(a, b))
            torch.cuda.synchronize()
        names = [event.key for event in seen.key_averages()]
        self.assertTrue(any("gemm_" in name for name in names), names)

    def test_a_bias_is_added_in_every_type(self):
        for dtype, bound in [(torch.float32, 1e-3), (torch.bfloat16, 1), (torch.float16, 0.2)]:
            x, w, bias = (self.on(*shape).to(dtype) for shape in [(512, 512), (512, 512), (512,)])
            right = x.double() @ w.double().t() + bias.double()
            result = tuned.linear(x, w, bias)
            torch.testing.assert_close(result.double(), right, rtol=1e-2, atol=bound)

    def test_batches_are_right(self):
        for shape in [(8, 128, 64, 96), (5, 33, 65, 17)]:
            batch, m, k, n = shape
            a, b = self.on(batch, m, k), self.on(batch, k, n)
            self.same(tuned.matmul(a, b), torch.matmul(a, b))
            self.same(tuned.matmul(a.mT, a), torch.matmul(a.mT, a))

    def test_unaligned_addresses_are_pytorchs(self):
        memory = self.on(64 * 64 + 1)
        a, b = memory[1:].view(64, 64), self.on(64, 64)
        self.same(tuned.mm(a, b), torch.mm(a, b))
        torch.cuda.synchronize()

    def test_every_layout_is_right(self):
        for n in [128, 256, 257, 512, 1000]:
            a, b = self.on(n, n), self.on(n, n)
            for first in (a, a.t()):
                for second in (b, b.t()):
                    right = (first.double() @ second.double()).float()
                    torch.testing.assert_close(tuned.mm(first, second), right, rtol=1e-4, atol=1e-3)

    def test_groups_may_have_scales_of_blocks(self):
        if torch.cuda.get_device_capability()[0] != 9:
            self.skipTest("groups need compute capability 9.0")
        a, w = (self.on(*shape).to(torch.float8_e4m3fn) for shape in [(4, 22, 400), (4, 256, 400)])
        of_a, of_b = self.on(4, 88).abs().t(), self.on(4, 2, 4).abs()
        whole_a = a.double() * of_a.double().view(4, 22, 4).repeat_interleave(128, 2)[:, :, :400]
        whole_b = of_b.double().repeat_interleave(128, 1).repeat_interleave(128, 2)[:, :, :400]
        right = whole_a @ (w.double() * whole_b).mT
        counts = torch.tensor([5, 0, 22, 1], dtype=torch.int32, device="cuda")
        padded = tuned.scaled_grouped_mm(a, w.mT, of_a, of_b, counts, mean=7)
        ends = torch.tensor([22, 44, 66, 88], dtype=torch.int32, device="cuda")
        packed = tuned.scaled_grouped_mm(a.view(88, 400), w.mT, of_a, of_b, ends)
        torch.testing.assert_close(packed.view(4, 22, 256).double(), right, rtol=2e-2, atol=0.5)
        for group, count in enumerate(counts.tolist()):
            torch.testing.assert_close(padded[group, :count].double(), right[group, :count],
                                       rtol=2e-2, atol=0.5)

    def test_groups_may_change_between_replays_of_a_graph(self):
        if torch.cuda.get_device_capability()[0] != 9:
            self.skipTest("groups need compute capability 9.0")
        a, w = (self.on(*shape).bfloat16() for shape in [(300, 256), (5, 128, 256)])
        offs = torch.tensor([7, 7, 8, 200, 300], dtype=torch.int32, device="cuda")
        target = _torch_kernels._kernels._target(0, "gemm_grouped",
                                                 {"dtype": "bf16", "layout": "NT"})
        sizes = 5, 128, 256, 300
        target.pin(sizes, target.lookup(*sizes).configuration)
        tuned.grouped_mm(a, w.mT, offs)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = tuned.grouped_mm(a, w.mT, offs)
        for ends in [(7, 7, 8, 200, 300), (0, 300, 300, 300, 300), (60, 120, 121, 123, 250)]:
            offs.copy_(torch.tensor(ends, dtype=torch.int32))
            out.fill_(7)
            graph.replay()
            first = 0
            for group, end in enumerate(ends):
                right = (a[first:end].double() @ w[group].double().t())
                torch.testing.assert_close(out[first:end].double(), right, rtol=2e-2, atol=0.2)
                first = end
            self.assertTrue((out[first:] == 7).all())
        with torch.profiler.profile() as seen:
            tuned.grouped_mm(a, w.mT, offs)
            torch.cuda.synchronize()
        self.assertTrue(any("gemm_grouped" in event.key for event in seen.key_averages()))

    def test_graphs_hold_them(self):
        a, b, out = self.on(512, 512), self.on(512, 512), torch.empty(512, 512, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            tuned.mm(tuned.mm(a, b), b, out=out)
        for _ in range(3):
            a.normal_()
            graph.replay()
            self.same(out / 512, (a @ b) @ b / 512)

    def test_compiled_with_graphs(self):
        a, b = self.on(512, 512), self.on(512, 512)
        compiled = torch.compile(lambda x, y: torch.relu(tuned.mm(x, y)), mode="reduce-overhead")
        for _ in range(4):
            self.same(compiled(a, b), torch.relu(a @ b))

    def test_streams_do_not_disturb_each_other(self):
        a, b = self.on(512, 512), self.on(512, 512)
        right, results = a @ b, []
        streams = [torch.cuda.Stream() for _ in range(4)]
        torch.cuda.synchronize()
        for turn in range(40):
            with torch.cuda.stream(streams[turn % 4]):
                results.append(tuned.mm(a, b))
        torch.cuda.synchronize()
        for result in results:
            self.same(result, right)


if __name__ == "__main__":
    unittest.main()
