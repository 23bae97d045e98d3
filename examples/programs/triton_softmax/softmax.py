# SPDX-License-Identifier: Apache-2.0
"""softmax.py ROWS COLUMNS CALLS IN OUT BLOCK WARPS STAGES: softmax of each row, by Triton.

Prints the time of each call."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    most = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for first in tl.range(0, columns, BLOCK, num_stages=STAGES):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns, other=float("-inf"))
        larger = tl.maximum(most, values)
        scale = tl.where(larger == float("-inf"), 0.0, tl.exp(most - larger))
        total = total * scale + tl.where(at < columns, tl.exp(values - larger), 0.0)
        most = larger
    peak = tl.max(most, 0)
    total = tl.sum(tl.where(most == float("-inf"), 0.0, total * tl.exp(most - peak)), 0)
    for first in tl.range(0, columns, BLOCK, num_stages=STAGES):
        at = first + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns, other=0.0)
        tl.store(out + row + at, tl.exp(values - peak) / total, mask=at < columns)


rows, columns, calls = map(int, sys.argv[1:4])
block, warps, stages = map(int, sys.argv[6:9])
x = torch.frombuffer(bytearray(open(sys.argv[4], "rb").read()), dtype=torch.float32).cuda()
out = torch.empty_like(x)


def call():
    softmax[(rows,)](out, x, columns, BLOCK=block, STAGES=stages, num_warps=warps)


call()  # compiles
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
begin.record()
for _ in range(calls):
    call()
end.record()
torch.cuda.synchronize()
print(f"time {begin.elapsed_time(end) * 1e-3 / calls:.9f}")
open(sys.argv[5], "wb").write(out.cpu().numpy().tobytes())
