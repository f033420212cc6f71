"""Problems that are solved, beside what scikit-learn finds."""

import warnings

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from pegasos_stats.solvers.certificate import primal
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.solver_runs import certificate_of

LIBSVM_STEPS = 100_000  # it has no other end on badly scaled columns


def solved(problem, solver, **options):
    """What a solver finds, and its certificate."""
    found = run_to_optimum(problem, solver, **options)
    return found, certificate_of(problem, found)


def risk_of_a_peer(problem):
    """Objective at what scikit-learn finds: never below the optimum."""
    given = {"C": 1.0 / (problem.lam * problem.n), "tol": 1e-9}
    if problem.loss == "log":
        peer = LogisticRegression(max_iter=1000, solver="newton-cg", **given)
    elif problem.intercept:
        peer = SVC(kernel="linear", max_iter=LIBSVM_STEPS, **given)
    else:
        given |= {"fit_intercept": False, "random_state": 1, "max_iter": 1_000_000}
        peer = LinearSVC(loss="hinge", **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(problem.X, problem.y, sample_weight=problem.row_weights)
    beta = peer.coef_.toarray() if issparse(peer.coef_) else peer.coef_
    return primal(problem, np.ravel(beta), float(np.ravel(peer.intercept_)[0]))
