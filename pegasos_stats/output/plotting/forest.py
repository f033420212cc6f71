"""Estimates with their intervals, in rows or along a predictor."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.models.effects import Margins
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Style

LINE, LINES, FEW = 0.18, 0.32, 20  # inches of a row, of few rows, which are so many
AROUND = 1.2  # inches above and below all rows
LOWEST, TALLEST = 2.2, 60.0  # inches
SPREAD = 0.6  # of the room of a row, over which several estimates are spread
OVERLAY = 0.25  # of it, by which an estimate is below that of an earlier drawing
FEWEST = 3  # values of a predictor that make a line
MANY = 40  # rows, from which on points are smaller
NUMBERS = ["estimate", "conf_low", "conf_high"]


class Series(NamedTuple):
    """Estimates of one colour: ``estimate, conf_low, conf_high`` on names of rows.

    Several with a label stand below each other in their rows.
    """

    table: pd.DataFrame
    label: str = ""
    colour: str | None = None
    marker: str = "o"


def draw_forest(
    names: Sequence[str],
    series: Sequence[Series],
    ax: "Axes | None",
    line: Style,
    *,
    zero: float | None = 0.0,
    references: Sequence[str] = (),
    **words: str,
) -> "Axes":
    """Draw estimates as points with intervals, from the top.

    Parameters
    ----------
    names : sequence of str
        Of all rows, from the top.
    series : sequence of Series
    ax : Axes, optional
    line : mapping
        Keywords of the lines.
    zero : float, optional
        Where there is no effect; 1 for ratios, whose axis is logarithmic.
    references : sequence of str
        Rows of reference levels: rings at `zero`.
    **words : str
        As for `style.finish`.
    """
    in_a_row = sum(bool(each.label) for each in series)
    height = LINES if len(names) <= FEW else LINE
    height = AROUND + height * len(names) * max(1.0, 0.6 * in_a_row)
    ax = style.axes_of(ax, height=float(np.clip(height, LOWEST, TALLEST)))
    shifts = np.full(len(series), OVERLAY * len(ax.get_legend_handles_labels()[1]))
    if in_a_row > 1:
        shifts = np.linspace(-SPREAD / 2, SPREAD / 2, len(series))
    at = style.name_rows(ax, names)
    if zero is not None:
        style.reference(ax, zero, None, linestyle="-")
    look: Style = {"markersize": 5.0 if len(names) < MANY else 3.0}
    bar: Style = {"linewidth": 1.4, "linestyle": "-"}
    for shift, (table, label, colour, marker) in zip(shifts, series, strict=True):
        own = style.merged(line, marker=marker, label=label, color=colour, **look)
        places = [at[name] + shift for name in table.index]
        (points,) = ax.plot(table["estimate"], places, **own | {"linestyle": "none"})
        bar = {name: own.get(name, usual) for name, usual in bar.items()}
        ends = table["conf_low"], table["conf_high"]
        ax.hlines(places, *ends, color=points.get_color(), **bar)
    ring: Style = {"color": style.ink(ax), "markerfacecolor": "none", **look}
    for name in references:
        ax.plot([zero or 0.0], [at[name] + shifts[0]], "o", **ring)
    ax.grid(visible=False, axis="y")
    if zero == 1.0:
        ax.set_xscale("log")
        style.write_decimals(ax.xaxis)
    return style.finish(ax, legend="above", **words)


def draw_coefficients(
    table: pd.DataFrame,
    levels: Sequence[object],
    ax: "Axes | None",
    line: Style,
    *,
    title: str,
    unit: str,
) -> "Axes":
    """Draw a table ``term, estimate, conf_low, conf_high``, below 0 and above it."""
    own = table.set_index("term").astype(float)
    below = own["estimate"] < 0.0
    series = [
        Series(own[below], "", style.NEGATIVE, "o"),
        Series(own[~below], "", style.POSITIVE, "s"),
    ]
    if style.merged(line).keys() & {"color", "label"}:  # one of several fits
        series = [Series(own)]
    words: Style = {"xlabel": meaning(unit, levels), "title": title}
    return draw_forest(list(own.index), series, ax, line, **words)


def meaning(unit: str, levels: Sequence[object], marked: str = "") -> str:
    """What a coefficient is, and which level its sign speaks for.

    Examples
    --------
    >>> print(meaning("unit", (5, 6)))
    Coefficient: change of the score per unit
    (below 0 for 5, above 0 for 6)
    """
    first, second = map(style.short, levels)
    return (
        f"Coefficient: change of the score per {unit}\n"
        f"(below 0{marked} for {first}, above 0 for {second})"
    )


def draw_models(
    table: pd.DataFrame, models: Sequence[str], ax: "Axes | None", line: Style
) -> "Axes":
    """Draw the estimates of several fits, see `ModelComparison.plot`.

    Parameters
    ----------
    table : DataFrame
        Columns ``model, term, estimate, conf_low, conf_high``.
    models : sequence of str
    ax : Axes, optional
    line : mapping
    """
    series, without = [], []
    for name, way in zip(models, style.lines(len(models)), strict=True):
        own = table[table["model"] == name].set_index("term")[NUMBERS].astype(float)
        if own["conf_low"].isna().all():
            without.append(name)
        series.append(Series(own, style.written(name), way.colour, way.marker))
    title = f"No intervals: {', '.join(without)}, see summary()" if without else ""
    x_label = "Coefficient" + " with 95% interval" * (len(without) < len(models))
    words: Style = {"xlabel": x_label, "title": style.written(title)}
    return draw_forest(list(table["term"].unique()), series, ax, line, **words)


def draw_differences(
    table: pd.DataFrame, metric: str, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw differences of models, see `ErrorComparison.plot`."""
    own, percent = table.set_index("term"), "x" * (metric in style.SHARES)
    x_label = f"{style.metric_name(metric)}: first less second model, paired by fold"
    words: Style = {"xlabel": x_label, "percent": percent}
    return draw_forest(list(own.index), [Series(own)], ax, line, **words)


