"""A member that nobody has decided how to check is refused everywhere: of the goals, the biases, the trained layers."""

import ast
import json
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from verify.checker import KINDS, Accepted, Refused, check, from_json
from verify.checker.certificate import claim_text
from verify.checker.codec import reader
from verify.checker.errors import CertificateError
from verify.checker.goals import Bias, Goal, Trained, has_bias, is_free, least_norm, rules, trained_layers
from verify.checker.optimal import OptimalWithin
from verify.checker.statement import Network as Checked
from verify.checker.statement import Problem
from verify.checker.width import OptimalWithinWidth
from verify.deciders.global_optimality.instance import as_decay_instance, as_instance
from verify.problem import Dataset, Network
from verify.problem.members import goal_words, has_labels, has_margin, is_penalised, is_regression, trains_all
from verify.problem.posing import pose

ROOT = Path(__file__).parents[3]
FOLDERS = sorted(
    path.parent for path in (ROOT / "cases").glob("*/*/certificates/*.json") if "rejected" not in str(path)
)
FIELDS = {"goal": Goal, "bias": Bias, "trained": Trained, "output_bias": Bias}
UNCLAIMED = ("goal", "output_bias")
"""Of these no claim can be made."""


def planted(enum: type[StrEnum], monkeypatch: pytest.MonkeyPatch) -> StrEnum:
    """One more member, as if it had been written into the class."""
    member = str.__new__(enum, "planted")
    member._name_, member._value_ = "PLANTED", "planted"
    monkeypatch.setitem(enum._member_map_, "PLANTED", member)
    monkeypatch.setitem(enum._value2member_map_, "planted", member)
    assert enum("planted") is member
    return member


def with_member(problem: Problem, field: str, member: StrEnum) -> Problem:
    """The same problem with the member, made behind the back of the constructor."""
    other = object.__new__(type(problem))
    for name in type(problem).__dataclass_fields__:
        object.__setattr__(other, name, getattr(problem, name))
    other.__dict__.update((name, value) for name, value in problem.__dict__.items() if name == "_data")
    object.__setattr__(other, field, member)
    return other


def stored_items():
    """One stored certificate of each kind, with its problem and network."""
    found = {}
    for folder in sorted(set(FOLDERS)):
        for file in sorted(folder.glob("*.json")):
            if file.name in ("problem.json", "network.json"):
                continue
            kind = json.loads(file.read_text("utf-8"))["kind"]
            if kind not in found:
                network = folder / "network.json"
                found[kind] = (
                    reader(Problem)(json.loads((folder / "problem.json").read_text("utf-8"))),
                    reader(Checked)(json.loads(network.read_text("utf-8"))) if network.exists() else None,
                    from_json(json.loads(file.read_text("utf-8"))),
                )
    return found


ITEMS = stored_items()
POSED = pose(Network.two_layer([[1]], [1]), Dataset([[1]], [1]))


def test_there_is_an_item_of_every_kind_that_is_stored():
    assert set(KINDS) == set(ITEMS), "no case holds a certificate of these kinds"
    for problem, network, certificate in ITEMS.values():
        assert isinstance(check(problem, network, certificate), Accepted)


@pytest.mark.parametrize("field", FIELDS)
def test_a_problem_with_a_planted_member_is_not_read(field, monkeypatch):
    problem, _, _ = ITEMS["fits"]
    member = planted(FIELDS[field], monkeypatch)
    with pytest.raises(CertificateError) as caught:
        reader(Problem)({**problem.to_json(), field: str(member)})
    assert caught.value.place == field
    with pytest.raises(CertificateError) as caught:
        replace(problem, **{field: member})
    assert caught.value.place == field


