"""Average effects and predictions, as a curve or a row each."""

import pandas as pd

from pegasos_stats.models.effects.margins import Margins
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.forest import Series, draw_forest
from pegasos_stats.output.plotting.style import Axes, Floats, Style

FEWEST = 3  # values of a predictor that make a line


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
