"""What all figures share: axes, lines, names that fit, percent axes, the legend.

A figure keeps the settings of its user. Axes that are passed are drawn on as they are;
new ones have a light grid, two spines and a layout that leaves room for names. Colours
are safe for the colour-blind and readable in grey; what is neither level nor model has
the colour of the text, so that dark styles show it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from os.path import commonprefix
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DependencyError, OptionError

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
Curves: TypeAlias = "Mapping[str, tuple[ArrayLike, ...]]"

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
SLACK = 0.02  # inches
NARROW = 3.2  # inches of axes, below which a legend has smaller letters
BESIDE = 24  # letters in a line of a legend beside axes
SAMPLE = 7  # letters as wide as the sample of a line in a legend
OUTSIDE: Mapping[str, Style] = {  # places of a legend beside axes that are full
    "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)},
    "right": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
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
    return panels_of(
        ax, height, [1], "the axes of one panel: plt.subplots()[1]", width
    )[0]


def panels_of(
    ax: object, height: float, counts: Sequence[int], cure: str, width: float = WIDTH
) -> list["Axes"]:
    """The panels passed, or new ones below each other, the last of `counts`.

    Raises
    ------
    OptionError
        If `ax` is no Axes, or another number of them.
    """
    plt = pyplot()
    if ax is None:
        return [*new_axes(counts[-1], 1, (width, height))[:, 0]]
    refused = OptionError(f"ax is of type {type(ax).__name__}; give {cure}.")
    with convert_errors(refused):
        found = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(isinstance(each, plt.Axes) for each in found):
        raise refused
    if len(found) not in counts:
        raise OptionError(f"ax holds {len(found)} panels; give {cure}.")
    return found


def square_axes(ax: "Axes | None", end: float = 1.0) -> "Axes":
    """Square axes of two shares from 0 to `end`, in percent."""
    ax = axes_of(ax, SQUARE, SQUARE)
    sides = -EDGE * end, (1.0 + EDGE) * end  # so that lines along them are visible
    ax.set(xlim=sides, ylim=sides, aspect="equal")
    write_percent(ax.xaxis)
    write_percent(ax.yaxis)
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


def draw_curves(
    ax: "Axes", curves: Curves, line: Style, marked: bool = False, **defaults: object
) -> None:
    """Draw lines by their labels, several in different ways; or also with markers."""
    before = len(ax.get_legend_handles_labels()[1])
    ways = lines(before + len(curves))[before:]
    for place, ((label, curve), way) in enumerate(
        zip(curves.items(), ways, strict=True)
    ):
        look: dict[str, object] = dict(defaults)
        if len(curves) > 1:
            look |= {"color": way.colour, "linestyle": way.dashes}
        if marked:
            start = MARKED * place / len(curves)
            look |= {"marker": way.marker, "markevery": (start, MARKED)}
        draw_line(ax, *curve, line=look | merged(line), label=label)


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
    """Whether positive numbers span more than a factor of ten.

    Examples
    --------
    >>> is_wide(np.array([1.0, 9.0])), is_wide(np.array([1.0, 11.0]))
    (False, True)
    """
    return bool(values.max() > DECADE * values.min())


def write_decimals(values: Floats, axis: "Axis") -> None:
    """Label 1, 2 and 5 of each decade of a logarithmic axis with few decades."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values.max() <= DECADE**2 * values.min():
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def write_percent(axis: "Axis") -> None:
    """Label shares in percent, and nothing beyond -100% and 100%."""
    axis.set_major_formatter(
        lambda share, _: percent(share) if abs(share) < 1.0 + 1e-9 else ""
    )


