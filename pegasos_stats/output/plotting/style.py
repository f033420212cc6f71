"""What all figures share: axes, lines, names that fit, percent axes, the legend.

A figure keeps the settings of its user. Axes that are passed are drawn on as they are;
new ones have a light grid, two spines and a layout that leaves room for names. Colours
are safe for the colour-blind and readable in grey; what is neither level nor model has
the colour of the text, so that dark styles show it.
"""

from collections import Counter
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
    from matplotlib.text import Text
    from matplotlib.typing import ColorType
    from numpy.typing import ArrayLike

Axes: TypeAlias = "matplotlib.axes.Axes"
Figure: TypeAlias = "matplotlib.figure.Figure"
Floats = NDArray[np.float64]
Dashes = str | tuple[int, tuple[int, ...]]
Style = Mapping[str, Any]

WIDTH, HEIGHT = 6.4, 4.0  # inches of a figure with one panel
SQUARE = 4.8
EDGE = 0.02  # of square axes, beyond their ends

# Okabe & Ito's colours, ordered so that neighbours differ in lightness too.
NEGATIVE, POSITIVE = "#0072B2", "#D55E00"  # the two levels of an outcome
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: Sequence[Dashes] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
BAND = 0.18  # opacity

DECADE = 10.0  # ratio of the largest to the smallest value, above which axes are log
LETTER = 0.0075  # inches of a letter, for each point of its size
LONGEST = 400  # letters of a name
NAMES = 0.45  # share of the width of a figure that the names of rows take
SMALLEST = 4.0  # points
MOST_LINES = 4  # of a title or a label
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
SLACK = 0.02  # inches
ROOM = 66.0  # points of an inch of axes that names of rows have, beside margins
LEVEL = 28  # letters of a level within a text
NARROW = 3.2  # inches of axes, below which a legend has smaller letters
MOST = 0.65  # share of the height of axes that a legend takes, at most
OUTSIDE: Mapping[str, Style] = {  # places of a legend beside axes; above: no title
    "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)},
    "right": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
}
BESIDE = 24  # letters in a line of a legend beside axes
UPRIGHT = "upright"  # lines across the height of axes, but for their legend
SAMPLE = 7  # letters as wide as the sample of a line in a legend


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
    found = []
    for i in range(count):
        other = (i + i // ways) % ways
        found.append(Line(COLOURS[i % ways], DASHES[other], MARKERS[other]))
    return found


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


def new_axes(
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> NDArray[np.object_]:
    """Axes of a new figure, shape (rows, columns); `size` in inches."""
    plt = pyplot()
    own = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, made = plt.subplots(rows, columns, **own)
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
    """The axes passed, or those of a new figure of this size in inches.

    Raises
    ------
    OptionError
        If `ax` is no Axes.
    """
    pyplot()
    if ax is None:
        made: Axes = new_axes(size=(width, height))[0, 0]
        return made
    return several_axes(ax, [1], "the axes of one panel: plt.subplots()[1]")[0]


def several_axes(ax: object, counts: Sequence[int], cure: str) -> list["Axes"]:
    """The panels passed, or `OptionError` unless there are so many."""
    refused = OptionError(f"ax is of type {type(ax).__name__}; give {cure}.")
    with convert_errors(refused):
        found = list(np.ravel(np.asarray(ax, dtype=object)))
        one = counts == [1] and isinstance(ax, list | tuple | np.ndarray)
        if one or not all(hasattr(each, "get_xlim") for each in found):
            raise refused
    if len(found) not in counts:
        raise OptionError(f"ax holds {len(found)} panels; give {cure}.")
    return found


def merged(style: Style, **defaults: Any) -> dict[str, Any]:
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


def draw_line(
    ax: "Axes",
    x: "ArrayLike",
    y: "ArrayLike",
    style: Style,
    band: "tuple[ArrayLike, ArrayLike] | None" = None,
    **defaults: object,
) -> "Line2D":
    """Draw a line in the next colour of the axes, with a band of the same colour."""
    (line,) = ax.plot(x, y, **merged(style, **defaults))
    if band is not None:
        ax.fill_between(
            x, *band, color=line.get_color(), alpha=BAND, linewidth=0.0, zorder=1
        )
    return line


def draw_curves(
    ax: "Axes",
    curves: "Mapping[str, tuple[ArrayLike, ArrayLike]]",
    line: Style,
    **defaults: Any,
) -> None:
    """Draw lines by their labels, several in different ways.

    A label of the user stands before that of each line.
    """
    own = merged(line).get("label")
    for (label, (x, y)), way in zip(curves.items(), lines(len(curves)), strict=True):
        apart: Style = {}
        if len(curves) > 1:
            apart = {"color": way.colour, "linestyle": way.dashes}
        named = {**apart, **line, "label": f"{own}, {label}" if own else label}
        draw_line(ax, x, y, named, **defaults)


def square_axes(ax: "Axes | None", end: float = 1.0) -> "Axes":
    """Square axes of two shares from 0 to `end`, in percent."""
    ax = axes_of(ax, SQUARE, SQUARE)
    sides = -EDGE * end, (1.0 + EDGE) * end  # so that lines along them are visible
    ax.set(xlim=sides, ylim=sides, aspect="equal")
    write_percent(ax.xaxis)
    write_percent(ax.yaxis)
    return ax


def labelled(line: Style, text: str) -> tuple[dict[str, object], bool]:
    """Keywords whose label is `text`, after that of the user; whether there is one."""
    own = merged(line).get("label")
    label = f"{own}: {text[0].lower()}{text[1:]}" if own else text
    return {**line, "label": label}, bool(own)


def strokes(ax: "Axes", values: Floats, colour: "ColorType", **look: Any) -> None:
    """Short strokes at values along the lower edge of axes."""
    place: Style = {"transform": ax.get_xaxis_transform(), "scaley": False}
    ax.plot(values, np.zeros(len(values)), "|", color=colour, **place, **look)


def ink(ax: "Axes") -> "ColorType":
    """Colour of the text of axes: dark, or light in dark styles."""
    return ax.xaxis.label.get_color()


def reference(
    ax: "Axes",
    x: Any,
    y: Any,
    label: str = "",
    linestyle: Dashes = ":",
) -> None:
    """Draw what a figure is read against, unless the axes have it already.

    A label that begins with ``_`` is not in the legend. A number as `x` or `y` and None
    for the other is a line across the axes.
    """
    if label and label in [line.get_label() for line in ax.lines]:
        return
    look = {"color": ink(ax), "linewidth": 1.1, "linestyle": linestyle, "alpha": 0.75}
    if y is None:
        ax.axvline(x, label=label, gid=UPRIGHT, **look)
    elif x is None:
        ax.axhline(y, label=label, **look)
    else:
        ax.plot(x, y, label=label, scalex=False, scaley=False, **look)


def wide(values: Floats) -> bool:
    """Whether positive numbers span more than a factor of ten.

    Examples
    --------
    >>> wide(np.array([1.0, 9.0])), wide(np.array([1.0, 11.0]))
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
    from matplotlib.ticker import FuncFormatter

    def percent(share: float, _: object) -> str:
        return f"{100.0 * share:.3g}%" if abs(share) < 1.0 + 1e-9 else ""

    axis.set_major_formatter(FuncFormatter(percent))


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

    The middle is left out; of names that are then the same, what they begin with.

    Examples
    --------
    >>> abbreviated(["concentration in plasma A", "concentration in plasma B"], 12)
    ['conce…asma A', 'conce…asma B']
    >>> abbreviated(["aaaaaa1bbbbbb", "aaaaaa2bbbbbb"], 6)
    ['…1bbbb', '…2bbbb']
    """
    whole = [" ".join(str(name).split()) for name in names]
    tail = (width - 1 + 1) // 2
    cut = [
        n if len(n) <= width else f"{n[: width - 1 - tail]}…{n[len(n) - tail :]}"
        for n in whole
    ]
    for text, count in Counter(cut).items():
        same = [j for j, short in enumerate(cut) if short == text]
        if count == 1 or len({whole[j] for j in same}) == 1:
            continue
        first = len(commonprefix([whole[j] for j in same]))  # noqa: RUF071
        for place, j in enumerate(same, 1):
            cut[j] = f"…{whole[j][first : first + width - 1]}"
            if cut[j] in cut[:j]:
                mark = f"…{place}"
                cut[j] = f"{whole[j][: max(width - len(mark), 1)]}{mark}"
    return cut


def fitted(names: Sequence[object], width: int, most: int = 2) -> list[str]:
    """Names on at most `most` lines of `width` letters; longer ones are abbreviated."""
    short = abbreviated(names, most * width - 4 * (most > 1))
    found = [wrap(n, width, max_lines=most, placeholder="…") or [""] for n in short]
    texts = ["\n".join(each) for each in found]
    if len(set(texts)) < len({str(name) for name in names}):
        texts = abbreviated(names, width)
    return [written(text) for text in texts]


def short(name: object) -> str:
    """A level as part of a text: long ones without their middle."""
    return written(abbreviated([name], LEVEL)[0])


def name_rows(
    ax: "Axes", names: Sequence[object], most: int = 2
) -> dict[object, float]:
    """Name rows from the top, in the room there is; return where each is.

    Rows that the axes have by the same name stay where they are: new ones come below.
    Where rows are too narrow for letters, some have no name.
    """
    from matplotlib.ticker import FixedFormatter

    base, dots = _points("ytick.labelsize"), ax.figure.dpi
    before: dict[str, float] = {}
    if isinstance(ax.yaxis.get_major_formatter(), FixedFormatter):
        before = {t.get_text(): t.get_position()[1] for t in ax.get_yticklabels()}
    row = ROOM * ax.get_window_extent().height / dots / max(len(names), 1)
    size = max(min(base, row), SMALLEST)
    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    inches = ax.figure.bbox.width / dots / columns
    width = max(int(NAMES * inches / (LETTER * size)), 8)
    texts = fitted(names, min(width, 40), min(most, max(int(row / size / 1.6), 1)))
    new = [text for text in texts if text not in before]
    places = before | {t: float(len(before) + j) for j, t in enumerate(new)}
    every = int(np.ceil(size / row))
    at = list(places.items())[::every]
    ax.set_yticks([y for _, y in at], [text for text, _ in at], fontsize=size)
    ax.tick_params(axis="y", length=0.0)
    ax.set_ylim(len(places) - 0.4, -0.6)
    return {name: places[text] for name, text in zip(names, texts, strict=True)}


def put_legend(ax: "Axes", place: str = "best") -> float:
    """Put the legend into axes; return the share of their height that it takes.

    Long labels are broken; in narrow axes letters are smaller. A place of `OUTSIDE` is
    for axes that are full.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return 0.0
    ax.apply_aspect()
    inches = ax.get_window_extent().width / ax.figure.dpi
    base = _points("legend.fontsize")
    size = base if inches > NARROW else 0.75 * base
    width = max(int(0.9 * inches / (LETTER * size)) - SAMPLE, 14)
    width = BESIDE if place in OUTSIDE else width
    texts = ["\n".join(wrap(label, width)) for label in labels]
    look: dict[str, Any] = {"framealpha": 0.7, "edgecolor": "none", "frameon": True}
    if place in OUTSIDE:
        ax.legend(handles, texts, fontsize=size, **look, **OUTSIDE[place])
        return 0.0
    made = ax.legend(handles, texts, loc=place, fontsize=size, **look)
    made.set_in_layout(False)
    tall = made.get_window_extent().height / ax.get_window_extent().height
    return float(min(tall + 0.04, MOST))


def keep_clear(ax: "Axes", first: float, last: float, place: str) -> None:
    """Put the legend beyond the last of what is drawn, from `first` to `last` in y."""
    share = put_legend(ax, place)
    end = first + (last - first) / (1.0 - share)
    above = end > first and place[0] == "u"
    ax.set_ylim(*((first, end) if above else (end, first)))
    for line in ax.lines:
        if line.get_gid() == UPRIGHT:
            line.set_ydata([0.0, 1.0 - share] if above else [share, 1.0])


def finish(*axes: "Axes", legend: str | None = None) -> None:
    """Put the legend, and see to it that titles and names are inside the figure.

    Axes of a figure without a layout are moved only if a text would be cut off.
    """
    figure = axes[0].figure.figure
    for _ in range(2):  # axes that are square are moved by a second layout
        _lay_out(figure)
        for ax in axes:
            for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
                box = ax.get_window_extent()
                side = box.height if text is ax.yaxis.label else box.width
                _wrap(text, side / figure.dpi)
    _lay_out(figure)
    if legend is not None:
        for ax in axes:
            put_legend(ax, legend)
    if legend in OUTSIDE:
        _lay_out(figure)


def _points(setting: str) -> float:
    """Size of letters that the user has set, in points."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size=pyplot().rcParams[setting]).get_size_in_points()
    return float(size)


def _wrap(text: "Text", inches: float) -> None:
    """Break a text into lines that are at most so long."""
    width = max(int(inches / (LETTER * float(text.get_fontsize()))), 8)
    look: Style = {"max_lines": MOST_LINES, "placeholder": " …"}
    rows = text.get_text().replace(r"\$", "$").split("\n")
    text.set_text(written("\n".join("\n".join(wrap(r, width, **look)) for r in rows)))


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


def percent(share: float, digits: int = 3) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.1234)
    '12.3%'
    """
    return f"{100.0 * share:.{digits}g}%"


def write_metric(axis: "Axis", name: str) -> None:
    """Label the values of a metric."""
    if name in SHARES:
        write_percent(axis)
