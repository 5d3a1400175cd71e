"""Chistikov, Englert, Lazic: Learning a Neuron by a Shallow ReLU Network (arXiv:2306.06479).

Training starts at lambda times the network of an instance, the paper's z_j with a_j = s_j |z_j|. Assumption 2 asks for
lambda <= (m n^(9 n Delta^2 / delta^3))^(-3 / epsilon), at best about 10^-700: beyond floats. So what is about small
lambda is tried at scales that are far larger, and at two or more of them where it may need smaller ones.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from verify.claims.chistikov2023.alignment import (
    aligns_to_the_common_pull,
    crosses_as_the_yardsticks_do,
    has_dead_negative_neurons,
    has_ordered_yardsticks,
)
from verify.claims.chistikov2023.balance import stays_balanced
from verify.claims.chistikov2023.bundles import converges_exponentially, stays_in_s, tends_to_rank_one
from verify.claims.chistikov2023.correlated import ASSUMPTION_1, is_taught
from verify.claims.chistikov2023.rank_one import (
    has_width_two,
    is_m_negative,
    is_rank_one,
    is_within_45_degrees,
    is_z_matrix,
    m_decides,
    near_the_threshold,
)
from verify.claims.chistikov2023.scales import has_falling_angles, has_falling_losses, random_start
from verify.claims.chistikov2023.two_teachers import (
    has_active_neurons,
    has_unequal_pulls,
    is_taught_by_two,
    passes_a_second_saddle,
)
from verify.claims.records import Claim, Instance
from verify.strategies import correlated_starts, single_teachers, two_teacher_starts, z_matrix_teachers

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2306.06479, "
_OURS = "min-norm/chistikov2023-"
_POINTS = "d = 2, 3, 4; n = d or d + 1; 2 to 4 neurons"

_STARTS = correlated_starts().map(lambda drawn: Instance(*drawn))
_LOW = correlated_starts(dimensions=(2, 3)).map(lambda drawn: Instance(*drawn))
_TWO = two_teacher_starts().map(lambda drawn: Instance(*drawn))

CLAIMS = (
    Claim(
        id="chistikov2023.prop1",
        source=f"{_PAPER}Proposition 1",
        statement="Along the flow a_j = s_j |w_j| and is never 0.",
        setting=is_taught,
        conclusion=stays_balanced,
        instances=_STARTS,
        regime=f"{_POINTS}, lambda = 1; explicit Euler of two steps h in place of the flow, with a drift of order h",
        quantity="drift of a^2 - |w|^2 in units of 2 h L(0)",
        trains=True,
    ),
    Claim(
        id="chistikov2023.prop2",
        source=f"{_PAPER}Proposition 2",
        statement="Each yardstick crosses the boundaries to be crossed once each, one by one, and no others.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=has_ordered_yardsticks,
        instances=_STARTS,
        sharp={
            "45-degrees": f"{_OURS}wide-points",
            "off-common-pull": f"{_OURS}common-pull",
            "one-kink-at-a-time": f"{_OURS}two-kinks",
        },
        regime=f"{_POINTS}; exact: between two kinks a yardstick moves in a plane, through rational directions",
        quantity="kinks met",
    ),
    Claim(
        id="chistikov2023.lem3",
        source=f"{_PAPER}Lemma 3",
        statement="Neurons cross their kinks in the yardsticks' order, at times that differ by at most "
        "lambda^(1 - (1 + (3 l - 1) / 3 n_j) epsilon).",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=crosses_as_the_yardsticks_do,
        instances=_STARTS,
        regime=f"{_POINTS}; lambda = 1e-3 and 1e-5, epsilon = 1/4",
        quantity="|t - tau| in units of the bound",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.lem4",
        source=f"{_PAPER}Lemma 4",
        statement="Negative neurons have not grown at T_0, and stay as they are then.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=has_dead_negative_neurons,
        instances=_STARTS,
        sharp={"off-common-pull": f"{_OURS}common-pull"},
        regime=f"{_POINTS}; lambda = 1e-3 and 1e-5",
        quantity="|w(T_0)| / |w(0)|",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.lem5",
        source=f"{_PAPER}Lemma 5",
        statement="At T_1 positive neurons have norms below 2 |z| lambda^(1 - epsilon), their cosines with gamma are "
        "at least 1 - lambda^epsilon, and they have grown like their yardsticks.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=aligns_to_the_common_pull,
        instances=_STARTS,
        regime=f"{_POINTS}; the first lambda = 10^-12, 10^-24, .. at which the yardsticks are that aligned; "
        "epsilon = 1/4",
        quantity="(1 - cos) / lambda^epsilon",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.thm6",
        source=f"{_PAPER}Theorem 6",
        statement="After a time T_2 < log(1 / lambda) (4 + epsilon) d Delta^2 / delta^6 the loss is below "
        "Delta^2 / 2 exp(-0.4 t delta^4 / Delta^2).",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=converges_exponentially,
        instances=_LOW,
        sharp={"45-degrees": f"{_OURS}wide-points", "positive-active": f"{_OURS}only-negative"},
        regime="d = 2, 3; the first lambda = 10^-12, 10^-24, .. that leaves S room; epsilon = 1/4; with the inequality "
        "of its proof, |grad L|^2 > (2 eta_d^2 / 5 eta_1) L, whose constant we read from a damaged formula",
        quantity="|grad L|^2 / L in units of its bound",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.setS",
        source=f"{_PAPER}section 5",
        statement="From T_1 on the sum of the a_j w_j stays in S and passes through its parts S_1, .., S_d in order.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=stays_in_s,
        instances=_LOW,
        sharp={"45-degrees": f"{_OURS}wide-points", "positive-active": f"{_OURS}only-negative"},
        regime="as thm6, or at the square of that lambda; eta_d / eta_1 >= 1e-5; the factors of Xi are normalised; all "
        "steps of the integrator, up to 1e-7, until the loss is 1e-12",
        quantity="handovers",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.thm7",
        source=f"{_PAPER}Theorem 7",
        statement="The loss tends to 0, and as lambda tends to 0 the limit tends to the networks of rank 1 along v*.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=tends_to_rank_one,
        instances=_STARTS,
        sharp={"45-degrees": f"{_OURS}wide-points", "positive-active": f"{_OURS}only-negative"},
        regime=f"{_POINTS}; lambda = 1e-3, 1e-6, 1e-9, to a loss of 1e-18; the distance is within what cosines of "
        "1 - 4 lambda^(1/4) allow, and falls",
        quantity="power of lambda in the distance",
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.thm8",
        source=f"{_PAPER}Theorem 8",
        statement="For n = d: if M < 0, the balanced networks of rank 1 along the teacher are exactly the "
        "interpolators of least norm; if M > 0, none of them is one.",
        setting=is_rank_one,
        hypotheses={"width": has_width_two},
        conclusion=m_decides,
        instances=st.one_of(
            single_teachers(width=2).map(Instance.of),
            single_teachers(width=2, within_45_degrees=False).map(Instance.of),
            near_the_threshold(),
        ),
        regime="d = 2, 3, 4, a third of the instances near M = 0; v*.x_i > 0 instead of angles below 45 degrees, which "
        "is weaker; M = 0 is left out, and "
        "M < 0 rests on an enclosure in floats that leaves out 1e-9",
    ),
    Claim(
        id="chistikov2023.zmatrix",
        source=f"{_PAPER}section 7, after Theorem 8",
        statement="If the inverse Gram matrix is a Z-matrix, then M < 0.",
        setting=is_rank_one,
        hypotheses={"z-matrix": is_z_matrix, "45-degrees": is_within_45_degrees},
        conclusion=is_m_negative,
        instances=z_matrix_teachers(width=2).map(Instance.of),
        sharp={"z-matrix": "min-norm/chistikov2023-theorem-8-positive"},
        regime="d = 2, 3, 4",
    ),
    Claim(
        id="chistikov2023.fig1",
        source=f"{_PAPER}Figure 1",
        statement="The median of the largest angle between active neurons falls with the initial scale.",
        conclusion=has_falling_angles,
        regime="n = d = 4, 10 neurons, centred and uncentred points rounded to 1/1000; gradient flow from scales 4^-2, "
        "4^-5, 4^-8; the angle falls in at least half of the draws, which implies it for the median",
        quantity="degrees at 4^-8",
        kind="chance",
        chance=Fraction(1, 2),
        trial=random_start,
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.fig2",
        source=f"{_PAPER}Figure 2",
        statement="The training loss vanishes, and the loss on other inputs is the lower, the smaller the scale.",
        conclusion=has_falling_losses,
        regime="as fig1, in at least half of the draws; 64 inputs N(0, I)",
        quantity="test loss from 4^-8 over that from 4^-2",
        kind="chance",
        chance=Fraction(1, 2),
        trial=random_start,
        trains=True,
        examples=20,
    ),
    Claim(
        id="chistikov2023.two-teachers",
        source=f"{_PAPER}section 9",
        statement="Two signed teachers on orthogonally separable data: gradient flow passes near a second saddle, "
        "where one class is fitted and the neurons of the other are small.",
        setting=is_taught_by_two,
        hypotheses={"active": has_active_neurons, "unequal-pulls": has_unequal_pulls},
        conclusion=passes_a_second_saddle,
        instances=_TWO,
        sharp={"unequal-pulls": f"{_OURS}equal-pulls"},
        regime="d = 2, 3; 2 or 3 neurons; lambda = 1e-6 and 1e-18; the sizes |gamma| of the classes differ by 20 % at "
        "least, which the paper does not ask for",
        quantity="power of lambda over the expected one",
        trains=True,
        examples=20,
    ),
)
