"""The predictors of a report: by class, and where they are missing."""

from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.errors import counted
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.document import Text, prose
from pegasos_stats.output.report.formatting import NBSP, number
from pegasos_stats.output.report.origin import Fitted
from pegasos_stats.output.report.subject import Judged, Subject

MOST = 30  # lines of the table
ROUNDING = 1e-12  # of a 0 or a 1 that was standardized, and back again
COMPLETE = (
    "Rows with a missing value were left out. What is said is of complete rows. It "
    "holds for all rows if the complete ones are like a random sample of them; where "
    "incomplete rows have other predictors, error rates change, and so do coefficients "
    "that are penalised or of a model that does not hold. Where it depends on the "
    "outcome whether a value is missing, coefficients may change in any case."
)

IN_GROUPS = (
    "The fit was told that rows of one group depend on each other. Intervals and tests "
    "of the test rows take these as independent, and are too short where they come in "
    "groups as well. Test rows of groups that are among the training rows say nothing "
    "of new groups."
)


def predictors_by_class(subject: Subject) -> list[doc.Block]:
    """Mean and standard deviation of every predictor in both classes, or its share."""
    if not subject.has_rows or subject.has_gram:
        return []
    X, problem = unscaled(subject), subject.result.problem
    y = np.where(problem.row_weights > 0.0, problem.y, 0.0)
    sides = [moments(X, y < 0.0), moments(X, y > 0.0)]
    (low, low_sd), (high, high_sd) = sides
    pooled = np.sqrt((low_sd**2 + high_sd**2) / 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(pooled > 0.0, (high - low) / pooled, np.nan)
    names = list(subject.result.design.names)
    shown = np.arange(len(names))
    if len(names) > MOST:
        order = np.argsort(-np.nan_to_num(np.abs(apart)), kind="stable")
        shown = np.sort(order[:MOST])
    shares = are_shares(X)
    sizes = [int((y == sign).sum()) for sign in (-1.0, 1.0)]
    rows: list[list[Text]] = []
    for j in shown:
        cells: list[Text] = [
            _share(mean[j], size) if shares[j] else _spread(mean[j], sd[j])
            for (mean, sd), size in zip(sides, sizes, strict=True)
        ]
        rows.append([str(names[j]), *cells, number(round(float(apart[j]), 2), 4)])
    levels = subject.result.coding.levels
    heads = [
        f"{level}, {counted(n, 'row')}" for level, n in zip(levels, sizes, strict=True)
    ]
    caption = (
        "Predictors by class in the training rows: mean (standard deviation), of "
        "columns of 0 and 1 the number of ones (share); last the difference of the "
        "means, divided by the root of the mean of both variances"
    )
    if len(shown) < len(names):
        caption += f". The {MOST} of {len(names):,} with the largest difference"
    return [doc.Table(["Predictor", *heads, "Difference"], rows, caption)]


def unscaled(subject: Subject) -> Any:
    """Predictors of the training rows on their original scale."""
    X, scaling = subject.result.problem.X, subject.result.scaling
    return X if scaling is None else scaling.unapply(X)


def moments(X: Any, rows: Any) -> tuple[Vector, Vector]:
    """Mean and standard deviation of every column in some rows, dense or sparse.

    Examples
    --------
    >>> moments(np.array([[1.0], [3.0], [9.0]]), np.array([True, True, False]))
    (array([2.]), array([1.41421356]))
    """
    part = X[np.flatnonzero(rows)]
    n = part.shape[0]
    mean = np.asarray(part.mean(axis=0), dtype=np.float64).ravel()
    if isinstance(part, np.ndarray):
        squares = np.square(part - mean).sum(axis=0)
    else:
        squares = np.asarray(part.multiply(part).sum(axis=0)).ravel() - n * mean**2
    return mean, np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1))


def are_shares(X: Any) -> Any:
    """Which columns hold 0 and 1 alone, or were so before they were standardized.

    Undone scaling leaves rounding, which is not taken for a value of its own; nor are
    columns of nothing but tiny values taken for zeros.

    Examples
    --------
    >>> are_shares(np.array([[-1.4e-17, 1e-17, 0.0], [1.0 - 1e-16, 0.0, 0.5]]))
    array([ True, False, False])
    """
    if isinstance(X, np.ndarray):
        one = np.abs(X - 1.0) <= ROUNDING
        exact, near = X == 0.0, np.abs(X) <= ROUNDING
        known: Any = (exact | one).all(axis=0)
        return known | ((near | one).all(axis=0) & one.any(axis=0))
    others = (X.data != 0.0) & (np.abs(X.data - 1.0) > ROUNDING)
    return np.bincount(X.indices[others], minlength=X.shape[1]) == 0


def _share(mean: float, size: int) -> str:
    return f"{round(mean * size):,} ({mean:.0%})"


def _spread(mean: float, sd: float) -> str:
    return f"{number(float(mean), 3)}{NBSP}({number(float(sd), 3)})"


def missing_blocks(subject: Subject) -> list[doc.Block]:
    """Missing values by variable, and what leaving rows out assumes."""
    found = [dict(subject.result.dropped.missing)]
    if subject.test is not None:
        found.append(_missing_in(subject.test, subject.result))
    names = list(dict.fromkeys(name for each in found for name in each))
    blocks: list[doc.Block] = []
    if names:
        heads = (rows.name.capitalize() for rows in subject.with_data)
        columns = ["Variable", *heads]
        rows: list[list[Text]] = [
            [name, *(f"{each.get(name, 0):,}" for each in found)] for name in names
        ]
        blocks.append(doc.Table(columns, rows, "Missing values by variable"))
    if names or subject.result.dropped.total:
        blocks.append(doc.Paragraph(COMPLETE))
    return blocks


def _missing_in(rows: Judged, result: Fitted) -> dict[str, int]:
    """How many test rows lack a value of each variable; a row counts as it does."""
    matrix = result.design.matrix(rows.data)
    counts = column_of_counts(None, result.counted, rows.data)
    if counts is not None:
        matrix = matrix.taken(repeated(counts, rows.data, matrix.index))
    unlabelled = rows.table.n_unlabelled
    outcome = {result.coding.name: unlabelled} if unlabelled else {}
    return outcome | {name: len(at) for name, at in matrix.missing.items() if len(at)}


def deviations(subject: Subject) -> "pd.Series[float]":
    """Standard deviation of every predictor in the training rows, by name."""
    X = unscaled(subject)
    _, sd = moments(X, np.ones(X.shape[0], dtype=bool))
    return pd.Series(sd, list(subject.result.design.names))


def newness(subject: Subject) -> list[doc.Block]:
    """What makes the test rows new, which no computation can check."""
    if subject.test is None or not subject.test.is_new:
        return []
    text = prose(
        "Intervals and tests of the test rows are right if these are **an independent "
        "random sample** of the rows that the fit is meant for, and nothing was chosen "
        "by them: neither predictors nor {} nor the model. Several rows of one person, "
        "or of one writer, are not independent.",
        doc.Math(r"\lambda"),
    )
    blocks: list[doc.Block] = [doc.Paragraph(text)]
    if getattr(subject.result, "groups", None) is not None:
        blocks.append(doc.Paragraph(IN_GROUPS))
    return blocks
