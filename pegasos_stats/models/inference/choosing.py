"""Which estimate of standard errors a fit has by default: one whose intervals cover."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.columns import Mask, is_sparse
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.errors import counted
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.long_tails import (
    has_long_tails,
    is_rough,
    some_rows,
)
from pegasos_stats.models.inference.options import SANDWICH, Cluster, Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.inference.telling_apart import Gain, hardly_told, in_words
from pegasos_stats.models.notes.standard_errors import FEW
from pegasos_stats.solvers.problem import Problem, Solution

MOST_COEFFICIENTS = 1000  # whose standard errors a summary computes unasked
FEW_VALUES = 50  # that a column has, each counted by how often it occurs
RARE = 0.15  # share of a class that a hinge may give up altogether
CLUSTER = Cluster()
EVENTS = 20  # rows of the rarer level to a coefficient, by simulation
MANY = 256  # coefficients, whose sandwich takes seconds, and resamples minutes
NEARER = 0.2  # pull in standard errors, for each row by coefficients: by simulation
STEP = 40  # of replicates: with 40 i - 1 the outer 2.5% are whole numbers of them
MOST_REPLICATES, FEWEST_REPLICATES = 999, 199
NUMBERS = 1e8  # in the rows of all resamples, for some seconds
FEW_COLUMNS = 25  # with more a refit takes longer by the square of their number
MOST_NUMBERS = 2e9  # for which the fewest replicates are drawn, for a minute or so


def can_resample(groups: Groups | None) -> bool:
    """Whether rows are alone, or of groups of one kind."""
    return groups is None or len(groups.numbers) == 1


def default_options(
    problem: Problem,
    found: Solution,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
) -> Sandwich | Bootstrap:
    """The sandwich; where it does not cover, see `Reasons`, the bootstrap.

    With few rows for each coefficient, where neither covers, it is the sandwich; and
    where resamples would take minutes. Where the rarer level has fewer than 20 rows to
    a coefficient, it is for the log loss drawn towards that of the model, and HC3 for
    the hinge. It is HC3 for both where predictors have long tails (`has_long_tails`).
    With groups it is that of whole groups; of two kinds always the sandwich.

    Examples
    --------
    >>> X, y = np.arange(200.0)[:, None] // 50, np.tile([-1.0, 1.0], 100)
    >>> at = Solution(np.zeros(1), 0.0, np.zeros(200), 0, 0, None)
    >>> default_options(Problem(X, y, lam=0.1), at).interval
    'symmetric'
    >>> default_options(Problem(X, y, lam=0.1, loss="log"), at)
    Sandwich(bandwidth='silverman', factor=1.0, move=True, correction='HC0')
    """
    X = problem.X
    size = max(1.0, float(X.nnz if is_sparse(X) else X.size))
    slow = size * FEWEST_REPLICATES > MOST_NUMBERS
    never = slow or not can_resample(groups) or isinstance(X, Elsewhere)
    why = Reasons(problem, found, scaling, groups)
    if never or is_huge(problem) or not why.words:
        if groups is not None:
            return CLUSTER
        few = has_few_events(problem)
        there = isinstance(problem.X, Elsewhere)
        if not few and (there or not has_long_tails(problem)):
            return SANDWICH
        if problem.loss == "hinge" or not few:
            return Sandwich(correction="HC3")
        wide = problem.n <= problem.p + problem.intercept
        return Sandwich(correction="jackknife" if wide else "shrunk")
    products = size * max(1.0, problem.p / FEW_COLUMNS)
    replicates = int(np.clip(NUMBERS / products, FEWEST_REPLICATES, MOST_REPLICATES))
    replicates = (replicates + 1) // STEP * STEP - 1
    return Bootstrap(replicates, interval="symmetric")


def is_huge(problem: Problem) -> bool:
    """Whether squares of the rows overflow: no refit then comes to an end.

    Examples
    --------
    >>> is_huge(Problem(np.array([[1e154], [2e154]]), np.array([-1.0, 1.0]), lam=1.0))
    True
    """
    return not math.isfinite(problem.n * problem.radius * problem.radius)


def has_few_events(problem: Problem) -> bool:
    """Whether plain standard errors are too small for want of rows."""
    fewest = min((problem.y < 0.0).sum(), (problem.y > 0.0).sum())
    return bool(fewest < EVENTS * (problem.p + 1))


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why the sandwich does not cover; each is looked for when it is asked for.

    Attributes
    ----------
    problem : Problem
    found : Solution, or float64 array, shape (n,)
        The fit; or ``u_i = 1 - y_i f(x_i)`` at it, of rows in files.
    scaling : Scaling, optional
    groups : Groups, optional
    """

    problem: Problem
    found: Solution | Vector
    scaling: Scaling | None = None
    groups: Groups | None = None

    @cached_property
    def plain(self) -> Covariance:
        """The plain sandwich of a fit in memory, for predictors as they are."""
        assert isinstance(self.found, Solution)
        at = self.found
        return sandwich(self.problem, at.beta, at.alpha, SANDWICH, at.dual)

    @cached_property
    def gain(self) -> Gain | None:
        """Of a fit of the hinge whose predictors hardly tell the levels apart."""
        return hardly_told(self.problem, self.found, self.groups)

    @cached_property
    def is_nearer_to_zero(self) -> bool:
        """Whether coefficients of samples are nearer to 0 than those of the population.

        With ``k`` coefficients and few rows the hinge takes some ``2 (k / n)`` more off
        them than the penalty takes in the population, by simulation; and by the formula
        that is 0. It matters where ``max_j |pull_j| / error_j`` of them is above 0.2.
        Not looked for where rows are in files, or columns more than 256.
        """
        problem = self.problem
        if problem.loss != "hinge" or problem.p > MANY or not has_few_events(problem):
            return False
        if not isinstance(self.found, Solution) or self.plain.pull is None:
            return False
        with np.errstate(all="ignore"):
            pulled = np.abs(self.plain.pull / self.plain.std_error)
        penalised = pulled[int(problem.intercept) :]
        return bool((penalised > NEARER * problem.n / (problem.p + 1)).any())

    @cached_property
    def rough(self) -> Mask:
        """Standardized predictors whose deviation is rough, shape (p,)."""
        if self.scaling is None:
            return np.zeros(self.problem.p, dtype=bool)
        return is_rough(some_rows(self.problem).T, self.problem.n)

    @property
    def rough_coefficients(self) -> Mask | None:
        """The same for coefficients, shape (k,), the intercept first; None if none."""
        if not self.rough.any():
            return None
        return np.concatenate([[False] * int(self.problem.intercept), self.rough])

    @property
    def words(self) -> str:
        """All of them; empty if the sandwich covers, or nothing would.

        The hinge has no curvature to go by where predictors hardly tell the levels
        apart, see `hardly_told`. Groups of rows tie at the margin of the hinge where
        columns have few values, more than one of them: ``1 / sum_v share_v^2`` is below
        50, and below half of the rows. Where a class is rare, all rows of the other do.
        With few rows and a strong penalty it is off, see `is_nearer_to_zero`.
        Standardized columns with long tails, of a kurtosis above 6, may have a
        deviation that is known to 5% at best: ``sqrt((kurtosis - 1) / (4 n))``. Fewer
        than 5 rows to a coefficient are too few for resamples as well.
        """
        problem, scaling = self.problem, self.scaling
        n, p = problem.n, problem.p
        hinge = problem.loss == "hinge"
        if not (hinge or scaling) or p > MOST_COEFFICIENTS or n < FEW * (p + 1):
            return ""
        columns = some_rows(problem).T
        reasons, has = [], ("has", "have")
        if hinge:
            values = numbers_of_values(columns)
            is_few = values < min(FEW_VALUES, 0.5 * columns.shape[1])
            few = int((is_few & (values > 1.0)).sum())
            smaller = float(min((problem.y < 0.0).mean(), (problem.y > 0.0).mean()))
            rare = problem.weights is None and smaller < RARE
            if few:
                which = f"{few} of {counted(p, 'predictor')}"
                ties = "rows can tie at the margin of the hinge, as"
                reasons.append(f"{ties} {which} {has[few > 1]} few different values")
            if rare:
                share = f"the smaller class has {smaller:.0%} of the rows"
                reasons.append(f"{share}, and the hinge may give it up")
            if self.gain:
                reasons.append(in_words(self.gain))
            if self.is_nearer_to_zero:
                reasons.append(
                    "the penalty is strong and there are few rows to a coefficient, "
                    "which brings those of a sample nearer to 0"
                )
        if rough := int(self.rough.sum()):
            which = f"{rough} of {p} standardized predictors {has[rough > 1]}"
            reasons.append(
                f"{which} long tails, which make the standard deviation rough"
            )
        return "; ".join(reasons)


def numbers_of_values(columns: Matrix) -> Vector:
    """How many values each row of a matrix has, those that are there often for less.

    ``1 / sum_v share_v^2``, which is the number of values if all are as frequent.

    Examples
    --------
    >>> numbers_of_values(np.array([[3.0, 1.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]]))
    array([2., 1.])
    """
    p, n = columns.shape
    ordered = np.sort(columns, axis=1)
    starts = np.ones((p, n), dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    places = np.flatnonzero(starts)
    counts = np.diff(places, append=p * n).astype(np.float64)
    squares = np.bincount(places // n, np.square(counts), minlength=p)
    return float(n) ** 2 / squares
