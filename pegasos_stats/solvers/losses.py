"""Loss functions of the margin, with derivatives and conjugates.

A loss is a function of the margin ``m = y (x'beta + alpha)``. The dual weight of a row
of weight 1 is ``s(m) = -loss'(m)``. A row of weight ``w`` and dual weight ``a``
contributes the conjugate term ``w H(a / w)`` to the dual objective, where
``H(t) = -loss*(-t)`` and ``loss*`` is the convex conjugate of the loss (Shalev-Shwartz
& Zhang, JMLR 14, 2013). ``compiled/risk.py`` implements the same functions for compiled
code.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pegasos_stats.arrays import UNIT, Vector

LossName = Literal["hinge", "log", "squared_hinge"]
BLOCK = 2**12  # entries per block, so that several arrays fit in the cache


@dataclass(frozen=True)
class MarginLoss:
    """A loss function of the margin.

    Attributes
    ----------
    title : str
        Name of the model with this loss.
    formula : str
        Formula of the loss of row ``i``, for reports.
    at_zero : float
        Value at margin 0.
    values, dual_weights : callable
        Functions of the margins: the losses, and minus their derivatives, which are
        the dual weights ``s``.
    second_derivatives : callable
        Second derivatives, as functions of ``s``; 0 for the hinge.
    conjugate_terms : callable
        Conjugate terms ``w H(a / w)`` of dual weights and weights; None for weights of
        1.
    null_intercept : callable
        Optimal intercept without predictors, as a function of the total weights of +1
        and of -1.
    rounding : float
        Bound on the relative rounding error of a value or a conjugate term.
    metrics : tuple of str
        Metrics of predictions in cross-validation.
    decides : str
        Metric by which cross-validation chooses lambda.
    margin : float
        A row with a smaller margin counts as a violation.
    most : float
        Upper bound of the dual weight of a row of weight 1.
    least_reward : float
        Constant ``c`` with ``H(t) >= c t`` for all ``t`` from 0 to 1/2.
    """

    title: str
    formula: str
    at_zero: float
    values: Callable[[Vector], Vector]
    dual_weights: Callable[[Vector], Vector]
    second_derivatives: Callable[[Vector], Vector]
    conjugate_terms: Callable[[Vector, Vector | None], Vector]
    null_intercept: Callable[[float, float], float]
    rounding: float
    metrics: tuple[str, ...]
    decides: str = "error_rate"
    margin: float = 1.0
    most: float = 1.0
    least_reward: float = 1.0


def log_losses(m: Vector) -> Vector:
    """Compute ``log(1 + exp(-m))``."""
    losses = np.empty(m.size)
    for first in range(0, m.size, BLOCK):
        x = m[first : first + BLOCK]
        value = np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0.0)
        losses[first : first + BLOCK] = value
    return losses


def log_dual_weights(m: Vector) -> Vector:
    """Compute ``1 / (1 + exp(m))``."""
    from scipy.special import expit

    return np.asarray(expit(-m), dtype=np.float64)


def log_entropies(a: Vector, weights: Vector | None) -> Vector:
    """Compute ``w H(a / w)`` with ``H(t) = -t log t - (1 - t) log(1 - t)``."""
    conjugate_terms = np.zeros(a.size)
    for first in range(0, a.size, BLOCK):
        rows = slice(first, first + BLOCK)
        t = a[rows]
        if weights is not None:
            w = weights[rows]
            t = np.divide(t, w, out=np.zeros(t.size), where=w > 0.0)
        inside = (t > 0.0) & (t < 1.0)
        t = np.where(inside, t, 0.5)
        part = np.where(inside, -t * np.log(t) - (1.0 - t) * np.log1p(-t), 0.0)
        conjugate_terms[rows] = part if weights is None else w * part
    return conjugate_terms


@np.errstate(over="ignore")
def squared_losses(m: Vector) -> Vector:
    """Compute ``max(0, 1 - m)^2``."""
    return np.square(np.maximum(0.0, 1.0 - m))


@np.errstate(over="ignore", invalid="ignore")
def squared_conjugate_terms(a: Vector, weights: Vector | None) -> Vector:
    """Compute ``a - a^2 / (4 w)``."""
    if weights is None:
        return a - 0.25 * a * a
    part = np.divide(a, weights, out=np.zeros(a.size), where=weights > 0.0)
    return np.asarray(a - 0.25 * a * part)


LOSSES: dict[LossName, MarginLoss] = {
    "hinge": MarginLoss(
        title="Support vector machine",
        formula="max(0, 1 − mᵢ)",
        at_zero=1.0,
        values=lambda m: np.maximum(0.0, 1.0 - m),
        dual_weights=lambda m: (m < 1.0).astype(np.float64),
        second_derivatives=np.zeros_like,
        conjugate_terms=lambda a, weights: a,
        null_intercept=lambda plus, minus: float(np.sign(plus - minus)),
        rounding=4.0 * UNIT,
        metrics=("error_rate", "hinge_loss", "auc"),
    ),
    "log": MarginLoss(
        title="Penalised logistic regression",
        formula="log(1 + exp(−mᵢ))",
        at_zero=float(np.log(2.0)),
        values=log_losses,
        dual_weights=log_dual_weights,
        second_derivatives=lambda s: s * (1.0 - s),
        conjugate_terms=log_entropies,
        null_intercept=lambda plus, minus: math.log(plus) - math.log(minus),
        rounding=24.0 * UNIT,
        metrics=("error_rate", "log_loss", "brier_score", "auc"),
        decides="log_loss",
        margin=0.0,
    ),
    "squared_hinge": MarginLoss(
        title="Support vector machine, squared hinge",
        formula="max(0, 1 − mᵢ)²",
        at_zero=1.0,
        values=squared_losses,
        dual_weights=lambda m: 2.0 * np.maximum(0.0, 1.0 - m),
        second_derivatives=lambda s: np.where(s > 0.0, 2.0, 0.0),
        conjugate_terms=squared_conjugate_terms,
        null_intercept=lambda plus, minus: (plus - minus) / (plus + minus),
        rounding=6.0 * UNIT,
        metrics=("error_rate", "squared_hinge_loss", "auc"),
        most=np.inf,
        least_reward=0.875,
    ),
}
