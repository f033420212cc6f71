"""An outcome of three levels and more is refused, and its levels are named."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import LabelError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    names = ["a b", 'c"d', "e'f"]
    frame = pd.DataFrame({"kind": np.repeat(names, 10), "x": rng.normal(size=30)})
    frame["blood type"] = frame["Some.Name"] = np.repeat(list("uvw"), 10)
    frame["k"] = np.tile([3, 1, 2], 10)
    frame["m"] = rng.normal(size=30)
    return frame


def said(call):
    with pytest.raises(LabelError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("formula", ["kind ~ x", "C(k) ~ x", "`blood type` ~ x"])
@pytest.mark.parametrize("make", [ps.svm, ps.logit, ps.kernel_svm])
def test_formulas_name_the_levels_and_the_way(data, make, formula):
    text = said(lambda: make(formula, data))
    assert "has 3 levels" in text
    assert "I(y == 'a')" in text
    one = make("I(kind == 'a b') ~ x", data)
    assert one.coding.levels == (False, True)
    assert (one.problem.y > 0.0).sum() == 10


LONG = {
    "digits": [-(10**300), 1, 2],
    "digits that Python does not write": [-(10**5000), 1, 2],
    "text": ["a" * 3000, "b", "c"],
}


@pytest.mark.parametrize("y", LONG.values(), ids=LONG)
def test_levels_too_long_to_be_repeated_are_in_no_line(y):
    frame = pd.DataFrame({"y": pd.Series(y, dtype=object), "x": [1.0, 2.0, 3.0]})
    for call in (
        lambda: ps.SVM(y, np.eye(3), lam=1.0),
        lambda: ps.svm("y ~ x", frame, lam=1.0),
    ):
        with pytest.raises(LabelError) as info:
            call()
        assert len(str(info.value)) <= 600
