"""The records of a claim: what it says and of what, what it concludes, which hypotheses it cannot do without."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from random import Random
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, NoReturn, final

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies import KKTPoint

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from verify.readers.cases import Case

__all__ = [
    "DECIDABLE",
    "OPEN",
    "USUAL",
    "Claim",
    "Instance",
    "Judgement",
    "Outcome",
    "Variant",
    "failed",
    "held",
    "undecided",
]

OPEN = "open"
"""In place of a sharp case: none is known."""

DECIDABLE = "decidable"

USUAL = 200
"""Instances of each claim, unless it asks for fewer."""

_NOT_YET = "not yet decidable here: needs "


@final
@dataclass(frozen=True, slots=True)
class Instance:
    """What a claim speaks of: a problem and a network, as in a case file."""

    problem: Problem
    network: Network

    def __post_init__(self) -> None:
        for name, kind in (("problem", Problem), ("network", Network)):
            if not isinstance(given := getattr(self, name), kind):
                raise InputError(f"the {name} of an instance is {given!r:.60}: give a {kind.__name__}")

    @classmethod
    def of(cls, given: KKTPoint | Case) -> Instance:
        """The problem and the network of a KKT point or a case."""
        return cls(given.problem, given.network)

    @classmethod
    def posed(cls, network: Network, data: Dataset, *, goal: Goal | None = None, bias: Bias | None = None) -> Instance:
        """The problem that an audit would pose for these data and this network."""
        return cls(pose(network, data, goal=goal, bias=bias), network)

    @property
    def data(self) -> Dataset:
        """The points and targets."""
        return self.problem.data

    @property
    def slope(self) -> Fraction:
        """The slope of the activation."""
        return self.network.architecture.slope

    @property
    def size(self) -> tuple[int, int, int, int]:
        """(points, neurons, dimension, digits of all numbers): counterexamples are compared by this."""
        numbers = [x for row in self.data.inputs for x in row]
        numbers += [*self.data.targets, *(w for layer in self.network.parameters for w in layer)]
        digits = sum(len(str(abs(x.numerator))) + len(str(x.denominator)) * (x.denominator > 1) for x in numbers)
        return len(self.data), self.network.width, self.data.dimension, digits


@final
class Outcome(Enum):
    """What became of the conclusion on one instance; UNDECIDED is neither."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        raise TypeError("an outcome has three values and no truth value: compare it, such as `is Outcome.HELD`")


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """An outcome with the reason; measured: the quantity that a claim bounds, where it has one."""

    outcome: Outcome
    reason: str
    measured: Fraction | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, Outcome):
            raise InputError(f"the outcome of a judgement is {self.outcome!r:.60}: use held(), failed() or undecided()")
        if not isinstance(self.reason, str):
            raise InputError(f"the reason of a judgement is {self.reason!r:.60}: give a text")
        if not (self.measured is None or isinstance(self.measured, Fraction)):
            raise InputError(f"a judgement measured {self.measured!r:.60}: give a Fraction, which is exact")
        object.__setattr__(self, "reason", self.reason.encode("utf-8", "backslashreplace").decode("utf-8"))

    def __bool__(self) -> NoReturn:
        raise TypeError("a judgement has no truth value: ask `.outcome is Outcome.HELD`")


def held(reason: str = "", *, measured: Fraction | int | None = None) -> Judgement:
    """The conclusion is proved on this instance."""
    return Judgement(Outcome.HELD, reason, None if measured is None else Fraction(measured))


def failed(reason: str, *, measured: Fraction | int | None = None) -> Judgement:
    """The conclusion is proved to be false on this instance."""
    return Judgement(Outcome.FAILED, reason, None if measured is None else Fraction(measured))


def undecided(reason: str) -> Judgement:
    """Neither is proved."""
    return Judgement(Outcome.UNDECIDED, reason)


