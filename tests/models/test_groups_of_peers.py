"""Standard errors of groups of rows, and of every usual name, are those of peers."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning
from tests.models.peers import (
    OPTIMUM,
    PEER,
    TINY,
    anes96,
    assert_same,
    fair,
    peer_of,
    spector,
)

FIXED = [2.890436103046187, 0.866412446721659, 0.046509171606416, 0.890119942776157]
DATA = pytest.mark.parametrize("load", [spector, fair, anes96])


def codes(groups):
    return pd.factorize(np.asarray(groups))[0]


@DATA
def test_without_penalty_they_are_those_of_statsmodels(load):
    y, X, one, two = load()
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM, cov_type="cluster", groups=one)
    both = result.with_covariance("cluster", groups=[one, two])
    for ours, groups in (
        (result, codes(one)),
        (both, np.column_stack([codes(one), codes(two)])),
    ):
        peer = peer_of(y, X, cov_type="cluster", cov_kwds={"groups": groups})
        np.testing.assert_allclose(ours.params, peer.params, rtol=PEER)
        assert_same(ours.cov_params(), peer.cov_params())
        number = min(len(np.unique(each)) for each in groups.T.reshape(-1, len(y)))
        assert ours.covariance.df == number - 1
    plain = peer_of(y, X)
    nonrobust = result.with_covariance("nonrobust")
    assert_same(nonrobust.cov_params(), plain.cov_params())
    np.testing.assert_allclose(nonrobust.pvalues, plain.pvalues, rtol=1e-4)


@DATA
def test_without_penalty_they_are_those_of_the_package_sandwich(load):
    """Its formulas: Zeileis, Journal of Statistical Software 16 (2006), 9, and 95."""
    y, X, one, two = load()
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM, cov_type="HC0")
    Z = np.column_stack([np.ones(len(X)), X])
    chance = 1.0 / (1.0 + np.exp(-Z @ result.params.to_numpy()))
    inverse = np.linalg.inv(Z.T @ (Z * (chance * (1.0 - chance))[:, None]))
    scores = Z * (np.asarray(y, dtype=float) - chance)[:, None]
    hat = np.einsum("ij,jk,ik->i", Z, inverse, Z) * chance * (1.0 - chance)
    n, k = Z.shape

    def sandwich(scores):
        return inverse @ (scores.T @ scores) @ inverse

    expected = {
        "HC0": sandwich(scores),
        "HC1": sandwich(scores) * n / (n - k),
        "HC2": sandwich(scores / np.sqrt(1.0 - hat)[:, None]),
        "HC3": sandwich(scores / (1.0 - hat)[:, None]),
    }
    for name, matrix in expected.items():
        found = result.with_covariance(name).cov_params()
        assert_same(found, matrix)
    sums = {"a": codes(one), "b": codes(two), "ab": codes(one) * 10_000 + codes(two)}
    terms = {}
    for name, groups in sums.items():
        each = pd.DataFrame(scores).groupby(groups).sum().to_numpy()
        terms[name] = len(each) / (len(each) - 1.0) * sandwich(each)
    both = terms["a"] + terms["b"] - terms["ab"]
    for options, factor in (
        (ps.Cluster("silverman", correction="HC0"), 1.0),
        (ps.Cluster(), (n - 1.0) / (n - k)),
    ):
        one_way = result.with_covariance(options, groups=one)
        two_way = result.with_covariance(options, groups=(one, two))
        assert_same(one_way.cov_params(), factor * terms["a"])
        assert_same(two_way.cov_params(), factor * both)


def test_two_ways_with_variances_below_zero_are_those_of_the_package_sandwich():
    """R 4.2.2, sandwich 3.0-2, glm(epsilon = 1e-14), vcovCL(type = "HC1", fix = TRUE).

    Without `fix` the third is NaN there, as in statsmodels, and the second 0.664.
    """
    y, X, _, _ = spector()
    ways = [np.arange(32) % 7, np.arange(32) // 7]
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM, cov_type="cluster", groups=ways)
    with pytest.warns(UndefinedMetricWarning, match="variances below zero"):
        np.testing.assert_allclose(result.bse, FIXED, rtol=PEER)
