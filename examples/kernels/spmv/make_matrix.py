#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# usage: make_matrix.py ROWS [FOLDER]
# Writes a sparse ROWS x ROWS matrix in CSR as starts.npy, columns.npy and values.npy, and prints its
# sizes as `--sizes` takes them. Rows have 1 to 255 entries, most of them few, as in a web graph:
# half of the entries lie near the diagonal, the others anywhere. The same ROWS give the same matrix.
import array
import pathlib
import random
import sys


def write_npy(path, kind, numbers):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        numbers.tofile(file)


def row_of(row, rows, draw):
    count = min(rows, 255, int(4 / (1 - draw.random()) ** 0.6))
    near = {min(rows - 1, max(0, row + draw.randrange(-64, 65))) for _ in range(count // 2 + 1)}
    return sorted(near | {draw.randrange(rows) for _ in range(count - len(near))})


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: make_matrix.py ROWS [FOLDER]")
    rows = int(sys.argv[1])
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    draw = random.Random(7)
    starts, columns = array.array("i", [0]), array.array("i")
    for row in range(rows):
        columns.extend(row_of(row, rows, draw))
        starts.append(len(columns))
    values = array.array("f", (draw.uniform(-1, 1) for _ in columns))
    write_npy(folder / "starts.npy", "<i4", starts)
    write_npy(folder / "columns.npy", "<i4", columns)
    write_npy(folder / "values.npy", "<f4", values)
    print(f"{rows}x{len(columns)}")


main()