def draw_averages(
    found: Margins, level: float, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw effects or predictions, see `Margins.plot`."""
    table, (_, outcome) = found.tidy(level), found.header[0]
    title = "" if table["conf_low"].notna().any() else "No intervals, see the table"
    y_label = outcome[:1].upper() + outcome[1:]
    columns = {f"at_{name}": name for name in found.observed}
    if found.are_predictions and table["term"].iloc[0] in found.observed:
        columns = {"value": str(table["term"].iloc[0])} | columns
    x = next((c for c in columns if c in table and table[c].nunique() >= FEWEST), None)
    if x is None:
        zero = None if found.are_predictions else 0.0
        label = y_label if zero is None else f"Change of the {outcome}"
        words: Style = {"xlabel": style.written(label), "title": style.written(title)}
        names, percent = list(found.estimates.hypotheses), "x" * found.are_shares
        series = [Series(table.set_axis(names))]
        return draw_forest(names, series, ax, line, zero=zero, percent=percent, **words)
    settings = ["value", *(c for c in map(str, table) if c.startswith("at_"))]
    by = [c for c in settings if c != x and table[c].nunique() > 1]
    curves = {}
    for values, own in table.groupby(by, sort=False) if by else [((), table)]:
        pairs = zip(by, values, strict=True)
        label = ", ".join(f"{name.removeprefix('at_')} {v}" for name, v in pairs)
        curves[style.written(label)] = own[[x, *NUMBERS]].to_numpy(dtype=np.float64).T
    ax = style.axes_of(ax)
    style.draw_curves(ax, curves, line)
    ax.set_xlim(ax.get_xlim())
    rug = pd.unique(found.observed[columns[x]])
    style.strokes(ax, rug, style.ink(ax), alpha=0.35, markersize=7.0)
    texts = {"xlabel": columns[x], "ylabel": y_label, "title": title}
    words = {place: style.written(text) for place, text in texts.items()}
    return style.finish(ax, legend="above", percent="y" * found.are_shares, **words)
