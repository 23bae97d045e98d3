#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/python/run.py SOURCE BUILD: the Python package as a user gets it.

Installs BUILD, makes it a wheel without compiling again, installs that into a fresh virtual
environment, and runs the tests of this folder there. Exit status 77, with the reason, where there
is no venv or PyPI cannot be reached."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
NEEDED = ["scikit-build-core>=0.10", "cffi>=1.15", "numpy", "mypy"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, **options)


def require(*words, **options):
    done = run(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, words))}: {done.stdout}")


def environment_in(folder):
    """Python of a new virtual environment with what the wheel needs; exits if there is none."""
    python = folder / "bin/python"
    pip = [python, "-m", "pip", "install", "-q", "--retries", "1", "--disable-pip-version-check"]
    for words in ([sys.executable, "-m", "venv", folder], [*pip, *NEEDED]):
        done = run(*words, capture_output=True)
        if done.returncode != 0:
            print(f"skipped: {' '.join(map(str, words))}: {(done.stderr or done.stdout)[-300:]}")
            sys.exit(SKIPPED)
    return python


def main():
    source, build = (Path(word).resolve() for word in sys.argv[1:])
    work = build / "tests/python"
    shutil.rmtree(work, ignore_errors=True)
    python = environment_in(work / "venv")
    require("cmake", "--install", build, "--prefix", work / "prefix", "--strip")
    pip = [python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
    require(*pip, source, "-C", f"cmake.define.AUTOTUNE_INSTALLED={work / 'prefix'}")
    shutil.rmtree(work / "prefix")  # the wheel has it all
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUTOTUNE_")}
    kept |= {"AUTOTUNE_DB": str(work / "tuned.db"), "AUTOTUNE_CACHE": str(work / "cache")}
    tests = run(python, "-m", "unittest", "discover", "-s", source / "tests/python", env=kept,
                cwd=work)
    shutil.rmtree(work / "venv", ignore_errors=True)
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
