"""Forest plots, and estimates with intervals along a predictor."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.models.effects import Margins
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Style

ROW_HEIGHT, TALL_ROW_HEIGHT, MAX_TALL_ROWS = 0.18, 0.32, 20  # inches
FOREST_MARGIN = 1.2  # inches above and below the rows
MIN_HEIGHT, MAX_HEIGHT = 2.2, 60.0  # inches
SERIES_SPREAD = 0.6  # share of a row's height for several series
OVERLAY_SHIFT = 0.25  # of a row's height, from one drawing to the next
MIN_VALUES = 3  # fewer values of a predictor are drawn as rows
MIN_SMALL_POINTS = 40  # rows
COMPARED = {  # what a comparison of averages is, on an axis
    "difference": "Change",
    "ratio": "Ratio",
    "lnratio": "Logarithm of the ratio",
    "lnor": "Logarithm of the odds ratio",
}
INTERVAL = ["estimate", "conf_low", "conf_high"]


class Series(NamedTuple):
    """Estimates of one colour: ``estimate, conf_low, conf_high``, indexed by row name.

    Labelled series are drawn below each other within a row.
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
        Names of all rows, from the top.
    series : sequence of Series
    ax : Axes, optional
    line : mapping
        Keywords of the lines.
    zero : float, optional
        Value of no effect; 1 for ratios, which get a logarithmic axis.
    references : sequence of str
        Reference levels, drawn as rings at `zero`.
    **words : str
        Passed to `style.finish`.
    """
    per_row = sum(bool(group.label) for group in series)
    height = TALL_ROW_HEIGHT if len(names) <= MAX_TALL_ROWS else ROW_HEIGHT
    height = FOREST_MARGIN + height * len(names) * max(1.0, 0.6 * per_row)
    ax = style.axes_of(ax, height=float(np.clip(height, MIN_HEIGHT, MAX_HEIGHT)))
    labels = ax.get_legend_handles_labels()[1]
    shifts = np.full(len(series), OVERLAY_SHIFT * len(labels))
    if per_row > 1:
        shifts = np.linspace(-SERIES_SPREAD / 2, SERIES_SPREAD / 2, len(series))
    at = style.name_rows(ax, names)
    if zero is not None:
        style.draw_reference(ax, zero, None, linestyle="-")
    look: Style = {"markersize": 5.0 if len(names) < MIN_SMALL_POINTS else 3.0}
    bar: Style = {"linewidth": 1.4, "linestyle": "-"}
    for shift, (table, label, colour, marker) in zip(shifts, series, strict=True):
        own = style.merge(line, marker=marker, label=label, color=colour, **look)
        places = [at[name] + shift for name in table.index]
        (points,) = ax.plot(table["estimate"], places, **own | {"linestyle": "none"})
        bar = {name: own.get(name, usual) for name, usual in bar.items()}
        ends = table["conf_low"], table["conf_high"]
        ax.hlines(places, *ends, color=points.get_color(), **bar)
    ring: Style = {"color": style.text_colour(ax), "markerfacecolor": "none", **look}
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
    """Draw coefficients, with different marks for negative and positive values.

    The columns of `table` are ``term, estimate, conf_low, conf_high``.
    """
    own = table.set_index("term").astype(float)
    below = own["estimate"] < 0.0
    series = [
        Series(own[below], "", style.NEGATIVE, "o"),
        Series(own[~below], "", style.POSITIVE, "s"),
    ]
    if style.merge(line).keys() & {"color", "label"}:  # the user compares fits
        series = [Series(own)]
    words: Style = {"xlabel": meaning(unit, levels), "title": title}
    return draw_forest(list(own.index), series, ax, line, **words)


def meaning(unit: str, levels: Sequence[object], marked: str = "") -> str:
    """Describe a coefficient and the level that its sign favours.

    Examples
    --------
    >>> print(meaning("unit", (5, 6)))
    Coefficient: change of the score per unit
    (below 0 for 5, above 0 for 6)
    """
    first, second = map(style.short_level, levels)
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
    for name, way in zip(models, style.line_styles(len(models)), strict=True):
        own = table[table["model"] == name].set_index("term")[INTERVAL].astype(float)
        if own["conf_low"].isna().all():
            without.append(name)
        series.append(Series(own, style.as_text(name), way.colour, way.marker))
    title = f"No intervals: {', '.join(without)}, see summary()" if without else ""
    x_label = "Coefficient" + " with 95% interval" * (len(without) < len(models))
    words: Style = {"xlabel": x_label, "title": style.as_text(title)}
    return draw_forest(list(table["term"].unique()), series, ax, line, **words)


def draw_differences(
    table: pd.DataFrame, metric: str, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw differences of models, see `ErrorComparison.plot`."""
    own, percent = table.set_index("term"), "x" * (metric in style.SHARE_METRICS)
    x_label = f"{style.metric_name(metric)}: first less second model, paired by fold"
    words: Style = {"xlabel": x_label, "percent": percent}
    return draw_forest(list(own.index), [Series(own)], ax, line, **words)


def draw_averages(
    margins: Margins, level: float, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw effects or predictions, see `Margins.plot`."""
    table, (_, outcome) = margins.tidy(level), margins.header[0]
    title = "" if table["conf_low"].notna().any() else "No intervals, see the table"
    y_label = outcome[:1].upper() + outcome[1:]
    columns = {f"at_{name}": name for name in margins.observed}
    if margins.are_predictions and table["term"].iloc[0] in margins.observed:
        columns = {"value": str(table["term"].iloc[0])} | columns
    varied = (c for c in columns if c in table and table[c].nunique() >= MIN_VALUES)
    x = next(varied, None)
    if x is None:
        zero = None if margins.are_predictions else float(margins.estimates.null[0])
        compared = COMPARED[margins.comparison]
        label = y_label if zero is None else f"{compared} of the {outcome}"
        words: Style = {"xlabel": style.as_text(label), "title": style.as_text(title)}
        names, percent = list(margins.estimates.hypotheses), "x" * margins.are_shares
        series = [Series(table.set_axis(names))]
        return draw_forest(names, series, ax, line, zero=zero, percent=percent, **words)
    settings = ["value", *(c for c in map(str, table) if c.startswith("at_"))]
    by = [c for c in settings if c != x and table[c].nunique() > 1]
    curves = {}
    for values, own in table.groupby(by, sort=False) if by else [((), table)]:
        pairs = zip(by, values, strict=True)
        label = ", ".join(f"{name.removeprefix('at_')} {v}" for name, v in pairs)
        curves[style.as_text(label)] = own[[x, *INTERVAL]].to_numpy(dtype=np.float64).T
    ax = style.axes_of(ax)
    style.draw_curves(ax, curves, line)
    ax.set_xlim(ax.get_xlim())
    rug = pd.unique(margins.observed[columns[x]])
    style.draw_rug(ax, rug, style.text_colour(ax), alpha=0.35, markersize=7.0)
    texts = {"xlabel": columns[x], "ylabel": y_label, "title": title}
    words = {place: style.as_text(text) for place, text in texts.items()}
    return style.finish(ax, legend="above", percent="y" * margins.are_shares, **words)
