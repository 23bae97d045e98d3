#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes vector_add at one size, looks the result up and launches it. Needs the wheel and NumPy.

usage: tune_and_launch.py [N]

Runs on this computer's processor, so that it needs no GPU. On a GPU, leave device= out and pass
arrays of CuPy or tensors of PyTorch (docs/python.md)."""

import sys

import numpy as np

import autotune


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 65536
    report = autotune.tune("vector_add", n, device="host", budget=8)
    for best in report.results:
        print(f"{best.problem}: {best.median_ns / 1e3:.2f} us, {best.configuration}")
    a, b, c = np.ones(n, np.float32), np.arange(n, dtype=np.float32), np.empty(n, np.float32)
    with autotune.open("vector_add", device="host") as target:
        print(f"lookup: {target.lookup(n).origin}")
        target.prepare(n).launch(a, b, c)
    print("right" if np.array_equal(c, a + b) else "wrong")


if __name__ == "__main__":
    try:
        main()
    except autotune.Error as error:
        sys.exit(f"error: {error}")
