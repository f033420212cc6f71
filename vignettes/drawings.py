"""Figures of the vignettes on the losses and on batches, projection and averages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import pegasos_stats as ps
from pegasos_stats.output.plotting.style import (
    COLOURS,
    NEGATIVE,
    POSITIVE,
    lines,
    pyplot,
    styled,
)

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]
GREY = "#555555"


def losses_and_slopes(
    losses: Mapping[str, Function], slopes: Mapping[str, Function]
) -> None:
    """Draw losses, and how much a row pulls, against the margin."""
    margins = np.linspace(-3.0, 4.0, 701)
    with styled():
        _, axes = pyplot().subplots(1, 2, figsize=(6.4, 2.8))
        for ax, functions in zip(axes, (losses, slopes), strict=True):
            for line, name in zip(lines(2), functions, strict=True):
                style = {"color": line.colour, "linestyle": line.dashes}
                ax.plot(margins, functions[name](margins), label=name, **style)
            ax.set_xlabel("Margin")
        axes[0].set_title("Loss")
        axes[1].set_title("Slope $s$: how much a row pulls")
        axes[0].legend()


def weights_and_scores(
    hinge: ps.LinearResults, log: ps.LinearResults, test: pd.DataFrame
) -> None:
    """Draw coefficients of both losses as pictures, and both scores of new digits."""
    with styled():
        _, axes = pyplot().subplots(1, 3, figsize=(6.8, 2.7))
        signed_picture(axes[0], hinge.coef.to_numpy(), "Hinge")
        signed_picture(axes[1], log.coef.to_numpy(), "Log loss")
        for level, colour, marker in ((5, NEGATIVE, "o"), (6, POSITIVE, "s")):
            rows = test[test["digit"] == level]
            scores = hinge.decision_function(rows), log.decision_function(rows)
            axes[2].scatter(
                *scores, s=9, marker=marker, color=colour, alpha=0.7, label=level
            )
        axes[2].axhline(0, color=GREY, linewidth=0.8)
        axes[2].axvline(0, color=GREY, linewidth=0.8)
        axes[2].set(title="New digits", xlabel="Score, hinge", ylabel="Score, log loss")
        axes[2].legend()


def signed_picture(ax: Axes, values: NDArray[np.float64], title: str) -> None:
    """Draw the numbers of a square picture, white at zero."""
    side = int(np.sqrt(values.size))
    most = np.abs(values).max()
    ax.imshow(values.reshape(side, side), cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set_title(title)
    ax.set_axis_off()


def time_per_step(times: pd.DataFrame) -> None:
    """Draw microseconds per step, a column for each form, against the predictors."""
    with styled():
        _, ax = pyplot().subplots(figsize=(6.4, 3.2))
        for line, form in zip(lines(len(times.columns)), times, strict=True):
            style = {"color": line.colour, "linestyle": line.dashes}
            ax.plot(times[form], marker=line.marker, markersize=4, label=form, **style)
        ax.set(xscale="log", yscale="log", ylabel="Microseconds per step")
        ax.set_xlabel("Columns, 20 of them not 0 in each row")
        ax.legend()


def ends_of_runs(ends: Mapping[str, pd.Series], forms: Sequence[str]) -> None:
    """Draw medians, and 5% to 95% of the runs of each form, a panel for each data set.

    Parameters
    ----------
    ends : dict of Series
        Objective above the minimum, indexed by solver and run.
    forms : sequence of str
    """
    with styled():
        _, axes = pyplot().subplots(1, 2, figsize=(6.8, 3.6), sharey=True)
        for ax, (name, above) in zip(axes, ends.items(), strict=True):
            runs = above.groupby("solver", observed=True)
            low, middle, high = (runs.quantile(q)[forms] for q in (0.05, 0.5, 0.95))
            places = np.arange(len(forms))
            bar = {"color": COLOURS[0], "linewidth": 3, "alpha": 0.35}
            ax.hlines(places, low, high, **bar)
            ax.plot(middle, places, "o", color=COLOURS[0], markersize=6)
            ax.set(xscale="log", title=name.capitalize())
            ax.set_xlabel("Objective above the minimum")
            ax.grid(axis="y", visible=False)
        names = [form.replace(", projected", ",\nprojected") for form in forms]
        axes[0].set_yticks(range(len(forms)), names)
        axes[0].invert_yaxis()


def falling(
    study: ps.SolverComparison, names: Sequence[str], against: Sequence[str]
) -> None:
    """Draw the objective above the minimum: median, and 5% to 95% of the runs.

    Parameters
    ----------
    study : SolverComparison
    names : sequence of str
        Solvers.
    against : sequence of str
        "epoch" or "steps", a panel for each.
    """
    with styled():
        figure, axes = pyplot().subplots(
            1, len(against), figsize=(6.4, 3.4), sharey=True, squeeze=False
        )
        for ax, axis in zip(axes.flat, against, strict=True):
            _fall(ax, study, names, axis)
        axes[0, 0].set_ylabel("Objective above the minimum")
        _legend_above(figure, axes[0, 0])


def _fall(
    ax: Axes, study: ps.SolverComparison, names: Sequence[str], against: str
) -> None:
    runs = study.runs.assign(above=study.runs["objective"] - study.lower_bound)
    for line, name in zip(lines(len(names)), names, strict=True):
        by_x = runs[runs["solver"] == name].groupby(against)["above"]
        low, middle, high = (by_x.quantile(q) for q in (0.05, 0.5, 0.95))
        band = {"color": line.colour, "alpha": 0.15, "linewidth": 0}
        ax.fill_between(middle.index, low, high, **band)
        ax.plot(middle, color=line.colour, linestyle=line.dashes, label=name)
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel({"epoch": "Passes over the rows", "steps": "Steps"}[against])
    if against == "epoch":
        ax.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])


def _legend_above(figure: Figure, ax: Axes) -> None:
    named = ax.get_legend_handles_labels()
    figure.legend(*named, loc="outside upper left", ncols=4, fontsize=9)


def lengths(paths: Mapping[str, Mapping[str, Any]], limit: float) -> None:
    """Draw the length of the coefficients step by step, a panel for each data set."""
    with styled():
        figure, axes = pyplot().subplots(1, 2, figsize=(6.4, 3.2), sharey=True)
        for ax, (name, of_form) in zip(axes, paths.items(), strict=True):
            for line, form in zip(lines(2), of_form, strict=True):
                steps = np.arange(1, len(of_form[form]) + 1)
                style = {"color": line.colour, "linestyle": line.dashes}
                ax.plot(steps, of_form[form], label=form, **style)
            ax.axhline(limit, color=GREY, linewidth=0.8, label=r"$1/\sqrt{\lambda}$")
            ax.set(xscale="log", yscale="log", title=name.capitalize())
            ax.set_xlabel("Step of the first pass")
        axes[0].set_ylabel("Length of the coefficients")
        _legend_above(figure, axes[0])


def intercepts(paths: Mapping[str, list[pd.Series]], best: Mapping[str, float]) -> None:
    """Draw the intercept of several runs pass by pass, a panel for each data set."""
    with styled():
        _, axes = pyplot().subplots(1, 2, figsize=(6.4, 3.2), sharey=True)
        for ax, (name, runs) in zip(axes, paths.items(), strict=True):
            for run in runs:
                thin = {"color": COLOURS[0], "linewidth": 1.0, "alpha": 0.7}
                ax.plot(np.arange(1, len(run) + 1), run, **thin)
            least = {"color": COLOURS[1], "linestyle": "--"}
            ax.axhline(best[name], label="at the minimum", **least)
            ax.set(xscale="log", title=name, xlabel="Passes over the rows")
        axes[0].set_ylabel("Intercept")
        axes[1].legend()
