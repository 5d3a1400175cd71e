"""Critical decays by hand, their audits, and the command."""

from fractions import Fraction
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import CliRunner

from verify import Audit, InputError, Verdict
from verify.auditing import critical
from verify.auditing.critical import CriticalDecay, critical_decay
from verify.checker.folder import decide_folder
from verify.cli import program
from verify.deciders.finding import Ending
from verify.numbers.decimals import nearest

F = Fraction
ALONE = {"reduction": "sum", "bias": "none", "output_bias": "none", "time_limit": 20}
NOW = {"reduction": "sum", "bias": "none", "output_bias": "none"}
FREE = {"reduction": "sum", "bias": "none", "output_bias": "free", "time_limit": 20}


@pytest.mark.parametrize(
    ("X", "y", "loss", "options", "wanted"),
    [
        ([[F(4, 5), F(3, 5)], [F(-4, 5), F(3, 5)]], [1, 1], "half-squared", ALONE, F(6, 5)),
        ([[2]], [3], "half-squared", ALONE, F(6)),
        ([[2]], [-1], "hinge", ALONE, F(2)),
        ([[4]], [1], "logistic", ALONE, F(2)),
        ([[3]], [5], "absolute", ALONE, F(3)),
        ([[1], [-1]], [2, 0], "half-squared", FREE, F(1)),
    ],
)
def test_critical_decays_by_hand(X, y, loss, options, wanted):
    """The largest |h| at c of the constant: |x y|, |x| / 2 of the logistic loss; y - 1 where a constant is free."""
    found = critical_decay(X, y, loss=loss, **options)
    assert found.lower < wanted < found.upper
    assert found.upper / found.lower < 1 + F(1, 1000)
    assert found.above.global_any_width.verdict is Verdict.PROVED
    assert found.below.global_any_width.verdict is Verdict.REFUTED
    assert "from the weight decay" in str(found)
    assert found.interval


def test_under_its_own_decay_a_constant_is_told_of_at_both_decays_alone():
    """x = 1, -1, y = 2, 0, all under decay: b = 2 / (2 + mu), c = (2 - b, -b), and mu = c_1 = 2 - 2 / (2 + mu)."""
    found = critical_decay([[1], [-1]], [2, 0], loss="half-squared", reduction="sum", bias="none", time_limit=20)
    wanted = [mu for mu in np.linspace(0.5, 2, 300001) if abs(2 - 2 / (2 + mu) - mu) < 5e-6]
    assert float(found.lower) < wanted[-1] + 1e-5
    assert float(found.upper) > wanted[0] - 1e-5
    assert str(found).startswith("half-squared: at the weight decay ")
    assert "; at " in str(found)


def test_what_is_not_sought():
    for options, message in (
        ({"tol": "1e-9"}, "told apart to within 1e-5"),
        ({"output_bias": "neuron"}, "must be penalised, free or none"),
        ({"loss": "hinge"}, "has corners"),
    ):
        with pytest.raises(InputError, match=message):
            critical_decay([[1], [2]], [1, -1], **{"loss": "squared", **options})


def test_what_was_not_shown_is_not_told():
    found = critical_decay([[2]], [3], loss="half-squared", **ALONE)
    from dataclasses import replace

    assert "below" not in str(replace(found, lower=None, below=None))
    assert replace(found, lower=None, below=None).interval.startswith("at most 6.0")
    assert "give more time" in str(replace(found, lower=None, below=None, upper=None, above=None))
    assert replace(found, upper=None, above=None).interval.startswith("at least ")


def test_the_command_writes_both_audits(tmp_path):
    np.savez(tmp_path / "data.npz", X=[[2.0], [-1.0]], y=[1, 0])
    words = ["critical-decay", str(tmp_path / "data.npz"), "--loss", "logistic", "--bias", "none", "--time-limit", "20"]
    told = CliRunner().invoke(program, [*words, "--output-bias", "none", "--certificates", str(tmp_path / "proofs")])
    assert told.exit_code == 0, told.output
    assert told.output.startswith("logistic: from the weight decay 0.50")
    for name in ("above", "below"):
        assert decide_folder(tmp_path / "proofs" / name).is_accepted


