#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference.py N A B C: writes the product in double precision, with nothing but Python."""
import array
import sys

n = int(sys.argv[1])
a, b = (array.array("f", open(path, "rb").read()) for path in sys.argv[2:4])
columns = [b[j::n] for j in range(n)]
c = array.array("d", (sum(x * y for x, y in zip(a[i * n:(i + 1) * n], column))
                      for i in range(n) for column in columns))
open(sys.argv[4], "wb").write(c.tobytes())
