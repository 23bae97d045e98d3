# SPDX-License-Identifier: Apache-2.0
"""Launches on a GPU, with arrays of PyTorch and CuPy. Skipped, with the reason, without them."""

import os
import tempfile
import unittest

import autotune


def library(name):
    """The module; skips the test without it or without a GPU."""
    try:
        module = __import__(name)
        there = module.cuda.is_available()
    except (ImportError, OSError) as error:
        raise unittest.SkipTest(f"{name} cannot be imported: {error}")
    if not there:
        raise unittest.SkipTest("there is no GPU")
    return module


class Earning(unittest.TestCase):
    def test_launches_of_an_open_answer_are_timed(self):
        with tempfile.TemporaryDirectory() as folder:
            for earn in (False, True):
                nothing = {"user_database": os.path.join(folder, "t.db"), "shipped_database": ""}
                try:
                    gemm = autotune.open("gemm", earn=earn, **nothing)
                except autotune.NoDeviceError:
                    self.skipTest("there is no GPU")
                with gemm:
                    self.assertEqual(gemm.prepare(1000, 999, 998).earns, earn)


class OnTensors(unittest.TestCase):
    def setUp(self):
        self.torch = library("torch")
        self.gemm = autotune.open("gemm", scale="beta")
        self.addCleanup(self.gemm.close)
        self.a, self.b, self.c, self.d = (self.torch.randn(256, 256, device="cuda")
                                          for _ in range(4))

    def expect(self, alpha, beta):
        right = alpha * self.a.double() @ self.b.double() + beta * self.c.double()
        self.torch.testing.assert_close(self.d.double(), right, rtol=1e-4, atol=1e-3)

    def test_launches_on_the_current_stream(self):
        kernel = self.gemm.prepare(256, 256, 256)
        stream = self.torch.cuda.Stream()
        stream.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(stream):
            self.a.mul_(2)
            kernel.launch(self.a, self.b, self.c, self.d, alpha=0.5, beta=2)
        stream.synchronize()
        self.expect(0.5, 2)
        kernel.launch(self.a, self.b, self.c, self.d, stream=stream, alpha=1, beta=0)
        stream.synchronize()
        self.expect(1, 0)

    def test_is_captured_into_a_graph(self):
        kernel, graph = self.gemm.prepare(256, 256, 256), self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            kernel.launch(self.a, self.b, self.c, self.d, alpha=1, beta=1)
        self.a.normal_()
        graph.replay()
        self.torch.cuda.synchronize()
        self.expect(1, 1)

    def test_takes_dlpack_and_the_cuda_array_interface(self):
        class Dlpack:
            def __init__(self, inner):
                self.__dlpack__, self.__dlpack_device__ = inner.__dlpack__, inner.__dlpack_device__

        class Interface:
            def __init__(self, inner):
                self.__cuda_array_interface__ = inner.__cuda_array_interface__

        kernel = self.gemm.prepare(256, 256, 256)
        kernel.launch(Dlpack(self.a), Interface(self.b), self.c, self.d, alpha=1, beta=1)
        self.torch.cuda.synchronize()
        self.expect(1, 1)

    def test_waits_for_the_stream_of_an_array(self):
        torch, producer = self.torch, self.torch.cuda.Stream()

        class Interface:
            def __init__(self, inner):
                names = inner.__cuda_array_interface__
                stream = producer.cuda_stream
                self.__cuda_array_interface__ = {**names, "version": 3, "stream": stream}

        kernel = self.gemm.prepare(256, 256, 256)
        torch.cuda.synchronize()
        with torch.cuda.stream(producer):
            torch.cuda._sleep(300_000_000)  # cycles
            self.a.normal_()
        kernel.launch(Interface(self.a), self.b, self.c, self.d, alpha=1, beta=1)
        torch.cuda.synchronize()
        self.expect(1, 1)

    def test_refuses_host_memory(self):
        kernel = self.gemm.prepare(256, 256, 256)
        with self.assertRaisesRegex(autotune.UsageError, "A is in host memory, and the kernel"):
            kernel.launch(self.a.cpu(), self.b, self.c, self.d)


class OnCuPy(unittest.TestCase):
    def test_launches_on_its_current_stream(self):
        cupy = library("cupy")
        a, b, d = (cupy.random.random((256, 256), dtype=cupy.float32) for _ in range(3))
        with autotune.open("gemm") as gemm, cupy.cuda.Stream(non_blocking=True) as stream:
            kernel = gemm.prepare(256, 256, 256)
            kernel.launch(a, b, None, d)
            stream.synchronize()
        cupy.testing.assert_allclose(d, a @ b, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
