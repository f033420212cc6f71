"""What all figures share: axes, lines, names that fit, percent axes, the legend.

A figure keeps the settings of its user. Axes that are passed keep their look; new ones
have a light grid and two spines. The layout leaves room for names. Colours are safe for
the colour-blind and readable in grey; what is neither level nor model has the colour of
the text, so that dark styles show it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from os.path import commonprefix
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DependencyError, OptionError, shown

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"
Floats = NDArray[np.float64]
Dashes = str | tuple[int, tuple[int, ...]]
Style = Mapping[str, Any]
Curves = Mapping[str, Iterable[Floats]]

WIDTH, HEIGHT = 6.4, 4.0  # inches of a figure with one panel
SQUARE = 4.8
EDGE = 0.02  # of square axes, beyond their ends

# Okabe & Ito's colours, ordered so that neighbours differ in lightness too.
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"  # the two levels of an outcome
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: Sequence[Dashes] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
MARKED = 0.12  # of the diagonal of axes, between two markers of a line
BAND = 0.18  # opacity

DECADE = 10.0  # ratio of the largest to the smallest value, above which axes are log
LETTER = 0.0075  # inches of a letter, for each point of its size
LONGEST = 400  # letters of a name
LEVEL = 28  # letters of a level within a text
NAMES, WIDEST = 0.45, 40  # share of a figure's width, and letters, of names of rows
ROOM = 66.0  # points of an inch of axes that names of rows have, beside margins
SMALLEST = 4.0  # points
MOST_LINES = 4  # of a title or a label
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
NARROW = 3.2  # inches of axes, below which a legend has smaller letters
BESIDE = 24  # letters in a line of a legend beside axes
SAMPLE = 7  # letters as wide as the sample of a line in a legend
OUTSIDE = {  # places of a legend beside axes that are full
    "above": ("lower left", (0.0, 1.0)),
    "right": ("center left", (1.0, 0.5)),
}


class Line(NamedTuple):
    """How one of several lines is drawn; each differs in every respect."""

    colour: str
    dashes: Dashes
    marker: str


def lines(count: int) -> list[Line]:
    """Ways to draw `count` lines; the first 36 all differ.

    Examples
    --------
    >>> [line.marker for line in lines(3)]
    ['o', 's', '^']
    """
    ways = len(COLOURS)
    others = [(i + i // ways) % ways for i in range(count)]
    return [
        Line(COLOURS[i % ways], DASHES[other], MARKERS[other])
        for i, other in enumerate(others)
    ]


def pyplot() -> Any:
    """``matplotlib.pyplot``, loaded when first needed.

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
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> NDArray[np.object_]:
    """Axes of a new figure, shape (rows, columns); `size` in inches."""
    own = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, made = pyplot().subplots(rows, columns, **own)
    figure.savefig = partial(write_figure, figure)
    for ax in made.flat:
        dress(ax)
    return np.asarray(made, dtype=object)


def write_figure(figure: "Figure", *place: str, **options: Any) -> None:
    """Write a figure whose PDF and PostScript embed TrueType fonts, as journals ask.

    Figures of the user are written by the user's settings: for the same set
    ``rcParams["pdf.fonttype"] = rcParams["ps.fonttype"] = 42``.
    """
    with pyplot().rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
        type(figure).savefig(figure, *place, **options)


def dress(ax: "Axes") -> "Axes":
    """Give new axes the look of the package: colours, two spines, a light grid."""
    ax.set_prop_cycle(color=COLOURS, linestyle=DASHES)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, linewidth=0.6, alpha=0.35)
    ax.set_axisbelow(True)
    return ax


def axes_of(ax: "Axes | None", width: float = WIDTH, height: float = HEIGHT) -> "Axes":
    """The axes passed, or those of a new figure of this size in inches."""
    cure = "the axes of one panel: plt.subplots()[1]"
    return panels_of(ax, [1], cure, (width, height))[0]


