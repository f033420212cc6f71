"""Forest plots, and estimates with intervals along a predictor."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Axes
from pegasos_stats.errors import OptionError
from pegasos_stats.models.effects import SLOPE, Margins, value_text
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Floats, Style

NUMBERS_WIDTH = 5.0  # inches, least width of a panel with numbers
OF_CLASS = "probability of ", "share predicted "
OVERLAY_SHIFT = 0.25  # row heights between estimates drawn on the same axes
COMPARED = {  # axis labels of comparisons
    "difference": "Change",
    "ratio": "Ratio",
    "lnratio": "Logarithm of the ratio",
    "lnor": "Logarithm of the odds ratio",
}
INTERVAL = ["estimate", "conf_low", "conf_high"]


class Series(NamedTuple):
    """Estimates of one colour: ``estimate, conf_low, conf_high``, indexed by row name.

    If several series have labels, their estimates are drawn below each other in a row.
    """

    table: pd.DataFrame
    label: str = ""


def draw_forest(
    names: Sequence[str],
    series: Sequence[Series],
    ax: object,
    line: Style,
    *,
    zero: float | None = 0.0,
    references: Sequence[str] = (),
    folds: Mapping[str, Floats] | None = None,
    numbers: bool = False,
    **words: str,
) -> "Axes":
    """Draw estimates as points with intervals, the levels of a factor under a heading.

    Parameters
    ----------
    names : sequence of str
        Names of all rows, from the top down.
    series : sequence of Series
    ax : Axes, optional
    line : mapping
        Keywords of the lines.
    zero : float, optional
        Value of no effect; 1 for ratios, which get a logarithmic axis.
    references : sequence of str
        Reference levels, drawn as rings at `zero`.
    folds : mapping of name to values, optional
        Estimates of single folds, drawn below a row.
    numbers : bool
        Whether to write estimates and limits to the right of the rows.
    **words : str
        Passed to `style.finish`.

    Raises
    ------
    OptionError
        If there is no room for numbers.
    """
    rows = style.with_headings(names)
    per_row = sum(bool(group.label) for group in series)
    height = 0.32 if len(rows) <= 20 else 0.18
    height = 1.2 + height * len(rows) * max(1.0, 0.6 * per_row)
    ax = style.axes_of(ax, height=float(np.clip(height, 2.2, 60.0)))
    if numbers and (width := style.column_width(ax)) < NUMBERS_WIDTH:
        raise OptionError(
            f"numbers=True needs a panel at least {NUMBERS_WIDTH:g} inches wide, not "
            f"{width:.1f} inches; pass ax= of a wider figure, or omit numbers."
        )
    overlay = OVERLAY_SHIFT * len(ax.get_legend_handles_labels()[1])
    counts = Counter(name for group in series for name in group.table.index)
    shifts = {
        name: [overlay] if count == 1 else [*np.linspace(-0.3, 0.3, count)]
        for name, count in counts.items()
    }
    at = style.name_rows(ax, rows)
    if zero is not None:
        style.draw_reference(ax, zero, None, linestyle="-")
    look: Style = {"markersize": 5.0 if len(rows) < 40 else 3.0}
    bar: Style = {"linewidth": 1.4, "linestyle": "-"}
    for table, label in series:
        cycle = style.next_style(ax)
        look = {**look, "marker": cycle.marker, "color": cycle.colour}
        own = style.merge(line, label=label, **look)
        places = [at[name] + shifts[name].pop(0) for name in table.index]
        (points,) = ax.plot(table["estimate"], places, **own | {"linestyle": "none"})
        bar = {name: own.get(name, usual) for name, usual in bar.items()}
        ends = table["conf_low"], table["conf_high"]
        ax.hlines(places, *ends, color=points.get_color(), **bar)
        if numbers:
            _write_numbers(ax, table, places)
    ring: Style = {"color": style.text_colour(ax), "markerfacecolor": "none"}
    for name in references:
        ax.plot([zero or 0.0], [at[name] + overlay], "o", **ring)
    for j, (name, values) in enumerate((folds or {}).items()):
        label = "" if j else "A fold"
        below = np.full(len(values), at[name] + OVERLAY_SHIFT)
        ax.plot(values, below, "o", alpha=0.5, markersize=4.0, label=label, **ring)
    ax.grid(visible=False, axis="y")
    if zero == 1.0:
        ax.set_xscale("log")
    return style.finish(ax, **words)


def _write_numbers(ax: "Axes", table: pd.DataFrame, places: Sequence[float]) -> None:
    """Write estimates and limits to the right of the axes."""
    size = 0.85 * float(ax.get_yticklabels()[0].get_fontsize())
    look: Style = {"transform": ax.get_yaxis_transform(), "va": "center", "size": size}
    for place, line in zip(places, table[INTERVAL].to_numpy(np.float64), strict=True):
        ax.text(1.02, place, interval_text(*line), **look)


def interval_text(estimate: float, low: float, high: float) -> str:
    """Write an estimate and its interval, with the decimals that a narrow one needs.

    Examples
    --------
    >>> interval_text(1.5, 1.2, 120.4)
    '1.50 (1.20, 120)'
    >>> interval_text(-0.000006, -0.000015, 0.000002)
    '-0.000006 (-0.000015, 0.000002)'
    """
    width = min(high - low if high > low else abs(estimate), 1.0)
    decimals = int(np.ceil(np.log10(10.0 / width))) if 0.0 < width < 0.02 else 2
    estimate_text, *ends = (
        f"{round(x, decimals) + 0.0:,.{0 if abs(x) >= 100.0 else decimals}f}"
        for x in (estimate, low, high)
    )
    return estimate_text + " ({}, {})".format(*ends) * bool(np.isfinite(low))


def rows_of_terms(
    terms: Iterable[str], levels: Mapping[str, object]
) -> tuple[list[str], list[str]]:
    """Return the names of rows, each reference level first, and the reference levels.

    Examples
    --------
    >>> rows_of_terms(["age", "ward[T.B]"], {"ward": "A"})
    (['age', 'ward: A (ref.)', 'ward: B'], ['ward: A (ref.)'])
    """
    rows, references = dict[str, None](), dict[str, None]()
    for term in terms:
        factor, variable, _ = style.factor_level(term) or ("",) * 3
        if factor in levels:
            references[f"{variable}: {levels[factor]} (ref.)"] = None
            rows |= references
        rows[style.term_text(term)] = None
    return list(rows), list(references)


def meaning(
    unit: str, levels: Sequence[object], marked: str = "", interval: str = ""
) -> str:
    """Describe a coefficient and the class that its sign favours.

    Examples
    --------
    >>> print(meaning("unit", (5, 6)))
    Coefficient per unit
    (below 0 for 5, above 0 for 6)
    """
    first, second = style.short_levels(levels)
    return (
        f"Coefficient per {unit}{interval}\n"
        f"(below 0{marked} for {first}, above 0 for {second})"
    )


def draw_models(
    table: pd.DataFrame,
    levels: Mapping[str, Mapping[str, object]],
    level: float,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw the estimates of several fits, see `ModelComparison.plot`.

    Parameters
    ----------
    table : DataFrame
        Columns ``model, term, estimate, conf_low, conf_high``.
    levels : mapping
        The reference levels of each model by its name.
    level : float
        Confidence level of the intervals.
    ax : Axes, optional
    line : mapping
    """
    series, without, references_of = [], [], dict[str, object]()
    for of_model in levels.values():
        references_of |= of_model
    rows, references = rows_of_terms(table["term"].unique(), references_of)
    table = table.assign(term=table["term"].map(style.term_text))
    for name in levels:
        own = table[table["model"] == name].set_index("term")[INTERVAL].astype(float)
        if own["conf_low"].isna().all():
            without.append(name)
        series.append(Series(own, style.as_text(name)))
    x_label = f"Coefficient, {style.percent(level)} interval"
    if without:
        x_label += style.as_text(f"\n(no interval for {', '.join(without)})")
    words: Style = {"references": references, "xlabel": x_label}
    return draw_forest(rows, series, ax, line, **words)


