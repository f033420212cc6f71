"""Predictors far larger than 1, as dates in nanoseconds: a cure is named that helps."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning


@pytest.fixture(scope="module")
def dates():
    rng = np.random.default_rng(0)
    days, x = rng.integers(0, 2000, 120), rng.normal(size=120)
    late = x + (days - 1000) / 800 + rng.normal(size=120) > 0
    found = pd.DataFrame({"ns": 1.42e18 + days * 8.64e13, "x": x})
    return found.assign(y=np.where(late, "yes", "no"))


@pytest.mark.parametrize(
    ("model", "formula"),
    [(ps.svm, "y ~ ns + x"), (ps.logit, "y ~ ns + x"), (ps.logit, "y ~ ns")],
)
def test_dates_are_certified_without_intercept(model, formula, dates):
    given = {"data": dates, "lam": 1e-2, "intercept": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = model(formula, **given).fit(ps.SDCA(seed=1))
        near = model(formula.replace("ns", "I(ns / 1e16)"), **given)
        near = near.fit(ps.SDCA(seed=1))
    assert raw.relative_gap <= 1e-6
    # In units of 1e16 ns its coefficient costs next to no penalty too: 1e-3 is the rest
    # of the penalty.
    assert raw.objective == pytest.approx(near.objective, rel=1e-3)
    assert raw.objective <= near.objective * (1.0 + 1e-6)


@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_where_doubles_do_not_suffice_the_cure_that_is_named_reaches_the_optimum(
    model, dates
):
    """In units of 1e-30 ns, where the rounding of a product is a whole objective."""
    far = dates.assign(ns=dates["ns"] * 1e30)
    given = {"data": far, "lam": 1e-2, "intercept": False}
    with pytest.warns(ConvergenceWarning, match=r" Try standardize=True\.$"):
        raw = model("y ~ ns + x", **given).fit(ps.SDCA(seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cured = model("y ~ ns + x", **given, standardize=True).fit(ps.SDCA(seed=1))
    assert cured.relative_gap <= 1e-6 < raw.relative_gap


def test_no_cure_is_named_where_scales_are_usual(dates):
    near = dates.assign(ns=dates["ns"] / 1e18)
    with pytest.warns(ConvergenceWarning) as caught:
        ps.svm("y ~ ns + x", near, lam=1e-6).fit(ps.SDCA(epochs=1, tol=1e-15, seed=1))
    assert "standardize" not in str(caught[0].message)
