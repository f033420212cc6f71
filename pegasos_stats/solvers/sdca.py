"""The solver SDCA: its options, and dual coordinate ascent as published."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Rows, Vector, read_only
from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import SampleKind
from pegasos_stats.solvers.certificate import Gap, certificate
from pegasos_stats.solvers.options import (
    DEFAULT_EPOCHS,
    DEFAULT_TOL,
    Arithmetic,
    Method,
    Solver,
    check_sample_kind,
    check_seed,
    checked_tol,
    option,
)
from pegasos_stats.solvers.pegasos import Average, checked_average
from pegasos_stats.solvers.problem import Problem

Start = Literal["zero", "sgd"]


@suggest_arguments
@dataclass(frozen=True, eq=False)
class SDCA(Solver):
    """Stochastic dual coordinate ascent, for linear models without intercept.

    SDCA-perm (Shalev-Shwartz & Zhang 2013, figure 1) visits each row once per epoch, in
    the order of R's ``sample(1:n, n)``. A step sets the dual weight of a row to the
    value that maximises the dual objective, and updates ``beta``. For the hinge loss,
    without weights and offset::

        a_i  <- min(1, max(0, a_i + lam n (1 - y_i x_i'beta) / ||x_i||^2))

    For small lam this takes thousands of epochs; use `Optimum` for the optimum, with or
    without intercept.

    Parameters
    ----------
    epochs : int, default 100
        Maximum number of epochs; for warnings see `SVM.fit`.
    tol : float, default 1e-6
        Stop at this relative duality gap, ``gap / objective``; 0 runs all epochs.
    gap_tol : float, optional
        Stop at this absolute duality gap as well; with ``tol=0``, only at this gap.
    start : "zero" or "sgd"
        ``"sgd"``: the first epoch is modified SGD (figure 2).
    seed : int, default 1
        As for R's ``set.seed()``.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        Default of ``predict(ties=)``: the label of a score of exactly 0.
    arithmetic : "reference" or "fast"
        Order of summation. With the hinge and the same seed, ``"reference"`` reproduces
        the R script in ``r_reference/`` bit for bit. ``"fast"`` sums in the order that
        is fastest on the machine.
    average : "none", "all" or int, default "none"
        Return the last iterate (``"none"``), or the mean over steps of the iterate
        before the step: over all steps (``"all"``), or over the steps of the last
        `average` epochs (the averaging option of the paper). `beta` is computed from
        the mean dual weights.
    random_stop : int, optional
        Stop after a random step of the last `random_stop` epochs (the random option of
        the paper). ``sample(random_stop * n, 1)`` draws this step before the first
        epoch.

    Notes
    -----
    The averaging option and the random option are part of Procedure SDCA in the paper.
    The authors advise excluding the first half of the steps: with 20 epochs,
    ``average=10`` or ``random_stop=10``. Both options count back from the last epoch,
    so they need ``tol=0`` and no `gap_tol`; ``average="all"`` does not. Steps of
    modified SGD are not averaged. The certificate refers to the returned iterate.

    Raises
    ------
    OptionError
        If an option is not allowed, or two of them contradict each other.
    SeedError
        If R would refuse the seed.

    References
    ----------
    Shalev-Shwartz & Zhang, *Stochastic dual coordinate ascent methods for regularized
    loss minimization*, JMLR 14 (2013).
    Hsieh, Chang, Lin, Keerthi & Sundararajan, *A dual coordinate descent method for
    large-scale linear SVM*, ICML (2008).

    Examples
    --------
    >>> SDCA(epochs=20, seed=443).epochs
    20
    >>> SDCA(epochs=20, tol=0, average=10).average
    10
    """

    epochs: int = option(DEFAULT_EPOCHS, check=check_count)
    tol: float = option(DEFAULT_TOL, check=checked_tol)
    gap_tol: float | None = option(None, check=check_nonnegative)
    start: Start = option("zero", form="started by SGD")
    seed: int = option(1, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")
    arithmetic: Arithmetic = option("reference", form="{} arithmetic")
    average: Average = option("none", check=checked_average, form="average {}")
    random_stop: int | None = option(
        None, check=check_count, form="random stop in last {}"
    )

    name = "SDCA"
    to_optimum = True
    refit_intercept = True  # without effect: the model has no intercept
    intercept = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.random_stop is not None:
            if self.average != "none":
                why = "and average= exclude each other; give one."
                raise OptionError(why, "random_stop", self.random_stop)
            self._check_last("random_stop", self.random_stop)
        elif self.average != "none":
            self._check_last("average", self.average)

    def _check_last(self, name: str, last: Average) -> None:
        """Raise `OptionError` if `last` exceeds the epochs, or a tolerance is set."""
        most = self.epochs - (self.start == "sgd")
        if (1 if isinstance(last, str) else last) > most:
            why = f"needs more epochs of SDCA than the run has ({most:,})."
            raise OptionError(why, name, last)
        if self.stops and not isinstance(last, str):
            why = "needs a fixed number of epochs; give tol=0 and no gap_tol."
            raise OptionError(why, name, last)

    def averages(self, epoch: int) -> bool:
        """Whether the iterates of this epoch (counted from zero) enter the average."""
        if isinstance(self.average, str):
            return self.average == "all" and epoch >= (self.start == "sgd")
        return epoch >= self.epochs - self.average


class Coordinates(Method):
    """SDCA-perm: a visit of a row maximises the dual objective over its dual weight.

    This class fits no intercept. A subclass may add one, as the coefficient of a
    constant column, by a positive ``_ratio``.

    Parameters
    ----------
    problem : Problem
    a : float64 array, shape (n,), or None
        Initial dual weights.
    is_fast : bool
        Whether scores are summed in the order that is fastest on the machine.
    """

    name = "SDCA-perm"
    unit = "epoch"
    visits_rows = True
    begins_by_sgd = False

    def __init__(self, problem: Problem, a: Vector | None, is_fast: bool) -> None:
        super().__init__()
        self._problem, self._is_fast = problem, is_fast
        self._rows, self._y = problem.rows, problem.y.astype(np.int8)
        self._ratio = 0.0  # square of the constant column; 0 without intercept
        weights, offset = problem.row_weights, problem.offset
        self.state = compiled.sdca.start(self._rows, problem.p, weights, offset)
        if a is not None:
            y, lam = problem.y, problem.lam
            compiled.sdca.set_weights(self._rows, y, lam, a, self.state)

    def step(self, rows: Rows) -> None:
        """Visit the rows."""
        kernels, state = compiled.sdca, self.state
        loss, lam = int(self._problem.loss_code), self._problem.lam
        data = self._rows, self._y, read_only(rows), lam, loss, self._ratio
        if self.begins_by_sgd:
            kernels.sgd_epoch(*data, state)
        else:
            kernels.sdca_epoch(*data, self._is_fast, state)
        self.begins_by_sgd = False
        self.epochs += 1
        self.visits += rows.size
        self.steps = int(state.scalars[kernels.STEPS])
        self.violations = int(state.scalars[kernels.VIOLATIONS])

    @property
    def gap(self) -> Gap:
        """Objectives, computed from the rows."""
        return certificate(self._problem, *self.best())

    def best(self) -> tuple[Vector, float, Vector]:
        """Return the last iterate."""
        return self.state.w.copy(), 0.0, self.state.a.copy()


class AveragedCoordinates(Coordinates):
    """SDCA-perm; the result is the mean of the iterates if the solver averages.

    In an epoch each dual weight changes once. The dual weight of the row at place ``k``
    enters the mean ``k`` times with its old value and ``n - k`` times with the new one.
    """

    def __init__(self, problem: Problem, solver: SDCA, a: Vector | None) -> None:
        super().__init__(problem, a, solver.arithmetic == "fast")
        self.begins_by_sgd = solver.start == "sgd" and a is None
        self._solver, self._sums, self._n_averaged = solver, np.zeros(problem.n), 0

    def step(self, rows: Rows) -> None:
        """Visit the rows, and sum the dual weights."""
        n, epoch, before = self._problem.n, self.epochs, self.state.a.copy()
        super().step(rows)
        if self._solver.averages(epoch):
            place = np.empty(n)
            place[rows] = np.arange(1.0, n + 1.0)
            self._sums += place * before + (n - place) * self.state.a
            self._n_averaged += n

    def best(self) -> tuple[Vector, float, Vector]:
        """Return the mean iterate; before the averaged epochs, the last iterate."""
        if not self._n_averaged:
            return super().best()
        problem, beta = self._problem, np.zeros(self._problem.p)
        a = np.minimum(self._sums / self._n_averaged, problem.dual_upper_bounds)
        compiled.rows.add_rows(self._rows, a * problem.y, beta)
        return beta / (problem.lam * problem.n), 0.0, a
