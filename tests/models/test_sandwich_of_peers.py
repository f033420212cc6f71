"""Without a penalty the sandwich is that of statsmodels and of R."""

import numpy as np
import pytest
import statsmodels.api as sm

import pegasos_stats as ps
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from tests.models.peers import (
    OPTIMUM,
    PEER,
    TINY,
    anes96,
    assert_same,
    fair,
    heart,
    peer_of,
    spector,
)


def of(result, **options):
    return sandwich(result.problem, result.solution, Sandwich(**options))


@pytest.mark.parametrize("load", [spector, fair, anes96, heart])
def test_without_penalty_it_is_that_of_statsmodels(load):
    y, X, *_ = load()
    peer = peer_of(y, X, cov_type="HC0")
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM)
    found = of(result)
    theta, se = result.params.to_numpy(), found.std_error
    np.testing.assert_allclose(theta, peer.params, rtol=PEER)
    np.testing.assert_allclose(se, peer.bse, rtol=PEER)
    np.testing.assert_allclose(theta / se, peer.tvalues, rtol=PEER)
    assert_same(found.matrix, peer.cov_params())
    n, k = len(y), len(theta)
    corrected = of(result, correction="HC1").std_error
    np.testing.assert_allclose(corrected, se * np.sqrt(n / (n - k)), rtol=PEER)


@pytest.mark.parametrize("load", [spector, heart])
@pytest.mark.parametrize(("kind", "power"), [("HC2", 1.0), ("HC3", 2.0)])
def test_without_penalty_corrections_are_those_of_sandwich_in_r(load, kind, power):
    """``vcovHC(glm(y ~ ., binomial), kind)``: residuals^2 by ``(1 - h)^power``."""
    y, X, *_ = load()
    Z = sm.add_constant(X)
    peer = sm.GLM(y, Z, family=sm.families.Binomial()).fit(tol=1e-14, maxiter=100)
    h, Z = peer.get_influence().hat_matrix_diag, Z.to_numpy()
    p = peer.fittedvalues.to_numpy()
    inverse = np.linalg.inv((Z.T * (p * (1.0 - p))) @ Z)
    squares = np.square(y.to_numpy() - p) / (1.0 - h) ** power
    expected = inverse @ ((Z.T * squares) @ Z) @ inverse
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM)
    found = of(result, correction=kind).matrix
    np.testing.assert_allclose(found, expected, rtol=PEER, atol=1e-12)