@pytest.mark.parametrize("kind", sorted(ITEMS))
@pytest.mark.parametrize("field", FIELDS)
def test_no_certificate_is_accepted_about_it(field, kind, monkeypatch):
    problem, network, certificate = ITEMS[kind]
    member = planted(FIELDS[field], monkeypatch)
    forged = with_member(problem, field, member)
    sealed = replace(certificate, problem=forged.sha256())
    if isinstance(sealed, OptimalWithin | OptimalWithinWidth) and field not in UNCLAIMED:
        lower = replace(sealed.lower, problem=forged.sha256())
        sealed = replace(sealed, lower=replace(lower, claim=claim_text(forged, lower)))
    if field not in UNCLAIMED:
        sealed = replace(sealed, claim=claim_text(forged, sealed))
    result = check(forged, network, sealed)
    assert isinstance(result, Refused)
    assert result.place.rpartition(".")[2] in (field, "problem")


def test_what_is_forged_is_accepted_where_the_member_is_an_old_one(monkeypatch):
    """The forgery of the test above is refused for its member, not for the way in which it is made."""
    problem, network, certificate = ITEMS["fits"]
    same = with_member(problem, "goal", problem.goal)
    assert isinstance(check(same, network, replace(certificate, problem=same.sha256())), Accepted)


HOMES = {"verify/checker/goals.py", "verify/problem/members.py"}
"""Where members are told apart, each with a case for what is none of them."""


ENUMS, ENUM_WORDS = ("Goal", "Bias", "Trained"), {"goal", "bias", "trained"}
WORDS = ENUM_WORDS | {"kind"}
TEXTS = {str(member) for enum in FIELDS.values() for member in enum} | {"chance", "property"}
"""Of members, and of the kinds of claims."""


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """What may tell members apart in a file, and the assignments that may give them names."""
    wanted = (
        ast.Compare,
        ast.MatchValue,
        ast.Call,
        ast.Match,
        ast.Subscript,
        ast.Assign,
        ast.AnnAssign,
        ast.ImportFrom,
    )
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, wanted))


def told_apart(source: str) -> list[int]:
    """The lines that compare with a member or its text, look for one among some, count on their order, or match one.

    So do a table of members, or one of them, under another name; and an enum that is imported under another name.
    """
    named = {name for node in nodes(source) for name in _names_of_members(node)}
    return sorted({node.lineno for node in nodes(source) if _tells_apart(node, named)})


def _names_of_members(node: ast.AST) -> list[str]:
    """The names that an assignment gives to a member, or to a collection of some or a table by them."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)] if _holds_members(node.value) else []


def _holds_members(node: ast.AST) -> bool:
    match node:
        case ast.Dict(keys=keys):
            return any(key is not None and _is_member(key) for key in keys)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            return any(map(_is_member, items))
        case ast.Call(
            func=ast.Name(id="frozenset" | "set" | "tuple" | "list" | "dict" | "MappingProxyType"), args=[only]
        ):
            return _holds_members(only)
        case _:
            return _is_member(node)


def _tells_apart(node: ast.AST, named: set[str]) -> bool:
    match node:
        case ast.Compare():
            sides = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            asks = any(isinstance(part, ast.Name | ast.Attribute) and _last(part) in WORDS for part in sides)
            is_named = any(isinstance(side, ast.Name) and side.id in named for side in (node.left, *node.comparators))
            return (
                is_named
                or any(map(_is_member, sides))
                or (asks and any(isinstance(part, ast.Constant) and part.value in TEXTS for part in sides))
            )
        case ast.MatchValue():
            return _is_member(node.value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get" | "items" | "setdefault" | "pop")):
            return name in named
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="get" | "items" | "setdefault" | "pop")):
            return _holds_members(table)
        case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith" | "find" | "index")):
            return _plain(value) in ENUM_WORDS or _is_listing(value)
        case ast.Subscript(value=value):
            return _is_listing(value)
        case ast.ImportFrom(names=names):
            return any(alias.name in ENUMS and alias.asname not in (None, alias.name) for alias in names)
        case _:
            return False


def _is_listing(node: ast.AST) -> bool:
    """Whether it is the list of all members, in which places have no meaning."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[ast.Name(id=name)]):
            return name in ENUMS
        case _:
            return False


