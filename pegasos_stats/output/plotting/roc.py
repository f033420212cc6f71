"""Figure of the ROC curve of scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.labels import Ties, signs_of
from pegasos_stats.errors import DataError, counted
from pegasos_stats.metrics import RocCurve, area_under_curve, auc_interval, roc_curve
from pegasos_stats.metrics.catalogue import Source
from pegasos_stats.models.predicting import checked_threshold, thresholded
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, styled, wrapped
from pegasos_stats.solvers.problem import Problem

SIZE = 4.8  # inches
EDGE = 0.02  # beyond 0 and 1, so that lines along them are seen

Codes = NDArray[np.intp]


def draw_roc(
    codes: Codes,
    scores: Floats,
    levels: Sequence[object],
    ax: "Axes | None" = None,
    *,
    ties: Ties = "na",
    source: Source = "new",
    threshold: float = 0.0,
    mark: str = "Score 0",
) -> "Axes":
    """Draw the curve, its area, chance and one threshold, see `ResultPlots.roc`.

    Parameters
    ----------
    codes : int array, shape (n,)
        0 for the first, 1 for the second level, -1 where the label is missing.
    scores : float64 array, shape (n,)
        Large for the second level; NaN where missing.
    levels : pair of labels
    ax : Axes, optional
    ties : "na", "positive" or "negative"
        Whether a score of exactly the threshold is the second level.
    source : "new", "training" or "out of fold"
        Where the rows come from; only the area of new ones has an interval.
    threshold : float, default 0.0
        Of the score.
    mark : str
        The threshold in words.

    Raises
    ------
    DataError
        If a level has no row with a score.
    """
    used = (codes >= 0) & ~np.isnan(scores)
    codes, scores = codes[used], scores[used]
    for code, level in enumerate(levels):
        if not (codes == code).any():
            raise DataError(
                f"None of {counted(used.size, 'row')} is {level!r} and has a score; a "
                "ROC curve needs rows of both levels."
            )
    low, high = auc_interval(codes, scores)
    area = f"Area {area_under_curve(codes, scores):.3f}"
    if source != "new":
        area += f", {source} rows"
    elif not np.isnan(low):
        area += f" (95% CI {low:.3f} to {high:.3f})"
    with styled():
        ax = style.axes_of(ax, SIZE, SIZE)
        ax.plot(
            [0, 1], [0, 1], ":", color=style.REFERENCE, linewidth=1.2, label="Chance"
        )
        curve = bends(roc_curve(codes, scores))
        ax.plot(
            curve.false_positive,
            curve.true_positive,
            color=style.NEGATIVE,
            label=area,
            clip_on=False,
        )
        _mark_threshold(codes, signs_of(scores, ties, threshold) > 0.0, mark, ax)
        _name_axes(levels, used.size - codes.size, ax)
        style.put_legend(ax, "lower right")
    return ax


def at_threshold(
    scores: Floats, problem: Problem, threshold: float | None
) -> tuple[Floats, float, str]:
    """What a threshold is compared with, the threshold, and the words for it.

    Parameters
    ----------
    scores : float64 array, shape (n,)
    problem : Problem
        Of the fit.
    threshold : float or None
        As for ``result.predict()``; None for the score 0.
    """
    if threshold is None:
        return scores, 0.0, "Score 0"
    cut = checked_threshold(threshold, problem)
    scale = "Probability" if problem.loss == "log" else "Score"
    return thresholded(scores, problem), cut, f"{scale} {cut:.3g}"


def bends(curve: RocCurve) -> RocCurve:
    """Leave out the points on a straight line between others.

    Examples
    --------
    >>> steps = np.array([0.0, 0.5, 1.0])
    >>> bends(RocCurve(steps, steps, steps)).true_positive.tolist()
    [0.0, 1.0]
    """
    across, up = np.diff(curve.false_positive), np.diff(curve.true_positive)
    bent = np.ones(curve.thresholds.size, dtype=bool)
    bent[1:-1] = (across[1:] * up[:-1] - across[:-1] * up[1:]) != 0.0
    return RocCurve(
        curve.false_positive[bent], curve.true_positive[bent], curve.thresholds[bent]
    )


def _mark_threshold(
    codes: Codes, positive: NDArray[np.bool_], mark: str, ax: "Axes"
) -> None:
    """Mark the point at which the model predicts."""
    false, true = (float(positive[codes == code].mean()) for code in (0, 1))
    label = f"{mark}: {true:.1%} true, {false:.1%} false positives"
    ax.plot(
        [false],
        [true],
        "o",
        color=style.POSITIVE,
        markeredgecolor="black",
        markersize=8,
        label=label,
        clip_on=False,
        zorder=3,
    )


def _name_axes(levels: Sequence[object], left_out: int, ax: "Axes") -> None:
    negative, positive = levels
    ax.set_xlim(-EDGE, 1.0 + EDGE)
    ax.set_ylim(-EDGE, 1.0 + EDGE)
    ax.set_aspect("equal")
    room = style.room_of(ax)
    for axis, rate, level, width in (
        (ax.xaxis, "False", negative, room.across),
        (ax.yaxis, "True", positive, room.down),
    ):
        share = wrapped(f"(share of {level} predicted {positive})", width)
        axis.set_label_text(f"{rate} positive rate\n{share}")
        style.write_percent(axis)
    if left_out:
        title = f"{counted(left_out, 'row')} without label or score left out"
        ax.set_title(wrapped(title, room.across))
