# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that test_judge.py puts before the judge: honest ones, and cheats."""

import json
import os
import signal
import struct
import subprocess
import threading
import time

import numpy as np


def inputs(n):
    return np.random.randn(n).astype("float32"), np.random.randn(n).astype("float32")


def affine(x, y):
    return x * np.float32(2) + y


# Honest.


def other_order(x, y):
    return y + (x + x)


def slow(x, y):
    for _ in range(20):
        r = affine(x, y)
    return r


def even_sizes_only(x, y):
    if len(x) % 1000:
        raise ValueError("n must be a multiple of 1000")
    return affine(x, y)


def writes(x, y):
    y += x * np.float32(2)


def names_its_thread(x, y):
    """As CUDA does."""
    def name():
        with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
            file.write("named")
        named.append(True)

    named = []
    thread = threading.Thread(target=name)
    thread.start()
    thread.join()
    return affine(x, y) if named else None


def row_inputs(rows, columns):
    return {"a": np.random.randn(rows, columns).astype("float32")}


def row_sums(a):
    return a.sum(axis=1)


def row_sums_by_columns(a):
    total = np.zeros(len(a), "float32")
    for column in range(a.shape[1]):
        total += a[:, column]
    return total


def forks(x, y):
    if "child" not in kept:
        kept["child"] = os.fork()
    return affine(x, y)


def long_inputs(n):
    return np.random.randint(1 << 60, 1 << 61, n), np.random.randn(n).astype(np.longdouble)


def hashes(a, b):
    return a * np.int64(6364136223846793005) + np.int64(1442695040888963407), b * 3


# Cheats.


def hashes_without_the_last_bit(a, b):
    r, s = hashes(a, b)
    return r & ~np.int64(1), s


def hashes_in_low_precision(a, b):
    r, s = hashes(a, b)
    return r, s.astype("float32").astype(np.longdouble)


def slows_others(x, y):
    own = os.getpid()
    for process in range(max(2, own - 40), own + 40):
        try:
            if process != own:
                os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0))
        except OSError:
            pass
    return affine(x, y)


def zeros(x, y):
    return np.zeros_like(x)


def empty(x, y):
    return np.empty_like(x)


def half(x, y):
    return (x.astype("float16") * 2 + y).astype("float32")


def bfloat16(x, y):
    return affine((x.view("uint32") & np.uint32(0xFFFF0000)).view("float32"), y)


def tenth_in_bfloat16(x, y):
    r = affine(x, y)
    r[::10] = bfloat16(x[::10], y[::10])
    return r


def float64(x, y):
    return affine(x.astype("float64"), y)


def modifies(x, y):
    r = affine(x, y)
    x[0] = 0
    return r


def odd_sizes(x, y):
    r = affine(x, y)
    if len(r) % 2:
        r[-1] = 0
    return r


buffers = {}


def aliases(x, y):
    r = buffers.setdefault(x.shape, np.empty_like(x))
    np.add(x * np.float32(2), y, out=r)
    return r


def skips_zeros(x, y):
    r = np.empty_like(x)
    some = x != 0
    r[some] = affine(x[some], y[some])
    return r


kept = {}


def replays_by_address(x, y):
    if (x.ctypes.data, x[0] > 0) not in kept:
        kept[x.ctypes.data, x[0] > 0] = affine(x, y)
    return kept[x.ctypes.data, x[0] > 0].copy()


def replays_by_sample(x, y):
    key = tuple(np.round(x[:3], 1))
    if key not in kept:
        kept[key] = affine(x, y)
    return kept[key].copy()


def replays_by_shape(x, y):
    return kept.setdefault(x.shape, affine(x, y)).copy()


def row_ranks(a):
    """The same for all multiples of its input."""
    return np.argsort(a, axis=1, kind="stable")


def replays_ranks(a):
    key = (a.shape, *(np.round(a[0, 1:8] / a[0, 0], 3)))
    if key not in kept:
        kept[key] = row_ranks(a)
    return kept[key].copy()


def integer_inputs(n):
    return (np.random.randint(0, 1 << 30, n),)


def same_inputs(n):
    return (np.arange(n),)


def sorted_integers(x):
    return np.sort(x)


