"""Fits at the optimum whose objectives are frozen, every option written out."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import pegasos_stats as ps
from tests.frozen import rows

TOL = 1e-9  # relative gap
KERNEL_TOL = 1e-7  # where a kernel's values are large, rounding is some 1e-8
NEWTON = {
    "epochs": 1000,
    "tol": TOL,
    "gap_tol": None,
    "seed": 1,
    "sample_kind": "rejection",
    "ties": "na",
}
KERNEL_MODEL = {
    "lam": 0.01,
    "intercept": True,
    "coding": "factor",
    "na_action": "drop",
    "weights": None,
    "freq_weights": None,
    "standardize": False,
}
MODEL = KERNEL_MODEL | {"offset": None}
GAUSSIAN = {"kernel": "gaussian", "gamma": 0.2, "degree": None, "offset": None}
QUADRATIC = {"kernel": "polynomial", "gamma": None, "degree": 2, "offset": 1.0}
CUBIC = {"kernel": "polynomial", "gamma": None, "degree": 3, "offset": 0.5}
LINEAR = {"kernel": "linear", "gamma": None, "degree": None, "offset": None}
GIVEN = LINEAR | {"kernel": "precomputed"}
LOSSES = {"hinge": ps.SVM, "log": ps.Logit}


@dataclass(frozen=True)
class Fitted:
    """A fit, and what its objective is computed from again.

    Attributes
    ----------
    result : LinearResults or KernelResults
    y : float64 array of -1 and +1
    scores : float64 array, of the rows of `y`
    total : float64 array, weight of each row in the mean loss
    reach : float
        By how much at most `position` moves if the function of the fit moves by 1: in
        the norm of the coefficients, or of the kernel.
    """

    result: Any
    y: np.ndarray
    scores: np.ndarray
    total: np.ndarray
    reach: float = 1.0

    @property
    def position(self) -> np.ndarray:
        """Coefficients; of a kernel ten scores, less their mean."""
        if self.reach != 1.0:
            return self.scores[:10] - self.scores[:10].mean()
        return np.asarray(self.result.coef, dtype=float)

    @property
    def squared_norm(self) -> float:
        """``||beta||^2``, or that of the function in the norm of the kernel."""
        if self.reach == 1.0:
            return float(self.position @ self.position)
        weights = self.result.dual_coef
        image = self.scores[weights.index] - self.result.intercept
        return float(weights @ image)

    @property
    def objective(self) -> float:
        """``lam/2 ||beta||^2 + mean w loss(y score)``, by its formula."""
        margins = self.y * self.scores
        losses = {
            "hinge": np.maximum(0.0, 1.0 - margins),
            "log": np.logaddexp(0.0, -margins),
        }[self.result.problem.loss]
        penalty = 0.5 * self.result.problem.lam * self.squared_norm
        return float(penalty + self.total @ losses / self.total.sum())


def weights_in_total(y: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    """Weights of rows as the documentation defines them, up to a factor."""
    total = np.ones(y.size)
    if isinstance(given["weights"], str):
        total = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
    elif given["weights"] is not None:
        total = given["weights"]
    return total if given["freq_weights"] is None else total * given["freq_weights"]


def linear(loss: str, X: Any, **changed: Any) -> Fitted:
    """Fit a model of arrays."""
    dense = np.asarray(X.todense()) if sp.issparse(X) else np.asarray(X, dtype=float)
    y, given = rows.labels(dense[:, :2] - dense[:, :2].mean(0), 99), MODEL | changed
    fit = LOSSES[loss](y, X, **given).fit(ps.Optimum(**NEWTON), cov_type="none")
    scores = np.asarray(fit.decision_function(X, offset=given["offset"]))
    signs = np.where(y == "yes", 1.0, -1.0)
    return Fitted(fit, signs, scores, weights_in_total(signs, given))


def formula(loss: str, terms: str, data: Any, frame: pd.DataFrame) -> Fitted:
    """Fit a model of a formula, of a frame or of a file with the same rows."""
    build = {"hinge": ps.svm, "log": ps.logit}[loss]
    model = build(f"y ~ {terms}", data, functions=None, **MODEL)
    fit = model.fit(ps.Optimum(**NEWTON), cov_type="none")
    scores = fit.decision_function(frame, unseen="error").to_numpy()
    known = ~np.isnan(scores)
    signs = np.where(frame["y"] == "yes", 1.0, -1.0)[known]
    return Fitted(fit, signs, scores[known], np.ones(signs.size))


def in_a_file(loss: str) -> Fitted:
    """Fit 6,000 rows of a CSV file, read block by block."""
    frame = rows.frame(6000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        frame.to_csv(path, index=False)
        types = {"g": "text", "y": "text", "h": "text"}
        data = ps.scan(path, memory="1GiB", types=types)
        return formula(loss, "a + b + c + g", data, frame)


def kernel(X: np.ndarray, function: dict[str, Any], **changed: Any) -> Fitted:
    """Fit a kernel machine; X has the values of a precomputed kernel."""
    gram = function is GIVEN
    y = rows.labels(rows.normal(len(X), 2, 98) if gram else X, 99)
    given = KERNEL_MODEL | changed
    model = ps.KernelSVM(y, X, memory=2**29, **function, **given)
    fit = model.fit(ps.Optimum(**NEWTON | {"tol": KERNEL_TOL}))
    signs = np.where(y == "yes", 1.0, -1.0)
    scaled = X - X.mean(0) if given["standardize"] else X
    largest = float((1.0 + (2.0 * scaled**2).sum(1).max()) ** 3)  # of K(x, x), or more
    largest = 1.0 if function is GAUSSIAN else largest
    largest = float(np.diag(X).max()) if gram else largest
    scores = np.asarray(fit.decision_function(X))
    total = weights_in_total(signs, given)
    return Fitted(fit, signs, scores, total, 2.0 * np.sqrt(largest))


def gram(n: int) -> np.ndarray:
    """A kernel matrix of rows with two of the columns that the labels depend on."""
    X = rows.normal(n, 2, 98)
    return (X @ X.T + 1.0) ** 2


N = 150
X = rows.normal(N, 5, 1)
SPARSE = sp.csr_array(rows.sparse_entries(300, 40, 2))
WIDE = rows.normal(50, 120, 4)
WIDE_SPARSE = sp.csr_array(rows.sparse_entries(60, 200, 5))
WEIGHTS, COUNTS = rows.uniform(N, 21), rows.counts(N, 22)
ZEROS = np.where(np.arange(N) % 4 == 0, 0.0, WEIGHTS)
OFFSET = rows.normal(300, 1, 23)[:, 0]
FACTORS = "a + b + g + h + g:a"

OF_EACH_LOSS: dict[str, Callable[[str], Fitted]] = {
    "dense": lambda loss: linear(loss, X),
    "no intercept": lambda loss: linear(loss, X, intercept=False),
    "small lambda": lambda loss: linear(loss, X, lam=1e-5),
    "large lambda": lambda loss: linear(loss, X, lam=10.0),
    "weights": lambda loss: linear(loss, X, weights=WEIGHTS),
    "weights of zero": lambda loss: linear(loss, X, weights=ZEROS),
    "balanced": lambda loss: linear(loss, X, weights="balanced"),
    "freq_weights": lambda loss: linear(loss, X, freq_weights=COUNTS),
    "offset": lambda loss: linear(loss, X, offset=OFFSET[:N]),
    "offset and weights": lambda loss: linear(
        loss, X, offset=OFFSET[:N], weights=WEIGHTS, intercept=False
    ),
    "standardize": lambda loss: linear(loss, X * [1, 9, 0.2, 3, 5], standardize=True),
    "standardize and weights": lambda loss: linear(
        loss, X * [1, 9, 0.2, 3, 5], standardize=True, weights=WEIGHTS
    ),
    "far from 0": lambda loss: linear(loss, X + 100.0),
    "float32": lambda loss: linear(loss, X.astype(np.float32)),
    "factors": lambda loss: formula(loss, FACTORS, rows.frame(), rows.frame()),
    "sparse": lambda loss: linear(loss, SPARSE),
    "sparse, no intercept": lambda loss: linear(loss, SPARSE, intercept=False),
    "sparse, weights": lambda loss: linear(loss, SPARSE, weights=rows.uniform(300, 24)),
    "sparse, offset": lambda loss: linear(loss, SPARSE, offset=OFFSET),
    "sparse, standardize": lambda loss: linear(loss, SPARSE, standardize=True),
    "wide": lambda loss: linear(loss, WIDE),
    "wide, no intercept": lambda loss: linear(loss, WIDE, intercept=False),
    "wide, weights": lambda loss: linear(loss, WIDE, weights=WEIGHTS[:50], lam=2.0),
    "wide, sparse": lambda loss: linear(loss, WIDE_SPARSE, lam=1e-3),
    "many rows": lambda loss: linear(loss, rows.normal(50_000, 4, 6), lam=1e-3),
    "file": in_a_file,
}
KERNELS: dict[str, Callable[[], Fitted]] = {
    "gaussian": lambda: kernel(X, GAUSSIAN),
    "gaussian, no intercept": lambda: kernel(X, GAUSSIAN, intercept=False),
    "gaussian, weights": lambda: kernel(X, GAUSSIAN, weights=WEIGHTS),
    "gaussian, balanced": lambda: kernel(X, GAUSSIAN, weights="balanced"),
    "gaussian, freq_weights": lambda: kernel(X, GAUSSIAN, freq_weights=COUNTS),
    "gaussian, standardize": lambda: kernel(X, GAUSSIAN, standardize=True),
    "gaussian, small lambda": lambda: kernel(X, GAUSSIAN, lam=1e-4),
    "quadratic": lambda: kernel(X, QUADRATIC),
    "quadratic, no intercept": lambda: kernel(X, QUADRATIC, intercept=False),
    "cubic": lambda: kernel(X[:, :2], CUBIC, lam=0.1),
    "linear kernel": lambda: kernel(X, LINEAR),
    "precomputed": lambda: kernel(gram(80), GIVEN),
    "precomputed, no intercept": lambda: kernel(gram(80), GIVEN, intercept=False),
}
FITS: dict[str, Callable[[], Fitted]] = {
    **{
        f"{loss}, {name}": lambda make=make, loss=loss: make(loss)
        for loss in LOSSES
        for name, make in OF_EACH_LOSS.items()
    },
    **KERNELS,
}