def _always(_: Instance) -> bool:
    return True


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A false statement beside a claim, which has to be refuted as the claim would be: the test of the test.

    name: such as "bound-r+2".   statement: one sentence, which is false.   conclusion, instances, trial, chance: in
    place of the claim's, where they differ.   dropped: hypotheses of the claim that are left out.   hypotheses: in
    place of all of them.   examples: as for a claim; the first counterexample ends a run.
    """

    name: str
    statement: str
    conclusion: Callable[[Instance], Judgement] | None = None
    dropped: tuple[str, ...] = ()
    hypotheses: Mapping[str, Callable[[Instance], bool]] | None = None
    setting: Callable[[Instance], bool] | None = None
    instances: SearchStrategy[Instance] | None = None
    trial: Callable[[Random], Instance] | None = None
    chance: Fraction | None = None
    examples: int = USUAL

    def of(self, claim: Claim) -> Claim:
        """The claim with what is false in it; its id is the claim's with the name after an exclamation mark."""
        own = claim.hypotheses if self.hypotheses is None else self.hypotheses
        changes: dict[str, Any] = {
            name: given
            for name in ("conclusion", "setting", "instances", "trial", "chance")
            if (given := getattr(self, name)) is not None
        }
        return replace(
            claim, id=f"{claim.id}!{self.name}", statement=self.statement, sharp={}, without={}, variants=(),
            hypotheses={name: holds for name, holds in own.items() if name not in self.dropped},
            examples=self.examples, could_fail=None, few_could_fail="", **changes,
        )  # fmt: skip


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A theorem as something that runs.

    id: such as "vardi2022.thm4.3".   source: arXiv number and version, and the theorem.   statement: one sentence.
    setting: which instances the statement speaks of at all, whatever its hypotheses.
    hypotheses: by a short name, a predicate that is True where the hypothesis is shown to hold.
    conclusion: decides one instance; its verdicts rest on the checker or on exact arithmetic.
    instances: a strategy that builds instances on which all hypotheses hold.
    sharp: for each hypothesis a case, as a path below cases/, that breaks this one only and falsifies the conclusion;
    OPEN, or no entry, when none is known.
    without: for a hypothesis, a strategy of instances on which all the others hold, where a search finds few itself.
    regime: what was scaled down for a computer, and what is not decided of the statement.
    quantity: what `Judgement.measured` measures; group: a number of each instance, for which a search looks for the
    largest quantity.
    needs: what has to be built before it can be decided; empty for a claim that runs.   kind: "property" or "chance".
    chance: the conclusion holds with at least this probability over `trial`, which draws one instance.
    trains: the network of an instance is where a training starts, and the conclusion trains it. What it says about the
    training is measured in floats; what it says about the network at the end is decided like everywhere.
    examples: how many instances are tried when 200 are asked for (other numbers in proportion): fewer where each costs
    seconds.
    could_fail: whether the conclusion could have been false on an instance, by its size and numbers alone: a bound that
    could be exceeded, a conclusion that does not hold for all networks of this shape. Not asked where it is None.
    few_could_fail: why few instances could fail, where that cannot be otherwise; else the claim is "untested" when less
    than half of them could.
    variants: false statements beside it, each of which instances of this kind have to refute.
    """

    id: str
    source: str
    statement: str
    setting: Callable[[Instance], bool] = _always
    hypotheses: Mapping[str, Callable[[Instance], bool]] = field(default_factory=dict[str, Callable[[Instance], bool]])
    conclusion: Callable[[Instance], Judgement] | None = None
    instances: SearchStrategy[Instance] | None = None
    sharp: Mapping[str, str] = field(default_factory=dict[str, str])
    without: Mapping[str, SearchStrategy[Instance]] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    regime: str = ""
    quantity: str = ""
    group: Callable[[Instance], int] | None = None
    needs: str = ""
    kind: str = "property"
    chance: Fraction | None = None
    trial: Callable[[Random], Instance] | None = None
    trains: bool = False
    examples: int = USUAL
    could_fail: Callable[[Instance], bool] | None = None
    few_could_fail: str = ""
    variants: tuple[Variant, ...] = ()

    def __post_init__(self) -> None:
        self._check_types()
        if not self.id or any(part.isspace() for part in self.id):
            raise InputError(f"the id of a claim is {self.id!r}: give a name without spaces, such as 'mine.lemma1'")
        if not self.needs and self.conclusion is None:
            raise InputError(f"claim {self.id} has no conclusion: give one, or say in `needs` what is missing")
        if not self.needs and (self.trial if self.is_chance else self.instances) is None:
            raise InputError(f"claim {self.id} has no {'trial' if self.is_chance else 'instances'}: give one")
        if unknown := sorted((self.sharp.keys() | self.without.keys()) - self.hypotheses.keys()):
            raise InputError(f"claim {self.id} speaks of {unknown[0]!r}, which is none of its hypotheses")
        if self.is_chance is not (self.chance is not None):
            raise InputError(f"claim {self.id} must have a chance exactly when its kind is 'chance'")
        if self.examples < 1:
            raise InputError(f"claim {self.id} asks for {self.examples} examples: it needs at least 1")
        if self.chance is not None and not 0 <= self.chance <= 1:
            raise InputError(f"claim {self.id} has the chance {self.chance}: it is a number from 0 to 1")
        for name in ("hypotheses", "sharp", "without"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        self._check_variants()

    def _check_variants(self) -> None:
        """Each has a name of its own, and something that differs."""
        names = [variant.name for variant in self.variants]
        if len({*names}) < len(names) or not all(re.fullmatch(r"[^\s!]+", name) for name in names):
            raise InputError(f"the variants of claim {self.id} are called {names}: give each a name without spaces")
        for variant in self.variants:
            if unknown := {*variant.dropped} - self.hypotheses.keys():
                raise InputError(f"{variant.name} of claim {self.id} drops {min(unknown)!r}, none of its hypotheses")
            changed = ("conclusion", "hypotheses", "setting", "instances", "trial", "chance")
            if not variant.dropped and all(getattr(variant, name) is None for name in changed):
                raise InputError(f"variant {variant.name} of claim {self.id} is the claim itself: change something")

    @property
    def is_chance(self) -> bool:
        """Whether it is about a probability, and not about every instance."""
        match self.kind:
            case "chance":
                return True
            case "property":
                return False
            case _:
                raise InputError(f"claim {self.id} has the kind {self.kind!r}: take 'property' or 'chance'")

    def _check_types(self) -> None:
        """Each member is what the docstring says; a claim that is not would fail far from where it was written."""
        from hypothesis.strategies import SearchStrategy

        texts = ("id", "source", "statement", "regime", "quantity", "needs", "kind", "few_could_fail")
        members: list[tuple[str, type | tuple[type, ...], str]] = [(name, str, "a text") for name in texts]
        members += [(name, Mapping, "a dict") for name in ("hypotheses", "sharp", "without")]
        members += [("chance", (Fraction, int, NoneType), "a Fraction"), ("trains", bool, "True or False")]
        for name, kinds, wanted in [*members, ("examples", int, "a whole number")]:
            if not isinstance(given := getattr(self, name), kinds):
                raise InputError(f"{name} of claim {self.id!r:.60} is {given!r:.60}: give {wanted}")
        for name in ("setting", "conclusion", "group", "trial", "could_fail"):
            given = getattr(self, name)
            if not callable(given) and (name == "setting" or given is not None):
                raise InputError(f"{name} of claim {self.id!r:.60} is {given!r:.60}: give a function of an instance")
        parts = [(f"hypothesis {name!r}", holds, callable(holds)) for name, holds in self.hypotheses.items()]
        parts += [(f"sharp case of {name!r}", path, isinstance(path, str)) for name, path in self.sharp.items()]
        drawn = [("instances", self.instances)] if self.instances is not None else []
        drawn += [(f"strategy without {name!r}", given) for name, given in self.without.items()]
        parts += [(what, given, isinstance(given, SearchStrategy)) for what, given in drawn]
        parts += [("a variant", given, isinstance(given, Variant)) for given in self.variants]
        for what, given, is_right in parts:
            if not is_right:
                raise InputError(f"{what} of claim {self.id} is {given!r:.60}, which it cannot be")

    @property
    def status(self) -> str:
        """Either "decidable" or "not yet decidable here: needs ..."."""
        return f"{_NOT_YET}{self.needs}" if self.needs else DECIDABLE

    @property
    def is_decidable(self) -> bool:
        """Whether it can be run."""
        return not self.needs

    def broken(self, instance: Instance) -> list[str]:
        """The hypotheses that are not shown to hold on an instance."""
        return [name for name, holds in self.hypotheses.items() if not holds(instance)]

    def sharp_case(self, hypothesis: str) -> str:
        """The path of the case that shows a hypothesis to be needed, or OPEN."""
        return self.sharp.get(hypothesis, OPEN)
