"""Each kind of object that people bring: read as the function that it computes itself, or refused with the reason."""

import numpy as np
import pytest

from docs.make_objects import PAGE, page
from tests.verify.readers.objects import kinds
from verify.checker.errors import InputError
from verify.readers import read_with_notes

KINDS = kinds()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")  # frameworks'
@pytest.mark.parametrize("kind", KINDS, ids=[f"{kind.group}: {kind.name}" for kind in KINDS])
def test_it_is_as_the_page_says(kind, tmp_path):
    for package in kind.needs:
        pytest.importorskip(package)
    source, outputs, inputs = kind.made(tmp_path)
    if not kind.is_read:
        with pytest.raises(InputError) as caught:
            read_with_notes(source, **kind.options)
        assert kind.said in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    reading = read_with_notes(source, **kind.options)
    points = np.random.default_rng(0).normal(size=(20, inputs))
    for point, value in zip(points.tolist(), outputs(points), strict=True):
        assert float(reading.network(point)) == pytest.approx(float(value), rel=1e-10, abs=1e-10)
    assert kind.said in " ".join(reading.notes)
    if kind.said == "":
        assert reading.notes == ()


def test_names_are_unique():
    names = [(kind.group, kind.name) for kind in KINDS]
    assert len(set(names)) == len(names)


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(KINDS), "python docs/make_objects.py writes it anew"
