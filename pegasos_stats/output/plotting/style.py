"""Axes, line styles, abbreviated names, percent axes and legends of all figures.

The user's matplotlib settings apply. Axes passed by the user are not restyled; new axes
get a light grid and two spines. Lines have colours that colour-blind readers can
distinguish, and different dashes, for printing in grey. Reference lines and other marks
use the text colour, which is visible in dark styles. Legends are above the axes.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise, product
from os.path import commonprefix
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Axes
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DependencyError, OptionError, shown

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

Figure: TypeAlias = "matplotlib.figure.Figure"
Floats = NDArray[np.float64]
Dashes = str | tuple[int, tuple[int, ...]]
Style = Mapping[str, Any]
Curves = Mapping[str, Iterable[Floats]]

FIGURE_WIDTH, FIGURE_HEIGHT = 6.4, 4.0  # inches of a figure with one panel
SQUARE_SIDE = 4.8
SQUARE_PADDING = 0.02  # share of the side of square axes

# Okabe & Ito's colours, ordered so that neighbours differ in lightness too.
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"  # the two classes of an outcome
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: Sequence[Dashes] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
MARKER_SPACING = 0.12  # share of the diagonal between two markers of a line
BAND_OPACITY = 0.18

PRINT_DPI = 300.0
MOST_PIXELS = 4000.0  # of a side at which texts are measured
MAX_LAYOUTS = 5
LAYOUT_TOLERANCE = 0.012  # share of the figure
SMALL_LABEL = 0.75  # relative size of a label whose words are too long
LETTER_WIDTH = 0.0075  # inches per letter and point of font size
MAX_NAME_LENGTH = 400  # letters
MAX_LEVEL_LENGTH = 28
MAX_TEXT_LINES = 4  # title or label
PART_OF_WORD = re.compile(r"(?<= )\S{0,3}…\S{1,3}(?= )|…\S{1,3}(?= )|(?<= )\S{1,3}…")
PART_OF_NAME = re.compile(r"\s+|[^\s_]*_+|[^\s_]+")
REFERENCE = " (ref.)"  # after the name of a reference level
PER_UNIT = " (per unit)"  # after the name of a numeric predictor, if there is room
FACTOR_CALL = re.compile(r"\w+\(([^,()]+)[,)].*")  # relevel(a, ...), C(a)
SHARE_METRICS = ("error_rate", "accuracy", "balanced_accuracy")
METRIC_NAMES = {
    "auc": "AUC",
    "auc_pooled": "AUC",
    "brier_score": "Brier score",
    "mcc": "Matthews' correlation",
    "neg_pred_value": "Negative predictive value",
    "no_information_rate": "No-information rate",
    "pos_pred_value": "Positive predictive value",
    "youden": "Youden's J",
    "cost": "Mean cost of a row",
}


class Line(NamedTuple):
    """Colour, dash pattern and marker of one of several lines."""

    colour: str
    dashes: Dashes
    marker: str


def line_styles(count: int) -> list[Line]:
    """Return `count` line styles, of which the first 36 differ.

    Examples
    --------
    >>> [line.marker for line in line_styles(3)]
    ['o', 's', '^']
    """
    ways = len(COLOURS)
    shifted = [(i + i // ways) % ways for i in range(count)]
    return [
        Line(COLOURS[i % ways], DASHES[other], MARKERS[other])
        for i, other in enumerate(shifted)
    ]


def next_style(ax: "Axes") -> Line:
    """Return the style of the next line that the package draws on these axes."""
    count = vars(ax).get("drawn_lines", 0) + 1
    vars(ax)["drawn_lines"] = count
    return line_styles(count)[-1]


def pyplot() -> Any:
    """Import and return ``matplotlib.pyplot``.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise DependencyError(
            "Figures need matplotlib, which is not installed; run "
            "pip install 'pegasos_stats[plot]'."
        ) from None
    return pyplot


# -------------------------------------------------------------------- axes


def new_axes(
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] = (FIGURE_WIDTH, FIGURE_HEIGHT),
) -> NDArray[np.object_]:
    """Return the axes of a new figure, shape (rows, columns); `size` in inches."""
    own = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, axes = pyplot().subplots(rows, columns, **own)
    figure.savefig = partial(write_figure, figure)
    for ax in axes.flat:
        dress(ax)
    return np.asarray(axes, dtype=object)


def write_figure(figure: "Figure", *place: str, **options: Any) -> None:
    """Save a figure with TrueType fonts in PDF and PostScript, as journals require.

    Figures that the user creates follow the user's settings. For the same fonts, set
    ``rcParams["pdf.fonttype"] = rcParams["ps.fonttype"] = 42``.
    """
    with pyplot().rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
        type(figure).savefig(figure, *place, **options)