def _is_member(node: ast.AST) -> bool:
    """Whether it is `Goal.MIN_NORM`, its value or its name, also with the module before it."""
    if isinstance(node, ast.Attribute) and node.attr in ("value", "name"):
        node = node.value
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and _last(node.value) in ENUMS
    )


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _plain(node: ast.AST) -> str:
    """The last name of `problem.goal`, also of `problem.goal.value` and of `str(problem.goal)`."""
    match node:
        case ast.Attribute(value=value, attr="value" | "name") | ast.Call(func=ast.Name(id="str"), args=[value]):
            return _plain(value)
        case ast.Name() | ast.Attribute():
            return _last(node)
        case _:
            return ""


def falls_through(source: str) -> list[int]:
    """The lines of each `match` of a goal, a bias, trained layers or a kind that has no last case for what is none.

    Also of one that asks for them among others, in a tuple or in a record, where a case names one.
    """
    return [
        node.lineno
        for node in nodes(source)
        if isinstance(node, ast.Match)
        and any(_names_one(case.pattern, is_asked=_asks(node.subject)) for case in node.cases)
        and not _refuses(node.cases[-1])
    ]


def _asks(subject: ast.expr) -> bool:
    parts = subject.elts if isinstance(subject, ast.Tuple) else [subject]
    return any(_plain(part) in WORDS for part in parts)


def _names_one(pattern: ast.pattern, *, is_asked: bool) -> bool:
    """Whether a pattern names a member, or its text where one is asked for."""
    found = [(part, is_asked) for part in ast.walk(pattern)]
    for part in ast.walk(pattern):
        if isinstance(part, ast.MatchClass):
            inner = zip(part.kwd_attrs, part.kwd_patterns, strict=True)
            found += [(deep, True) for name, kept in inner if name in WORDS for deep in ast.walk(kept)]
    return any(
        isinstance(part, ast.MatchValue)
        and (_is_member(part.value) or (asked and isinstance(part.value, ast.Constant) and part.value.value in TEXTS))
        for part, asked in found
    )


def _refuses(case: ast.match_case) -> bool:
    """Whether a case takes the rest, and raises or cannot be reached."""
    is_rest = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
    (only,) = case.body if len(case.body) == 1 else (None,)
    return is_rest and (isinstance(only, ast.Raise) or ast.unparse(only or case.body[0]).startswith("assert_never("))


FILES = [path for root in ("verify", "solvers", "isoptimal") for path in sorted((ROOT / root).rglob("*.py"))]


def test_members_are_told_apart_in_two_files_only():
    """So that there is no `if goal is X ... else` through which another member could fall."""
    found = {path.relative_to(ROOT).as_posix(): told_apart(path.read_text("utf-8")) for path in FILES}
    assert {file: lines for file, lines in found.items() if lines and file not in HOMES} == {}
    assert all(found[file] for file in HOMES)


def test_what_tells_members_apart_refuses_the_rest():
    found = {path.relative_to(ROOT).as_posix(): falls_through(path.read_text("utf-8")) for path in FILES}
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("x = problem.goal is not Goal.MIN_NORM", True),
        ("goal == Goal.MIN_NORM.value", True),
        ("bias in (Bias.NONE, Bias.FREE)", True),
        ("options.goal == 'min-norm'", True),
        ("claim.kind != 'chance'", True),
        ("{Goal.MIN_NORM: 1}.get(goal, 2)", True),
        ("match goal:\n    case Goal.MIN_NORM:\n        pass", True),
        ("goal is goals.Goal.MIN_NORM", True),
        ("from verify.checker.goals import Goal as G\ngoal is G.MIN_NORM", True),
        ("FEW = (Goal.MIN_NORM,)\nx = goal in FEW", True),
        ("FEW: frozenset[Goal] = frozenset({Goal.MIN_NORM})\nx = goal not in FEW", True),
        ("WORDS = {Goal.MIN_NORM.value: 'a'}\nx = WORDS.get(goal, 'b')", True),
        ("WORDS = {Goal.MIN_NORM.value: 'a'}\nx = [word for goal, word in WORDS.items() if goal in goals]", True),
        ("only = Goal.MIN_NORM\nx = goal is only", True),
        ("problem.goal.value.startswith('min')", True),
        ("str(problem.bias).endswith('ed')", True),
        ("list(Goal).index(goal)", True),
        ("tuple(Goal)[number % 2]", True),
        ("WORDS = {Goal.MIN_NORM: 'a', Goal.MAX_MARGIN: 'b'}\nx = WORDS[goal]", False),
        ("goal_words(goal).title.startswith('M')", False),
        ("pose(goal=Goal.MIN_NORM)", False),
        ("{Bias.NONE: '', Bias.FREE: 'free'}[bias]", False),
        ("name == 'none'", False),
    ],
)
def test_what_tells_members_apart_is_found(source, is_found):
    assert bool(told_apart(source)) is is_found


