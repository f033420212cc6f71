"""The minimisation problem as arrays, and its solution."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import getattr_static
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos_stats import compiled
from pegasos_stats.arrays import Mask, Rows, Vector, read_only
from pegasos_stats.checks import check_nonnegative, check_positive, number_of
from pegasos_stats.data.sample import WeightsOf
from pegasos_stats.data.scan.source import RowSource, source_of
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.solvers.losses import LOSSES, LossName, MarginLoss
from pegasos_stats.solvers.sums import kernel_rows, largest_norm, moments
from pegasos_stats.tables import significant

Record = TypeVar("Record")

LamRule = Literal["given", "1/n", "cv", "ml", "no ml"]

Lam = float | Literal["cv"] | None

Penalty = Literal["ridge", "firth", "flic"]

RULE_TEXT: dict[LamRule, str] = {
    "given": "",
    "1/n": " (1/n)",
    "cv": " (by cross-validation)",
    "ml": " (maximum likelihood)",
    "no ml": " (1/n)",
}

# For `Problem.with_best_storage`. Time of a fit with sparse rows, relative to dense
# rows, for 20,000 rows of factors: with 100 levels (300 columns) 0.4 for the log loss
# and 0.16 for the hinge; with 50 levels (101 columns) 0.7 and 0.5.
SPARSE_COST, OF_A_ROW = 4.0, 10.0


def penalty_of(
    lam: object, n: float, loss: LossName = "hinge"
) -> tuple[float, LamRule]:
    """Return the penalty of a model and the rule that determined it.

    Parameters
    ----------
    lam : float, "cv" or None
        None means maximum likelihood for the log loss, and for other losses ``1 / n``,
        which is LIBSVM's C = 1. (If the likelihood has no maximum, see
        `Problem.without_ml`.) ``"cv"`` means ``1 / n`` until the fit chooses a value.
    n : float
        Number of rows, or the sum of their frequencies.
    loss : str

    Raises
    ------
    OptionError
        If `lam` is none of these, negative, or zero for another loss than the log loss.

    Examples
    --------
    >>> penalty_of(None, 200), penalty_of(0.1, 200), penalty_of("cv", 200)
    ((0.005, '1/n'), (0.1, 'given'), (0.005, 'cv'))
    >>> penalty_of(None, 200, "log"), penalty_of(0, 200, "log")
    ((0.0, 'ml'), (0.0, 'given'))
    """
    if lam is None:
        return (0.0, "ml") if loss == "log" else (1.0 / n, "1/n")
    if isinstance(lam, str) and lam == "cv":
        return 1.0 / n, "cv"
    if isinstance(lam, str):
        raise OptionError(
            "is not allowed; give a number above zero, or 'cv' for the best by "
            "cross-validation.",
            "lam",
            lam,
        )
    if number_of(lam) == 0.0:
        if loss == "log":
            return 0.0, "given"
        raise OptionError(
            "is not allowed; give a number above zero. Only logistic regression "
            "(ps.logit) has an estimate without a penalty.",
            "lam",
            lam,
        )
    check = check_nonnegative if loss == "log" else check_positive
    return check("lam", lam), "given"


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ``lam/2 ||beta||^2 + mean w loss(y (X beta + alpha + offset))``.

    Attributes
    ----------
    X : float64 or float32 array, shape (n, p), C-contiguous; or scipy CSR array
    y : float64 array, shape (n,), of -1 and +1
    lam : float
        Penalty; 0 for maximum likelihood by the log loss.
    loss : str
        Name of the loss, see `LOSSES`.
    intercept : bool
        Whether ``alpha`` is free and not penalised; otherwise it is 0.
    weights : float64 array, shape (n,), optional
        Weight ``w_i`` of each row's loss in the mean; 1 by default. The dual weight of
        a row is in [0, w_i]; for the squared hinge it has no upper bound unless ``w_i``
        is 0.
    offset : float64 array, shape (n,), optional
        Fixed part of each row's score; 0 by default.
    weights_of : "rows", "levels" or "balanced"
        What the user weighted. ``"rows"``: a weight is the number of rows of the
        population that a row represents. ``"levels"``: a weight is the cost of
        misclassifying a class. ``"balanced"``: class weights make the total weights of
        both classes equal, so they depend on the rows.
    lam_rule : "given", "1/n", "cv", "ml" or "no ml"
        Rule that determined the penalty: the user, the number of rows,
        cross-validation, or maximum likelihood (the default of the log loss);
        ``"no ml"`` means 1/n because the likelihood has no maximum.
    no_ml : str
        Why there is no maximum likelihood estimate, as the end of a sentence.
    penalty : "ridge", "firth" or "flic"
        With Firth's penalty ``lam`` is 0, and ``log det(I) / 2`` is added to the log
        likelihood, see ``firth.py``. FLIC re-estimates the intercept afterwards.

    The arrays are read-only.
    """

    X: Any
    y: Vector
    lam: float
    loss: LossName = "hinge"
    intercept: bool = True
    weights: Vector | None = field(default=None, kw_only=True)
    offset: Vector | None = field(default=None, kw_only=True)
    weights_of: WeightsOf = field(default="rows", kw_only=True)
    lam_rule: LamRule = field(default="given", kw_only=True)
    no_ml: str = field(default="", kw_only=True)
    penalty: Penalty = field(default="ridge", kw_only=True)

    _field_rules = "X np, y n, weights n nonnegative, offset n finite, lam nonnegative"

    def __post_init__(self) -> None:
        for name in ("X", "y", "weights", "offset"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @cached_property
    def row_weights(self) -> Vector:
        """Weights of the rows, shape (n,)."""
        if self.weights is None:
            return np.asarray(read_only(np.ones(self.n)))
        return self.weights

    @property
    def row_offsets(self) -> Vector:
        """Offsets of the rows, shape (n,)."""
        if self.offset is None:
            return np.asarray(read_only(np.zeros(self.n)))
        return self.offset

    @property
    def counting(self) -> NDArray[np.int64] | None:
        """How often tables count each row: 1, or 0 for weight 0; None if all are 1."""
        return (self.row_weights > 0.0).astype(np.int64) if self.n_weightless else None

    @property
    def lambda_text(self) -> str:
        """Lambda as text, with its rule.

        Examples
        --------
        >>> X, y = np.zeros((3, 1)), np.array([-1.0, 1.0, 1.0])
        >>> Problem(X, y, 1 / 3, lam_rule="1/n").lambda_text
        '0.333 (1/n)'
        """
        digits = 6 if self.lam_rule == "given" else 3
        if self.has_firth:
            return "0 (Firth's penalty)"
        if not self.lam:
            return f"0{RULE_TEXT['ml']}"
        return significant(self.lam, digits) + RULE_TEXT[self.lam_rule]

    @property
    def has_firth(self) -> bool:
        """Whether the penalty is Firth's."""
        return self.penalty != "ridge"

    @property
    def n_weighed(self) -> int:
        """Number of rows of positive weight."""
        return self.n - self.n_weightless

    def without_ml(self, reason: str) -> "Problem":
        """Return the problem with penalty 1/n, as the likelihood has no maximum."""
        lam = 1.0 / self.n_weighed
        return replace(self, lam=lam, lam_rule="no ml", no_ml=reason)

    @property
    def label_counts(self) -> tuple[int, int]:
        """Number of rows of positive weight with the labels -1 and +1."""
        y = self.y if self.weights is None else self.y[self.weights > 0.0]
        n_positive = int((y > 0.0).sum())
        return len(y) - n_positive, n_positive

    @cached_property
    def n_weightless(self) -> int:
        """Number of rows of weight 0."""
        return 0 if self.weights is None else int((self.weights == 0.0).sum())

    @cached_property
    def prior_shift(self) -> float:
        """Difference between scores of the log loss and log odds in the population.

        ``log(w+ / w-)`` for class weights. For weights of rows it is 0, as these define
        the population.
        """
        if self.weights is None or self.weights_of == "rows":
            return 0.0
        low, high = (self.weights[self.y * sign > 0.0][0] for sign in (-1.0, 1.0))
        return float(np.log(high) - np.log(low))

    @property
    def balanced(self) -> bool:
        """Whether there are balanced class weights."""
        return self.weights_of == "balanced"

    @property
    def outcome_weights(self) -> Vector:
        """Weights of the rows in averages of probabilities: without class weights."""
        if self.weights_of == "rows":
            return self.row_weights
        return np.asarray(read_only(np.ones(self.n)))

    @cached_property
    def class_weights(self) -> tuple[float, float]:
        """Total weights of the labels -1 and +1."""
        below, above = (
            float(np.count_nonzero(of_class) if w is None else w[of_class].sum())
            for w, of_class in ((self.weights, self.y < 0), (self.weights, self.y > 0))
        )
        return below, above

    @property
    def smaller_class_weight(self) -> float:
        """Smaller of the two class weights."""
        return min(self.class_weights)

    @cached_property
    def max_abs_offset(self) -> float | None:
        """Largest absolute offset; None without offsets."""
        return None if self.offset is None else float(np.abs(self.offset).max())

    @property
    def max_roundings(self) -> float:
        """Maximum number of roundings of a score."""
        if not hasattr(type(self.X), "tocsr"):
            return self.p + 2.0
        return int(np.diff(self.X.indptr).max(initial=0)) + 2.0

    @cached_property
    def column_entries(self) -> int:
        """Maximum number of entries in a column of sparse rows."""
        return int(np.bincount(self.X.indices).max(initial=0))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def of_rows(self, rows: Rows) -> "Problem":
        """Return the problem of some of the rows; their weights are not rescaled."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            offset=None if self.offset is None else self.offset[rows],
        )

    @cached_property
    def source(self) -> RowSource:
        """The rows in memory or elsewhere, with labels, weights and offsets."""
        return source_of(self.X, self.y, self.weights, self.offset)

    @property
    def has_rows(self) -> bool:
        """Whether the rows are in memory."""
        return self.source.in_memory

    @property
    def where_to_refit(self) -> str:
        """End of advice on options that need the training rows in memory.

        It is empty if they were in memory at the fit. For a loaded fit a missing digest
        means that they were in files.
        """
        source: Any = self.source
        in_files = source.digest is None if source.is_missing else source.is_streamed
        return ", on a sample of the rows in memory" if in_files else ""

    @property
    def loss_code(self) -> "compiled.risk.Loss":
        """Code of the loss in compiled functions, a member of `Loss`."""
        return compiled.risk.Loss[self.loss.upper()]

    @property
    def loss_function(self) -> MarginLoss:
        """Functions and constants of the loss."""
        return LOSSES[self.loss]

    @property
    def dual_upper_bounds(self) -> Vector:
        """Upper bounds of the dual weights, shape (n,)."""
        most, w = self.loss_function.most, self.row_weights
        return w if most == 1.0 else np.where(w > 0.0, most, 0.0)

    @cached_property
    def radius(self) -> float:
        """Largest Euclidean norm ``||x_i||`` of a row."""
        if isinstance(self.X, np.ndarray):
            return largest_norm(self.X)
        if not self.has_rows:
            return float(self.X.radius)
        squares = self.X.astype(np.float64, copy=False).power(2).sum(axis=1)
        return float(np.sqrt(squares.max(initial=0.0)))

    @cached_property
    def moments(self) -> tuple[Vector, Vector]:
        """Means and standard deviations of the columns of dense rows."""
        return moments(self.X) if self.has_rows else self.X.moments

    @cached_property
    def moments_of_some(self) -> tuple[Vector, Vector]:
        """`moments` of 2,000 to 3,000 evenly spaced rows; of all if ``n < 4000``."""
        step = self.n // 2000
        return moments(self.X[::step]) if step > 1 else self.moments

    @property
    def rows(self) -> Any:
        """The rows in the form that compiled functions use: an array, or a `CSR`."""
        return kernel_rows(self.X)

    @cached_property
    def with_best_storage(self) -> "Problem":
        """The problem with the faster storage: dense rows, or sparse ones.

        A sparse row with ``k`` non-zero entries, as for factors of many levels, takes
        as long as a dense row of ``4 (k + 10)`` columns. Sparse rows become dense only
        with the log loss, if ``4 k`` is at least the number of columns. With the hinge
        and more columns than rows the storage does not change.
        """
        X, is_wide = self.X, self.loss == "hinge" and self.n < self.p
        if not isinstance(X, np.ndarray):
            is_full = self.loss == "log" and SPARSE_COST * X.nnz >= self.p * self.n
            return replace(self, X=X.toarray()) if is_full else self
        if self.p <= SPARSE_COST * OF_A_ROW or is_wide:
            return self
        some = X[:: max(1, self.n // 256)]
        if self._are_many(np.count_nonzero(some) / max(1, len(some))):
            return self
        from scipy.sparse import csr_array

        sparse = csr_array(X)
        is_full = self._are_many(sparse.nnz / max(1, self.n))
        return self if is_full else replace(self, X=sparse)

    def _are_many(self, entries: float) -> bool:
        """Whether this mean number of entries per row is too large for sparse rows."""
        return SPARSE_COST * (entries + OF_A_ROW) > self.p

    def _conditions(self) -> Iterator[object]:
        """Check that both classes have rows; only the log loss allows ``lam = 0``."""
        yield (self.y == -1.0).any() and (self.y == 1.0).any()
        yield ((self.y == -1.0) | (self.y == 1.0)).all()
        yield self.lam > 0.0 or self.loss == "log"


def with_cached(record: Record, **values: object) -> Record:
    """Set cached properties of a record to values computed before; return the record.

    Examples
    --------
    >>> class Square:
    ...     side = 2.0
    ...
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> with_cached(Square(), area=4.0).area
    4.0
    """
    for name in values:
        assert isinstance(getattr_static(type(record), name), cached_property), name
    vars(record).update(values)
    return record


Unit = Literal["epoch", "iteration", "pass"]


class MethodRun(NamedTuple):
    """A method that a solver ran, and its number of iterations.

    Attributes
    ----------
    name : str
    iterations : int
        Number of iterations, epochs or passes.
    unit : str
        ``"epoch"`` for methods that visit single rows, ``"pass"`` for passes over
        files, otherwise ``"iteration"``.
    """

    name: str
    iterations: int
    unit: Unit


def joined(*runs: MethodRun) -> tuple[MethodRun, ...]:
    """Merge consecutive runs of the same method.

    Examples
    --------
    >>> joined(MethodRun("Newton", 2, "iteration"), MethodRun("Newton", 1, "iteration"))
    (MethodRun(name='Newton', iterations=3, unit='iteration'),)
    """
    merged = [*runs[:1]]
    for run in runs[1:]:
        if run.name == merged[-1].name:
            both = merged[-1].iterations + run.iterations
            merged[-1] = run._replace(iterations=both)
        else:
            merged.append(run)
    return tuple(merged)


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver; its arrays are read-only.

    Attributes
    ----------
    beta : float64 array, shape (p,)
    alpha : float
    dual : float64 array, shape (n,)
        Dual weights ``a``. For the last iterate of Pegasos or SDCA from a start at 0,
        ``beta = sum_i a_i y_i x_i / (lam n)``.
    n_iter : int
        Number of steps taken.
    n_violations : int
        Number of row visits with a margin below 1 (for the log loss, below 0).
    seed : int or None
        Seed of the run; None if the run used no random numbers.
    n_epochs : int or None
        Number of epochs or iterations, not counting a refinement; None if unknown.
    settled : bool
        Whether Pegasos stopped by `change_tol`.
    estimable : bool array, shape (p,), or None
        With ``lam = 0``, which columns are estimable; None if all are. Coefficients of
        collinear columns are 0 in `beta`.
    methods : tuple of MethodRun
        Methods in the order of their runs; empty if unknown.
    """

    beta: Vector
    alpha: float
    dual: Vector
    n_iter: int
    n_violations: int
    seed: int | None
    n_epochs: int | None = None
    settled: bool = False
    estimable: Mask | None = None
    methods: tuple[MethodRun, ...] = ()

    _field_rules = (
        "beta p finite, alpha finite, dual n finite, n_iter nonnegative, "
        "n_violations nonnegative, n_epochs nonnegative, seed seed"
    )

    def __post_init__(self) -> None:
        for array in (self.beta, self.dual):
            array.flags.writeable = False
        if not (np.isfinite(self.beta).all() and np.isfinite(self.alpha)):
            raise DataError(
                "The coefficients overflow: they are no longer finite; divide large "
                "predictors by a constant, or give a larger lam."
            )
