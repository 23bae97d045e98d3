# SPDX-License-Identifier: Apache-2.0
"""Which kernel computes a product, and that it does, on the host device. No PyTorch."""

import dataclasses
import os
import unittest
from unittest import mock

import numpy as np

import autotune
from autotune._products import (
    Launcher, Problem, Product, launched_problem, prepare_fastest, tuned_problems,
)


def answer(origin="exact", expected_ns=5.0, baseline="", baseline_ns=None, median_ns=5.0):
    return autotune.Answer({"BM": 64}, origin, "valid", "measured", median_ns, None, 1.0, baseline,
                           baseline_ns, expected_ns=expected_ns)  # fmt: skip


class Problems(unittest.TestCase):
    def targets_of(self, *product, **more):
        return [each.target for each in tuned_problems(Product(0, *product, **more))]

    def test_targets_are_asked_in_turn(self):
        sizes = (64, 32, 16)
        self.assertEqual(self.targets_of("f32", "NT", sizes), ["gemm", "gemm_split"])
        self.assertEqual(self.targets_of("f64", "NT", sizes), ["gemm"])
        self.assertEqual(self.targets_of("bf16", "TN", sizes), ["gemm16"])
        self.assertEqual(self.targets_of("bf16", "TN", sizes, batch=5), ["gemm16"])
        self.assertEqual(self.targets_of("f32", "NT", sizes, batch=5), ["gemm", "gemm_split"])
        self.assertEqual(self.targets_of("f64", "NT", sizes, batch=8), ["gemm"])
        for dtype, layout, batch, has_bias in [("f32", "NN", 8, True), ("bf16", "NN", 8, True),
                                               ("f64", "NT", 1, True)]:
            self.assertEqual(self.targets_of(dtype, layout, sizes, batch, has_bias), [])

    @mock.patch.dict(os.environ, {"AUTOTUNE_BLAS_UNITS": "fp32"})
    def test_tensor_cores_can_be_forbidden_in_f32(self):
        sizes = (64, 32, 16)
        self.assertEqual(self.targets_of("f32", "NT", sizes), ["gemm"])
        self.assertEqual(self.targets_of("f32", "NN", sizes, batch=5), ["gemm"])
        self.assertEqual(self.targets_of("bf16", "NN", sizes), ["gemm16"])

    def test_a_bias_is_of_a_target_that_has_it(self):
        plain = Product(0, "f32", "NT", (64, 32, 16))
        biased = plain._replace(has_bias=True)
        gemm, split = tuned_problems(plain)
        self.assertEqual(tuned_problems(biased), [gemm, split])
        self.assertEqual(launched_problem(plain, split), split)
        settings, sizes = {"layout": "NT", "epilogue": "bias"}, (64, 32, 16, 1)
        self.assertEqual(launched_problem(biased, gemm),
                         Problem("gemm", {"dtype": "f32", **settings}, sizes))
        self.assertEqual(launched_problem(biased, split), Problem("gemm_split", settings, sizes))


class Fastest(unittest.TestCase):
    """Stand-ins for gemm and gemm_split."""

    product = Product(0, "f32", "NT", (64, 32, 16))

    def choose(self, gemm, split, is_split=False, compiled="BM=64"):
        """The name of the target whose kernel is taken; None if PyTorch computes the product."""

        def opened(ordinal, name, settings):
            kernel = mock.Mock(configuration=compiled, buffers=[])
            kernel.target_name = name
            return mock.Mock(lookup=mock.Mock(return_value=gemm if name == "gemm" else split),
                             is_faster=mock.Mock(return_value=is_split),
                             prepare=mock.Mock(return_value=kernel))

        launcher = prepare_fastest(self.product, opened)
        return launcher and launcher.kernel.target_name

    def test_the_faster_target_answers(self):
        self.assertEqual(self.choose(answer(), answer()), "gemm")
        self.assertEqual(self.choose(answer(), answer(), is_split=True), "gemm_split")
        theirs = answer(baseline="cublas", baseline_ns=3.0)
        self.assertIsNone(self.choose(theirs, answer()))
        self.assertIsNone(self.choose(answer(), theirs, is_split=True))
        self.assertEqual(self.choose(theirs, answer(), is_split=True), "gemm_split")

    def test_what_is_not_known_is_not_taken(self):
        self.assertIsNone(self.choose(answer("default"), answer()))
        self.assertIsNone(self.choose(answer(), answer(), compiled="BM=32"))


class Known:
    """A target of the host device whose default counts as tuned."""

    def __init__(self, target):
        self.target = target
        self.prepare, self.pin = target.prepare, target.pin

    def lookup(self, *sizes):
        return dataclasses.replace(self.target.lookup(*sizes), origin="exact")

    def is_faster(self, sizes, other, other_sizes):
        return self.target.is_faster(sizes, other.target, other_sizes)


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

    def test_a_bias_is_added(self):
        self.expect_right(Product(-1, "f32", "NT", (24, 20, 36), has_bias=True))
        self.expect_right(Product(-1, "f32", "TN", (24, 20, 36), has_bias=True))

    def test_sixteen_bits_are_right(self):
        self.expect_right(Product(-1, "f16", "NT", (16, 24, 32)), 1e-2)
        self.expect_right(Product(-1, "f16", "NN", (16, 24, 32), has_bias=True), 1e-2)


if __name__ == "__main__":
    unittest.main()