def test_one_end_alone_is_a_whole_sentence():
    lower = CriticalDecay(
        loss="logistic", lower=Fraction(1, 4), upper=None, below=None, above=None, has_pulled_bias=True
    )
    assert str(lower) == (
        "logistic: at 0.25 a network with neurons is better than a constant, by more than 1e-12; no decay was shown to "
        "be too strong; there need be none, or it takes more time"
    )
    assert lower.interval == "at least 0.25"
    upper = CriticalDecay(loss="hinge", lower=None, upper=Fraction(1, 2), below=None, above=None, has_pulled_bias=False)
    assert str(upper) == (
        "hinge: from the weight decay 0.5 on nothing is better than a constant, by more than 1e-12; a network with "
        "neurons was shown to be better at no decay; there need be none, or it takes more time"
    )
    assert upper.interval == "at most 0.5"


@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        ([[-1], [1]], [1, 1], {"output_bias": "free"}),
        ([[-1], [1]], [1, 1], {"bias": "none"}),
        ([[-1], [1]], [1, 1], {}),
        ([[1]], [2], {"output_bias": "free"}),
        ([[0], [0]], [1, -1], {}),
        ([[1], [2]], [0, 0], {"output_bias": "none"}),
        ([[0], [0]], [1, -1], {"output_bias": "none"}),
    ],
)
def test_where_every_decay_is_too_strong(X, y, options):
    """Nothing pulls at the constant, or less than any decay costs: equal targets, one point, opposite targets."""
    found = critical_decay(X, y, loss="squared", time_limit=20, **options)
    assert found.lower is None
    assert found.upper is not None
    assert "a network with neurons was shown to be better at no decay; there need be none" in str(found)


@pytest.mark.parametrize("output_bias", ["penalised", "free"])
def test_the_decays_that_are_printed_are_those_that_were_audited(output_bias):
    """A rounded one would be another decay, about which nothing is known where the output bias is under decay."""
    found = critical_decay([[-1], [0], [1], [2]], [1, 3, 2, 0], loss="squared", output_bias=output_bias, time_limit=20)
    for decay, shown in ((found.upper, found.above), (found.lower, found.below)):
        assert shown.problem.decay.hidden in (decay, 4 * decay)  # of the mean, or of the sum over four points
        assert Fraction(nearest(decay)) == decay
        assert nearest(decay) in str(found)


def test_the_time_limit_is_that_of_all_audits(monkeypatch):
    """Each audit gets half of what is left, and none is begun when nothing is."""
    given = []
    real = critical.audit

    def watched(*arguments, time_limit, **options):
        given.append(time_limit)
        return real(*arguments, time_limit=time_limit, **options)

    monkeypatch.setattr(critical, "audit", watched)
    found = critical_decay([[2]], [3], loss="half-squared", **NOW, time_limit=0)
    assert not given
    assert "give more time" in str(found)
    critical_decay([[2]], [3], loss="half-squared", **NOW, time_limit=0.05)
    assert all(seconds <= 0.025 for seconds in given)
    with pytest.raises(InputError, match="time_limit"):
        critical_decay([[2]], [3], loss="half-squared", **NOW, time_limit=-1)


def test_ctrl_c_ends_all_audits(monkeypatch):
    """An audit that was interrupted says what it has; no further decay is asked about, and nothing is said."""
    asked = []

    def interrupted(*arguments, **options):
        asked.append(arguments)
        return Mock(spec=Audit, ending=Ending.INTERRUPTED)

    monkeypatch.setattr(critical, "audit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        critical_decay([[2]], [3], loss="half-squared", **ALONE)
    assert len(asked) == 1
