# SPDX-License-Identifier: Apache-2.0
"""`python -m autotune …` is the tool."""

import os
import sys

from ._errors import Error
from ._library import environment
from ._tool import tool


def main() -> None:
    """Replaces this process by the tool, with the same arguments."""
    try:
        program = str(tool())
        os.execve(program, [program, *sys.argv[1:]], environment())
    except (Error, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
