"""Solvers: how a problem is minimised, and what comes out."""

import numbers
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import OptionError, plain
from pegasos_stats.rng import RRandom, SampleKind

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """What is minimised: ``lam/2 ||beta||^2 + mean loss(y (X beta + alpha))``.

    Attributes
    ----------
    X : float64 array, shape (n, p), C-contiguous, finite
    y : float64 array, shape (n,), of -1 and +1
    lam : float
        Penalty, above zero.
    intercept : bool
        Whether ``alpha`` is free; otherwise it is 0.
    """

    X: NDArray[np.float64]
    y: Vector
    lam: float
    intercept: bool = True


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes
    ----------
    beta : float64 array, shape (p,)
    alpha : float
    n_iter : int
        Number of steps taken.
    n_violations : int
        Number of steps whose margin was below 1.
    seed : int
        Seed of the run, drawn if none was given.
    """

    beta: Vector
    alpha: float
    n_iter: int
    n_violations: int
    seed: int


@dataclass(frozen=True)
class Pegasos:
    """Stochastic sub-gradient steps of size ``1 / (lam * t)``, one row at a time.

    Each epoch draws one permutation of the rows, R's ``sample(1:n, n)``, and takes
    a step at each of them in that order (Shalev-Shwartz et al. 2011, figure 1, with
    an intercept that is not penalised). The numbers are those of the R reference,
    bit for bit, from the same seed.

    Parameters
    ----------
    epochs : int, default 20
        Passes over the rows, at least 1.
    seed : int, optional
        As for R's ``set.seed()``. Without one a seed is drawn, kept in the result
        and shown in its summary.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.

    Raises
    ------
    OptionError
        If `epochs` is not a whole number above zero, or `sample_kind` is unknown.
    SeedError
        If R would refuse the seed.

    Examples
    --------
    >>> Pegasos(epochs=5, seed=443)
    Pegasos(epochs=5, seed=443, sample_kind='rejection')
    """

    epochs: int = 20
    seed: int | None = None
    sample_kind: SampleKind = "rejection"

    def __post_init__(self) -> None:
        check_count("epochs", self.epochs)
        if self.seed is not None:
            RRandom(self.seed, sample_kind=self.sample_kind)

    def solve(self, problem: Problem) -> Solution:
        """Run the epochs on `problem`."""
        from pegasos_stats.kernels.pegasos import pegasos_epoch

        rng = RRandom(self.seed, sample_kind=self.sample_kind)
        n, p = problem.X.shape
        beta, alpha, violations = np.zeros(p), 0.0, 0
        for epoch in range(self.epochs):
            alpha, below_one = pegasos_epoch(
                problem.X,
                problem.y,
                rng.permutation(n),
                problem.lam,
                epoch * n,
                beta,
                alpha,
                problem.intercept,
            )
            violations += below_one
        seed = cast(int, rng.seed)  # drawn or given: there is one
        return Solution(beta, alpha, self.epochs * n, violations, seed)


def check_count(name: str, value: Any) -> None:
    """Raise `OptionError` unless `value` is a whole number of at least 1."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < 1:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a whole number above zero."
        )


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a float, or raise `OptionError` unless it is above zero."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0.0 < float(value) < np.inf:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a finite number above zero."
        )
    return float(value)
