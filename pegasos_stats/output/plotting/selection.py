"""Figures of cross-validation and of paths along lambda."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import NEGATIVE, POSITIVE, Axes, Floats, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = 0.95  # inches of height for one metric
GREY = "#bbbbbb"
MOST = 1000  # lines of a figure
LONGEST = 16  # letters of a name in a legend
MARKS = {"min": ("lambda_min", ":"), "1se": ("lambda_1se", "--")}


def draw_folds(by_fold: pd.DataFrame, estimates: pd.DataFrame) -> "Figure":
    """Draw each metric in a panel: a ring for each fold, mean and standard error.

    Parameters
    ----------
    by_fold : DataFrame
        A line for each fold, with the metrics as columns.
    estimates : DataFrame
        Columns ``term, estimate, std_error``.
    """
    count = len(estimates)
    with styled():
        figure, axes = style.pyplot().subplots(
            count, 1, figsize=(style.WIDTH, 0.5 + PANEL * count), squeeze=False
        )
        for ax, (term, mean, error) in zip(
            axes[:, 0], estimates.itertuples(index=False), strict=True
        ):
            _draw_metric(ax, by_fold[term].to_numpy(dtype=np.float64), mean, error)
            ax.set_title(_words(term))
        ring = style.pyplot().Line2D(
            [], [], marker="o", mfc="none", mec=NEGATIVE, ls=""
        )
        diamond = style.pyplot().Line2D([], [], marker="D", color=POSITIVE)
        words = ["a fold (×: several folds)", "mean and its standard error"]
        figure.legend([ring, diamond], words, loc="outside lower center", ncols=2)
    made: Figure = figure
    return made


def _draw_metric(ax: "Axes", values: Floats, mean: float, error: float) -> None:
    """A ring at each value, with the number of folds where there are several."""
    known = np.round(values[~np.isnan(values)], 12)
    places, counts = np.unique(known, return_counts=True)
    ax.plot(places, np.full(len(places), 0.55), "o", mfc="none", mec=NEGATIVE, ms=7)
    for place, count in zip(places, counts, strict=True):
        if count > 1:
            ax.annotate(
                f"×{count}",
                (place, 0.55),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
            )
    spread = 0.0 if np.isnan(error) else error
    ax.errorbar(mean, 0.15, xerr=spread, color=POSITIVE, fmt="D", ms=6, capsize=4)
    ax.set(ylim=(-0.1, 1.1), yticks=[])
    if len(places) == 1:
        ax.set_xticks(places)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.margins(x=0.05)


def draw_curve(
    lambdas: Floats,
    mean: Floats,
    error: Floats,
    name: str,
    marks: Mapping[str, float],
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a cross-validated metric against lambda.

    Parameters
    ----------
    lambdas, mean, error : float64 array, shape (m,)
        Error bars are one standard error long to either side.
    name : str
        Of the metric.
    marks : mapping
        The lambdas chosen, by ``"min"`` and ``"1se"``.
    ax : Axes, optional
    """
    with styled():
        axes = style.axes_of(ax)
        bars = np.where(np.isnan(error), 0.0, error)
        axes.errorbar(
            lambdas,
            mean,
            yerr=bars,
            fmt="o-",
            ms=3.5,
            color=NEGATIVE,
            ecolor=GREY,
            elinewidth=1.2,
            capsize=2,
        )
        _mark(axes, marks)
        if "1se" in marks:
            best = int(np.flatnonzero(lambdas == marks["min"])[0])
            axes.axhspan(
                mean[best] - bars[best],
                mean[best] + bars[best],
                color=style.COLOURS[4],
                alpha=0.18,
                lw=0,
                label="best, ± standard error",
            )
        axes.set_xscale("log")
        label = "AUC" if name == "auc" else _words(name)
        axes.set(xlabel="lambda", ylabel=f"cross-validated {label}")
        if marks:
            axes.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="none")
    return axes


def draw_coefficients(
    beta: pd.DataFrame, named: int, marks: Mapping[str, float], ax: "Axes | None" = None
) -> "Axes":
    """Draw coefficients against lambda, the largest ones in colour and with names.

    Parameters
    ----------
    beta : DataFrame, shape (m, p)
        On the index of lambda, largest first.
    named : int
        How many have a name: the largest at the smallest lambda. At most a thousand
        lines are drawn, again the largest.
    marks : mapping
        As for `draw_curve`.
    ax : Axes, optional
    """
    values = beta.to_numpy(dtype=np.float64)
    order = np.argsort(-np.abs(values[-1]), kind="stable")
    with styled():
        axes = style.axes_of(ax, style.WIDTH + 1.0)
        axes.plot(beta.index, values[:, order[named:MOST]], color=GREY, lw=0.6)
        for j, line in zip(order[:named], style.lines(named), strict=False):
            name = str(beta.columns[j])
            if len(name) > LONGEST:
                name = f"{name[: LONGEST - 1]}…"
            axes.plot(
                beta.index, values[:, j], color=line.colour, ls=line.dashes, label=name
            )
        _mark(axes, marks)
        axes.set_xscale("log")
        axes.set(xlabel="lambda", ylabel="coefficient")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def _mark(axes: "Axes", marks: Mapping[str, float]) -> None:
    """Vertical lines at the lambdas chosen."""
    for key, lam in marks.items():
        label, dashes = MARKS[key]
        text = f"{label} = {lam:.3g}"
        axes.axvline(lam, color="black", lw=1.2, ls=dashes, label=text)


def _words(name: str) -> str:
    """Name of a metric as text."""
    known = {"auc": "area under the ROC curve", "brier_score": "Brier score"}
    return known.get(name, name.replace("_", " "))
