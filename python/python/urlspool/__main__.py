"""The command line: `python -m urlspool scan PATH`."""

from __future__ import annotations

import signal
import sys

from ._urlspool import main as run


def main() -> int:
    """Runs the command that the arguments of the process name."""
    # The interpreter's own handler would wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["urlspool", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
