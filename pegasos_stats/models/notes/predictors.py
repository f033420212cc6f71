"""Notes on predictors: probably misread, strongly penalised, constant."""

import math
from collections.abc import Sequence

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.data.design import Design
from pegasos_stats.data.formula_design import doubtful_in
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import moments
from pegasos_stats.errors import counted, listing
from pegasos_stats.models.notes.note import Note
from pegasos_stats.models.notes.standard_errors import FEW
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solutions import scores_of
from pegasos_stats.tables import significant

SHRUNK = 1.25  # slope of calibration
OPTIMAL = 0.01  # relative gap, beyond which a fit is no optimum to speak of
APART = 100.0  # ratio of standard deviations
HALF = 2.0  # a logistic coefficient is halved at least where spread < 2 sqrt(lam)
NEGLIGIBLE = 1e-7  # a penalty, beside the curvature of the log loss
MOST_STEPS = 50  # of Newton's method, which takes five or ten
CLOSE = 1e-8  # of a slope, relative


def about_data(dropped: Dropped, design: Design) -> list[Note]:
    """Notes on the columns that a fit was given."""
    found = [Note("columns", "warning", column.text) for column in doubtful_in(design)]
    if dropped.missing:
        text = (
            f"{counted(dropped.total, 'row')} with missing values were left out: "
            f"{dropped.by_column}."
        )
        found.append(Note("rows", "note", text))
    return found


def about_predictors(
    problem: Problem,
    solution: Solution,
    names: tuple[str, ...],
    spread: Vector,
    relative_gap: float,
    standardized: bool,
) -> list[Note]:
    """Notes on predictors of a linear fit and the penalty.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    names : tuple of str
        Of the predictors.
    spread : float64 array, shape (p,)
        Their standard deviations.
    relative_gap : float
    standardized : bool
    """
    if not np.isfinite(spread).all():
        return []
    found = []
    if not standardized:
        found += held_back(problem.lam, spread, names)
    enough = problem.n >= FEW * (problem.p + 1)
    shrinks = problem.loss == "log" and problem.offset is None  # all of the scores
    if shrinks and enough and relative_gap <= OPTIMAL:
        scores = scores_of(problem, solution, problem.X, None)
        slope = calibration_slope(problem.y, scores, problem.row_weights)
        if SHRUNK < slope < math.inf:
            found.append(shrunk_scores(slope, spread, problem.weights is not None))
    return found


def constant(names: Sequence[str]) -> list[Note]:
    """Note that predictors with one value do nothing that the intercept does not.

    Examples
    --------
    >>> constant(["c"])[0].text
    "'c' is constant: its coefficient is 0 at the optimum. Leave it out."
    """
    if not names:
        return []
    several = len(names) > 1
    text = (
        f"{listing(names, 3)} {'are' if several else 'is'} constant: "
        f"{'their coefficients are' if several else 'its coefficient is'} 0 at the "
        f"optimum. Leave {'them' if several else 'it'} out."
    )
    return [Note("columns", "note", text)]


def held_back(lam: float, spread: Vector, names: tuple[str, ...]) -> list[Note]:
    """Note that predictors of a small spread are held back beside those of a large.

    Of many predictors some may be constant but for a few rows: the tenth of them that
    vary least is left out of account.
    """
    ordered = np.argsort(spread, kind="stable")
    ordered = ordered[spread[ordered] > 0.0]
    if not ordered.size:
        return []
    least, most = ordered[ordered.size // 10], ordered[-1]
    small = HALF * math.sqrt(lam)
    held = int((spread[ordered] < small).sum())
    if spread[most] / APART < spread[least] or spread[least] >= small:
        return []
    text = (
        "Predictors differ widely in scale (standard deviation "
        f"{significant(spread[least], 2)} for {names[least]}, "
        f"{significant(spread[most], 2)} for {names[most]}), so that the penalty "
        f"shrinks {held} of {counted(len(spread), 'predictor')} strongly. "
        "Try standardize=True."
    )
    return [Note("penalty", "note", text)]


def shrunk_scores(slope: float, spread: Vector, weighted: bool) -> Note:
    """Note that the penalty made scores too small, and what repeats glm()."""
    smallest = float(spread[spread > 0.0].min())
    power = math.floor(math.log10(NEGLIGIBLE) + 2.0 * math.log10(smallest))
    lam = f"1e{max(min(-9, power), -300)}"
    cure = f"lam={lam}, cov_type='nonrobust' repeats glm() and its standard errors."
    if weighted:  # nonrobust errors do not go with weights
        cure = f"lam={lam} gives the maximum likelihood of glm()."
    text = (
        "The penalty shrinks the probabilities towards each other (calibration slope "
        f"{significant(slope, 2)} on the training rows); {cure}"
    )
    return Note("penalty", "note", text)


def calibration_slope(y: Vector, scores: Vector, weights: Vector) -> float:
    """Slope ``b`` of the logistic regression of the labels on the scores.

    ``P(y = 1) = 1 / (1 + exp(-(a + b score)))`` by maximum likelihood. It is 1 for the
    rows of a fit without penalty, and above 1 where the penalty made scores too small.

    Parameters
    ----------
    y, scores, weights : float64 array, shape (n,)

    Returns
    -------
    float
        Infinite if the scores separate the labels, ties allowed; NaN if they are all
        the same, below 0 or NaN if they separate them the wrong way round.

    Examples
    --------
    >>> y, scores = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-2.0, -1.0, 1.0, 2.0])
    >>> slope = calibration_slope(y, scores, np.ones(4))
    >>> abs(calibration_slope(y, slope * scores, np.ones(4)) - 1.0) < 1e-9
    True
    """
    from scipy.special import expit

    if scores.min() == scores.max():
        return float("nan")
    if scores[y > 0.0].min() >= scores[y < 0.0].max():
        return float("inf")
    size = float(np.abs(scores).max())
    f, a, b = scores / size, 0.0, 0.0
    with np.errstate(all="ignore"):
        for _ in range(MOST_STEPS):
            s = weights * expit(-y * (a + b * f))
            d = s * (1.0 - s / weights.clip(min=np.finfo(float).tiny))
            g = float(s @ y), float((s * y) @ f)
            h = float(d.sum()), float(d @ f), float((d * f) @ f)
            determinant = h[0] * h[2] - h[1] * h[1]
            if determinant == 0.0:  # the slope is minus infinity
                break
            step = (h[0] * g[1] - h[1] * g[0]) / determinant
            a, b = a + (h[2] * g[0] - h[1] * g[1]) / determinant, b + step
            if abs(step) <= CLOSE * abs(b):
                return b / size
    return float("nan")


def spreads(problem: Problem) -> Vector:
    """Standard deviation of each predictor, shape (p,); 0 for a constant one."""
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = moments(problem.X)
    return np.where(deviations > 1e-12 * np.abs(means), deviations, 0.0)
