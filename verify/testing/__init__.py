"""For other people's test suites: assertions about trained networks, settings of hypothesis, and cases as tests.

    from verify.testing import assert_globally_optimal

    def test_training_reaches_the_best_margin():
        assert_globally_optimal(train_my_network(), (X, y), within=1e-3)

`register_profiles` gives hypothesis the settings under which exact audits are tested well; the pytest plugin
`verify.testing.plugin` runs case files as tests. docs/testing.md shows all three.
"""

from verify.testing.assertions import assert_fits, assert_globally_optimal, assert_locally_optimal, assert_stationary
from verify.testing.profiles import CI, DEV, register_profiles

__all__ = [
    "CI",
    "DEV",
    "assert_fits",
    "assert_globally_optimal",
    "assert_locally_optimal",
    "assert_stationary",
    "register_profiles",
]


def __dir__() -> list[str]:
    return sorted(__all__)
