"""Splines and polynomials in formulas against R's, at the fit and on new rows."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

# Columns of order 1, by B-splines of another recursion; far rows go up to some 100.
CLOSE = 1e-10
COLUMNS = """
function(term, x, new) {
  library(splines)
  frame <- data.frame(x = x)
  terms <- terms(model.frame(as.formula(paste("~", term)), frame))
  beyond <- suppressWarnings(model.frame(terms, data.frame(x = new)))
  rbind(model.matrix(terms, frame), model.matrix(terms, beyond))[, -1]
}
"""
WITHIN = ["bs(x)", "bs(x, df=6)", "bs(x, degree=2, knots=c(1, 3))", "poly(x, 3)"]
BEYOND = [
    "ns(x)",
    "ns(x, 1)",
    "ns(x, df=2)",
    "ns(x, df=7)",
    "ns(x, df=3, intercept=TRUE)",
    "ns(x, knots=c(2.5, 1))",
    "ns(x, knots=c(1, 1, 2))",
    "ns(x, df=4, Boundary.knots=c(4, 0.5))",
    "ns(log(x), df=3)",
    "poly(x, 2)",
    "poly(x, 3, raw=TRUE)",
    "scale(x)",
]


def both(r, theirs, ours, far):
    rng = np.random.default_rng(len(theirs))
    x = np.round(rng.gamma(2.0, size=70), 3)  # some values stand in several rows
    new = np.array([0.01, 9.0, 30.0] if far else [x.min(), 1.7, x.max()])
    r.eval(f"spline_columns <- {COLUMNS}\n0")
    expected = r.call("spline_columns", theirs, x, new)
    data = pd.DataFrame({"x": np.append(x, new), "y": np.arange(len(x) + 3) % 2})
    design = ps.logit(f"y ~ {ours}", data[:70], lam=1.0).design
    found = [np.asarray(design.matrix(part).values) for part in (data[:70], data[70:])]
    return np.vstack(found).ravel(), np.asarray(expected).ravel()


@pytest.mark.parametrize("term", [*WITHIN, *BEYOND])
def test_columns_are_those_of_r(r, term):
    ours, theirs = both(r, term, term, far=term in BEYOND)
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("term", WITHIN[:3])
def test_b_splines_that_are_told_to_go_on_do_so_as_in_r(r, term):
    ours, theirs = both(r, term, f"{term[:-1]}, extrapolation='extend')", far=True)
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)
