# SPDX-License-Identifier: Apache-2.0
"""tune(), query() and judge() run the tool of the wheel."""

import contextlib
import dataclasses
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import autotune
from autotune._progress import Progress, progress_of
from autotune._tool import sizes_text


class Query(unittest.TestCase):
    def test_reads_more_than_a_pipe_holds(self):
        results = autotune.query(db=autotune.prefix() / "share/autotune/shipped.db")
        self.assertGreater(sum(len(json.dumps(each.raw)) for each in results), 1 << 17)


SCALE = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = %s;
}
"""


class Judge(unittest.TestCase):
    def test_tells_right_kernels_from_wrong_ones(self):
        plain = SCALE % "3.0f * x[i]"
        right = autotune.judge(SCALE % "x[i] * 3.0f", plain, 20000, device="host")
        self.assertTrue(right.is_right, right.text)
        self.assertGreater(right.speedup, 0)
        wrong = autotune.judge(SCALE % "i == 9 ? 0.0f : 3.0f * x[i]", plain, {"n": 20000},
                               device="host")
        self.assertEqual(wrong.verdict, "wrong")
        self.assertIn("y[9] is 0", wrong.text)
        self.assertIsNone(wrong.speedup)

    def test_without_a_verdict_is_an_error(self):
        with self.assertRaisesRegex(autotune.UsageError, "missing.cu"):
            autotune.judge("missing.cu", SCALE % "x[i]", device="host")


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.db = os.path.join(folder.name, "tuned.db")

    def test_what_it_finds_is_looked_up_and_launched(self):
        seen, errors = [], io.StringIO()
        with contextlib.redirect_stderr(errors):
            report = autotune.tune("vector_add", [4096], device="host", db=self.db, budget=4,
                                   strategy="random", progress=seen.append)
        self.assertEqual(len(report.results), 1)
        best = report.results[0]
        self.assertEqual(best.problem, {"N": 4096, "dtype": "f32"})
        self.assertTrue(best.verified)
        self.assertLessEqual(best.low_ns, best.median_ns)
        self.assertTrue(seen)
        self.assertEqual((seen[-1].problem, seen[-1].problems), (1, 1))
        self.assertIn("N=4096: tried", errors.getvalue())

        [stored] = autotune.query("vector_add", 4096, db=self.db)
        self.assertEqual(stored.configuration, best.configuration)
        self.assertTrue(stored.raw["exact"])
        with autotune.open("vector_add", device="host", user_database=self.db) as target:
            answer = target.lookup(4096)
            self.assertEqual((answer.origin, answer.configuration), ("exact", best.configuration))
            a, c = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
            target.prepare(4096).launch(a, a, c)
        np.testing.assert_array_equal(c, a + a)

    def test_errors_are_the_tools_own(self):
        for options, said in [({"target": "nope"}, "there is no target nope"),
                              ({"target": "gemm", "sizes": "big"}, "big"),
                              ({"target": "gemm", "colour": "red"}, "colour"),
                              ({"target": "gemm", "settings": {"dtype": "f99"}}, "f99"),
                              ({"target": "gemm", "strategy": "none"}, "none")]:
            words = {"sizes": 64, "device": "host", "db": self.db, "progress": False, **options}
            with self.assertRaisesRegex(autotune.Error, said):
                autotune.tune(words.pop("target"), words.pop("sizes"), **words)

    def test_nothing_known_is_an_error(self):
        with self.assertRaisesRegex(autotune.Error, "no such file"):
            autotune.query("vector_add", db=self.db)
        with open(self.db, "wb") as file:
            file.write(b"not a database" * 100)
        with self.assertRaisesRegex(autotune.Error, "is not a database"):
            autotune.query("vector_add", db=self.db)

    def test_the_module_is_the_tool(self):
        done = subprocess.run([sys.executable, "-m", "autotune", "list", "targets"], text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gemm", done.stdout)


class Words(unittest.TestCase):
    def test_sizes_are_written_as_the_tool_takes_them(self):
        for sizes, words in [(512, "512"), ("128..1024", "128..1024"), ((8, 9, 10), "8x9x10"),
                             ([8, (8, 9, 10)], "8,8x9x10"), ({"M": 1, "N": 2}, "M=1,N=2")]:
            self.assertEqual(sizes_text(sizes), words)

    def test_a_pinned_configuration_may_never_have_been_timed(self):
        never = autotune.Result("gemm", "a GPU", {}, {"BM": 64}, None, None, None, 30.0, False,
                                "pinned", {})
        self.assertIsNone(never.speedup)
        self.assertEqual(dataclasses.replace(never, median_ns=10.0).speedup, 3.0)

    def test_progress_is_read_from_the_tools_line(self):
        line = "[1/8] M=512 N=512 K=512  12/40  best 3.2 us, 1 GFLOP/s  30 s left"
        rest = "best 3.2 us, 1 GFLOP/s  30 s left"
        self.assertEqual(progress_of(line), Progress(1, 8, "M=512 N=512 K=512", 12, 40, rest))
        self.assertIsNone(progress_of("warning: the clock moved"))


if __name__ == "__main__":
    unittest.main()
