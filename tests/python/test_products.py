# SPDX-License-Identifier: Apache-2.0
"""Which kernel computes a product, and that it does, on the host device. No PyTorch."""

import dataclasses
import os
import unittest
from unittest import mock

import numpy as np

import autotune
from autotune._products import (
    Launcher, Problem, Product, has_rival, prepare_fastest, problem_of,
)


def answer(origin="exact", expected_ns=5.0, baseline="", baseline_ns=None, median_ns=5.0):
    return autotune.Answer({"BM": 64}, origin, "valid", "measured", median_ns, None, 1.0, baseline,
                           baseline_ns, expected_ns=expected_ns)  # fmt: skip


class Problems(unittest.TestCase):
    def target_of(self, *product, **more):
        problem = problem_of(Product(0, *product, **more))
        return problem and problem.target

    def test_a_type_has_a_target_or_none(self):
        sizes = (64, 32, 16)
        for dtype in ["f32", "f64", "bf16"]:
            self.assertEqual(self.target_of(dtype, "NT", sizes), "gemm")
            self.assertEqual(self.target_of(dtype, "TN", sizes, batch=5), "gemm")
        for dtype, layout, batch, has_bias in [("f32", "NN", 8, True), ("bf16", "NN", 8, True),
                                               ("f64", "NT", 1, True)]:
            self.assertIsNone(self.target_of(dtype, layout, sizes, batch, has_bias))

    @mock.patch.dict(os.environ, {"AUTOTUNE_BLAS_UNITS": "fp32"})
    def test_tensor_cores_can_be_forbidden_in_f32(self):
        for dtype, units in [("f32", "fp32"), ("f64", None), ("bf16", None)]:
            problem = problem_of(Product(0, dtype, "NT", (64, 32, 16)))
            self.assertEqual(problem.settings.get("units"), units)

    def test_a_product_of_eight_bits_has_scales_and_a_way_to_sum(self):
        product = Product(0, "e4m3", "NT", (64, 32, 16), output="bf16", scales="rows", sums="fast")
        settings = problem_of(product).settings
        self.assertEqual(settings, {"dtype": "e4m3", "layout": "NT", "output": "bf16",
                                    "scales": "rows", "sums": "fast"})  # fmt: skip

    def test_pytorch_has_no_product_with_a_largest_magnitude(self):
        product = Product(0, "e4m3", "NT", (64, 32, 16), output="bf16", scales="tensor")
        self.assertTrue(has_rival(product))
        self.assertFalse(has_rival(product._replace(output="e4m3")))

    def test_groups_are_a_target_of_their_own(self):
        problem = problem_of(Product(0, "bf16", "NT", (64, 32, 16), groups=5))
        self.assertEqual(problem, Problem("gemm_grouped", {"dtype": "bf16", "layout": "NT"},
                                          (5, 32, 16, 64, 64)))  # fmt: skip
        scaled = Product(0, "e4m3", "NT", (64, 32, 16), output="bf16", scales="rows", groups=5)
        self.assertEqual(problem_of(scaled).settings["output"], "bf16")
        padded = Product(0, "bf16", "NN", (64, 32, 16), groups=4, is_padded=True, mean=3)
        self.assertEqual(problem_of(padded).settings["groups"], "padded")
        self.assertEqual(problem_of(padded).sizes, (4, 32, 16, 12, 16))

    def test_a_bias_is_a_setting(self):
        plain = Product(0, "f32", "NT", (64, 32, 16))
        biased = plain._replace(has_bias=True)
        settings = {"dtype": "f32", "layout": "NT", "epilogue": "bias"}
        self.assertEqual(problem_of(biased), Problem("gemm", settings, (64, 32, 16, 1)))


class Fastest(unittest.TestCase):
    """A stand-in for gemm."""

    product = Product(0, "f32", "NT", (64, 32, 16))

    def is_taken(self, known, compiled="BM=64"):
        """Whether its kernel is taken, not PyTorch's."""
        kernel = mock.Mock(configuration=compiled, buffers=[])
        gemm = mock.Mock(lookup=mock.Mock(return_value=known),
                         prepare=mock.Mock(return_value=kernel))
        return prepare_fastest(self.product, lambda *_: gemm) is not None

    def test_what_is_known_to_be_faster_is_taken(self):
        self.assertTrue(self.is_taken(answer()))
        self.assertFalse(self.is_taken(answer(baseline="cublas", baseline_ns=3.0)))
        self.assertFalse(self.is_taken(answer("default")))
        self.assertFalse(self.is_taken(answer(), compiled="BM=32"))


class Known:
    """A target of the host device whose default counts as tuned."""

    def __init__(self, target):
        self.target = target
        self.prepare = target.prepare

    def lookup(self, *sizes):
        return dataclasses.replace(self.target.lookup(*sizes), origin="exact")