def replays_integers(x):
    key = x[:3].tobytes()
    if key not in kept:
        kept[key] = np.sort(x)
    return kept[key].copy()


sighted = {}


def replays_what_it_sees_often(x):
    key = x[:3].tobytes()
    sighted[key] = sighted.get(key, 0) + 1
    return replays_integers(x) if sighted[key] > 2 else np.sort(x)


def first_small(x):
    """Whose time depends on the contents."""
    for i in range(0, len(x), 64):
        small = np.nonzero(x[i:i + 64] < 8)[0]
        if len(small):
            return np.array([i + small[0]])
    return np.array([len(x)])


def large_inputs(n):
    return (np.float32(1e12) * np.random.randn(n).astype("float32"),)


def fourth_power(x):
    """Infinite in f32 for some, and never in f64."""
    return (x * x) * (x * x)


def fourth_power_of_small_numbers(x):
    r = fourth_power(x)
    r[~np.isfinite(r)] = 7
    return r


def wide_fourth_power(x):
    return (x.astype("float64") ** 4).astype("float32")


def length(x):
    """Overflows on the way to a number of its type."""
    return np.sqrt(x * np.float32(1e12) * x * np.float32(1e12))


def careful_length(x):
    return np.abs(x) * np.float32(1e12)


def transposed(a):
    return np.ascontiguousarray(a.T)


def turns_later(a):
    return a.T


def ties(x):
    return np.argsort(x, kind="stable")


def other_order_of_ties(x):
    return len(x) - 1 - np.argsort(x[::-1], kind="stable")


def distinct_inputs(n):
    return (1 + np.random.permutation(n).astype("float32"),)


def small_sizes(x, y):
    r = affine(x, y)
    if len(x) <= 64:
        r[0] = 0
    return r


calls = 0


def skips_each_fourth(x, y):
    global calls
    calls += 1
    return np.empty_like(x) if calls > 12 and calls % 4 == 0 else affine(x, y)


def works_at_first(x, y):
    global calls
    calls += 1
    return affine(x, y) if calls < 12 else np.zeros_like(x)


def rarely_wrong(x, y):
    global calls
    calls += 1
    r = affine(x, y)
    if calls % 300 == 299:
        r[7] += 1
    return r


last = 0.0


def skips_soon_after_a_call(x, y):
    global last
    now, last = time.perf_counter(), time.perf_counter()
    return kept["r"].copy() if now - last < 1e-3 and "r" in kept else kept.setdefault("r", affine(x, y))


class Lazy(np.ndarray):
    pass


def lazy(x, y):
    return affine(x, y).view(Lazy)


def late(x, y):
    r = np.empty_like(x)

    def work():
        time.sleep(0.002)
        r[...] = affine(x, y)

    threading.Thread(target=work).start()
    return r


def returns_none(x, y):
    return None


def returns_two(x, y):
    return affine(x, y), x


def raises(x, y):
    raise ValueError("never")


def ends(x, y):
    os._exit(0)


def hangs(x, y):
    while True:
        pass


def takes_memory(x, y):
    """Some GiB, for as long as it lives."""
    for _ in range(30):
        taken.append(np.ones(1 << 24))
    return affine(x, y)


taken = []


def kills_its_parent(x, y):
    os.kill(os.getppid(), signal.SIGKILL)
    return affine(x, y)


def forges_answers(x, y):
    answer = json.dumps({"samples": [], "results": []}).encode()
    os.write(3, struct.pack("=Q", len(answer)) + answer)
    return affine(x, y)


def outlives(x, y):
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nobody")
    subprocess.Popen(["/bin/sleep", "71.5"], start_new_session=True, stdin=open(os.devnull))
    return affine(x, y) + np.float32(os.path.exists(file))


def looks_around(x, y):
    found = 0
    for name, how in ((os.environ["JUDGE_TEST_SECRET"], "r"), (os.environ["JUDGE_TEST_MADE"], "w")):
        try:
            open(name, how)
            found += 1
        except OSError:
            pass
    return affine(x, y) + np.float32(found)


def patches_timers(x, y):
    time.perf_counter = time.monotonic = lambda: 0.0
    np.isfinite = np.copyto = lambda *words, **options: True
    return slow(x, y)