@pytest.mark.parametrize(
    ("rest", "is_found"),
    [
        ("case _:\n        assert_never(goal)", False),
        ("case _:\n        raise none_of_them(goal)", False),
        ("case _:\n        return False", True),
        ("case Goal.MIN_NORM:\n        return False", True),
    ],
)
def test_a_match_that_falls_through_is_found(rest, is_found):
    source = f"def f(goal):\n  match goal:\n    case Goal.MAX_MARGIN:\n        return True\n    {rest}"
    assert bool(falls_through(source)) is is_found


@pytest.mark.parametrize(
    "cases",
    [
        "match goal:\n    case 'max-margin' | 'min-norm':\n        pass",
        "match goal.value:\n    case 'max-margin':\n        pass",
        "match goal, bias:\n    case 'max-margin', _:\n        pass",
        "match problem:\n    case Problem(goal='max-margin'):\n        pass",
        "match problem:\n    case Problem(goal=Goal.MAX_MARGIN):\n        pass\n    case _:\n        x = 0",
    ],
)
def test_it_is_found_behind_other_patterns(cases):
    assert falls_through(cases) == [1]
    assert (
        falls_through(f"{cases}\n    case _:\n        raise none_of_them(goal)" if "case _" not in cases else "") == []
    )


@pytest.mark.parametrize("text", ["planted", "min-norm", "max-margin", None, "nonsense"])
def test_a_goal_by_its_text_is_asked_as_well(text, monkeypatch):
    planted(Goal, monkeypatch)
    monkeypatch.setattr(Goal, "_member_names_", [*Goal._member_names_, "PLANTED"])
    if text == "planted":
        with pytest.raises(AssertionError):
            is_regression(text)
    else:
        assert is_regression(text) is (text == "min-norm")


@pytest.mark.parametrize("field", FIELDS)
def test_questions_about_it_and_the_solvers_raise(field, monkeypatch):
    member = planted(FIELDS[field], monkeypatch)
    asked = {
        "goal": (has_margin, has_labels, goal_words),
        "bias": (is_penalised,),
        "trained": (trains_all,),
        "output_bias": (is_penalised, least_norm),
    }
    for ask in asked[field]:
        with pytest.raises((AssertionError, CertificateError)):
            ask(member)
    made = as_decay_instance if field == "output_bias" else as_instance
    assert made(with_member(POSED, field, getattr(POSED, field))) is not None
    assert as_instance(with_member(POSED, field, getattr(POSED, field))).rows.shape == (1, 1)
    if field != "trained":  # the solvers are told nothing of it
        with pytest.raises((AssertionError, CertificateError)):
            made(with_member(POSED, field, member))


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (rules, "goal"),
        (has_bias, "bias"),
        (is_free, "bias"),
        (lambda trained: trained_layers(trained, 2), "trained"),
    ],
    ids=["rules", "has_bias", "is_free", "trained_layers"],
)
def test_the_core_names_what_it_does_not_decide(ask, field, monkeypatch):
    member = planted(FIELDS[field], monkeypatch)
    with pytest.raises(CertificateError, match="planted is nothing that is decided") as caught:
        ask(member)
    assert caught.value.place == field
