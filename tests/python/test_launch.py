# SPDX-License-Identifier: Apache-2.0
"""Targets and kernels on the host device, with arrays of several kinds."""

import array
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np

import autotune
from autotune import _streams
from autotune._arrays import view


class EightBits(unittest.TestCase):
    """Numbers of 8 bits are their codes where a library lacks them."""

    def test_a_product_of_codes_has_scales_of_rows_and_columns(self):
        one, two, minus_half = 0x38, 0x40, 0xB0
        a = np.full((3, 32), one, np.uint8)
        a[1] = two
        b = np.full((8, 32), minus_half, np.uint8)
        rows, columns = np.float32([1, 10, 100]), np.arange(8, dtype=np.float32)
        d = np.full((3, 8), np.nan, np.float32)
        settings = {"dtype": "e4m3", "layout": "NT", "scales": "rows", "output": "f32"}
        with autotune.open("gemm", device="host", **settings) as target:
            kernel = target.prepare(3, 8, 32)
            names = [each.name for each in kernel.buffers]
            self.assertEqual(names, ["A", "B", "C", "scale_a", "scale_b", "D"])
            kernel.launch(a, b, None, rows, columns, d)
            right = -0.5 * 32 * np.outer([1, 2, 1] * rows, columns)
            np.testing.assert_array_equal(d, right)
            with self.assertRaisesRegex(autotune.UsageError, "elements of i8, not e4m3"):
                kernel.launch(a.view(np.int8), b, None, rows, columns, d)

    def test_a_result_of_codes_has_a_scale_and_its_largest_magnitude(self):
        one, minus_half, minus_four = 0x38, 0xB0, 0xC8
        a, b = np.full((3, 32), one, np.uint8), np.full((8, 32), minus_half, np.uint8)
        d, amax = np.zeros((3, 8), np.uint8), np.float32([np.nan])
        settings = {"dtype": "e4m3", "layout": "NT", "scales": "none", "output": "e4m3"}
        with autotune.open("gemm", device="host", **settings) as target:
            kernel = target.prepare(3, 8, 32)
            names = [each.name for each in kernel.buffers]
            self.assertEqual(names, ["A", "B", "C", "scale_d", "D", "amax"])
            for _ in range(2):
                kernel.launch(a, b, None, np.float32([0.25]), d, amax)
                np.testing.assert_array_equal(d, minus_four)
                self.assertEqual(amax[0], 16)


