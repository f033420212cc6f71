"""ROC curves: of scores, of several fits, of folds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pegasos_stats.arrays import Codes
from pegasos_stats.data.labels import Ties, signs_of
from pegasos_stats.errors import DataError, counted
from pegasos_stats.metrics import RocCurve, area_under_curve, auc_interval, roc_curve
from pegasos_stats.metrics.catalogue import Source
from pegasos_stats.models.predicting import checked_threshold, thresholded
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style
from pegasos_stats.solvers.problem import Problem


def draw_roc(
    codes: Codes,
    scores: Floats,
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
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
    line : mapping
        Keywords of the curve; a label stands before the area.
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
    look, own = style.labelled(line, area)
    ax = roc_axes(ax, levels, used.size - codes.size)
    curve = roc_curve(codes, scores)
    x, y = curve.false_positive, curve.true_positive
    drawn = style.draw_line(ax, x, y, look, clip_on=False)
    positive = signs_of(scores, ties, threshold) > 0.0
    false, true = (float(positive[codes == code].mean()) for code in (0, 1))
    colour = drawn.get_color() if own else style.POSITIVE
    point = {"color": colour, "markeredgecolor": style.ink(ax), "markersize": 7.0}
    label = f"{mark}: {true:.1%} true, {false:.1%} false positives"
    ax.plot(
        [false],
        [true],
        "o",
        label="" if own else label,
        zorder=3,
        clip_on=False,
        **point,
    )
    style.finish(ax, legend="lower right")
    return ax


def roc_axes(ax: "Axes | None", levels: Sequence[object], left_out: int = 0) -> "Axes":
    """Square axes with both rates and the line of chance."""
    ax = style.square_axes(ax)
    style.reference(ax, [0, 1], [0, 1], "_Chance")
    negative, positive = map(style.short, levels)
    without = f"\n({counted(left_out, 'row')} without label or score left out)"
    ax.set_xlabel(f"False positive rate (of {negative})" + without * (left_out > 0))
    ax.set_ylabel(f"True positive rate (of {positive})")
    return ax


def draw_fold_rocs(
    folds: Sequence[tuple[Codes, Floats]],
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw a thin curve for each fold, and the mean of them.

    The mean is that of the true positive rates at each false positive rate. A fold
    without rows of both levels has no curve, and the legend counts them.
    """
    ax = roc_axes(ax, levels)
    at = np.linspace(0.0, 1.0, 201)
    known = [(c, s) for c, s in folds if len(set(c.tolist())) == 2]
    if not known:
        raise DataError("No fold has rows of both levels, which a ROC curve needs.")
    curves = [roc_curve(codes, scores) for codes, scores in known]
    heights = [np.interp(at, c.false_positive, c.true_positive) for c in curves]
    areas = np.array([area_under_curve(codes, scores) for codes, scores in known])
    label = f"Mean of {counted(len(known), 'fold')}: area {areas.mean():.3f}"
    if len(known) > 1:
        label += f" ({areas.min():.3f} to {areas.max():.3f})"
    if without := len(folds) - len(known):
        label += f"; {counted(without, 'fold')} with one level left out"
    look, _ = style.labelled(line, label)
    mean = np.mean(heights, axis=0)
    drawn = style.draw_line(ax, [0.0, *at], [0.0, *mean], look, linewidth=2.2, zorder=3)
    thin = {"color": drawn.get_color(), "linewidth": 0.7, "alpha": 0.45}
    for curve in curves:
        ax.plot(curve.false_positive, curve.true_positive, linestyle="-", **thin)
    style.finish(ax, legend="lower right")
    return ax


def draw_compared_rocs(
    curves: Mapping[str, RocCurve],
    areas: Sequence[float],
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw curves by name, with their areas, see `RocComparison.plot`."""
    ax = roc_axes(ax, levels)
    named = {
        f"{style.written(name)}: area {area:.3f}": (
            curve.false_positive,
            curve.true_positive,
        )
        for (name, curve), area in zip(curves.items(), areas, strict=True)
    }
    style.draw_curves(ax, named, line, clip_on=False)
    style.finish(ax, legend="lower right")
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
    mark = (
        f"Probability {100.0 * cut:.3g}%"
        if problem.loss == "log"
        else f"Score {cut:.3g}"
    )
    return thresholded(scores, problem), cut, mark


def draw_rocs(
    fits: Mapping[str, Any],
    data: object,
    actual: object,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the curves of several fits, see `ModelComparison.plot_roc`."""
    ax = style.axes_of(ax, style.SQUARE, style.SQUARE)
    for name, fit in fits.items():
        look = {"label": style.written(name), **line}
        fit.plot.roc(data, actual, ax=ax, **look)
    return ax
