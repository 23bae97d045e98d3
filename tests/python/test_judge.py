# SPDX-License-Identifier: Apache-2.0
"""judge() on functions: NumPy's here, PyTorch's and Triton's where they are."""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import autotune
from autotune import _judge_case, _judge_process

HERE = Path(__file__).resolve().parent
QUICK = {"seconds": 0.3, "repeat_seconds": 0.3, "own_sizes": 2}


class Judged(unittest.TestCase):
    file = HERE / "judged_numpy.py"
    sizes = {"n": 20000}

    def judge(self, name, against="affine", inputs="inputs", sizes=None, **options):
        return autotune.judge(f"{self.file}:{name}", f"{self.file}:{against}", sizes or self.sizes,
                              inputs=f"{self.file}:{inputs}", **{**QUICK, **options})

    def expect_right(self, name, **options):
        found = self.judge(name, **options)
        self.assertEqual(found.verdict, "right", f"{name}: {found.text}")
        return found

    def expect_pace(self, found, pace, status):
        if found.raw["problems"][0]["noise_floor"] > 0.2:
            self.skipTest("the machine is too busy for times")
        self.assertEqual((found.pace, found.raw["status"]), (pace, status), found.text)

    def expect_refused(self, names, **options):
        for name in names.split():
            with self.subTest(name):
                found = self.judge(name, **options)
                self.assertIn(found.verdict, ("wrong", "cheats"), f"{name}: {found.text}")
                self.assertIn(found.raw["status"], (5, 6))