class OnTheHost(unittest.TestCase):
    def opened(self, ordinal, name, settings):
        target = autotune.open(name, device="host", shipped_database="", **settings)
        self.addCleanup(target.close)
        return Known(target)

    def expect_right(self, product, tolerance=1e-4):
        (m, n, k), batch = product.sizes, product.batch
        dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[product.dtype]
        random = np.random.default_rng(1)

        def operand(is_plain, rows, columns):
            shape = (batch, rows, columns) if is_plain else (batch, columns, rows)
            memory = (random.random(shape) - 0.5).astype(dtype)
            return memory, memory if is_plain else memory.swapaxes(1, 2)

        a, op_a = operand(product.layout[0] == "N", m, k)
        b, op_b = operand(product.layout[1] == "N", k, n)
        bias = random.random(n).astype(dtype)
        d = np.full((batch, m, n), np.nan, dtype)
        launcher = prepare_fastest(product, self.opened)
        self.assertIsInstance(launcher, Launcher)
        arrays = {"A": a, "B": b, "bias": bias, "D": d}
        launcher.launch({name: each.ctypes.data for name, each in arrays.items()}, 0)
        right = op_a.astype(float) @ op_b.astype(float) + (bias if product.has_bias else 0)
        np.testing.assert_allclose(d, right, rtol=tolerance, atol=tolerance)

    def test_products_are_right(self):
        self.expect_right(Product(-1, "f32", "NN", (24, 20, 36)))
        self.expect_right(Product(-1, "f64", "TN", (24, 20, 36)))
        self.expect_right(Product(-1, "f32", "NN", (24, 20, 36), batch=3))
        self.expect_right(Product(-1, "f32", "TT", (24, 20, 36), batch=2))

    def test_groups_are_right(self):
        random, ends = np.random.default_rng(2), np.array([3, 3, 20], np.int32)
        a, b = (random.random(shape).astype(np.float16) for shape in [(24, 48), (3, 16, 48)])
        d = np.full((24, 16), np.nan, np.float16)
        launcher = prepare_fastest(Product(-1, "f16", "NT", (24, 16, 48), groups=3), self.opened)
        arrays = {"A": a, "B": b, "offsets": ends, "D": d}
        launcher.launch({name: each.ctypes.data for name, each in arrays.items()}, 0)
        for first, end, group in [(0, 3, 0), (3, 20, 2)]:
            right = a[first:end].astype(float) @ b[group].astype(float).T
            np.testing.assert_allclose(d[first:end], right, rtol=1e-2)
        self.assertTrue(np.isnan(d[20:]).all())

    def test_padded_groups_have_rows_of_their_own(self):
        random, counts = np.random.default_rng(3), np.array([5, 0, 8], np.int32)
        a, b = (random.random(shape).astype(np.float16) for shape in [(3, 8, 48), (3, 16, 48)])
        d = np.full((3, 8, 16), np.nan, np.float16)
        product = Product(-1, "f16", "NT", (24, 16, 48), groups=3, is_padded=True, mean=4)
        launcher = prepare_fastest(product, self.opened)
        arrays = {"A": a, "B": b, "offsets": counts, "D": d}
        launcher.launch({name: each.ctypes.data for name, each in arrays.items()}, 0)
        for group, count in enumerate(counts):
            right = a[group, :count].astype(float) @ b[group].astype(float).T
            np.testing.assert_allclose(d[group, :count], right, rtol=1e-2)
            self.assertTrue(np.isnan(d[group, count:]).all())

    def test_groups_have_factors_of_blocks_though_nothing_is_tuned(self):
        random, ends = np.random.default_rng(4), np.array([3, 3, 20], np.int32)
        values, codes = np.array([0, 1, -1, 2, 0.5]), np.array([0, 0x38, 0xB8, 0x40, 0x30], np.uint8)
        a, b = (random.integers(0, 5, shape) for shape in [(22, 176), (3, 256, 176)])
        of_a, of_b = np.full((2, 24), 7, np.float32), np.full((3, 2, 4), 7, np.float32)
        of_a[:, :22], of_b[:, :, :2] = random.random((2, 22)), random.random((3, 2, 2))
        d = np.full((22, 256), np.nan, np.float16)
        product = Product(-1, "e4m3", "NT", (22, 256, 176), output="f16", scales="blocks", groups=3)
        launcher = prepare_fastest(product, lambda *asked: self.opened(*asked).target)
        arrays = {"A": codes[a], "B": codes[b], "scale_a": of_a, "scale_b": of_b, "offsets": ends,
                  "D": d}
        launcher.launch({name: each.ctypes.data for name, each in arrays.items()}, 0)
        for first, end, group in [(0, 3, 0), (3, 20, 2)]:
            own = values[a[first:end]] * np.repeat(of_a[:, first:end].T, 128, axis=1)[:, :176]
            other = values[b[group]] * of_b[group, :, :2].repeat(128, 0).repeat(128, 1)[:, :176]
            np.testing.assert_allclose(d[first:end], own @ other.T, rtol=1e-2, atol=1e-2)

    def test_a_bias_is_added(self):
        self.expect_right(Product(-1, "f32", "NT", (24, 20, 36), has_bias=True))
        self.expect_right(Product(-1, "f32", "TN", (24, 20, 36), has_bias=True))

    def test_sixteen_bits_are_right(self):
        self.expect_right(Product(-1, "f16", "NT", (16, 24, 32)), 1e-2)
        self.expect_right(Product(-1, "f16", "NN", (16, 24, 32), has_bias=True), 1e-2)


if __name__ == "__main__":
    unittest.main()
