"""Pegasos from the same seed in R, by rpy2, and in Python: the same rows, bits, tables.

R runs in this process. The fixture `r` starts it and fails where R is missing, unless
PEGASOS_STATS_NO_R=1. What `R_SCRIPT` calls and R lacks is in ``r_reference/R``.
"""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.parity.cases import REFERENCE

SEEDS = [0, 1, 42, 443, -1, 2**31 - 1]
LAMBDAS = [0.001, 0.1, 1.0]
EPOCHS = 5
R_SCRIPT = """
function(folder) {
  for (file in list.files(folder, full.names = TRUE)) sys.source(file, environment())
  function(X, outcome, lambda, epochs, seed) {
    levels <- label_levels(outcome)
    y <- encode_labels(outcome, levels)             # -1 and +1
    RNGkind("Mersenne-Twister", "Inversion", "Rejection")
    set.seed(seed)
    fit <- pegasos(X, y, lambda, epochs)            # sample(1:n, n) for every epoch
    predicted <- decode_labels(predict_sign(scores(X, fit$beta, fit$alpha)), levels)
    table <- confusion(outcome, predicted, levels)  # rows: actual
    list(y = y, rows = fit$rows, params = c(fit$alpha, fit$beta), table = table)
  }
}
"""

DIGITS, _ = ps.datasets.load_digits56()  # 200 rows, 64 pixels, the digits 5 and 6
X = DIGITS.drop(columns="digit").to_numpy(float)
SIX = (DIGITS["digit"] == 6).to_numpy()
TEXT = np.where(SIX, "six", "five")
OUTCOMES = {
    "factor": pd.Series(pd.Categorical(TEXT, ["six", "five"])),  # +1 is "five"
    "text": pd.Series(TEXT),  # +1 is "six"
    "booleans": pd.Series(SIX),  # +1 is True
    "numbers": pd.Series(np.where(SIX, 6.5, 10.0)),  # +1 is 10, as text it is -1
}


@pytest.fixture(scope="module")
def r_fit(r):
    """The function of `R_SCRIPT`, and the predictors and outcomes as R has them."""
    import rpy2.robjects as ro

    function = ro.r(R_SCRIPT)(str(REFERENCE / "R"))
    matrix = ro.r.matrix(ro.FloatVector(X.ravel(order="F").tolist()), nrow=len(X))
    factor_levels = ro.StrVector(["six", "five"])
    outcomes = {
        "factor": ro.FactorVector(ro.StrVector(TEXT.tolist()), levels=factor_levels),
        "text": ro.StrVector(TEXT.tolist()),
        "booleans": ro.BoolVector(SIX.tolist()),
        "numbers": ro.FloatVector(OUTCOMES["numbers"].tolist()),
    }

    def fit(kind, lam, seed):
        found = function(matrix, outcomes[kind], lam, EPOCHS, seed)
        return {name: list(values) for name, values in found.items()}

    return fit


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("kind", OUTCOMES)
def test_rows_bits_and_tables_are_those_of_r(r_fit, kind, lam, seed):
    theirs = r_fit(kind, lam, seed)
    ours = ps.SVM(OUTCOMES[kind], X, lam=lam).fit(ps.Pegasos(EPOCHS, seed=seed))
    rng = ps.RRandom(seed)
    rows = np.concatenate([rng.sample_int(len(X)) for _ in range(EPOCHS)])
    assert rows.tolist() == theirs["rows"]
    positive = OUTCOMES[kind] == ours.coding.positive
    assert np.where(positive, 1.0, -1.0).tolist() == theirs["y"]
    assert [x.hex() for x in ours.params] == [x.hex() for x in theirs["params"]]
    table = ours.confusion().table.to_numpy()
    assert table.ravel(order="F").tolist() == theirs["table"]
