"""`python -m verify` is `isoptimal`."""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """The entry point; Ctrl-C ends it with one line also while modules are imported."""
    try:
        from verify.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("isoptimal: interrupted before it was done\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