def draw_differences(
    table: pd.DataFrame,
    folds: Mapping[str, Floats],
    metric: str,
    level: float,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw differences of models, see `ErrorComparison.plot`."""
    own, percent = table.set_index("term"), "x" * (metric in style.SHARE_METRICS)
    x_label = f"{style.metric_name(metric)}: first minus second model, paired by fold"
    x_label += f", {style.percent(level)} interval"
    words: Style = {"folds": folds, "xlabel": x_label, "percent": percent}
    return draw_forest(list(own.index), [Series(own)], ax, line, **words)


def draw_subgroups(
    table: pd.DataFrame,
    term: str,
    whole: float,
    level: float,
    ax: "Axes | None",
    line: Style,
) -> "Axes":
    """Draw a statistic of each subgroup, see `Subgroups.plot`."""
    names = [f"{table.index.name}: {value_text(label)}" for label in table.index]
    is_share = term in ("error_rate", "sensitivity", "specificity")
    x_label = f"{style.metric_name(term)}, {style.percent(level)} interval"
    words: Style = {"xlabel": x_label, "percent": "x" * is_share}
    series = [Series(table.set_axis(names))]
    ax = draw_forest(names, series, ax, line, zero=None, **words)
    style.draw_reference(ax, whole, None, "All rows", "--")
    return style.finish(ax)


def draw_averages(
    margins: Margins,
    level: float,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
    simultaneous: bool = False,
) -> "Axes | NDArray[np.object_]":
    """Draw effects or predictions, see `Margins.plot`."""
    table = margins.tidy(level, simultaneous=simultaneous)
    outcome = short_outcome(margins)
    columns = {f"at_{name}": name for name in margins.observed}
    if margins.are_predictions and table["term"].iloc[0] in margins.observed:
        columns = {"value": str(table["term"].iloc[0])} | columns
    varied = (c for c in columns if c in table and table[c].nunique() >= 3)
    x = next(varied, None)
    kind = "band" if simultaneous else "interval"
    interval = f", {style.percent(level)} {kind}" * bool(
        table["conf_low"].notna().any()
    )
    if x is None:
        rows, references = average_rows(margins)
        names = [name for name in rows if name not in references]
        zero = None if margins.are_predictions else float(margins.estimates.null[0])
        compared = COMPARED[margins.comparison]
        label = outcome if zero is None else f"{compared} of the {outcome}"
        label = style.as_text(label[:1].upper() + label[1:] + interval)
        words: Style = {"xlabel": label, "percent": "x" * margins.are_shares}
        series, look = [Series(table.set_axis(names))], {"zero": zero, **words}
        return draw_forest(rows, series, ax, line, references=references, **look)
    settings = ["value", *(c for c in map(str, table) if c.startswith("at_"))]
    by = [c for c in settings if c != x and table[c].nunique() > 1]
    curves = {}
    for values, own in table.groupby(by, sort=False) if by else [((), table)]:
        pairs = zip(by, values, strict=True)
        label = ", ".join(f"{name.removeprefix('at_')} {v}" for name, v in pairs)
        curves[style.as_text(label)] = own[[x, *INTERVAL]].to_numpy(dtype=np.float64).T
    return _draw_panels(margins, columns[x], curves, ax, line)


def _draw_panels(
    margins: Margins,
    x: str,
    curves: style.Curves,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
) -> "Axes | NDArray[np.object_]":
    """Draw predictions along a predictor: one panel per curve, or all on one."""
    count, rug = len(curves), pd.unique(margins.observed[x])
    cure = f"one panel or {count}, such as plt.subplots(1, {count})[1]"
    size = max(style.FIGURE_WIDTH, 2.2 * count), style.FIGURE_HEIGHT
    panels = style.panels_of(ax, [1, count], cure, size, across=True)
    outcome = short_outcome(margins)
    texts = {"xlabel": x, "ylabel": outcome[:1].upper() + outcome[1:]}
    words = {place: style.as_text(text) for place, text in texts.items()}
    many = len(panels) > 1
    for j, (label, curve) in enumerate(curves.items()):
        panel = panels[j * many]
        # Several curves in one panel have no bands, because these would overlap.
        own = curve if many or count == 1 else [*curve][:2]
        style.draw_line(panel, *own, line=line, label="" if many else label)
    lows, highs = zip(*(panel.get_ylim() for panel in panels), strict=True)
    for j, panel in enumerate(panels):
        panel.set(xlim=panel.get_xlim(), ylim=(min(lows), max(highs)))
        style.draw_rug(panel, rug, style.text_colour(panel), alpha=0.35, markersize=7.0)
        own_words = words if j == 0 else {**words, "ylabel": ""}
        own_words |= {"title": [*curves][j]} if many else {}
        place = panel.get_subplotspec()
        if j and place is not None and not place.is_first_col():
            panel.tick_params(labelleft=False)
        style.finish(panel, percent="y" * margins.are_shares, **own_words)
    return np.array(panels, dtype=object) if many else panels[0]


def short_outcome(margins: Margins) -> str:
    """Return what is predicted, with a short name of its class."""
    outcome = margins.header[0][1]
    kinds = (kind for kind in OF_CLASS if outcome.startswith(kind))
    kind = next(kinds, "")
    return kind + style.abbreviate([outcome[len(kind) :]], style.MAX_LEVEL_LENGTH)[0]


def name_pairs(keys: pd.DataFrame) -> pd.DataFrame:
    """Name the predictions of two factors so that each level of the first is a heading.

    Examples
    --------
    >>> keys = pd.DataFrame({"term": ["sex:ward"] * 2, "what": ["f, A", "f, B"]})
    >>> name_pairs(keys).iloc[0].tolist()
    ['sex f', 'ward A']
    """
    names = keys["term"].str.split(":", expand=True)
    if names.shape[1] != 2 or names.isna().any(axis=None):
        return keys
    texts = keys["what"].str
    for split in (texts.split, texts.rsplit):  # levels of one factor may have commas
        levels = split(", ", n=1, expand=True)
        if levels.shape[1] == 2 and len(levels) == levels.nunique().prod():
            return (names + " " + levels).set_axis(["term", "what"], axis=1)
    return keys


def average_rows(margins: Margins) -> tuple[list[str], list[str]]:
    """Return the names of all rows, and the names of the reference levels.

    A contrast is named by its level alone if all contrasts of the factor have the same
    reference level. The values of other predictors (`at`) follow the name of the
    predictor.
    """
    keys = margins.keys.iloc[:, :2].astype(str).set_axis(["term", "what"], axis=1)
    if margins.are_predictions:
        keys = name_pairs(keys)
    for j, (name, values) in enumerate(margins.keys.iloc[:, 2:].items()):
        between = f"{', ' if j else ' at '}{str(name).removeprefix('at_')} = "
        keys["term"] += between + values.map(value_text)
    sign = " / " if margins.comparison == "ratio" else " - "
    names, references = [], []
    for term, own in keys.groupby("term", sort=False)["what"]:
        _, _, last = own.iloc[0].rpartition(sign)
        if (own == SLOPE).all():
            names.append(f"{term}{style.PER_UNIT}")
        elif not margins.are_predictions and own.str.endswith(sign + last).all():
            references.append(f"{term}: {last} (ref.)")
            levels = [text.removesuffix(sign + last) for text in own]
            names += [references[-1], *(f"{term}: {level}" for level in levels)]
        else:
            names += [f"{term}: {text}" for text in own]
    return names, references
