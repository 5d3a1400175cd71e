"""`python -m verify` is `isoptimal`."""

from verify.cli import main

if __name__ == "__main__":
    main()
