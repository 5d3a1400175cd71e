"""The exceptions of isoptimal: misuse raises, mathematics returns."""

__all__ = ["CertificateError", "InputError", "IsoptimalError", "ShapeError"]


class IsoptimalError(Exception):
    """Any error that isoptimal raises on purpose."""


class InputError(IsoptimalError, ValueError):
    """Bad data, shapes or files: one sentence that names the place and the remedy (exit status 2)."""


class ShapeError(InputError):
    """Numbers that are fine in themselves but too many, too few or arranged otherwise than the place asks."""


class CertificateError(IsoptimalError, ValueError):
    """A certificate that cannot be read.

    place: where in the certificate, such as `trees[0].nodes[3]`.   reason: what is wrong there.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"