def panels_of(
    ax: object, counts: Sequence[int], cure: str, size: tuple[float, float]
) -> list["Axes"]:
    """The panels passed, or new ones below each other, the last of `counts`.

    Raises
    ------
    OptionError
        If `ax` is no Axes, or another number of them.
    """
    if ax is None:
        return [*new_axes(counts[-1], 1, size).flat]
    kind, refused = pyplot().Axes, f"ax={shown(ax)} is not allowed; give {cure}."
    with convert_errors(OptionError(refused)):
        found = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(found) not in counts or not all(isinstance(each, kind) for each in found):
        raise OptionError(refused)
    return found


def square_axes(ax: "Axes | None", end: float = 1.0) -> "Axes":
    """Square axes of two shares from 0 to `end`, in percent."""
    ax = axes_of(ax, SQUARE, SQUARE)
    sides = -EDGE * end, (1.0 + EDGE) * end  # so that lines along them are visible
    ax.set(xlim=sides, ylim=sides, aspect="equal")
    write_percent(ax.xaxis, ax.yaxis)
    return ax


# ------------------------------------------------------------------- lines


def merged(style: Style, **defaults: object) -> dict[str, Any]:
    """Keywords of a line: those of the user, else the defaults.

    Examples
    --------
    >>> merged({"lw": 3}, linewidth=1.0, color="k")
    {'linewidth': 3, 'color': 'k'}
    """
    pyplot()
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    try:
        given = normalize_kwargs(dict(style), Line2D)
        Line2D([], [], **given)
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(
            f"{error}; give ax, or properties of lines such as color or label."
        ) from None
    return defaults | given


def labelled(line: Style, label: str) -> str:
    """A label, after that of the user where there is one."""
    own = merged(line).get("label")
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
    """Draw a line, with a band of its colour between two further curves, if given.

    It has the next colour of the axes; a label of the user stands before its own.
    """
    look = merged(line, **defaults) | {"label": labelled(line, label)}
    (drawn,) = ax.plot(x, y, **look)
    if band:
        fill: Style = {"alpha": BAND, "linewidth": 0.0, "zorder": 1}
        ax.fill_between(x, band[0], band[1], color=drawn.get_color(), **fill)
    return drawn


def draw_curves(ax: "Axes", curves: Curves, line: Style, **look: float | str) -> None:
    """Draw lines by their labels, several in different ways."""
    before = len(ax.get_legend_handles_labels()[1])
    ways = lines(before + len(curves))[before:]
    for (label, curve), way in zip(curves.items(), ways, strict=True):
        own: dict[str, Any] = dict(look)
        if len(curves) > 1:
            own |= {"color": way.colour, "linestyle": way.dashes}
        if "markevery" in look:
            own["marker"] = way.marker
        draw_line(ax, *curve, line=line, label=label, **own)


def strokes(ax: "Axes", values: Floats, colour: "ColorType", **look: Any) -> None:
    """Short strokes at values along the lower edge of axes."""
    place: Style = {"transform": ax.get_xaxis_transform(), "scaley": False}
    ax.plot(values, np.zeros(len(values)), "|", color=colour, **place, **look)


def ink(ax: "Axes") -> "ColorType":
    """Colour of the text of axes: dark, or light in dark styles."""
    return ax.xaxis.label.get_color()


def reference(
    ax: "Axes", x: Any, y: Any, label: str = "", linestyle: Dashes = ":"
) -> None:
    """Draw what a figure is read against, unless the axes have it already.

    A label that begins with ``_`` is not in the legend. A number as `x` or `y` and None
    for the other is a line across the axes.
    """
    if label and label in [line.get_label() for line in ax.lines]:
        return
    look = {"color": ink(ax), "linewidth": 1.1, "linestyle": linestyle, "alpha": 0.75}
    if y is None:
        ax.axvline(x, label=label, **look)
    elif x is None:
        ax.axhline(y, label=label, **look)
    else:
        ax.plot(x, y, label=label, scalex=False, scaley=False, **look)