class Gemm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = autotune.open("gemm", device="host", scale="beta")
        cls.kernel = cls.target.prepare(4, 6, 5)
        random = np.random.default_rng(1)
        cls.a = random.random((4, 5), np.float32)
        cls.b = random.random((5, 6), np.float32)
        cls.c = random.random((4, 6), np.float32)

    @classmethod
    def tearDownClass(cls):
        cls.target.close()

    def setUp(self):
        self.d = np.full((4, 6), np.nan, np.float32)

    def refuses(self, said, *arrays, **options):
        with self.assertRaisesRegex(autotune.UsageError, said) as caught:
            self.kernel.launch(*arrays, **options)
        self.assertIn("gemm M=4, N=6, K=5", str(caught.exception))

    def test_says_what_it_takes(self):
        self.assertEqual(self.target.sizes[:4], ("M", "N", "K", "batch"))
        self.assertEqual(self.target.place, -1)
        self.assertEqual([each.name for each in self.kernel.buffers], ["A", "B", "C", "D"])
        self.assertEqual(self.kernel.buffers[3], autotune.Buffer("D", "f32", 24, "written"))
        self.assertEqual(self.kernel.scalars, {"alpha": 3.0, "beta": -2.0})
        self.assertEqual(self.kernel.engine, ("tuned kernel", ""))
        self.assertGreater(len(self.kernel.binary), 1000)
        self.assertEqual(len(self.kernel.geometry), 1)

    def test_launches_on_numpy_with_scalars(self):
        self.kernel.launch(self.a, self.b, self.c, self.d)
        np.testing.assert_allclose(self.d, 3 * self.a @ self.b - 2 * self.c, rtol=1e-5)
        self.kernel(self.a, self.b, self.c, self.d, alpha=0.5, beta=0)
        np.testing.assert_allclose(self.d, 0.5 * self.a @ self.b, rtol=1e-5)

    def test_one_of_two_answers_may_be_faster(self):
        with autotune.open("gemm", device="host", units="fp32") as fp32:
            self.assertFalse(self.target.is_faster((4, 6, 5), fp32, (4, 6, 5)))  # neither is tuned

    def test_nothing_is_timed_where_there_is_no_library(self):
        with autotune.open("gemm", device="host", earn=True) as target:
            self.assertFalse(target.prepare(4, 6, 5).earns)

    def test_a_constant_buffer_may_change_when_the_program_says_so(self):
        with self.target.prepare(4, 6, 5) as kernel:
            kernel.hold_constant("B")
            kernel.launch(self.a, self.b, self.c, self.d, alpha=1, beta=0)
            b = self.b.copy()
            kernel.launch(self.a, b, self.c, self.d, alpha=1, beta=0)
            b *= 2
            kernel.invalidate()
            kernel.launch(self.a, b, self.c, self.d, alpha=1, beta=0)
            np.testing.assert_allclose(self.d, 2 * self.a @ self.b, rtol=1e-5)
            kernel.hold_constant(None)
            with self.assertRaisesRegex(autotune.UsageError, "no_buffer"):
                kernel.hold_constant("no_buffer")

    def test_launches_on_buffers_and_on_dlpack(self):
        class OnlyDlpack:
            def __init__(self, inner):
                self.__dlpack__, self.__dlpack_device__ = inner.__dlpack__, inner.__dlpack_device__

        d = array.array("f", [0] * 24)
        self.kernel.launch(memoryview(self.a), OnlyDlpack(self.b), self.c, d, alpha=1, beta=0)
        np.testing.assert_allclose(np.array(d).reshape(4, 6), self.a @ self.b, rtol=1e-5)

    def test_refuses_what_does_not_fit(self):
        a, b, c, d = self.a, self.b, self.c, self.d
        self.refuses(r"takes 4 arrays \(A, B, C, D\), not 3", a, b, d)
        self.refuses("A has elements of f64, not f32: convert it", a.astype("f8"), b, c, d)
        self.refuses("B is not contiguous in row-major order", a, np.asfortranarray(b), c, d)
        self.refuses("A has 15 elements, not 20: prepare", a[:3], b, c, d)
        self.refuses("B: a list is not an array", a, [1.0], c, d)
        self.refuses("D is written and cannot be None", a, b, c, None)
        self.refuses("C is read and cannot be None", a, b, None, d)
        self.refuses("the scalar alpha='big' is not a number", a, b, c, d, alpha="big")
        self.refuses("has no scalar gamma; its scalars: alpha, beta", a, b, c, d, gamma=1)
        fixed = d.copy()
        fixed.flags.writeable = False
        self.refuses("D is read-only, and the kernel writes it", a, b, c, fixed)
        bytes_of_d = bytes(96)
        self.refuses("D has elements of u8, not f32", a, b, c, bytes_of_d)

    def test_knows_every_type_of_elements(self):
        for kind in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
            elements = np.zeros(3, kind)
            expected = f"{kind[0]}{8 * int(kind[1])}"
            self.assertEqual(view(elements).type, expected)
            self.assertEqual(view(memoryview(elements)).type, expected)

    def test_an_array_of_a_gpu_is_refused(self):
        class OnAGpu:
            __cuda_array_interface__ = {"data": (4096, False), "shape": (4, 5), "typestr": "<f4"}

        self.refuses("A is in a GPU's memory, and the kernel runs on", OnAGpu(), self.b, self.c,
                     self.d)

    def test_what_the_settings_leave_unused_may_be_none(self):
        with autotune.open("gemm", device="host") as plain, plain.prepare(4, 6, 5) as kernel:
            kernel.launch(self.a, self.b, None, self.d)
        np.testing.assert_allclose(self.d, self.a @ self.b, rtol=1e-5)

    def test_what_is_closed_says_so(self):
        target = autotune.open("gemm", device="host")
        kernel = target.prepare(4, 6, 5)
        target.close()
        target.close()
        with self.assertRaisesRegex(autotune.ClosedError, "is closed: prepare it again"):
            kernel.launch(self.a, self.b, None, self.d)
        with self.assertRaisesRegex(autotune.ClosedError, "gemm is closed: open it again"):
            target.lookup(4, 6, 5)


class Streams(unittest.TestCase):
    """With a driver that notes what it is asked for."""

    def calls_for(self, producers, stream, captured=0):
        calls = []

        def driver(name, *arguments):
            calls.append(name)
            if name == "cuStreamIsCapturing":
                arguments[1]._obj.value = captured

        with mock.patch.object(_streams, "_Driver", lambda: driver):
            _streams.wait_for(producers, stream, 0)
        return calls

    def test_an_array_names_the_stream_that_writes_it(self):
        class Array:
            __cuda_array_interface__ = {"data": (4096, False), "shape": (4,), "typestr": "<f4",
                                        "version": 3, "stream": 7}

        self.assertEqual(view(Array()).stream, 7)

    def test_a_launch_waits_for_other_streams_only(self):
        self.assertEqual(self.calls_for(set(), 5), [])
        self.assertEqual(self.calls_for({5}, 5), [])
        self.assertEqual(self.calls_for({1}, 0), [])  # two names of the default stream
        for producers, stream in [({7}, 5), ({7}, 0), ({1, 5}, 5)]:
            calls = self.calls_for(producers, stream)
            self.assertEqual(calls.count("cuStreamWaitEvent"), 1, calls)
            self.assertEqual(calls.count("cuEventDestroy_v2"), 1, calls)
        self.assertEqual(self.calls_for({7, 8}, 5).count("cuStreamWaitEvent"), 2)

    def test_a_captured_stream_waits_for_nothing_outside(self):
        self.assertNotIn("cuStreamWaitEvent", self.calls_for({7}, 5, captured=1))