def dress(ax: "Axes") -> "Axes":
    """Style new axes: two spines, a light grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, linewidth=0.6, alpha=0.35)
    ax.set_axisbelow(True)
    return ax


def axes_of(
    ax: object, width: float = FIGURE_WIDTH, height: float = FIGURE_HEIGHT
) -> "Axes":
    """Return `ax`, or the axes of a new figure of this size in inches."""
    cure = "the axes of one panel: plt.subplots()[1]"
    return panels_of(ax, [1], cure, (width, height))[0]


def panels_of(
    ax: object,
    counts: Sequence[int],
    cure: str,
    size: tuple[float, float],
    *,
    across: bool = False,
) -> list["Axes"]:
    """Return the panels in `ax`, or ``counts[-1]`` new ones in a column or a row.

    Raises
    ------
    OptionError
        If the number of Axes in `ax` is not one of `counts`.
    """
    if ax is None:
        grid = (1, counts[-1]) if across else (counts[-1], 1)
        return [*new_axes(*grid, size).flat]
    kind, message = pyplot().Axes, f"ax={shown(ax)} is not allowed; use {cure}."
    with convert_errors(OptionError(message)):
        panels = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(panels) not in counts or not all(isinstance(ax, kind) for ax in panels):
        raise OptionError(message)
    return panels


def square_axes(ax: "Axes | None", top: float = 1.0) -> "Axes":
    """Return square axes for two shares, in percent, from 0 to 1.

    If `top` is below 0.7, the axes end 3% above it, or at their previous end if that is
    larger.
    """
    ax = axes_of(ax, SQUARE_SIDE, SQUARE_SIDE)
    before = ax.get_xlim()[1] if ax.has_data() else 0.0
    end = 1.0 if top >= 0.7 else max(1.03 * top, before / (1.0 + SQUARE_PADDING))
    # With the padding, lines along the sides are visible.
    sides = -SQUARE_PADDING * end, (1.0 + SQUARE_PADDING) * end
    ax.set(xlim=sides, ylim=sides, aspect="equal")
    write_percent(ax.xaxis, ax.yaxis)
    return ax


# ------------------------------------------------------------------- lines


def merge(style: Style, **defaults: object) -> dict[str, Any]:
    """Add defaults to the user's line properties, which take precedence.

    Examples
    --------
    >>> merge({"lw": 3}, linewidth=1.0, color="k")
    {'linewidth': 3, 'color': 'k'}
    """
    pyplot()
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    try:
        properties = normalize_kwargs(dict(style), Line2D)
        Line2D([], [], **properties)
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(
            f"{error}; pass ax, or properties of lines such as color or label."
        ) from None
    return defaults | properties


def join_labels(line: Style, label: str) -> str:
    """Put the user's label, if any, before `label`."""
    own = merge(line).get("label")
    return ", ".join(str(text) for text in (own, label) if text)


def draw_line(
    ax: "Axes",
    x: "ArrayLike",
    y: "ArrayLike",
    *band: "ArrayLike",
    line: Style,
    label: str = "",
    **defaults: object,
) -> "Line2D":
    """Draw a line and, with two further curves, the band between them in its colour.

    Unless `defaults` contain a colour, the line has the next style of the axes. The
    user's label precedes `label`.
    """
    if "color" not in defaults:
        way = next_style(ax)
        defaults = {"color": way.colour, "linestyle": way.dashes, **defaults}
        if "markevery" in defaults:
            defaults["marker"] = way.marker
    look = merge(line, **defaults) | {"label": join_labels(line, label)}
    (curve,) = ax.plot(x, y, **look)
    if band:
        fill: Style = {"alpha": opacity(ax), "linewidth": 0.0, "zorder": 1}
        ax.fill_between(x, band[0], band[1], color=curve.get_color(), **fill)
    return curve


def draw_points(
    ax: "Axes", x: "ArrayLike", y: "ArrayLike", size: float, line: Style, label: str
) -> Any:
    """Draw points in the next style, and return their colour."""
    way = next_style(ax)
    look: Style = {"color": way.colour, "marker": way.marker, "markersize": size}
    own = {**look, **merge(line), "linestyle": "none"}
    return draw_line(ax, x, y, line=own, label=label, color=way.colour).get_color()


def draw_curves(ax: "Axes", curves: Curves, line: Style, **look: float | str) -> None:
    """Draw labelled lines, each in its style."""
    for label, curve in curves.items():
        draw_line(ax, *curve, line=line, label=label, **look)


def draw_rug(ax: "Axes", values: Floats, colour: "ColorType", **look: Any) -> None:
    """Draw short strokes at values along the lower edge of axes."""
    place: Style = {"transform": ax.get_xaxis_transform(), "scaley": False}
    ax.plot(values, np.zeros(len(values)), "|", color=colour, **place, **look)


def text_colour(ax: "Axes") -> "ColorType":
    """Return the colour of the axes' text, which is light in dark styles."""
    return ax.xaxis.label.get_color()


def opacity(ax: "Axes", share: float = BAND_OPACITY) -> float:
    """Return an opacity, twice `share` on dark axes, where colours fade."""
    from matplotlib.colors import to_rgb

    return min(share * (1.0 + (sum(to_rgb(text_colour(ax))) > 1.5)), 1.0)


