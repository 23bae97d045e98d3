# SPDX-License-Identifier: Apache-2.0
"""The processes of judge(): started with their memory, confined, asked, stopped and ended."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import select
import signal
import site
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from ._errors import Error
from ._library import installed

ARENA = 4 << 30  # address space; memory only where it is used


class Late(Exception):
    """No answer in time."""


class Ended(Exception):
    """The process ended by itself; the text is what it said last."""


def memory_limit() -> int:
    """Bytes: half of what is free. More would let the system end processes of others."""
    found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    free = int(found[1]) << 10 if found else sys.maxsize
    group = Path("/sys/fs/cgroup")
    try:
        free = min(free, int((group / "memory.max").read_text()) -
                   int((group / "memory.current").read_text()))  # fmt: skip
    except (OSError, ValueError):
        pass  # there is no limit
    return free // 2


class Process:
    """_judged.py in a process that ends with this one, and with it all that it started."""

    def __init__(self, memory: list[int], is_judged: bool, confined: bool,
                 place: tuple[str, str, str], modules: list[str]):  # fmt: skip
        self._folder = tempfile.mkdtemp(prefix="autotune-judge-")
        self._said = tempfile.TemporaryFile()
        self.left: Optional[list[Any]] = None  # its scheduling when it answered last
        ours, theirs = socket.socketpair()
        worker = os.environ.get("AUTOTUNE_WORKER") or str(
            installed("libexec/autotune/autotune-worker", "bin/autotune-worker"))  # fmt: skip
        limit = str(memory_limit() if is_judged else 0)
        words = [worker, "--within", limit, self._folder, *(self._readable(*place[:2]) if confined else []), "--",
                 sys.executable, "-B", str(Path(__file__).with_name("_judged.py")), *modules]  # fmt: skip
        given = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 64)
                 for each in (theirs.fileno(), *memory, self._said.fileno())]  # fmt: skip
        places = [(3, given[0]), (4, given[1]), (5, given[2]), (1, given[3]), (2, given[3])]
        nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        moved = [(os.POSIX_SPAWN_DUP2, have, want) for want, have in places]
        try:
            self._pid = os.posix_spawn(worker, words, self._environment(),
                                       file_actions=[nothing, *moved], setsid=True)  # fmt: skip
        finally:
            for each in given:
                os.close(each)
            theirs.close()
        self._socket: Optional[socket.socket] = ours
        try:
            header, more = struct.unpack("=QQ", self._exactly(16, 60))
            self._exactly(header + more, 60)  # the worker's greeting
        except (Late, Ended) as failure:
            self.end()
            raise Error(f"a process of the judge cannot be started: {failure}") from None

    @staticmethod
    def _readable(module: str, file: str) -> list[str]:
        """What Python needs, and the folder of the file, or that of its outermost package."""
        levels = 0 if module == "__main__" else module.count(".") + file.endswith("__init__.py")
        own = str(Path(file).parents[levels])
        folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(__file__).parent),
                   *sys.path, *site.getsitepackages()} - {"", os.getcwd()} | {own}  # fmt: skip
        return sorted(each for each in folders if os.path.isdir(each))

    def _environment(self) -> dict[str, str]:
        """Caches lie in its own folder. One compiling process: others would need shared memory.
        Freed memory is kept, in all processes alike: page faults would be in the times."""
        own = {name: self._folder for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
        own["USER"] = "judge"  # nobody can be looked up in /etc
        own |= {name: os.path.join(self._folder, name.lower())
                for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")}  # fmt: skip
        return {**os.environ, **own, "TORCHINDUCTOR_COMPILE_THREADS": "1",
                "MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
                "MALLOC_TOP_PAD_": str(64 << 20)}  # fmt: skip

    def _exactly(self, count: int, seconds: float) -> bytes:
        assert self._socket is not None
        end, got = time.monotonic() + seconds, b""
        while len(got) < count:
            left = end - time.monotonic()
            if left <= 0:
                raise Late(f"no answer within {seconds:.3g} s")
            if not select.select([self._socket], [], [], left)[0]:
                continue
            try:
                part = self._socket.recv(min(count - len(got), 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise Ended(self._last_line() or "its process ended")
            got += part
        return got

    def _last_line(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - 4096))
        lines = self._said.read().decode(errors="replace").strip().split("\n")
        return f"its process ended: {lines[-1]}" if lines[-1] else ""

    def timed(self, limit: float, do: str, **request: Any) -> tuple[dict[str, Any], float]:
        """The answer, and the seconds until it was here. Raises Late or Ended; each ends the
        process."""
        assert self._socket is not None
        number = secrets.randbits(52)
        text = json.dumps({"do": do, "number": number, **request}).encode()
        try:
            start = time.perf_counter()
            self._socket.settimeout(limit)
            self._socket.sendall(struct.pack("=Q", len(text)) + text)
            (length,) = struct.unpack("=Q", self._exactly(8, limit))
            if length > 1 << 26:
                raise Ended("it sent an answer that is too long")
            answer = self._exactly(length, limit)
            spent = time.perf_counter() - start
            parsed = json.loads(answer)
            if not isinstance(parsed, dict) or parsed.get("number") != number:
                raise Ended("something else than the judge's own code answered the judge")
            return parsed, spent
        except (Late, Ended):
            self.end()
            raise
        except (OSError, ValueError, RecursionError) as error:
            self.end()
            raise Ended(f"its answer cannot be read: {error}") from None

    def started(self) -> Iterator[int]:
        """What it started, without its keeper."""
        found = [self._pid]
        for pid in found:
            try:
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            except OSError:
                continue  # it has ended
            found += [int(word) for word in children.split()]
            if pid != self._pid:
                yield pid

    def rest(self, rests: bool) -> None:
        """Stops it and all that it started, so that it cannot slow others, or goes on. Its keeper
        stays awake."""
        for pid in self.started():
            try:
                os.kill(pid, signal.SIGSTOP if rests else signal.SIGCONT)
            except OSError:
                continue  # it has ended

    def scheduling(self) -> list[Any]:
        """What other processes of the user can change to slow it."""
        try:
            return [(os.sched_getaffinity(pid), os.sched_getscheduler(pid),
                     os.getpriority(os.PRIO_PROCESS, pid)) for pid in self.started()]  # fmt: skip
        except OSError:
            return []  # it has ended

    def end(self) -> None:
        """Its keeper kills everything that it started, and removes its folder."""
        if self._socket is None:
            return
        self._socket.close()
        self._socket = None
        try:
            os.kill(self._pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        os.waitpid(self._pid, 0)
        self._said.close()


def shared_memory(name: str) -> int:
    made = os.memfd_create(name)
    os.ftruncate(made, ARENA)
    return made
