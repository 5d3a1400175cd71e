"""The exceptions of isoptimal: misuse raises, mathematics returns."""


class IsoptimalError(Exception):
    """Any error that isoptimal raises on purpose."""


class InputError(IsoptimalError, ValueError):
    """Bad data, shapes or files: one sentence that names the place and the remedy (exit status 2)."""


class ShapeError(InputError):
    """Numbers that are fine in themselves but too many, too few or arranged otherwise than the place asks."""


class CertificateError(IsoptimalError, ValueError):
    """A certificate, or a problem or network in canonical form, that is malformed or does not prove what it says.

    place: where in it, such as `trees[0].nodes[3]`, "" for the whole.   reason: what is wrong there.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason

    def within(self, place: str) -> "CertificateError":
        """The same error, seen from the object that holds the faulty one at `place`."""
        dot = "." if self.place and self.place[0] != "[" else ""
        return CertificateError(f"{place}{dot}{self.place}", self.reason)


def require(condition: bool, place: str, reason: str) -> None:
    """Raise a CertificateError unless the condition holds."""
    if not condition:
        raise CertificateError(place, reason)
