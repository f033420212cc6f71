"""When standard errors are computed at once, on demand or not at all."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import (
    DataError,
)
from pegasos_stats.models.inference import estimating
from tests.models.close_fits import CLOSE, wide_fit


@pytest.fixture(scope="module")
def wide():
    return wide_fit()


def test_a_wide_fit_has_its_errors_when_it_is_asked_for_them(wide):
    text = " ".join(str(wide.summary()).split())
    assert "40 rows and 1,100 coefficients" in text
    assert not wide.has_covariance
    assert wide.conf_int().shape == (1101, 2)
    assert "std err" in str(wide.summary())


@pytest.mark.parametrize(
    ("n", "p", "quick"),
    [
        (10_000, 1000, True),  # 10^10 products
        (10_001, 1000, False),
        (39, 16_000, False),  # fewer products, of too many coefficients
        (9000, 1001, False),
        (10**8, 10, True),
        (10**8 + 1, 10, False),
    ],
)
def test_dense_sandwiches_are_quick_up_to_a_number_of_products(n, p, quick):
    problem = SimpleNamespace(n=n, p=p, X=np.zeros((1, 1)))
    assert estimating.is_quick(problem) is quick


@pytest.mark.parametrize(
    ("n", "p", "stored", "quick"),
    [
        (1000, 1000, 10**6, True),  # 10 nnz^2 / n is 10^10
        (1000, 1000, 10**6 + 1, False),
        (999, 1000, 10**6, False),
        (10**8, 1000, 10**8, True),  # 10^14 products if they were dense
        (10**8, 1001, 10**8, False),
    ],
)
def test_sparse_sandwiches_are_quick_where_rows_have_few_entries(n, p, stored, quick):
    X = SimpleNamespace(tocsr=None, nnz=stored)
    assert estimating.is_quick(SimpleNamespace(n=n, p=p, X=X)) is quick


def test_four_matrices_of_the_covariance_fit_into_the_memory(monkeypatch):
    problem = SimpleNamespace(p=2**15 - 1)
    memory = {"SC_PAGE_SIZE": 2**12, "SC_PHYS_PAGES": 2**23}  # 32 GiB
    monkeypatch.setattr(estimating.os, "sysconf", memory.__getitem__)
    estimating.check_memory(problem)
    memory["SC_PHYS_PAGES"] -= 1
    with pytest.raises(DataError) as caught:
        estimating.check_memory(problem)
    assert str(caught.value) == (
        "The covariance of 32,767 coefficients takes 32 GiB and there are 32; fit "
        "fewer predictors, or do without: result.with_covariance('none')."
    )


def test_a_covariance_beyond_all_memory_is_an_error():
    X = csr_array((np.ones(4), ([0, 1, 2, 3], [0, 9, 99, 299_999])), (4, 300_000))
    result = ps.Logit([0, 1, 0, 1], X, lam=1.0).fit(CLOSE)
    with pytest.raises(DataError, match=r"takes 2,682 GiB.*with_covariance\('none'\)"):
        result.conf_int()
    assert len(result.with_covariance("none").tidy()) == 300_001
