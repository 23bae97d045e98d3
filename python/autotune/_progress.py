# SPDX-License-Identifier: Apache-2.0
"""The tool's progress: read from a terminal of our own, shown as a bar."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable, Optional

_WIDE = 1000  # columns: the tool cuts no line
_LINE = re.compile(r"\[(\d+)/(\d+)\] (.*?)  (\d+)/(\d+)(.*)")


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    problem: int  # from 1
    problems: int
    text: str  # the problem: M=512 N=512 K=512
    done: int
    total: int  # evaluations of this problem
    rest: str  # the best so far and the time left, for people


def progress_of(line: str) -> Optional[Progress]:
    """Of a line that the tool rewrites: `[1/8] N=512  12/40  best 3.2 us  30 s left`."""
    found = _LINE.fullmatch(line)
    if not found:
        return None
    problem, problems, text, done, total, rest = found.groups()
    return Progress(int(problem), int(problems), text, int(done), int(total), rest.strip())


class ProgressBar:
    """Draws on sys.stderr: rewrites a line on a terminal and in a notebook, else draws nothing."""

    _WIDTH = 24

    def __call__(self, progress: Progress) -> None:
        if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
            return
        share = min(1.0, progress.done / max(1, progress.total))
        bar = ("#" * round(share * self._WIDTH)).ljust(self._WIDTH, ".")
        line = f"[{progress.problem}/{progress.problems}] {progress.text} |{bar}| "
        line += f"{progress.done}/{progress.total} {progress.rest}"
        sys.stderr.write("\r" + line[:119].ljust(119))
        sys.stderr.flush()

    @staticmethod
    def clear() -> None:
        if sys.stderr.isatty() or "ipykernel" in sys.modules:
            sys.stderr.write("\r" + " " * 119 + "\r")


@contextlib.contextmanager
def terminal_lines(
    show: Optional[Callable[[Progress], None]],
) -> Iterator[tuple[int, Callable[[], list[str]]]]:
    """A descriptor for a program's stderr, and a function that relays what comes there until its
    end: progress to `show`, lines to sys.stderr unless they are errors. It returns the lines. Call
    it again after an exception; the caller closes the descriptor."""
    reader, writer = pty.openpty() if show else os.pipe()
    if show:
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, _WIDE, 0, 0))
    lines: list[str] = []
    pending = b""

    def take(part: str) -> None:
        progress = progress_of(part)
        if progress and show:
            show(progress)
        elif part:
            lines.append(part)
            if not part.startswith("error: "):
                if isinstance(show, ProgressBar):
                    show.clear()
                print(part, file=sys.stderr)

    def relay() -> list[str]:
        nonlocal pending
        while True:
            try:
                read = os.read(reader, 1 << 16)
            except OSError:  # a terminal whose other end is closed
                read = b""
            pending += read
            # Each rewritten line begins with this; what follows the last one may be unfinished.
            *whole, pending = re.split(rb"\r\x1b\[K|\r?\n", pending)
            if not read:
                whole, pending = [*whole, pending], b""
            for part in whole:
                take(part.decode("utf-8", "replace"))
            if not read:
                return lines

    try:
        yield writer, relay
    finally:
        os.close(reader)