# -------------------------------------------------------------- their scales


def is_wide(values: Floats) -> bool:
    """Whether the numbers above 0 span more than a factor of ten.

    Examples
    --------
    >>> is_wide(np.array([1.0, 9.0])), is_wide(np.array([0.0, 1.0, 11.0]))
    (False, True)
    """
    above = values[values > 0.0]
    return above.size > 0 and bool(above.max() > DECADE * above.min())


def write_decimals(axis: "Axis") -> None:
    """Label 1, 2 and 5 of each decade of a logarithmic axis with few decades."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if high <= 2.0 * DECADE**2 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def write_percent(*axes: "Axis") -> None:
    """Label shares in percent."""
    for axis in axes:
        axis.set_major_formatter(lambda share, _: percent(share))


def percent(share: float, digits: int = 3) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.1234)
    '12.3%'
    """
    return f"{100.0 * share:.{digits}g}%"


SHARES = ("error_rate", "accuracy", "balanced_accuracy")
NAMED = {
    "auc": "AUC",
    "auc_pooled": "AUC",
    "brier_score": "Brier score",
    "mcc": "Matthews' correlation",
    "youden": "Youden's J",
    "cost": "Mean cost of a row",
}


def metric_name(name: str) -> str:
    """A metric as text of a figure.

    Examples
    --------
    >>> metric_name("error_rate"), metric_name("auc")
    ('Error rate', 'AUC')
    """
    words = name.replace("_", " ")
    return NAMED.get(name, written(words[:1].upper() + words[1:]))


# ------------------------------------------------------------ names and texts


def written(name: object) -> str:
    r"""A name as text of a figure, without what matplotlib would read as a command.

    What no font has, such as a control character, is a replacement character.

    Examples
    --------
    >>> written("price in $"), written("_hidden"), written(5)
    ('price in \\$', ' _hidden', '5')
    """
    text = str(name)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    letters = (c if c.isprintable() or c == "\n" else UNKNOWN for c in text)
    plain = "".join(letters).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def abbreviated(names: Sequence[object], width: int) -> list[str]:
    """Names of at most `width` letters, cut so that different names stay different.

    The middle is left out, or else what they begin with; or else they are numbered.

    Examples
    --------
    >>> abbreviated(["concentration in plasma A", "concentration in plasma B"], 12)
    ['conce…asma A', 'conce…asma B']
    >>> abbreviated(["aaaaaa1bbbbbb", "aaaaaa2bbbbbb"], 6)
    ['…1bbbb', '…2bbbb']
    """
    whole = [" ".join(str(name).split()) for name in names]
    long = {name for name in whole if len(name) > width}
    first, tail = len(commonprefix(list(long))), width // 2  # noqa: RUF071
    ways = [
        {name: f"{name[: width - 1 - tail]}…{name[-tail:]}" for name in long},
        {name: f"…{name[first : first + width - 1]}" for name in long},
        {n: f"{n[: width - 1 - len(str(j))]}…{j}" for j, n in enumerate(sorted(long))},
    ]
    for way in ways:
        short = [way.get(name, name) for name in whole]
        if len(set(short)) == len(set(whole)):
            break
    return short


def broken(text: str, width: int, most: int = MOST_LINES, end: str = " …") -> str:
    """A text on at most `most` lines of `width` letters."""
    return "\n".join(wrap(text, width, max_lines=most, placeholder=end))


def fitted(names: Sequence[object], width: int, most: int = 2) -> list[str]:
    """Names on at most `most` lines of `width` letters; longer ones are abbreviated."""
    short = abbreviated(names, most * width - 4 * (most > 1))
    texts = [broken(name, width, most, "…") for name in short]
    if len(set(texts)) < len({str(name) for name in names}):
        texts = abbreviated(names, width)
    return [written(text) for text in texts]


def short(name: object) -> str:
    """A level as part of a text: long ones without their middle."""
    return written(abbreviated([name], LEVEL)[0])


