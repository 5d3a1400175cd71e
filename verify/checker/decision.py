"""What is decided of a folder: a line for each certificate and fault, and the table of what is proved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from verify.checker.statement import Network, Problem


@dataclass(frozen=True, slots=True)
class Line:
    """What is said about a file: accepted with what it proves, or refused with the reason."""

    is_accepted: bool
    file: str
    text: str

    def __bool__(self) -> NoReturn:
        raise TypeError("a line has no truth value: ask `.is_accepted`")


@dataclass(slots=True)
class Decision:
    """lines: one for each certificate and each fault.   table: what is proved; empty where there is no audit.json.

    problem, network: None where the file is no problem and no network, or the network is missing.
    audit: what audit.json says; None where it cannot be read.   relaxed: the folder beside, named `relaxed_folder`, of
    the audit that asked what the network does fit; None where there was none.
    """

    problem: Problem | None
    network: Network | None
    lines: list[Line] = field(default_factory=list[Line])
    table: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    audit: Mapping[str, Any] | None = None
    relaxed: "Decision | None" = None

    @property
    def is_accepted(self) -> bool:
        """Whether nothing was refused."""
        return all(line.is_accepted for line in self.lines) and (self.relaxed is None or self.relaxed.is_accepted)

    def accept(self, file: str, text: str) -> None:
        """Add what a certificate proves."""
        self.lines.append(Line(True, printable(file), text))

    def refuse(self, file: str, text: str) -> None:
        """Add a fault; file and text may hold anything that stands in the folder."""
        self.lines.append(Line(False, printable(file), printable(text)))

    def __bool__(self) -> NoReturn:
        raise TypeError("a decision has no truth value: ask `.is_accepted`")


def printable(text: str) -> str:
    """The text with what is no visible character escaped: whoever wrote a folder can add no line to what is printed."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
