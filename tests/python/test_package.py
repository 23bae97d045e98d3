# SPDX-License-Identifier: Apache-2.0
"""What the wheel has, how the library is found, and which stream a launch takes."""

import os
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

import autotune
from autotune import _library, _streams


class Wheel(unittest.TestCase):
    def test_has_what_an_installation_has(self):
        for name in ["bin/autotune", "libexec/autotune/autotune-worker", "lib/libautotune.so",
                     "lib/libautotune_blas.so", "include/autotune/autotune.h",
                     "share/autotune/shipped.db", "lib/autotune/plugins",
                     "share/autotune/kernel_sources/gemm/gemm.cu"]:
            self.assertTrue((autotune.prefix() / name).exists(), name)
        self.assertTrue((Path(autotune.__file__).parent / "py.typed").exists())

    def test_type_hints_are_strict(self):
        root = Path(__file__).resolve().parents[2]  # pyproject.toml says how
        done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull], cwd=root,
                              text=True, capture_output=True)
        if "No module named mypy" in done.stderr:
            self.skipTest("mypy is not installed")
        self.assertEqual(done.returncode, 0, done.stdout)


class Library(unittest.TestCase):
    def test_the_header_is_read_as_it_is(self):
        header = """/* one
 * two */
#ifdef __cplusplus
extern "C" {
#endif
#define API 1
AUTOTUNE_API int f(void); /* three */
#ifdef __cplusplus
}
#endif
"""
        self.assertEqual(_library.declarations(header).strip(), "int f(void);")

    def in_a_new_process(self, script, **options):
        done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True,
                              **options)
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)

    def test_threads_may_use_it_at_once(self):
        self.in_a_new_process("""
import autotune, threading
barrier, opened = threading.Barrier(8), []
def work():
    barrier.wait()
    autotune.open("gemm", device="host").close()
    opened.append(1)
threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print("fine" if len(opened) == 8 else len(opened))
""")

    def test_a_relative_prefix_stays_where_it_is(self):
        prefix = autotune.prefix().resolve()
        paths = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)
        self.in_a_new_process(
            "import autotune, os\n"
            "os.chdir('/')\n"
            "autotune.open('gemm', device='host').close()\n"
            "print('fine')",
            cwd=prefix.parent,
            env={**os.environ, "AUTOTUNE_PREFIX": prefix.name, "PYTHONPATH": paths},
        )

    def test_a_prefix_without_the_library_is_named(self):
        with mock.patch.dict(os.environ, AUTOTUNE_PREFIX="/nowhere"):
            with self.assertRaisesRegex(autotune.Error, "/nowhere has no lib/libautotune.so"):
                _library.installed("lib/libautotune.so")

    def test_every_status_is_an_exception(self):
        c = _library.library()
        for status, kind in [(c.AUTOTUNE_WRONG_USAGE, autotune.UsageError),
                             (c.AUTOTUNE_NOT_FOUND, autotune.NotFoundError),
                             (c.AUTOTUNE_NO_DEVICE, autotune.NoDeviceError),
                             (c.AUTOTUNE_FAILED, autotune.Error)]:
            with self.assertRaises(kind):
                _library.check(status)


class Streams(unittest.TestCase):
    def modules(self, in_use):
        """Stand-ins of PyTorch and CuPy with the streams 11 and 22."""
        stream = types.SimpleNamespace(cuda_stream=11)
        cuda = types.SimpleNamespace(current_stream=lambda ordinal: stream,
                                     is_initialized=lambda: in_use, current_device=lambda: 3)
        torch = types.SimpleNamespace(Tensor=type("Tensor", (), {}), cuda=cuda)
        cupy_cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=22))
        cupy = types.SimpleNamespace(ndarray=type("ndarray", (), {}), cuda=cupy_cuda)
        return torch, cupy

    def test_the_current_stream_is_that_of_the_arrays_library(self):
        torch, cupy = self.modules(True)
        with mock.patch.dict(sys.modules, torch=torch, cupy=cupy):
            self.assertEqual(_streams.current_stream([torch.Tensor()], 0), 11)
            self.assertEqual(_streams.current_stream([cupy.ndarray()], 0), 22)
            self.assertEqual(_streams.current_stream([object()], 0), 11)
            self.assertEqual(_streams.current_ordinal(), 3)
        torch, cupy = self.modules(False)
        with mock.patch.dict(sys.modules, torch=torch, cupy=cupy):
            self.assertEqual(_streams.current_stream([object()], 0), 22)
        with mock.patch.dict(sys.modules, torch=None, cupy=None):
            self.assertEqual(_streams.current_stream([object()], 0), 0)

    def test_streams_of_all_libraries_have_an_address(self):
        for stream in [7, types.SimpleNamespace(cuda_stream=7), types.SimpleNamespace(ptr=7),
                       types.SimpleNamespace(__cuda_stream__=lambda: (0, 7))]:
            self.assertEqual(_streams.stream_address(stream), 7)
        with self.assertRaisesRegex(autotune.UsageError, "a str is not a stream"):
            _streams.stream_address("7")
