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


@pytest.mark.parametrize("model", [ps.svm, ps.logit])
@pytest.mark.parametrize("unit", [1.0, 1e30])
def test_where_doubles_do_not_suffice_the_cure_that_is_named_reaches_the_optimum(
    unit, model, dates
):
    """The rounding of dual weights is more than the tolerance, or all of the gap."""
    far = dates.assign(ns=dates["ns"] * unit)
    given = {"data": far, "lam": 1e-2, "intercept": False}
    with pytest.warns(ConvergenceWarning, match="standardize=True"):
        raw = model("y ~ ns + x", **given).fit(ps.SDCA(seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cured = model("y ~ ns + x", **given, standardize=True).fit(ps.SDCA(seed=1))
    assert cured.relative_gap <= 1e-6 < raw.relative_gap
