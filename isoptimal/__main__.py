"""`python -m isoptimal` is the command `isoptimal`."""

from verify.__main__ import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
