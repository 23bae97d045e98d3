# SPDX-License-Identifier: Apache-2.0
"""`python -m autotune …` is the tool. It also judges functions: `judge fast.py:f --against …`."""

import os
import sys

from ._errors import Error
from ._library import environment
from ._tool import tool


def main() -> None:
    """Replaces this process by the tool, with the same arguments."""
    if sys.argv[1:2] == ["judge"] and any(".py:" in word for word in sys.argv[2:]):
        from ._judge import main as judge_functions

        sys.exit(judge_functions(sys.argv[2:]))
    try:
        program = str(tool())
        os.execve(program, [program, *sys.argv[1:]], environment())
    except (Error, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
