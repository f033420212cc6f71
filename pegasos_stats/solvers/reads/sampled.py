"""The solution of a sample: the point where the first read looks.

With the log loss and a small penalty it may fit the sample too well. A level of a
factor with few rows in it, all of one label, has a large coefficient and margins far
out, where the loss is flat, and Newton's steps for all rows go astray from there. So
the problem of the sample has the penalty, of those 10 times larger than each other,
whose solution for half of the sample has the least risk in the other half.
"""

import math
from dataclasses import replace

import numpy as np

from pegasos_stats.solvers.methods import solved_by_steps
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.risk_and_bound import Described
from pegasos_stats.solvers.reads.rows import Taken
from pegasos_stats.solvers.sdca import SDCA

ROUGH = 1e-4  # relative gap of the problem of the sample
FURTHER, MOST = 10.0, 1e6  # factors of the penalty
HALVES = 1  # seed of the halves of a sample


def solved(problem: Described, sample: Taken, solver: SDCA) -> Solution:
    """Solve the problem of a sample, whose classes weigh as in all rows."""
    w = sample.w.copy()
    for sign, weight in zip((-1.0, 1.0), problem.home.class_weights, strict=True):
        of_class = sample.y == sign
        w[of_class] *= weight / w[of_class].sum()
    w *= w.size / problem.n
    X = np.asarray(sample.X, dtype=np.float64)
    inner = Problem(
        X,
        sample.y,
        problem.lam,
        problem.loss,
        problem.intercept,
        weights=w,
        offset=sample.offset,
    )
    rough = SDCA(tol=ROUGH, seed=solver.seed, sample_kind=solver.sample_kind)
    if problem.loss == "log" and sample.y.size < problem.n:
        inner = replace(inner, lam=inner.lam * penalised_by(inner, rough))
    return solved_by_steps(inner, rough)


def penalised_by(problem: Problem, solver: SDCA) -> float:
    """Factor of the penalty whose solution for half of the rows suits the others.

    Examples
    --------
    >>> X, y = np.random.default_rng(0).standard_normal((200, 20)), np.ones(200)
    >>> y[:100], X[:100, 0] = -1.0, X[:100, 0] - 1.0
    >>> penalised_by(Problem(X, y, lam=1e-3, loss="log"), SDCA(seed=1))
    100.0
    """
    places = np.random.default_rng(HALVES).permutation(problem.n)
    half, rest = problem.of_rows(places[::2]), problem.of_rows(places[1::2])
    if min(half.lightest, rest.lightest) == 0.0:
        return 1.0
    factor, least = 1.0, math.inf
    while factor <= MOST:
        fit = solved_by_steps(replace(half, lam=problem.lam * factor), solver)
        f = rest.X @ fit.beta + fit.alpha + rest.row_offsets
        losses = np.logaddexp(0.0, -rest.y * f)
        risk = float(np.average(losses, weights=rest.row_weights))
        risk += 0.5 * problem.lam * float(fit.beta @ fit.beta)
        if not risk < least:
            break
        factor, least = factor * FURTHER, risk
    return max(1.0, factor / FURTHER)
