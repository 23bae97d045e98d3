# SPDX-License-Identifier: Apache-2.0
# A program for Kernel Tuner, in the style of its examples.
from collections import OrderedDict

import numpy
from kernel_tuner import tune_kernel


def tune():
    with open("axpy.cu") as file:
        source = file.read()
    size = 100000
    n = numpy.int32(size)
    x = numpy.absolute(0.5 * numpy.random.randn(size)).astype(numpy.float32)
    y = numpy.zeros_like(x)
    a = numpy.float32(1.5)
    args = [y, x, a, n]
    tune_params = OrderedDict()
    tune_params["block_size_x"] = [32 * i for i in range(1, 9)]
    tune_params["items"] = [2**i for i in range(3)]
    restrict = ["block_size_x * items <= 512", "items in (1, 2, 4)"]
    first = tune_kernel("axpy", source, size, args, tune_params,
                        grid_div_x=["block_size_x", "items"], restrictions=restrict,
                        answer=[a * x + 1, None, None, None])
    tune_params["items"] = [max(tune_params["items"])]
    args = [y]
    return first, tune_kernel("axpy", source, size, args, tune_params)


if __name__ == "__main__":
    tune()
