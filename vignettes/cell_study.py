"""Settings and measurements of the study of SDCA and Pegasos on blood cells.

D. Bouche and C. Verluise, *SDCA vs. Pegasos for linear SVM fitting: applications to
blood cells classification* (github.com/BoucheDimitri/SOADML_DBouche_CVerluise), ran
both solvers for 10 epochs at ``lambda = 1.6`` without an intercept, SDCA with and
without a first epoch of modified SGD, Pegasos in batches of 100.
"""

import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

Matrix = NDArray[np.floating[Any]]
Vector = NDArray[np.float64]

LAMBDA, EPOCHS, BATCH, COMPONENTS = 1.6, 10, 100, 40
SOLVERS = {
    "SDCA": ps.SDCA(epochs=EPOCHS, tol=0.0),
    "SDCA, first epoch SGD": ps.SDCA(epochs=EPOCHS, tol=0.0, start="sgd"),
    "Pegasos": ps.Pegasos.minibatch(epochs=EPOCHS, batch_size=BATCH),
}

# Error rates on the test pictures: published rates, from one run of each solver, and
# the smallest and largest rate of an independent program on the same crops.
PUBLISHED = pd.DataFrame(
    {
        "published": [0.2629, 0.2637, 0.2058, 0.2066],
        "repeated_low": [0.2621, 0.2613, 0.2074, 0.2066],
        "repeated_high": [0.2621, 0.2621, 0.2074, 0.2082],
    },
    index=pd.MultiIndex.from_product(
        [["14,400 pixels", "40 components"], ["SDCA", "Pegasos"]],
        names=["data", "solver"],
    ),
)


class Reduced(NamedTuple):
    """Coordinates on the first principal components of the training pictures.

    Attributes
    ----------
    train, test : float64 array, shape (n, 40)
        Coordinates, with variance 1 over the training pictures.
    pca : sklearn.decomposition.PCA
    """

    train: Vector
    test: Vector
    pca: PCA


def reduced(train: Matrix, test: Matrix, components: int = COMPONENTS) -> Reduced:
    """Compute the principal components of the training pictures and whiten.

    The mean, the components and their variances do not depend on the test pictures.

    Parameters
    ----------
    train, test : float array, shape (n, p)
    components : int
        Number of components, less than the number of training pictures.
    """
    pca = PCA(components, whiten=True, svd_solver="randomized", random_state=1)
    at = pca.fit_transform(train).astype(np.float64)
    return Reduced(at, pca.transform(test).astype(np.float64), pca)


def time_within(study: ps.SolverComparison, share: float) -> pd.DataFrame:
    """Find when each run comes within a share of the minimum, and stays there.

    Parameters
    ----------
    study : SolverComparison
    share : float
        The objective is at most ``1 + share`` times the certified lower bound of the
        minimum, in this epoch and all later ones.

    Returns
    -------
    DataFrame
        One row per solver and run: ``solver, run, epoch, cpu_seconds``; missing if the
        run does not stay within this share.
    """
    runs = study.runs
    outside = runs["objective"] > (1.0 + share) * study.lower_bound
    keys = [runs["solver"], runs["run"]]
    later = outside[::-1].groupby(keys, observed=True).cummax()[::-1]
    first = runs[~later].groupby(["solver", "run"], observed=True).first()
    every = pd.MultiIndex.from_frame(runs[["solver", "run"]].drop_duplicates())
    return first.reindex(every)[["epoch", "cpu_seconds"]].reset_index()


def pegasos_epoch(
    X: Matrix, y: Vector, rows: NDArray[np.int64], lam: float, beta: Vector, t: int
) -> tuple[Vector, int]:
    """Pass over the rows in batches of 100, in plain numpy.

    Parameters
    ----------
    X : float array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    rows : int array
    lam : float
    beta : float64 array, shape (p,)
    t : int
        Number of earlier steps.

    Returns
    -------
    beta : float64 array, shape (p,)
    t : int
    """
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        t += 1
        some = X[batch]
        inside = y[batch] * (some @ beta) < 1.0
        pull = (y[batch] * inside) @ some / len(batch)
        beta = (1.0 - 1.0 / t) * beta + pull / (lam * t)
    return beta, t


def sdca_epoch(
    X: Matrix,
    y: Vector,
    rows: NDArray[np.int64],
    lam: float,
    beta: Vector,
    dual: Vector,
    norms: Vector,
) -> None:
    """Pass over the rows one at a time, in plain numpy; `beta` and `dual` change.

    Parameters
    ----------
    X : float array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    rows : int array
    lam : float
    beta : float64 array, shape (p,)
    dual, norms : float64 array, shape (n,)
        Dual weights, and squared norms of the rows.
    """
    scale = lam * len(y)
    for i in rows:
        step = scale * (1.0 - y[i] * (X[i] @ beta)) / norms[i]
        new = min(1.0, max(0.0, dual[i] + step))
        if new != dual[i]:
            beta += (new - dual[i]) * y[i] / scale * X[i]
            dual[i] = new


def plain_epoch_times(X: Matrix, y: Vector, epochs: int = 3) -> dict[str, float]:
    """Return the processor seconds of the fastest epoch of both loops in plain numpy.

    The loops run in one thread, in the precision of `X`.

    Parameters
    ----------
    X : float array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    epochs : int
    """
    y = y.astype(X.dtype)  # so that the loops convert no types
    norms = np.einsum("ij,ij->i", X, X)
    beta, dual, w, t = np.zeros_like(X[0]), np.zeros_like(y), np.zeros_like(X[0]), 0
    rng, descent, ascent = ps.RRandom(1), [], []
    with threadpool_limits(1):
        for _ in range(epochs):
            rows = rng.sample_int(len(y)) - 1
            began = time.thread_time()
            w, t = pegasos_epoch(X, y, rows, LAMBDA, w, t)
            middle = time.thread_time()
            sdca_epoch(X, y, rows, LAMBDA, beta, dual, norms)
            descent.append(middle - began)
            ascent.append(time.thread_time() - middle)
    return {"SDCA": min(ascent), "Pegasos": min(descent)}


def epoch_times(study: ps.SolverComparison) -> dict[str, float]:
    """Return the processor seconds per epoch of the package, median over the runs."""
    last = study.runs.groupby(["solver", "run"], observed=True).last()
    share = last["cpu_seconds"] / last["epoch"]
    return dict(share.groupby("solver", observed=True).median())