class Open(unittest.TestCase):
    def test_looks_up_by_order_and_by_name(self):
        with autotune.open("gemm", device="host", shipped_database="") as gemm:
            answer = gemm.lookup(4, 6, 5)
            self.assertEqual(answer, gemm.lookup(K=5, M=4, N=6))
            self.assertEqual((answer.origin, answer.median_ns), ("default", None))
            self.assertEqual(answer.configuration["KERNEL"], "tiled")
            self.assertIn("gemm M=4 N=6 K=5 batch=1 on", gemm.explain(4, 6, 5))
            gemm.pin((4, 6, 5), {**answer.configuration, "BLOCK_SIZE": 8})
            self.assertEqual(gemm.lookup(4, 6, 5).provenance, "pinned")
            gemm.refresh()
            self.assertEqual(gemm.lookup(4, 6, 5), answer)
            for sizes, named, said in [((4, 6), {}, "gemm has 3 to 15 sizes, not 2"),
                                       ((), {"M": 4}, "has the sizes M, N, K, batch, .*, not M"),
                                       ((4,), {"K": 5}, "all sizes in order, or all by name"),
                                       ((4, 6, 5.5), {}, "the size 5.5 is not an integer"),
                                       ((4, 6, 1 << 70), {}, "is 2\\^63 or more"),
                                       ((4, 6, 0), {}, "0")]:
                with self.assertRaisesRegex(autotune.UsageError, said):
                    gemm.lookup(*sizes, **named)

    def test_free_sizes_may_be_given_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "copy.cu").write_text(
                'extern "C" __global__ void copy(const float* x, float* y, int rows, int columns,\n'
                "                                long long ldx, long long ldy) {\n"
                "  for (int i = 0; i < rows * columns; ++i)\n"
                "    y[i / columns * ldy + i % columns] = x[i / columns * ldx + i % columns];\n}\n"
            )
            manifest = pathlib.Path(folder) / "copy.target.toml"
            manifest.write_text(
                'manifest = 2\nname = "copy"\nsource = "copy.cu"\nsizes = ["rows", "columns"]\n'
                'free = { ldx = { default = "columns" }, ldy = { default = "columns" } }\n'
                'parameters.UNUSED = [1]\nreference.configuration = "default"\n'
                'arguments.x = { type = "f32", dims = ["columns", "rows"], strides = ["ldx"] }\n'
                'arguments.y = { type = "f32", dims = ["columns", "rows"], strides = ["ldy"], '
                'role = "output" }\n'
                'kernels.copy = { grid = 1, block = 1, '
                'arguments = ["x", "y", "rows", "columns", "ldx", "ldy"] }\n'
            )
            with autotune.open(manifest, device="host") as copy:
                self.assertEqual(copy.sizes, ("rows", "columns", "ldx", "ldy"))
                x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(5, np.float32)
                copy.prepare(rows=2, columns=2, ldy=3)(x, y)
                np.testing.assert_equal(y, [1, 2, 0, 3, 4])
                copy.prepare(2, 2, 0)(x[:2], y[:4])
                np.testing.assert_equal(y, [1, 2, 1, 2, 4])

    def test_refuses_what_it_does_not_know(self):
        for kind, said, target, options in [
            (autotune.UsageError, "there is no target gem .*gemm", "gem", {}),
            (autotune.UsageError, "colour", "gemm", {"device": "host", "colour": 1}),
            (autotune.UsageError, "f99", "gemm", {"device": "host", "dtype": "f99"}),
            (autotune.UsageError, "policy", "gemm", {"device": "host", "policy": "x"}),
            (autotune.NoDeviceError, "no device \"NVIDIA 9\"", "gemm", {"device": "NVIDIA 9"}),
        ]:
            with self.assertRaisesRegex(kind, said):
                autotune.open(target, **options)

    def test_a_damaged_database_is_a_warning(self):
        with tempfile.NamedTemporaryFile(suffix=".db") as damaged:
            damaged.write(b"x" * 5000)
            damaged.flush()
            with autotune.open("gemm", device="host", site_database=damaged.name) as gemm:
                self.assertIn(f"{damaged.name}: is not a database", "\n".join(gemm.warnings))
                self.assertEqual(gemm.lookup(4, 6, 5).origin, "default")

    def test_a_device_that_is_not_here_launches_nothing(self):
        try:
            target = autotune.open("gemm", device="NVIDIA H200")
        except autotune.NoDeviceError as error:
            self.skipTest(f"nothing is shipped for it: {error}")
        with target:
            if target.place >= 0:
                self.skipTest("it is here")
            try:
                kernel = target.prepare(64, 64, 64)
            except autotune.Error as error:
                self.skipTest(f"built without CUDA: {error}")
            self.assertTrue(kernel.binary.startswith(b"\x7fELF"))
            with self.assertRaisesRegex(autotune.NoDeviceError, "NVIDIA H200 is not here"):
                kernel.launch(None, None, None, None)
