"""What `isoptimal widths` and `isoptimal train` say, line by line, compared with exact numbers and certificates."""

from __future__ import annotations

import re
from fractions import Fraction

from tests.forging import accepted
from tests.words.reading import N, is_about, is_value
from verify.cli.widths import _best, _by, _ending
from verify.deciders.finding import Verdict
from verify.numbers.floats import to_float
from verify.problem.phrases import has_infimum_0
from verify.problem.problem import objective

__all__ = ["check_training", "check_widths"]

F = Fraction


# ------------------------------------------------------------------------------------------------------------- widths


def check_widths(curve) -> int:
    """Assert that rows and the last line are what the certificates prove; returns how many there were."""
    for point in curve.points:
        for proof in point.certificates:
            accepted(point.problem, None, proof)
        assert point.network is None or objective(point.problem, point.network) == point.upper
        _one_of(BEST, _best(point), point)
        _one_of(BY, _by(point), point)
    _one_of(ENDINGS, _ending(curve), curve)
    return 2 * len(curve.points) + 1


def _one_of(kinds, text, subject) -> None:
    told = [check(subject, found) is not False for pattern, check in kinds if (found := re.fullmatch(pattern, text))]
    assert told, f"a sentence of no known kind: {text}"
    assert told[0], text


def _none_fits(point, _):
    return any(proof.KIND in ("infeasible", "infeasible-width") for proof in point.certificates)


def _lower(point) -> Fraction:
    return max((proof.bracket[0] for proof in point.certificates if proof.KIND.startswith("lower-bound")), default=F(0))


def _between(point, found):
    return F(found[1]) <= _lower(point) <= objective(point.problem, point.network) <= F(found[2])


def _is_value(point, text):
    """The best objective itself: both ends are this number."""
    assert point.upper == 0 or _lower(point) == point.upper
    return is_value(text, objective(point.problem, point.network))


VALUE = r"(?:\d+/\d+ \(about [^)]+\)|(?:about )?[\d.e-]+)"
BEST = [
    (r"none", _none_fits),
    (VALUE, lambda point, found: _is_value(point, found[0])),
    (r"as near to 0 as asked", lambda point, _: has_infimum_0(point.problem)),
    (rf"{N} … {N}", _between),
    (rf"at most {N}", lambda point, found: objective(point.problem, point.network) <= F(found[1])),
    (rf"at least {N}", lambda point, found: F(found[1]) <= _lower(point)),
    (r"not known", lambda point, _: point.upper is None and not point.lower),
]
AT_WIDTH = (
    r"(?:the time limit was reached|the search was interrupted|the search ended"
    r"|floating point could not decide the rest) after ([1-9]\d*) states? of the neurons"
    r"(?:, ([1-9]\d*) left open)?|the search was interrupted|the time limit was reached before the search at this "
    r"width|the search ended before the first state of the neurons was bounded"
)
KINDS = r"([a-z-]+(?:, [a-z-]+)*)"


def _proofs(point, found):
    return found[1] == (", ".join(proof.KIND for proof in point.certificates) or "nothing")


def _searched(point, found):
    assert _proofs(point, found)
    if found[2] is None:  # nothing was looked at, and nothing said of what is left
        return point.nodes == 0
    return int(found[2]) == point.nodes and int(found[3] or 0) == point.left


BY = [
    (KINDS, _proofs),
    (rf"{KINDS}; the floating-point search failed", _proofs),
    (rf"{KINDS}; (?:{AT_WIDTH})", _searched),
]


def _reached(curve, found):
    """By a row whose network is within the tolerance of what no network of any width is below."""
    row = curve.points[int(found[1]) - 1]
    lower = curve.any_width.ends[0]
    within = F(found[2]) if found[2] else F(0)
    most = (1 + curve.tolerance) * curve.any_width.ends[1]
    assert (found[3] is None) == all(_none_fits(p, None) or _lower(p) > most for p in curve.points[: row.width - 1])
    assert all(
        point.upper is None or point.upper > (1 + curve.tolerance) * lower for point in curve.points[: row.width - 1]
    )
    return objective(row.problem, row.network) <= (1 + within) * lower and within <= curve.tolerance * F(100001, 10**5)


def _not_reached(curve, found):
    widest, (lower, upper) = curve.points[-1], curve.any_width.ends
    assert found["least"] is None or F(found["least"]) <= lower
    assert found["most"] is None or F(found["most"]) >= upper
    if found[0].startswith("it is not known"):
        return curve.enough is None
    return widest.fits is Verdict.REFUTED or _lower(widest) > upper


