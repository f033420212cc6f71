"""Rows, models and fits that the R package and Python are both given."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

# Of columns without an estimate, of separated rows and of few resamples.
without_warnings = pytest.mark.filterwarnings(
    "ignore::pegasos_stats.errors.PegasosStatsWarning"
)
LAM = 0.05
FITS = {
    "likelihood": ("logit", {}),
    "ridge": ("logit", {"lam": LAM}),
    "firth": ("logit", {"penalty": "firth"}),
    "flic": ("logit", {"penalty": "flic"}),
    "svm": ("svm", {}),
    "squared hinge": ("svm", {"loss": "squared_hinge"}),
}
MODELS = {  # formula, and weights: a column's name or "balanced"
    "plain": ("y ~ x + z + g", None),
    "column": ("y ~ x + z + g", "w"),
    "balanced": ("y ~ x + z", "balanced"),
    "offset": ("y ~ x + offset(z / 2)", None),
    "through zero": ("y ~ x + z - 1", None),
    "far": ("y ~ I(x + 1000) + z", None),
    "collinear": ("y ~ x + I(3 * x - 2) + z", None),
}


def frame_of(seed=11, n=150):
    rng = np.random.default_rng(seed)
    x, z, u = rng.normal(size=(3, n))
    g = rng.choice(["a", "b", "c"], n)
    frame = pd.DataFrame({"x": x, "z": z + x / 2.0, "u": u + 1.0, "g": g})
    frame["w"] = np.arange(n) % 4.0
    frame["y"] = (x - z + (g == "c") + rng.logistic(size=n) > 0.5) + 0.0
    return frame


def hand_over(r, frame):
    """`data` in R."""
    r.set("columns", {name: frame[name].to_numpy() for name in frame})
    r.eval("data <- as.data.frame(columns, stringsAsFactors = TRUE)\nNULL")


def in_both(r, frame, kind, model="plain", tol=None, **choice):
    """Python's fit; R's is `fit`, of `data`. A model is a name, or a formula."""
    formula, weights = MODELS.get(model, (model, None))
    function, options = FITS[kind]
    given = [f"{name} = {value!r}" for name, value in options.items()]
    given += [f"weights = {'w' if weights == 'w' else repr(weights)}"] * bool(weights)
    given += [f"solver = Optimum({tol})"] * bool(tol)
    call = ", ".join([formula, "data", *given])
    r.eval(f"fit <- suppressWarnings({function}({call}))\nNULL")
    solver = ps.Optimum(tol=tol, epochs=1000) if tol else None
    if weights:
        options = {**options, "weights": weights}
    return getattr(ps, function)(formula, frame, **options).fit(solver, **choice)