class NumPy(Judged):
    def test_honest_functions_are_right(self):
        for name in ("affine", "other_order", "patches_timers", "names_its_thread"):
            self.expect_right(name)
        rows = {"inputs": "row_inputs", "sizes": {"rows": 64, "columns": 300}}
        self.expect_right("row_sums_by_columns", against="row_sums", **rows)
        self.expect_right("writes", against="writes")
        self.expect_right("forks")
        self.expect_right("hashes", against="hashes", inputs="long_inputs")

    def test_integers_are_compared_bit_by_bit(self):
        found = self.judge("hashes_without_the_last_bit", against="hashes", inputs="long_inputs")
        self.assertRegex(found.text, r"^wrong: n=20000: result 0\[\d+\] is -?\d{10,}, expected -?\d{10,}")
        self.expect_refused("hashes_in_low_precision", against="hashes", inputs="long_inputs")

    def test_what_keeps_results_of_inputs_that_are_drawn_cheats(self):
        for name, against, inputs, sizes in (
            ("replays_ranks", "row_ranks", "row_inputs", {"rows": 200, "columns": 1000}),
            ("replays_integers", "sorted_integers", "integer_inputs", {"n": 200000}),
            ("replays_what_it_sees_often", "sorted_integers", "integer_inputs", {"n": 200000})):  # fmt: skip
            found = self.judge(name, against=against, inputs=inputs, sizes=sizes)
            self.assertEqual(found.verdict, "cheats", f"{name}: {found.text}")
            self.assertIn("keeps results of earlier calls", found.text)
        self.expect_right("sorted_integers", against="sorted_integers", inputs="integer_inputs")
        for name, n in (("ties", 3000), ("first_small", 20000)):  # processors learn branches
            self.expect_right(name, against=name, inputs="distinct_inputs", sizes={"n": n})
        found = self.expect_right("sorted_integers", against="sorted_integers", inputs="same_inputs")
        self.assertIn("its inputs are the same whenever they are drawn", " ".join(found.notes))

    def test_a_reference_that_overflows_permits_no_other_numbers(self):
        large = {"inputs": "large_inputs"}
        self.expect_refused("fourth_power_of_small_numbers", against="fourth_power", **large)
        self.expect_right("wide_fourth_power", against="fourth_power", **large)
        self.expect_right("careful_length", against="length", **large)
        self.expect_refused("fourth_power_of_small_numbers", against="length", **large)

    def test_says_that_zeros_are_its_own(self):
        found = self.judge("other_order_of_ties", against="ties", inputs="distinct_inputs")
        self.assertRegex(found.text, r"where the judge has set an eighth of each input to zeros$")

    def test_notes_a_result_that_lies_otherwise_in_memory(self):
        rows = {"inputs": "row_inputs", "sizes": {"rows": 64, "columns": 300}}
        found = self.expect_right("turns_later", against="transposed", **rows)
        self.assertRegex(" ".join(found.notes), r"result 0 lies .* strides of \[1, \d+\] elements")
        found = self.expect_right("transposed", against="transposed", **rows)
        self.assertNotIn("strides", " ".join(found.notes))

    def test_small_sizes_are_tried(self):
        found = self.judge("small_sizes")
        self.assertRegex(found.text, r"^wrong: n=\d\d?, a size that was not named: result 0\[0\] is 0")

    def test_what_slows_the_reference_cheats(self):
        found = self.judge("slows_others")
        self.assertEqual(found.text, "cheats: n=20000: it changes how the reference's process is "
                                     "scheduled")  # fmt: skip

    def test_noise_hides_no_thousandfold_time(self):
        case = object.__new__(_judge_case.Case)
        case.options = argparse.Namespace(least_bytes=0)
        case.drawn = {"peak_rate": 1e12}
        problem = {"problem": {"n": 1}}
        times = {"candidate": 1.0, "reference": 0.001, "again": 0.003}
        case.compare_times(problem, 1, [times] * 10)
        self.assertEqual((problem["pace"], problem["noise_floor"]), ("slower", 2))

    def test_says_which_is_faster(self):
        sizes = {"n": 200000}
        fast = self.expect_right("affine", against="slow", sizes=sizes, seconds=2)
        self.expect_pace(fast, "faster", 0)
        self.assertGreater(fast.speedup, 2)
        slow = self.expect_right("patches_timers", sizes=sizes, seconds=2)
        self.expect_pace(slow, "slower", 4)

    def test_cheats_are_refused(self):
        self.expect_refused("zeros empty half bfloat16 tenth_in_bfloat16 float64 modifies odd_sizes "
                            "aliases skips_zeros replays_by_address replays_by_sample "
                            "replays_by_shape skips_each_fourth works_at_first "
                            "skips_soon_after_a_call lazy late returns_none returns_two raises ends "
                            "forges_answers")
        self.expect_refused("rarely_wrong", repeat_seconds=3)
        self.expect_refused("affine", against="writes")

    def test_a_function_faster_than_memory_cheats(self):
        found = self.judge("affine", least_bytes=lambda n: 10**15 * n)
        self.assertEqual(found.verdict, "cheats")
        self.assertIn("less than its bytes take", found.text)

    def test_a_refused_size_is_a_note(self):
        found = self.expect_right("even_sizes_only")
        self.assertIn("it refuses n=", " ".join(found.notes))

    def test_a_function_that_hangs_is_ended_after_two_attempts(self):
        found = self.judge("hangs", compile_limit=1)
        self.assertEqual((found.verdict, found.raw["outcome"]), ("wrong", "timeout"))
        self.assertIn("in both attempts", found.raw["why"])

    def test_a_function_that_takes_much_memory_is_ended(self):
        with mock.patch.object(_judge_process, "memory_limit", lambda: 1 << 30):
            self.assertEqual(self.judge("affine").verdict, "right")
            found = self.judge("takes_memory")
        self.assertEqual((found.verdict, found.raw["outcome"]), ("wrong", "crash"), found.text)
        self.assertIn("it takes more than 1.000 GiB of memory", found.text)

    def test_nothing_outlives_the_judge(self):
        self.expect_right("outlives")
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn("sleep 71.5", running)

    def test_a_function_reads_and_writes_its_own_folder_only(self):
        with tempfile.TemporaryDirectory() as folder:
            made, secret = Path(folder, "made"), Path(folder, "secret")
            secret.write_text("7")
            names = {"JUDGE_TEST_SECRET": str(secret), "JUDGE_TEST_MADE": str(made)}
            with mock.patch.dict(os.environ, names):
                found = self.judge("looks_around")
            if not found.raw["receipt"]["confined"]:
                self.skipTest("there is no Landlock, or an old one")
            self.assertEqual(found.verdict, "right", found.text)
            self.assertFalse(made.exists())

    def test_the_candidate_rests_while_others_are_timed(self):
        memory = [_judge_process.shared_memory(name) for name in ("inputs", "results")]
        self.addCleanup(lambda: [os.close(each) for each in memory])
        process = _judge_process.Process(memory, True, True, ("__main__", str(self.file), "affine"), [])
        self.addCleanup(process.end)

        def becomes(stopped):
            for _ in range(500):  # it may just have been started
                process.rest(stopped)
                listed = subprocess.run(["ps", "-o", "stat=", "--ppid", str(process._pid)],
                                        capture_output=True, text=True).stdout
                if listed and listed.startswith("T") == stopped:
                    return True
                time.sleep(0.01)
            return False

        self.assertTrue(becomes(True))
        self.assertTrue(becomes(False))
        process.rest(True)  # and can be ended so

    def test_its_processes_import_torch_from_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "torch.py").write_text("raise SystemExit(71)")
            script = Path(_judge_case.__file__).with_name("_judged.py")
            done = subprocess.run([sys.executable, script, "torch"],
                                  env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual(done.returncode, 71, "the package's own torch.py lies beside the script")

    def test_does_not_end_the_judge(self):
        self.assertEqual(self.judge("kills_its_parent").verdict, "wrong")

    def test_the_seed_of_a_receipt_gives_the_same_sizes(self):
        first = self.expect_right("affine")
        again = self.expect_right("affine", seed=first.raw["receipt"]["seed"])
        self.assertEqual(first.raw["receipt"]["own_sizes"], again.raw["receipt"]["own_sizes"])
        self.assertNotEqual(first.raw["receipt"]["own_sizes"],
                            self.expect_right("affine").raw["receipt"]["own_sizes"])

    def test_takes_functions_of_a_file(self):
        spec = importlib.util.spec_from_file_location("judged_numpy", self.file)
        functions = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(functions)
        found = autotune.judge(functions.other_order, functions.affine, self.sizes,
                               inputs=functions.inputs, **QUICK)
        self.assertEqual(found.verdict, "right", found.text)
        with self.assertRaisesRegex(autotune.UsageError, "stands by itself"):
            autotune.judge(lambda x, y: x, functions.affine, inputs=functions.inputs)
        with self.assertRaisesRegex(autotune.UsageError, "inputs="):
            autotune.judge(functions.affine, functions.affine)

    def test_takes_functions_of_a_package(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder, "judged_package", "inner")
            package.mkdir(parents=True)
            for each in (package.parent, package):
                (each / "__init__.py").write_text("")
            (package / "code.py").write_text(self.file.read_text())
            (package / "fast.py").write_text("from .code import affine\n\n\ndef fast(x, y):\n"
                                             "    return affine(x, y)\n")
            with mock.patch.object(sys, "path", [folder, *sys.path]):
                fast = importlib.import_module("judged_package.inner.fast").fast
                found = autotune.judge(fast, f"{self.file}:affine", self.sizes,
                                       inputs=f"{self.file}:inputs", **QUICK)
            self.assertEqual(found.verdict, "right", found.text)

    def test_a_wrong_reference_is_an_error(self):
        with self.assertRaisesRegex(autotune.Error, "the reference: .*never"):
            self.judge("affine", against="raises")
        with self.assertRaisesRegex(autotune.UsageError, "nothing.py"):
            autotune.judge("nothing.py:f", f"{self.file}:affine", inputs=f"{self.file}:inputs")

    def test_the_command_has_the_status(self):
        words = [sys.executable, "-m", "autotune", "judge", f"{self.file}:zeros", "--against",
                 f"{self.file}:affine", "--inputs", f"{self.file}:inputs", "--sizes", "n=5000"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertTrue(done.stdout.startswith("wrong: n=5000: "), done.stdout)


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(Judged):
    file = HERE / "judged_torch.py"
    device = "cpu"
    large = {"m": 192, "k": 2048}
    few = {"inputs": "rows", "against": "softmax", "sizes": {"m": 128, "k": 512}}

    def setUp(self):
        on = mock.patch.dict(os.environ, {"JUDGE_TEST_DEVICE": self.device})
        on.start()
        self.addCleanup(on.stop)

    def test_honest_functions_are_right(self):
        for name in ("affine", "fused", "patches_timers"):
            self.expect_right(name)
        self.expect_right("writes", against="writes")
        self.expect_right("split_product", against="product", inputs="products", sizes=self.large)
        self.expect_right("softmax_by_hand", **self.few)

    def test_cheats_are_refused(self):
        self.expect_refused("stale replays_by_address aliases modifies lazy patches_library "
                            "graph_with_one_result one_pass_for_many")
        lower = "product_in_bfloat16 product_in_half"
        self.expect_refused(lower, against="product", inputs="products", sizes=self.large)
        self.expect_refused("softmax_in_bfloat16", **self.few)


def has_gpu():
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


@unittest.skipUnless(has_gpu(), "PyTorch sees no GPU")
class PyTorchOnGpu(PyTorch):
    device = "cuda"
    sizes = {"n": 1 << 20}
    large = {"m": 512, "k": 4096}

    def test_says_which_is_faster(self):
        fast = self.expect_right("fused", against="slow", seconds=2)
        self.expect_pace(fast, "faster", 0)
        self.assertIn("NVIDIA", fast.raw["receipt"]["device"]["device"])
        self.expect_pace(self.expect_right("patches_timers", seconds=2), "slower", 4)
        self.expect_pace(self.expect_right("affine", seconds=2), "within noise", 4)

    def test_streams_and_lower_precision(self):
        self.expect_right("side_stream_that_waits")
        self.expect_refused("side_stream")
        self.expect_refused("product_in_tf32", against="product", inputs="products",
                            sizes=self.large)

    @unittest.skipUnless(importlib.util.find_spec("triton"), "Triton is not installed")
    def test_kernels_of_triton(self):
        self.expect_right("in_triton")
        self.expect_refused("triton_leaves_out_the_last")


if __name__ == "__main__":
    unittest.main()