def _of_given(curve, found):
    """Where k neurons with the first k output weights fit, so do k + 1: a row of zeros more."""
    assert curve.output_weights is not None
    fits = [point.fits for point in curve]
    if "network" in found[0]:
        assert int(found["among"] or len(curve.output_weights)) == len(fits)
        assert (found["among"] is None) == (len(fits) == len(curve.output_weights))
        return Verdict.PROVED not in fits and (fits[-1] is Verdict.REFUTED) == found[0].startswith("no network")
    k = int(found["first"] or 1)
    assert fits[k - 1] is Verdict.PROVED
    assert Verdict.PROVED not in fits[: k - 1]
    return (k == 1 or fits[k - 2] is Verdict.REFUTED) == found[0].startswith("it takes")


FEWER = r"(; whether fewer are enough is not known)?"
GIVEN = r"with (?:the first (?P<among>\d+) of )?these output weights"
ENDINGS = [
    (
        (
            r"(?:it takes )?the first (?P<first>\d+) of these output weights (?:are enough )?to fit the data"
            r"(?:; it is not known whether fewer are)?"
            r"|it takes the first of these output weights to fit the data"
            rf"|(?:no network|it is not known whether a network) {GIVEN} fits the data"
        ),
        _of_given,
    ),
    (r"no network of any width fits the data", lambda curve, _: curve.any_width is None),
    (
        r"no network of any width is the best: a free bias gives constants, as near to 0 as asked, and none has 0",
        lambda curve, _: has_infimum_0(curve.points[0].problem),
    ),
    (rf"the best of any width is reached with (\d+) neurons?(?:, within a factor 1 \+ {N})?{FEWER}", _reached),
    (
        (
            r"(?:the best of any width is not reached|it is not known whether the best of any width is reached) with "
            rf"these(?:; (?:networks of any width have at least (?P<least>{N}))?(?:, and )?"
            rf"(?:one of \d+ neurons? has at most (?P<most>{N}))?)?"
        ),
        _not_reached,
    ),
]


# ----------------------------------------------------------------------------------------------------------- training


def check_training(run) -> int:
    """Assert that what is said of the data is so, and that numbers are those of the network that was reached."""
    title, ended, numbers, *others = [line.strip() for line in run.lines()]
    assert f"{len(run.data)} point" in title
    assert ended == f"{run.status}: {run.reason}"
    reason = _without_conflict(run)
    assert not re.search(r"\b(?:try|helps?|biases|more neurons|no network|proved)\b", reason), reason
    last = run.trajectory
    network = run.network if run.polished is None else None
    if network is not None:
        _check_numbers(run, numbers, network)
    assert len(last) >= 1
    assert re.fullmatch(
        r"[\d,]+ gradients?, (?:at least )?\d+ changes? of the pattern, \d+ kinks? held, \S+ s", others[-1]
    )
    return 3 + len(others)


def _check_numbers(run, text, network) -> None:
    weights = [w for row in network.hidden_weights for w in row]
    counted = weights if run.hidden_only else [*weights, *network.output_weights]
    norm = to_float(sum((w * w for w in counted), F(0))) ** 0.5
    name = "norm of the hidden weights" if run.hidden_only else "norm"
    assert is_about(re.search(rf"(?:, |^){name} ([^,]+)", text)[1], F(norm)), text
    values = [network(x) for x in run.data.inputs]
    if found := re.search(r"normalised margin ([^,]+)", text):
        margin = to_float(min(y * f for y, f in zip(run.data.targets, values, strict=True)))
        told, said = margin / norm ** (2 - run.hidden_only) if norm else 0.0, float(found[1])
        assert abs(said - told) <= 2e-5 * abs(said) + 1e-12, text
    else:
        apart = to_float(max(abs(y - f) for y, f in zip(run.data.targets, values, strict=True)))
        said = float(re.search(r"largest residual ([^,]+)", text)[1])
        assert abs(said - apart) <= 0.06 * apart + 1e-13, text


def _without_conflict(run) -> str:
    """The reason without what it says of data that nothing fits, which is checked by the points that it names."""
    found = re.search(CONFLICT, run.reason)
    if found is None:
        return run.reason
    x, y = run.data.inputs, run.data.targets
    i, j = (int(found[name] or found["zero"]) for name in ("one", "other"))
    has_bias = run.network.architecture.bias
    if found["zero"]:
        assert not has_bias
        assert not any(x[i])
        assert y[i]
    elif "are equal" in found[0]:
        assert x[i] == x[j]
        assert y[i] != y[j]
    else:
        assert not has_bias
        factor = next(b / a for a, b in zip(x[i], x[j], strict=True) if a)
        assert factor > 0
        assert tuple(factor * a for a in x[i]) == tuple(x[j])
        assert y[i] * y[j] < 0 if "labels" in found[0] else factor * y[i] != y[j]
    return run.reason.replace(found[0], "")


CONFLICT = (
    r"no network(?: without biases)? fits, because (?:point (?P<zero>\d+) is 0, where every such network is 0|points "
    r"(?P<one>\d+) and (?P<other>\d+) (?:are equal and their targets are not|lie on one ray from 0 and their (?:labels "
    r"differ|targets are not in the proportion of the points)))"
)
