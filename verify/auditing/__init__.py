"""The audit: the questions in order, with proofs, within a time limit; and the record of what was found."""

from verify.auditing.loop import audit, certified_bracket, pose
from verify.auditing.record import Audit

__all__ = ["Audit", "audit", "certified_bracket", "pose"]