def draw_reference(
    ax: "Axes", x: Any, y: Any, label: str = "", linestyle: Dashes = ":"
) -> None:
    """Draw a reference line, unless the axes already have one with this label.

    The legend omits labels that begin with ``_``. A number for `x` or `y`, with None
    for the other, draws a line across the axes.
    """
    if label and label in [line.get_label() for line in ax.lines]:
        return
    look: Style = {"color": text_colour(ax), "linewidth": 1.1, "alpha": 0.75}
    look = {**look, "linestyle": linestyle}
    if y is None:
        ax.axvline(x, label=label, **look)
    elif x is None:
        ax.axhline(y, label=label, **look)
    else:
        ax.plot(x, y, label=label, scalex=False, scaley=False, **look)


# ------------------------------------------------------------------ scales


def is_wide(values: Floats) -> bool:
    """Test whether the positive values span more than a factor of ten.

    Examples
    --------
    >>> is_wide(np.array([1.0, 9.0])), is_wide(np.array([0.0, 1.0, 11.0]))
    (False, True)
    """
    above = values[values > 0.0]
    return above.size > 0 and bool(above.max() > 10.0 * above.min())


def log_ticks(
    low: float,
    high: float,
    inches: float,
    gap: float,
    letter: float,
    values: Sequence[float] = (),
) -> Floats:
    """Return the ticks of a logarithmic axis: 1, 2 and 5 of each decade, if they fit.

    Otherwise powers of 10, every second of the former, powers of 100, and so on, if
    possible with 1. If fewer than two are on the axis, the ticks are multiples of one
    number.

    Parameters
    ----------
    low, high : float
        Ends of the axis.
    inches : float
        Length of the axis.
    gap, letter : float
        Inches between two labels, and inches per letter of a label.
    values : sequence of float, optional
        Increasing values. The ticks are all of them, every second, and so on.

    Examples
    --------
    >>> log_ticks(0.3, 4.0, 3.0, 0.1, 0.1)
    array([0.5, 1. , 2. ])
    >>> log_ticks(0.1, 6.0, 1.0, 0.1, 0.1)
    array([0.2, 1. , 5. ])
    >>> log_ticks(2.5, 4.0, 3.0, 0.1, 0.1)
    array([2.5, 3. , 3.5, 4. ])
    >>> [f"{tick:g}" for tick in log_ticks(2e-6, 0.5, 2.0, 0.1, 0.1)]
    ['0.0001', '0.01']
    >>> log_ticks(0.01, 4.0, 3.0, 0.1, 0.1, [0.03, 0.3, 3.0])
    array([0.03, 0.3 , 3.  ])
    """
    from matplotlib.ticker import MaxNLocator

    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    usual = np.outer(10.0**decades, [1.0, 2.0, 5.0]).ravel()
    place = np.arange(len(usual)) + 3 * int(decades[0])  # 0 at the value 1
    powers = range(6, 3 * len(decades), 3)
    shifted = [(step, first) for step in powers for first in range(3, step, 3)]
    kinds = [*((step, 0) for step in (1, 3, 2, *powers)), *shifted, (4, 0), (5, 0)]
    steps = [step for step, _ in kinds]
    candidates = [usual[place % step == first] for step, first in kinds]
    for bins in range(6, 0, -1):
        even = MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10])
        candidates.append(np.asarray(even.tick_values(low, high)))
    thinned = [np.array(values[::step]) for step in range(1, len(values) + 1)]
    steps, candidates = [-1] * len(thinned) + steps + [0] * 6, thinned + candidates
    for step, candidate in zip(steps, candidates, strict=True):
        ticks: Floats = candidate[(candidate >= low) & (candidate <= high)]
        lengths = np.array([len(tick_text(tick)) for tick in ticks])
        between = np.diff(np.log10(ticks)) * inches / np.log10(high / low)
        needed = gap + letter * (lengths[1:] + lengths[:-1]) / 2.0
        fewest = {-1: 1, 3: 3}.get(step, 2)
        if len(ticks) >= fewest and (between >= needed).all():
            return ticks
    return ticks[:1]


def tick_text(value: float) -> str:
    """Write a tick of a logarithmic axis.

    Examples
    --------
    >>> tick_text(0.5), tick_text(1e-5), tick_text(1e-9), tick_text(2e6)
    ('0.5', '0.00001', '1e-9', '2e6')
    """
    if 0.99e-5 < value < 1e-4:
        return f"{value:.7f}".rstrip("0")
    return re.sub(r"e([-+])0*", r"e\1", f"{value:.6g}").replace("+", "")


def write_decimals(axis: "Axis", values: Sequence[float] = ()) -> None:
    """Label a logarithmic axis by plain numbers, see `log_ticks`.

    Ticks at `values` remain if the axis is labelled again without values.
    """
    values = [float(f"{value:.3g}") for value in values]
    values = vars(axis).setdefault("tick_values", values)
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    class Decimals(LogLocator):
        """Ticks that follow the limits and the length of the axis."""

        def __call__(self) -> Any:
            box, dpi = axis.axes.get_window_extent(), axis.figure.figure.dpi
            size = float(axis.majorTicks[0].label1.get_fontsize())
            if axis is axis.axes.yaxis:
                length, gap, letter = box.height, 1.6 * size / 72.0, 0.0
            else:
                length, gap, letter = box.width, size / 72.0, 1.1 * LETTER_WIDTH * size
            low, high = sorted(axis.get_view_interval())
            return log_ticks(low, high, length / dpi, gap, letter, values)

    axis.set_major_locator(Decimals())
    axis.set_major_formatter(lambda x, _: tick_text(x))
    axis.set_minor_formatter(NullFormatter())
    if values:
        axis.set_minor_locator(NullLocator())


