"""`python -m verify.corpus --store PATH`: write the stored certificates of the cases below PATH anew."""

import sys

from verify.checker.errors import InputError
from verify.corpus.running import store


def main(arguments: list[str]) -> int:
    """The exit status: 0 when every case is as expected, 1 when one is not, 2 for a wrong call or a malformed case."""
    if arguments[:1] != ["--store"] or len(arguments) != 2:
        sys.stderr.write("usage: python -m verify.corpus --store PATH\n")
        return 2
    try:
        return store(arguments[1])
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
