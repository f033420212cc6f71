"""The estimated covariance of coefficients, by the sandwich."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.notes.note import Note


@dataclass(frozen=True, eq=False)
class Covariance:
    """Estimated covariance of the coefficients, ``k`` of them, the intercept first.

    Attributes
    ----------
    matrix : float64 array, shape (k, k)
        ``(1/n) H^-1 G H^-1``; NaN throughout where it is not defined.
    bread : float64 array, shape (k, k)
        ``H``, the curvature of the risk, penalty included.
    meat : float64 array, shape (k, k)
        ``G``, the covariance of the scores of the rows.
    bandwidth : float or None
        ``h`` for the hinge; None for the log loss.
    newton_step : float64 array, shape (k,), or None
        ``-H^-1 grad P`` for the log loss: how far the optimum is from the fit, very
        nearly. None for the hinge, which has no gradient at its optimum.
    df : float
        Degrees of freedom of tests and intervals; infinite for the normal distribution.
    description : str
        The estimate in words.
    notes : tuple of Note
        Why it is not defined, or what is lost in rounding.
    joint : float64 array, shape (k, k), optional
        For the hinge, and for the log loss with ``"HC3"``, ``"jackknife"`` and
        ``"shrunk"``, the covariance for tests of several hypotheses together.
    rows : float
        How many rows that covariance is worth; infinite where there is none.
    fixed : float64 array, shape (k, k), optional
        Of standardized predictors the covariance of the coefficients for predictors as
        the fit standardized them, which become those on the original scale.
    pull : float64 array, shape (k,), optional
        ``(H - lam J)^-1 lam J theta``: by how much coefficients without penalty differ
        from these, to first order.
    bias : float64 array, shape (k,), optional
        Of the coefficients, for intervals and tests that allow for it.
    prior : float64 array, shape (k + 1,), optional
        Of balanced weights with the log loss the covariances of the coefficients with
        ``log(n- / n+)``, and its variance, see `prior_of`.
    why : str
        Why the sandwich does not cover; empty if it does.
    separated : int
        Rows of the log loss whose scores nothing but the penalty limits.
    unbounded : float64 array, shape (k, q), optional
        Directions of ``theta`` that nothing but the penalty limits, where rows are
        separated; of anything else `matrix` is the covariance without these rows.
    later : callable, optional
        Gives the same with `joint`, where that takes long; see `completed`.
    """

    matrix: Matrix
    bread: Matrix
    meat: Matrix
    bandwidth: float | None
    newton_step: Vector | None
    df: float
    description: str
    notes: tuple[Note, ...] = ()
    joint: Matrix | None = None
    rows: float = float("inf")
    fixed: Matrix | None = None
    pull: Vector | None = None
    bias: Vector | None = None
    prior: Vector | None = None
    why: str = ""
    separated: int = 0
    unbounded: Matrix | None = None
    later: "Callable[[], Covariance] | None" = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def is_defined(self) -> bool:
        """Whether there is a covariance, and not NaN throughout."""
        return not np.isnan(self.matrix).all()

    @property
    def std_error(self) -> Vector:
        """Standard errors, shape (k,): roots of the diagonal of `matrix`."""
        found: Vector = np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        return found

    @property
    def counts_scaling(self) -> bool:
        """Whether means and deviations of standardized predictors are estimates too.

        Else the covariance is the same as for predictors that came as they are.
        """
        return self.fixed is not None and not np.allclose(self.fixed, self.matrix)

    def completed(self) -> "Covariance":
        """The same with `joint`, computed now if it was left for later."""
        if self.later is None:
            return self
        whole = self.later()
        return replace(self, joint=whole.joint, rows=whole.rows, later=None)

    def combined(self, R: Matrix) -> "Covariance":
        """The covariance of the linear combinations ``R theta``."""
        joint = None if self.joint is None else R @ self.joint @ R.T
        bias = None if self.bias is None else R @ self.bias
        prior = self.prior
        if prior is not None:
            prior = np.append(R @ prior[:-1], prior[-1])
        plain = replace(self, joint=joint, fixed=None, pull=None, later=None, bias=bias)
        if self.unbounded is not None:
            plain = replace(plain, unbounded=R @ self.unbounded)
        return replace(plain, matrix=R @ self.matrix @ R.T, prior=prior)

    def original(self, R: Matrix) -> "Covariance":
        """Covariance of ``R theta`` on the original scale of the predictors."""
        if self.fixed is None:
            return self.combined(R)
        return replace(self, matrix=self.fixed, joint=None).combined(R)