def percent(share: float, digits: int = 3) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.1234)
    '12.3%'
    """
    return f"{100.0 * share:.{digits}g}%"


SHARES = frozenset(
    [
        *["error_rate", "accuracy", "balanced_accuracy", "sensitivity", "specificity"],
        *["precision", "recall", "ppv", "npv", "pos_pred_value", "neg_pred_value"],
        *["detection_rate", "detection_prevalence"],
    ]
)
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


def write_metric(axis: "Axis", name: str) -> None:
    """Label the values of a metric."""
    if name in SHARES:
        write_percent(axis)


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


def fitted(names: Sequence[object], width: int, most: int = 2) -> list[str]:
    """Names on at most `most` lines of `width` letters; longer ones are abbreviated."""
    short = abbreviated(names, most * width - 4 * (most > 1))
    look: Style = {"max_lines": most, "placeholder": "…"}
    texts = ["\n".join(wrap(name, width, **look)) for name in short]
    if len(set(texts)) < len({str(name) for name in names}):
        texts = abbreviated(names, width)
    return [written(text) for text in texts]


def short(name: object) -> str:
    """A level as part of a text: long ones without their middle."""
    return written(abbreviated([name], LEVEL)[0])


def name_rows(ax: "Axes", names: Sequence[object]) -> dict[object, float]:
    """Name rows from the top, in the room there is; return where each is.

    Rows that the axes have by the same name stay where they are: new ones come below.
    Where rows are too narrow for letters, some have no name.
    """
    from matplotlib.ticker import FixedFormatter

    before: dict[str, float] = {}
    if isinstance(ax.yaxis.get_major_formatter(), FixedFormatter):
        before = {t.get_text(): t.get_position()[1] for t in ax.get_yticklabels()}
    dots, place = ax.figure.dpi, ax.get_subplotspec()
    row = ROOM * ax.get_window_extent().height / dots / max(len(names), 1)
    size = max(min(_points("ytick.labelsize"), row), SMALLEST)
    columns = 1 if place is None else place.get_gridspec().ncols
    width = int(NAMES * ax.figure.bbox.width / dots / columns / (LETTER * size))
    most = 2 if row > 3.2 * size else 1
    texts = fitted(names, min(max(width, 8), WIDEST), most)
    new = dict.fromkeys(text for text in texts if text not in before)
    places = before | {text: float(len(before) + j) for j, text in enumerate(new)}
    at = list(places.items())[:: int(np.ceil(size / row))]
    ax.set_yticks([y for _, y in at], [text for text, _ in at], fontsize=size)
    ax.tick_params(axis="y", length=0.0)
    ax.set_ylim(len(places) - 0.4, -0.6)
    return {name: places[text] for name, text in zip(names, texts, strict=True)}


def _points(setting: str) -> float:
    """Size of letters that the user has set, in points."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size=pyplot().rcParams[setting]).get_size_in_points()
    return float(size)


def finish(*axes: "Axes", legend: str = "best") -> "Axes":
    """Put the legend, and see to it that titles and names are inside the figure.

    Axes of a figure without a layout are moved only if a text would be cut off.
    """
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
    box, look = ax.get_window_extent(), {"max_lines": MOST_LINES, "placeholder": " …"}
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        inches = (box.height if text is ax.yaxis.label else box.width) / ax.figure.dpi
        width = max(int(inches / (LETTER * float(text.get_fontsize()))), 8)
        rows = text.get_text().replace(r"\$", "$").split("\n")
        broken = "\n".join("\n".join(wrap(row, width, **look)) for row in rows)  # type: ignore[arg-type]
        text.set_text(written(broken))


def _put_legend(ax: "Axes", place: str) -> None:
    """Put the legend; long labels are broken, in narrow axes letters are smaller."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels or not place:
        return
    ax.apply_aspect()
    inches = ax.get_window_extent().width / ax.figure.dpi
    size = _points("legend.fontsize") * (1.0 if inches > NARROW else 0.75)
    width = max(int(0.9 * inches / (LETTER * size)) - SAMPLE, 14)
    width = BESIDE if place == "right" else width
    texts = ["\n".join(wrap(label, width)) for label in labels]
    where = OUTSIDE.get(place, {"loc": place})
    look: Style = {"framealpha": 0.7, "edgecolor": "none", "frameon": True, **where}
    made = ax.legend(handles, texts, fontsize=size, **look)
    made.set_in_layout(place in OUTSIDE)
    if place == "above" and ax.get_title():  # which is above the legend
        height = made.get_window_extent().height * 72.0 / ax.figure.dpi
        ax.set_title(ax.get_title(), pad=height + 6.0)


def _lay_out(figure: "Figure") -> None:
    """Run the layout of a figure; give room to texts where one without cuts them."""
    engine = figure.get_layout_engine()
    if engine is None:
        box, sides = figure.get_tightbbox(), np.asarray(figure.get_size_inches())
        if np.min(box.min) > -SLACK and (box.max < sides + SLACK).all():
            return
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        engine = ConstrainedLayoutEngine()
    engine.execute(figure)
