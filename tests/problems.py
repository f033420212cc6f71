"""Problems drawn at random that are not the comfortable ones.

Classes are rare on either side, columns lie far below or above zero and on scales of
their own, numbers are tied, weights uneven, some zero.
"""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from pegasos_stats.solvers.problem import Problem

LOSSES = ("hinge", "log")
WEIGHTS = (None, "whole numbers", "uneven", "balanced")
FORMS = ("dense", "sparse", "float32")


def weights_of(kind, y, rng):
    """Weights of mean 1, or None."""
    if kind is None:
        return None
    shares = np.where(y > 0, (y > 0).mean(), (y < 0).mean())
    w = {
        "whole numbers": rng.integers(0, 4, y.size).astype(float),
        "uneven": np.exp(2.0 * rng.standard_normal(y.size)),
        "balanced": 0.5 / shares,
    }[kind]
    if kind == "whole numbers":
        w[[np.argmax(y), np.argmin(y)]] += 1.0  # both classes count
    return w / w.mean()


def in_form(X, form):
    """The same rows, to 24 bits if that is their form."""
    if form == "sparse":
        return sp.csr_array(X)
    return X.astype(np.float32 if form == "float32" else np.float64)


@st.composite
def problems(
    draw,
    losses=LOSSES,
    weights=WEIGHTS,
    forms=FORMS,
    largest=40,
    columns=4,
    intercept=None,
):
    """A `Problem` with both classes; its rows are not separable as a rule."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(8, largest)), draw(st.integers(1, columns))
    share = draw(st.sampled_from([0.15, 0.5, 0.85]))
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    y[:4] = [1.0, -1.0, 1.0, -1.0]
    y = y[rng.permutation(n)]
    X = rng.standard_normal((n, p)) + 0.7 * y[:, None] * rng.standard_normal(p)
    if draw(st.booleans()):
        X = X.round(1) * (rng.random((n, p)) < 0.7)  # ties, and zeros
    X = X * 2.0 ** rng.integers(-3, 4, p)
    X = X + draw(st.sampled_from([0.0, -3.0, 2.0])) * (rng.random(p) < 0.5)
    loss, form = draw(st.sampled_from(losses)), draw(st.sampled_from(forms))
    has = draw(st.booleans()) if intercept is None else intercept
    kind = draw(st.sampled_from(weights))
    w = weights_of(kind, y, rng)
    lam = 2.0 ** draw(st.integers(-8, 2))
    rows = in_form(X, form)
    asked = "balanced" if kind == "balanced" else "rows"
    return Problem(rows, y, lam, loss, has, weights=w, weights_of=asked)
