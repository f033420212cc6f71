"""Estimates with their intervals, in rows or along a predictor."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.models.effects import Margins
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, Floats, Style

LINE, LINES, FEW = 0.18, 0.32, 20  # inches of a row, of few rows, which are so many
AROUND = 1.2  # inches above and below all rows
LOWEST, TALLEST = 2.2, 60.0  # inches
SPREAD = 0.6  # of the room of a row, over which several estimates are spread
OVERLAY = 0.25  # of it, by which an estimate is below that of an earlier drawing
FEWEST = 3  # values of a predictor that make a line
MANY = 40  # rows, from which on points are smaller


class Series(NamedTuple):
    """Estimates of one colour: ``estimate, conf_low, conf_high`` on names of rows."""

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
    x_label: str,
    title: str = "",
    zero: float | None = 0.0,
    logarithmic: bool = False,
    percent: bool = False,
    beside: bool = False,
    references: Sequence[str] = (),
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
    x_label, title : str
    zero : float, optional
        Where there is no effect.
    logarithmic, percent : bool
        Whether the axis is logarithmic, or in percent.
    beside : bool
        Whether the series are about the same rows and stand below each other.
    references : sequence of str
        Rows of reference levels: rings at `zero`.
    """
    line_height = LINES if len(names) <= FEW else LINE
    height = AROUND + line_height * len(names) * max(1.0, 0.6 * len(series) * beside)
    ax = style.axes_of(ax, height=float(np.clip(height, LOWEST, TALLEST)))
    ax.set_title(style.written(title))
    ax.set_xlabel(x_label)
    style.finish(ax)
    shift = OVERLAY * len(ax.get_legend_handles_labels()[1])
    at = style.name_rows(ax, names)
    if logarithmic:
        ax.set_xscale("log")
    if zero is not None:
        style.reference(ax, zero, None, linestyle="-")
    shifts = shift + np.zeros(len(series))
    if beside and len(series) > 1:
        shifts = np.linspace(-SPREAD / 2, SPREAD / 2, len(series))
    size = 5.0 if len(names) < MANY else 3.0
    for move, (table, label, colour, marker) in zip(shifts, series, strict=True):
        own = {"label": label} | ({"color": colour} if colour else {})
        look = style.merged(line, marker=marker, markersize=size, **own)
        dashes = look.pop("linestyle", "-")
        places = np.array([at[name] for name in table.index]) + move
        (points,) = ax.plot(table["estimate"], places, linestyle="none", **look)
        known = table["conf_low"].notna().to_numpy()
        ax.hlines(
            places[known],
            table["conf_low"][known],
            table["conf_high"][known],
            color=points.get_color(),
            linestyle=dashes,
            linewidth=look.get("linewidth", 1.4),
        )
    for name in references:
        ring = {"color": style.ink(ax), "markerfacecolor": "none", "markersize": size}
        ax.plot([zero or 0.0], [at[name] + shift], "o", **ring)
    ax.grid(visible=False, axis="y")
    if percent:
        style.write_percent(ax.xaxis)
    if logarithmic:
        style.write_decimals(np.array(ax.get_xlim()), ax.xaxis)
    style.finish(ax)
    if ax.get_legend_handles_labels()[1]:
        style.keep_clear(ax, -0.6, ax.get_ylim()[0], "lower center")
    return ax


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
    sides = own["estimate"] < 0.0, own["estimate"] >= 0.0
    given = style.merged(line)
    series = [
        Series(own[side], "", colour, marker)
        for side, colour, marker in zip(
            sides, (style.NEGATIVE, style.POSITIVE), "os", strict=True
        )
    ]
    if "color" in given or "label" in given:  # one of several fits: no colour a side
        series = [Series(own)]
    return draw_forest(
        list(own.index), series, ax, line, x_label=meaning(unit, levels), title=title
    )


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
    ways = dict(zip(models, style.lines(len(models)), strict=True))
    numbers = ["estimate", "conf_low", "conf_high"]
    parts = {name: table[table["model"] == name].set_index("term") for name in models}
    series = [
        Series(own[numbers].astype(float), style.written(name), way.colour, way.marker)
        for name, way in ways.items()
        if len(own := parts[name])
    ]
    without = [name for name in models if parts[name]["conf_low"].isna().all()]
    title = f"No intervals: {', '.join(without)}, see summary()" if without else ""
    terms = list(table["term"].unique())
    x_label = (
        "Coefficient with 95% interval" if len(without) < len(models) else "Coefficient"
    )
    return draw_forest(
        terms, series, ax, line, x_label=x_label, title=title, beside=True
    )


def draw_differences(
    table: pd.DataFrame, metric: str, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw differences of models, see `ErrorComparison.plot`."""
    own, name = table.set_index("term"), style.metric_name(metric)
    return draw_forest(
        list(own.index),
        [Series(own)],
        ax,
        line,
        x_label=f"{name}: first less second model, paired by fold",
        percent=metric in style.SHARES,
    )


def draw_averages(
    found: Margins, level: float, ax: "Axes | None", line: Style
) -> "Axes":
    """Draw effects or predictions, see `Margins.plot`."""
    table, (_, outcome) = found.tidy(level), found.header[0]
    outcome = outcome[:1].upper() + outcome[1:]
    columns = {f"at_{name}": name for name in found.observed}
    if found.are_predictions and table["term"].iloc[0] in found.observed:
        columns = {"value": str(table["term"].iloc[0])} | columns
    x = next((c for c in columns if table.get(c, pd.Series()).nunique() >= FEWEST), "")
    title = "" if table["conf_low"].notna().any() else found.notes[-1]
    if x:
        settings = ["value", *(c for c in map(str, table) if c.startswith("at_"))]
        by = [c for c in settings if c != x and table[c].nunique() > 1]
        ax = style.axes_of(ax)
        _draw_lines(table, x, by, ax, line)
        _draw_rug(found.observed[columns[x]], ax)
        ax.set(xlabel=style.written(columns[x]), ylabel=style.written(outcome))
        ax.set_title(style.written(title))
        if found.are_shares:
            style.write_percent(ax.yaxis)
        style.finish(ax)
        style.keep_clear(ax, *ax.get_ylim(), "upper center")
        return ax
    names = list(found.estimates.hypotheses)
    effects = not found.are_predictions
    return draw_forest(
        names,
        [Series(table.set_axis(names))],
        ax,
        line,
        x_label=style.written(
            f"Change of the {outcome.lower()}" if effects else outcome
        ),
        zero=0.0 if effects else None,
        percent=found.are_shares,
        title=title,
    )


def _draw_lines(
    table: pd.DataFrame, x: str, by: list[str], ax: "Axes", line: Style
) -> None:
    """A line with its band for each combination of the other values."""
    groups = table.groupby(by, sort=False) if by else [((), table)]
    for values, own in groups:
        pairs = zip(by, values, strict=True)
        label = ", ".join(f"{name.removeprefix('at_')} {v}" for name, v in pairs)
        at, band = own[x].astype(float), (own["conf_low"], own["conf_high"])
        named = {"label": style.written(label)} if label else {}
        style.draw_line(ax, at, own["estimate"], line, band, **named)


def _draw_rug(values: Floats, ax: "Axes") -> None:
    """A stroke at each value of the predictor in the rows."""
    low, high = ax.get_xlim()
    inside = pd.unique(values[(values >= low) & (values <= high)])
    style.strokes(ax, inside, style.ink(ax), alpha=0.35, markersize=7.0)
    ax.set_xlim(low, high)
