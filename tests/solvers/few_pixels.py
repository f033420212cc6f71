"""Models of the digits with few pixels, for tests of what Pegasos does."""

import warnings

from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning

TRAIN, TEST = ps.datasets.load_digits56()
SOME = "digit ~ p34 + p43 + p20 + p21"
N, K = len(TRAIN), 5


def svm(lam=0.5, **options):
    return ps.svm(SOME, TRAIN, lam=lam, **options)


def logit(lam=0.5, **options):
    return ps.logit(SOME, TRAIN, lam=lam, **options)


def sparse(lam=0.5, **options):
    X = csr_array(TRAIN[["p34", "p43", "p20", "p21"]].to_numpy(dtype=float))
    return ps.SVM(TRAIN["digit"], X, lam=lam, **options)


def same_bits(left, right):
    return left.to_numpy().tobytes() == right.to_numpy().tobytes()


def quietly(model, solver, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(solver, **options)