def name_rows(ax: "Axes", names: Iterable[object]) -> dict[object, float]:
    """Name rows from the top, in the room there is; return where each is.

    Rows that the axes have by the same name stay where they are: new ones come below.
    """
    rows: dict[object, float]
    rows = dict(vars(ax.yaxis.get_major_formatter()).get("rows", {}))
    for name in names:
        rows.setdefault(name, float(len(rows)))
    dots, place = ax.figure.dpi, ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    room = ROOM * ax.get_window_extent().height / dots / max(len(rows), 1)
    size = min(float(ax.get_yticklabels()[0].get_fontsize()), max(room, SMALLEST))
    width = int(NAMES * ax.figure.bbox.width / dots / columns / (LETTER * size))
    most = 2 if room > 3.2 * size else 1
    texts = fitted(list(rows), min(max(width, 8), WIDEST), most)
    ax.set_yticks(list(rows.values()), texts, fontsize=size)
    vars(ax.yaxis.get_major_formatter())["rows"] = rows
    ax.tick_params(axis="y", length=0.0)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    return rows


def finish(
    *axes: "Axes", legend: str = "best", percent: str = "", **labels: str
) -> "Axes":
    """Put labels and the legend, and see to it that all texts are inside the figure.

    Parameters
    ----------
    *axes : Axes
        Of one figure; the labels are those of the first.
    legend : str
        A place of matplotlib, ``"above"`` or ``"right"`` of the axes, or none.
    percent : str
        Names of the axes of shares, such as ``"xy"``.
    **labels : str
        ``xlabel``, ``ylabel`` and ``title``.
    """
    axes[0].set(**labels)
    write_percent(*(getattr(axes[0], f"{name}axis") for name in percent))
    figure = axes[0].figure.figure
    for _ in range(2):  # each layout changes the room that texts have
        _lay_out(figure)
        for ax in axes:
            _wrap_texts(ax)
            _put_legend(ax, legend)
    _lay_out(figure)
    return axes[0]


def _wrap_texts(ax: "Axes") -> None:
    """Break title and labels into lines that are at most as long as the axes."""
    box = ax.get_window_extent()
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        inches = (box.height if text is ax.yaxis.label else box.width) / ax.figure.dpi
        width = max(int(inches / (LETTER * float(text.get_fontsize()))), 8)
        rows = text.get_text().replace(r"\$", "$").split("\n")
        text.set_text(written("\n".join(broken(row, width) for row in rows)))


def _put_legend(ax: "Axes", place: str) -> None:
    """Put the legend; long labels are broken, in narrow axes letters are smaller."""
    if not place or not (labels := ax.get_legend_handles_labels()[1]):
        return
    ax.apply_aspect()
    inches = ax.get_window_extent().width / ax.figure.dpi
    loc, anchor = OUTSIDE.get(place, (place, None))
    small = None if inches > NARROW else 0.75 * pyplot().rcParams["font.size"]
    look: Style = {"framealpha": 0.7, "edgecolor": "none", "frameon": True}
    made = ax.legend(loc=loc, bbox_to_anchor=anchor, fontsize=small, **look)
    for text, label in zip(made.get_texts(), labels, strict=True):
        letters = 0.9 * inches / (LETTER * float(text.get_fontsize()))
        width = BESIDE if place == "right" else max(int(letters) - SAMPLE, 14)
        text.set_text("\n".join(wrap(label, width)))
    made.set_in_layout(place in OUTSIDE)
    if place == "above" and ax.get_title():  # which is above the legend
        height = made.get_window_extent().height * 72.0 / ax.figure.dpi
        ax.set_title(ax.get_title(), pad=height + 6.0)


def _lay_out(figure: "Figure") -> None:
    """Run the layout of a figure, a constrained one where it has none."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if any(ax.get_subplotspec() for ax in figure.axes):
        (figure.get_layout_engine() or ConstrainedLayoutEngine()).execute(figure)
