"""The exceptions of isoptimal, by their public name: misuse raises, mathematics returns."""

from verify.checker.errors import CertificateError, InputError, IsoptimalError

__all__ = ["CertificateError", "InputError", "IsoptimalError"]
