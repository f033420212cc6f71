"""Sparse rows whose indices lie beyond their shape: followed nowhere, refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos_stats as ps
from pegasos_stats.data.user_data import in_rows
from pegasos_stats.errors import DataError

X = np.abs(np.random.default_rng(0).normal(size=(12, 2))).round(1)
Y = ["a", "b"] * 6
BEYOND = 10**6


def broken(form, part, place, value):
    """A matrix one of whose indices is another number."""
    found = sp.csr_array(X).asformat(form)
    getattr(found, part)[place] = value
    return found


CASES = [(form, "indptr", -1, BEYOND) for form in ("csr", "csc", "bsr")]
CASES += [(form, "indices", 3, at) for form, *_ in CASES for at in (BEYOND, -5)]
CASES += [("coo", part, 2, at) for part in ("row", "col") for at in (BEYOND, -4)]
CASES += [("lil", "rows", 2, [0, BEYOND])]


@pytest.fixture(scope="module")
def fit():
    return ps.SVM(Y, sp.csr_array(X), lam=0.1).fit(ps.Optimum(seed=1))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_they_are_refused_at_every_door(fit, case):
    rows = broken(*case)
    for door in (lambda X: ps.SVM(Y, X, lam=1.0), fit.predict, fit.augment):
        with pytest.raises(DataError, match=r"whose indices are within its shape"):
            door(rows)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_others_have_the_same_rows(form):
    given = sp.csr_array(X).asformat(form)
    assert (in_rows(given).toarray() == X).all()
