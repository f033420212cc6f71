"""Fits whose scores are frozen: runs of Pegasos, whose coefficients are R's bits."""

import pegasos_stats as ps
from tests.frozen import rows
from tests.frozen.draws import STEPS
from tests.frozen.fits import MODEL

DATA = rows.frame()
NEW = rows.frame(60, seed=107)  # some have missing values
# name: formula, loss, whether predictors are standardized
CASES = {
    "factors": ("y ~ a + b + g + h", ps.svm, False),
    "products": ("y ~ g*a + h:b - 1", ps.logit, False),
    "functions": ("y ~ exp(a) + abs(b) + scale(c) + I(a > 0) + C(f)", ps.svm, False),
    "standardized": ("y ~ a + b + g", ps.svm, True),
}


def fitted(name: str) -> ps.LinearResults:
    """Fit a case."""
    formula, build, standardize = CASES[name]
    given = MODEL | {"lam": 0.1, "standardize": standardize}
    model = build(formula, DATA, functions=None, **given)
    return model.fit(ps.Pegasos(**STEPS), cov_type="none")


def scores() -> dict[str, list[float]]:
    """Scores of new rows, NaN where a value is missing."""
    return {
        name: [float(s) for s in fitted(name).decision_function(NEW, unseen="error")]
        for name in CASES
    }