def write_percent(*axes: "Axis") -> None:
    """Label shares in percent."""
    from matplotlib.ticker import Formatter

    for axis in axes:
        axis.set_major_formatter(lambda p, _: Formatter.fix_minus(percent(p, 6)))


def percent(share: float, digits: int = 3) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.1234)
    '12.3%'
    """
    return f"{100.0 * share:.{digits}g}%"


def metric_name(name: str) -> str:
    """Return the name of a metric for figures.

    Examples
    --------
    >>> metric_name("error_rate"), metric_name("auc")
    ('Error rate', 'AUC')
    """
    words = name.replace("_", " ")
    return METRIC_NAMES.get(name, as_text(words[:1].upper() + words[1:]))


# ------------------------------------------------------------ names and texts


def as_text(name: object) -> str:
    r"""Escape a name so that matplotlib prints it literally.

    Unprintable characters become the replacement character.

    Examples
    --------
    >>> as_text("price in $"), as_text("_hidden"), as_text(5)
    ('price in \\$', ' _hidden', '5')
    """
    text = str(name)
    text = text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"
    letters = (
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    plain = "".join(letters).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def abbreviate(names: Sequence[object], width: int) -> list[str]:
    """Shorten names to at most `width` letters; different names stay different.

    If names have a common beginning, it is removed; otherwise whole words are, after
    the first one, if half of the letters remain; else the middle of each name, with
    words of which one to three letters would remain. If two results are equal, the
    common beginning, if any, and the end are removed, or names are numbered.

    Examples
    --------
    >>> abbreviate(["concentration in plasma A", "concentration in plasma B"], 12)
    ['…in plasma A', '…in plasma B']
    >>> abbreviate(["no admission within 30 days"], 20)
    ['no admission … days']
    >>> abbreviate(["aaaaaa1bbbbbb", "aaaaaa2bbbbbb"], 6)
    ['…1bbb…', '…2bbb…']
    """
    whole = [" ".join(str(name).split()) for name in names]
    long = {name for name in whole if len(name) > width}
    start = commonprefix(whole).rpartition(" ")[0]  # noqa: RUF071
    if start and 0 < len(long) < len(set(whole)):
        ends = [f"…{name[len(start) + 1 :]}" for name in whole]
        if max(map(len, ends)) <= width:
            return ends
    first, tail = len(commonprefix(list(long))), width // 2  # noqa: RUF071
    middles = {name: f"{name[: width - 1 - tail]}…{name[-tail:]}" for name in long}
    words, alike = dict[str, str](), dict[str, list[str]]()
    for name in sorted(long):
        words[name] = _by_words(name, width) or middles[name]
        alike.setdefault(name.split()[0], []).append(name)
    for group in alike.values():
        if 1 < len(group) < len(long):  # with a common beginning
            words |= zip(group, abbreviate(group, width), strict=True)
    ways = [
        words,
        {name: PART_OF_WORD.sub("…", middles[name]) for name in long},
        middles,
        {name: "…" * (first > 0) + name[first:][: width - 2] + "…" for name in long},
        {n: f"{n[: width - 1 - len(str(j))]}…{j}" for j, n in enumerate(sorted(long))},
    ]
    if len(long) > 1 and first > 1 and max(map(len, long)) - first < width:
        before = {name: name[len(name) - width : first] for name in long}
        for name, end in before.items():  # begins with a whole word
            before[name] = re.sub(r"^([^\s_]*[\s_]|.)", "", end)
        ways.insert(0, {name: f"…{end}{name[first:]}" for name, end in before.items()})
    for way in ways:
        short = [way.get(name, name) for name in whole]
        if len(set(short)) == len(set(whole)):
            break
    return short


def _by_words(name: str, width: int) -> str:
    """Omit whole words of a name, but not the first.

    The last word remains if half of the width is then used. The text is empty if less
    would be used without the last word too.
    """
    parts, middle = PART_OF_NAME.findall(name), ""
    starts = [j for j in range(1, len(parts)) if not parts[j].isspace()]
    heads = ["".join(parts[:j]) for j in starts]
    tails = ["".join(parts[j:]) for j in range(2, len(parts)) if parts[j - 1].strip()]
    for head in heads:
        room = width - len(head) - 1
        tail = next((tail for tail in tails if len(tail) <= room), None)
        if tail is not None and len(head) + len(tail) < len(name):
            middle = max(f"{head}…{tail}", middle, key=len)
    ends = [f"{head.rstrip()}…" for head in heads if len(head.rstrip()) < width]
    best = middle if 2 * len(middle) >= width else max([middle, *ends], key=len)
    return best if 2 * len(best) >= width else ""


def factor_level(term: object) -> tuple[str, str, str] | None:
    """Return factor, variable and level of a coefficient; None if it has no level.

    Examples
    --------
    >>> factor_level("relevel(ward, ref='A')[T.B]")
    ("relevel(ward, ref='A')", 'ward', 'B')
    """
    factor, bracket, level = str(term).partition("[T.")
    if not bracket or not level.endswith("]") or "]:" in level or ":" in factor:
        return None
    return factor, FACTOR_CALL.sub(r"\1", factor), level[:-1]


def term_text(term: object) -> str:
    """Return the name of a coefficient for figures; a level follows its variable.

    Examples
    --------
    >>> term_text("relevel(ward, ref='A')[T.B]"), term_text("a[T.b]:x")
    ('ward: B', 'a[T.b]:x')
    """
    own = factor_level(term)
    return str(term) if own is None else f"{own[1]}: {own[2]}"


class GroupHeading(str):
    """The name of a row above the levels of a factor."""


def with_headings(names: Sequence[str]) -> list[str]:
    """Insert a heading above the levels of each factor, named ``factor: level``.

    Examples
    --------
    >>> with_headings(["age", "ward: B", "ward: C"])
    ['age', 'ward:', 'ward: B', 'ward: C']
    """
    rows = dict[str, None]()
    for name in names:
        variable, colon, _ = name.partition(": ")
        if colon and sum(other.startswith(f"{variable}: ") for other in names) > 1:
            rows.setdefault(GroupHeading(f"{variable}:"))
        rows[name] = None
    return list(rows)


class NameWrapper(TextWrapper):
    """Wraps texts between words; a word longer than a line, after an underscore."""

    def _split(self, text: str) -> list[str]:
        """Split a text into spaces and the parts that stay together."""
        words = re.findall(r"\s+|\S+", text)
        long = (len(word) > self.width for word in words)
        parts = [
            PART_OF_NAME.findall(word) if is_long else [word]
            for word, is_long in zip(words, long, strict=True)
        ]
        return [part for word in parts for part in word]


def wrap_text(
    text: str, width: int, most: int = MAX_TEXT_LINES, end: str = " …"
) -> str:
    """Wrap a text into at most `most` lines of `width` letters."""
    return "\n".join(NameWrapper(width, max_lines=most, placeholder=end).wrap(text))


def balance_text(text: str, width: int) -> str:
    """Wrap a text, see `wrap_text`, into lines of similar length.

    Examples
    --------
    >>> print(balance_text("2 rows without label or score excluded", 32))
    2 rows without label
    or score excluded
    """
    wrapped = wrap_text(text, width)
    count, whole = wrapped.count("\n"), "".join(wrapped.split())
    longest = max(map(len, PART_OF_NAME.findall(text)), default=0)
    for letters in range(width - 1, max(longest, 8) - 1, -1):
        narrower = wrap_text(text, letters)
        if narrower.count("\n") > count or "".join(narrower.split()) != whole:
            break
        wrapped = narrower
    return wrapped


def fit_names(names: Sequence[object], width: int, most: int = 2) -> list[str]:
    """Wrap names into at most `most` lines of `width` letters; shorten longer ones.

    Names of reference levels end with ``(ref.)`` in any case.
    """
    short = _abbreviate_levels(names, most * width - 4 * (most - 1))
    texts = [wrap_text(name, width, most, "…") for name in short]
    if len(set(texts)) < len({str(name) for name in names}):
        texts = _abbreviate_levels(names, width)
    return [as_text(text) for text in texts]


def _abbreviate_levels(names: Sequence[object], width: int) -> list[str]:
    """Shorten names, see `abbreviate`, but keep the mark of reference levels."""
    levels, room = [str(name) for name in names], width - len(REFERENCE)
    levels = [x.removesuffix(PER_UNIT) if len(x) > width else x for x in levels]
    short = abbreviate([level.removesuffix(REFERENCE) for level in levels], width)
    for j, level in enumerate(levels):
        if level.endswith(REFERENCE):
            if len(short[j]) > room:
                beginning = short[j][1 : room - 1].partition("…")[0]
                short[j] = f"{short[j][0]}{beginning}…"
            short[j] += REFERENCE
    return short


def short_levels(names: Sequence[object]) -> list[str]:
    """Return the names of the classes for use in texts, shortened where they agree.

    Examples
    --------
    >>> short_levels([f"discharged to a {x} within 30 days" for x in ("home", "ward")])
    ['…to a home within 30 days', '…to a ward within 30 days']
    """
    return [as_text(name) for name in abbreviate(names, MAX_LEVEL_LENGTH)]


def short_level(name: object) -> str:
    """Return the name of a class for use in a text; a long name loses its middle."""
    return short_levels([name])[0]


def column_width(ax: "Axes") -> float:
    """Return the width of a column of panels, in inches."""
    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    return float(ax.figure.bbox.width / ax.figure.dpi / columns)


def name_rows(
    ax: "Axes", names: Iterable[object], share: float = 0.45
) -> dict[object, float]:
    """Label rows from the top and return their positions.

    Rows that the axes already label remain in their positions; new rows follow below.
    Names take at most this `share` of the width of a column of panels. Below a heading
    (see `with_headings`), levels are labelled without the variable. If there are
    headings, all names except these levels are bold.
    """
    attributes = vars(ax.yaxis.get_major_formatter())
    size = attributes.get("size", float(ax.get_yticklabels()[0].get_fontsize()))
    rows: dict[object, float] = dict(attributes.get("rows", {}))
    for name in names:
        rows.setdefault(name, float(len(rows)))
    ax.tick_params(axis="y", length=0.0)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    vars(ax.yaxis.get_major_formatter()).update(rows=rows, size=size, share=share)
    _write_rows(ax)
    return rows


def _write_rows(ax: "Axes") -> None:
    """Label rows again, in letters so small that the names do not overlap."""
    attributes = vars(ax.yaxis.get_major_formatter())
    if "rows" not in attributes:
        return
    rows, most_size, share = (attributes[name] for name in ("rows", "size", "share"))
    room = 66.0 * ax.get_window_extent().height / ax.figure.dpi / max(len(rows), 1)
    size = min(most_size, max(room, 4.0))
    width = int(share * column_width(ax) / (LETTER_WIDTH * size))
    most = int(np.clip(room / (1.4 * size), 1, 3))
    above = tuple(f"{name} " for name in rows if isinstance(name, GroupHeading))
    groups = dict[str, dict[object, str]]()  # shortened together
    for name in rows:
        factor = next((part for part in above if str(name).startswith(part)), "")
        group = "headings" if isinstance(name, GroupHeading) else factor
        groups.setdefault(group, {})[name] = str(name).removeprefix(factor)
    width, texts = min(max(width, 8), 40), dict[object, str]()
    for own in groups.values():
        texts.update(zip(own, fit_names([*own.values()], width, most), strict=True))
    ax.set_yticks([*rows.values()], [texts[name] for name in rows], fontsize=size)
    for label, name in zip(ax.get_yticklabels(), rows, strict=True):
        is_level = not above or str(name).startswith(above)
        label.set_fontweight("normal" if is_level else "bold")
    vars(ax.yaxis.get_major_formatter()).update(rows=rows, size=most_size, share=share)


def name_columns(ax: "Axes", names: Sequence[object]) -> None:
    """Label the columns of an image, each within its width."""
    size = float(ax.get_xticklabels()[0].get_fontsize())
    ax.set_xticks(range(len(names)))
    vars(ax.xaxis.get_major_formatter()).update(columns=names, size=size)
    _write_columns(ax)


def _write_columns(ax: "Axes") -> None:
    """Label columns again, after the layout has changed."""
    attributes = vars(ax.xaxis.get_major_formatter())
    if "columns" not in attributes:
        return
    names, most_size = attributes["columns"], attributes["size"]
    inches = ax.get_window_extent().width / ax.figure.dpi / len(names)
    most = min(max(inches, 0.7), 1.0) * most_size
    for size in (most, 0.85 * most, most):  # smaller letters if names are then whole
        room = int(1.2 * inches / (LETTER_WIDTH * size))
        for letters in range(max(room, 1), 0, -1):
            texts = fit_names(names, letters, 3)
            ax.set_xticks(range(len(names)), texts, fontsize=size)
            boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
            if max(box.width for box in boxes) <= 0.95 * inches * ax.figure.dpi:
                break
        if "…" not in "".join(texts):
            break
    vars(ax.xaxis.get_major_formatter()).update(columns=names, size=most_size)


def name_ends(ax: "Axes", names: Sequence[str], values: Floats) -> None:
    """Write names at the right ends of lines, without overlap, in their colours.

    Parameters
    ----------
    ax : Axes
    names : sequence of str
        Names of the lines, whose labels are ``_`` and the name.
    values : float64 array
        Heights of their ends.
    """
    low, high = ax.get_ylim()
    size = 0.8 * float(pyplot().rcParams["font.size"])
    box = ax.get_window_extent()
    step = 1.3 * size / 72.0 * ax.figure.dpi / box.height * (high - low)
    order = np.argsort(values, kind="stable")
    places = values[order] + np.zeros(len(values))
    for _ in range(50):  # moves close neighbours apart by equal steps
        near = np.maximum(0.0, step - np.diff(places)) / 2.0
        places[:-1] -= near
        places[1:] += near
    end, lines = ax.get_xlim()[1], {line.get_label(): line for line in ax.lines}
    for j, place in zip(order, places, strict=True):
        colour = lines[f"_{names[j]}"].get_color()
        look: Style = {"xytext": (4, 0), "textcoords": "offset points", "size": size}
        look = {**look, "va": "center", "color": colour, "annotation_clip": False}
        ax.annotate(as_text(names[j]), (end, place), **look)


def finish(
    *axes: "Axes", legend: object = True, percent: str = "", **labels: str
) -> "Axes":
    """Add labels and the legend, and wrap all texts so that they fit the axes.

    Parameters
    ----------
    *axes : Axes
        Axes of one figure. The first of them gets the labels.
    legend : bool
        Whether to add a legend above the axes.
    percent : str
        Axes of the first panel that are labelled in percent, such as ``"xy"``.
    **labels : str
        ``xlabel``, ``ylabel`` and ``title``.
    """
    axes[0].set(**labels)
    write_percent(*(getattr(axes[0], f"{name}axis") for name in percent))
    with _print_resolution(axes[0].figure.figure):
        _fit_figure(axes, legend=bool(legend))
    return axes[0]


@contextmanager
def _print_resolution(figure: "Figure") -> Iterator[None]:
    """Measure texts as in print; on screens, letters can be a tenth narrower."""
    canvas, dpi = figure.canvas, figure.dpi
    manager, canvas.manager = canvas.manager, None  # no window is resized
    try:
        most = MOST_PIXELS / max(figure.get_size_inches())
        figure.set_dpi(max(dpi, min(PRINT_DPI, most)))
        yield
    finally:
        figure.set_dpi(dpi)
        canvas.manager = manager


def _fit_figure(axes: Sequence["Axes"], *, legend: bool) -> None:
    """Fit texts, ticks and legends of all panels of a figure to its layout."""
    figure = axes[0].figure.figure
    before = [ax for ax in vars(figure).get("panels", []) if ax in figure.axes]
    others = [ax for ax in before if ax not in axes]  # the layout may change them
    vars(figure)["panels"] = [*others, *axes]
    for ax in (*others, *axes):
        if (box := _own_legend(ax)) and (legend or ax in others):
            box.set_in_layout(False)  # a wide legend would narrow the axes
        vars(ax).pop("legend_sides", None)
    last = np.zeros(0)
    for count in range(MAX_LAYOUTS):  # the layout changes the room for texts
        _lay_out(figure)
        boxes = _boxes((*others, *axes))
        if count > 1 and np.allclose(boxes, last, rtol=0.0, atol=LAYOUT_TOLERANCE):
            break
        last = boxes
        for ax in (*others, *axes):
            _write_rows(ax)
            _write_columns(ax)
            _thin_ticks(ax.xaxis)
            _thin_ticks(ax.yaxis)
            _wrap_texts(ax, is_known=ax in others)
            if _own_legend(ax) if ax in others else legend:
                _put_legend(ax)
        for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
            if axis.get_scale() == "log":
                write_decimals(axis)
    else:
        _lay_out(figure)
    fixed = [ax for ax in figure.axes if ax.get_aspect() != "auto"]
    for _ in range(MAX_LAYOUTS):  # axes with a fixed aspect rest later
        if all(map(_is_inside, fixed)):
            break
        _lay_out(figure)
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        _thin_ticks(axis)


def _is_inside(ax: "Axes") -> bool:
    """Test whether axes and their texts are inside the figure."""
    box, page = ax.get_tightbbox(), ax.figure.figure.bbox
    outside = box is not None and np.any([box.min < page.min, box.max > page.max])
    return not outside


def _boxes(axes: Iterable["Axes"]) -> Floats:
    """Return places and sizes of axes, which a fixed aspect makes smaller."""
    for ax in axes:
        ax.apply_aspect()
    return np.ravel([ax.get_position().bounds for ax in axes])


def _own_legend(ax: "Axes") -> "Legend | None":
    """Return the legend of axes if it is from the package."""
    legend = ax.get_legend()
    return legend if legend is vars(ax).get("legend_box") else None


def _thin_ticks(axis: "Axis") -> None:
    """Write fewer numbers along an axis if they would touch.

    The number of ticks does not grow when the resolution or the layout changes.
    """
    from matplotlib.ticker import MaxNLocator

    locator, steps = axis.get_major_locator(), np.diff(axis.get_ticklocs())
    if not isinstance(locator, MaxNLocator) or not steps.size:
        return
    low, high = sorted(axis.get_view_interval())
    own, way = axis.axes.get_window_extent(), int(axis is axis.axes.yaxis)
    gap = 0.04 * float(axis.label.get_fontsize()) / 10.0 * axis.figure.dpi
    for bins in range(int(np.ceil((high - low) / steps[0])), 0, -1):
        locator.set_params(nbins=bins)
        boxes = [text.get_window_extent() for text in axis.get_ticklabels()]
        ends = sorted((box.min[way], box.max[way]) for box in boxes)
        inside = [
            end for end in ends if own.min[way] < end[1] and end[0] < own.max[way]
        ]
        if all(left[1] + gap <= right[0] for left, right in pairwise(inside)):
            break


class Panel(NamedTuple):
    """Ends of axes, and of their panel with names and texts, in pixels."""

    left: float
    start: float
    end: float
    right: float
    middle: float  # room for a text that is centred on the axes
    height: float
    letters: float  # relative size of letters, smaller in narrow panels


def _panel(ax: "Axes") -> Panel:
    """Measure a panel; axes with a fixed aspect are smaller than their place in it."""
    place = ax.get_position(original=True).transformed(ax.figure.transSubfigure)
    own, names = ax.get_window_extent(), ax.yaxis.get_tightbbox()
    left = max(0.0, min(place.x0, own.x0 if names is None else names.x0))
    right = max([place.x1, *(text.get_window_extent().x1 for text in ax.texts)])
    right = min(right, ax.figure.figure.bbox.width)
    centre = (own.x0 + own.x1) / 2.0
    middle = 2.0 * min(centre - left, place.x1 - centre)
    inches = column_width(ax)
    letters = 1.0 if inches > 4.2 else 0.75 if inches > 2.0 else 0.6
    has_legend = bool(ax.get_legend_handles_labels()[1])  # above the axes
    height = min(place.height, own.height) if has_legend else place.height
    return Panel(left, own.x0, own.x1, right, middle, height, letters)


def _wrap_texts(ax: "Axes", *, is_known: bool = False) -> None:
    """Wrap title and labels; if names are left of the axes, texts may be below them.

    If `is_known`, only texts that were wrapped before are.
    """
    panel = _panel(ax)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        wrapped, shown = vars(text).setdefault("wrapped", {}), text.get_text()
        if is_known and shown not in wrapped:
            continue
        whole = wrapped.get(shown, shown)  # the text before it was wrapped
        if text is ax.title:
            text.set_fontsize(pyplot().rcParams["axes.titlesize"])
            text.set_fontsize(panel.letters * float(text.get_fontsize()))
        if text is ax.yaxis.label:
            _fit_text(text, whole, panel.height)
        elif (
            _fit_text(text, whole, panel.middle) > 1 + whole.count("\n")
            and (wide := panel.end - panel.left) > 1.5 * panel.middle
        ):
            text.set(x=1.0, horizontalalignment="right")
            _fit_text(text, whole, wide)
        wrapped[text.get_text()] = whole


def _fit_text(text: "Text", whole: str, room: float) -> int:
    """Write a text in lines that fit into pixels, and return the number of lines."""
    rows = whole.replace(r"\$", "$").split("\n")
    inches, now = room / text.figure.figure.dpi, float(text.get_fontsize())
    sizes = vars(text).get("sizes", (now,))
    sizes = (sizes[0] if now in sizes else now) * np.array([1.0, SMALL_LABEL])
    vars(text)["sizes"] = sizes.tolist()
    longest = max(map(len, PART_OF_NAME.findall(whole)), default=0)
    for size in sizes[[0, 1, 0]].tolist():  # smaller letters if they keep words whole
        text.set_fontsize(size)
        width = int(1.2 * inches / (LETTER_WIDTH * size))
        for letters in range(max(width, 8), 7, -1):
            lines = "\n".join(balance_text(row, letters) for row in rows)
            text.set_text(as_text(lines))
            box = text.get_window_extent()
            if (box.width if text.get_rotation() == 0.0 else box.height) <= 0.97 * room:
                break
        if longest <= letters:
            break
    return text.get_text().count("\n") + 1


def _put_legend(ax: "Axes") -> None:
    """Add the legend in as many columns as fit, in narrow panels with smaller letters.

    If it is too wide for the axes, it begins at the left end of the panel. If it is
    too wide for the panel, its texts are wrapped.
    """
    from matplotlib.transforms import ScaledTranslation

    if not (labels := ax.get_legend_handles_labels()[1]):
        return
    panel, dpi = _panel(ax), ax.figure.figure.dpi
    reserve = LAYOUT_TOLERANCE * ax.figure.figure.bbox.width
    sides = np.array([panel.right - panel.start, panel.start - panel.left])
    if before := _own_legend(ax):
        last = vars(ax).get("legend_sides", -np.inf)
        if np.allclose(sides, last, rtol=0.0, atol=reserve):
            before.set_in_layout(True)
            return
        before.remove()
    vars(ax)["legend_sides"] = sides
    width = (panel.right - panel.left) / dpi
    look: Style = {"loc": "lower left", "frameon": False}
    look = {**look, "fontsize": panel.letters * pyplot().rcParams["font.size"]}
    look = {**look, "borderaxespad": 0.2, "handlelength": min(2.0, 1.2 * width)}
    starts = (panel.start, panel.left)
    for columns, start in product(range(len(labels), 0, -1), starts):
        room, shift = panel.right - start - reserve, (start - panel.start) / dpi
        moved = ScaledTranslation(shift, 0.0, ax.figure.dpi_scale_trans)
        look |= {"bbox_to_anchor": (0.0, 1.0), "bbox_transform": ax.transAxes + moved}
        box = ax.legend(ncols=columns, **look)
        if box.get_window_extent().width <= room:
            break
    letters = max(map(len, labels))
    while box.get_window_extent().width > room and letters > 8:
        letters -= 1
        for text, label in zip(box.get_texts(), labels, strict=True):
            text.set_text(balance_text(label, letters))
    vars(ax)["legend_box"] = box
    if ax.get_title():  # moves above the legend
        height = box.get_window_extent().height * 72.0 / dpi
        look = {
            "size": ax.title.get_fontsize(),
            "ha": ax.title.get_horizontalalignment(),
            "weight": ax.title.get_fontweight(),
            "color": ax.title.get_color(),
        }
        ax.set_title(ax.get_title(), pad=height + 6.0, **look)


def _lay_out(figure: "Figure") -> None:
    """Run the layout engine of a figure, by default the constrained one.

    Without an engine of its own the figure has this layout at any resolution, with
    wider margins, because letters of some resolutions are wider.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if not any(ax.get_subplotspec() for ax in figure.axes):
        return
    with warnings.catch_warnings():  # texts may be too wide before they are wrapped
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        engine = figure.get_layout_engine() or ConstrainedLayoutEngine(w_pad=0.08)
        engine.execute(figure)
