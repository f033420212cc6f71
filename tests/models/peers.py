"""Data with groups of two kinds, fits of statsmodels, and how near ours are to them."""

import numpy as np
import statsmodels.api as sm

import pegasos_stats as ps
from pegasos_stats.models.inference.wald import estimates

# At lam = 1e-10 the optimum is that far from the one without penalty, and a gap of
# 1e-12 far less: 3e-9 to 2e-8 measured, of coefficients, standard errors and z.
TINY, PEER = 1e-10, 1e-6
OPTIMUM = ps.SDCA(tol=1e-12, epochs=1000, seed=1)


def spector():
    data = sm.datasets.spector.load_pandas()
    X = data.exog[["GPA", "TUCE", "PSI"]]
    return data.endog, X, np.arange(32) % 11, np.arange(32) // 8


def fair():
    data = sm.datasets.fair.load_pandas().data
    y, X = (data["affairs"] > 0).astype(float), data.drop(columns="affairs")
    return y, X, 10 * data["occupation"] + data["educ"], data["age"]


def anes96():
    data = sm.datasets.anes96.load_pandas().data
    names = ["logpopul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ"]
    return data["vote"], data[names], data["popul"], data["income"]


def peer_of(y, X, **given):
    return sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=100, **given)


def assert_same(found, expected):
    """An entry near 0 is what others leave when they cancel: 1e-6 of their errors."""
    errors = np.sqrt(np.diag(expected))
    scale = np.outer(errors, errors)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=PEER, atol=PEER)


def t_test(theta, V, R, q=0.0, df=np.inf, level=0.95):
    """Tests of each ``R theta = q`` alone."""
    errors = np.sqrt(np.einsum("ij,ij->i", R @ V, R))
    return estimates(R @ theta, errors, df, level, q)
