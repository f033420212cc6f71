"""Tables as text, HTML, LaTeX and Markdown; numbers as text; summaries."""

import platform
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from math import inf, isfinite, isnan
from textwrap import TextWrapper, wrap
from typing import ClassVar, NamedTuple, TypeAlias

import pandas as pd

from pegasos_stats.errors import counted, visible
from pegasos_stats.foreign_names import suggest_arguments, suggest_names

Fields = Sequence[tuple[str, str]]  # names and values of a header

TEXT_WIDTH = 78
GAP = 2
COLUMN = 11  # width of a column of numbers, if there is room
MIN_NAME_WIDTH = 12

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after ``\\`` it would begin an optional argument
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
} | {character: f"\\{character}" for character in "&%$#_"}
MARKS = re.compile(r"([\\`*_{\[<#|$~^&])")  # characters with a meaning in Markdown
NUMBER = re.compile(r"[(<]?-?[\d,]+((?:\.\d+)?(?:e[-+]?\d+)?[)*]*)")
NEGATIVE = re.compile(r"(?:^|(?<=[(}\s]))-(?=[\d.])")  # the minus sign of a number

TABLE = (
    "border-collapse:collapse;border-top:2px solid;border-bottom:2px solid;"
    "font-variant-numeric:tabular-nums"
)
SCROLLED = "overflow-x:auto;margin:.3em 0"  # a wide table, on a phone
NAME = "text-align:left;font-weight:normal;padding:.15em 1em .15em 0"
VALUE = "text-align:right;padding:.15em .5em;white-space:nowrap"
OVER = f"text-align:center;{VALUE.partition(';')[2]}"
CLOSED = "border-bottom:1px solid"
OPENED = "border-top:1px solid"
COUNTED = ["p-value"]  # headings of tests for p-values that count bootstrap resamples
LIMITS = ("conf_low", "conf_high")
LIMIT_ROUNDING = 1e-12  # relative to the width of an interval
MORE = "More:\N{NO-BREAK SPACE}summary(details=True)"  # never broken across lines
BRACKET = re.compile(r"(?<=[)\]:,])|(?=[\[(])")  # where a long term may be broken
LEVEL = re.compile(r"(?<=\[T\.)")
WIDE_GAP = re.compile(r" {2,}")  # between the items of a header
LIBRARIES = "pegasos_stats numpy pandas scipy numba formulaic statsmodels matplotlib"


class Heading(NamedTuple):
    """A line in bold type."""

    text: str


class Cells(NamedTuple):
    """A table of text, with the arguments of `params_html`."""

    params: pd.DataFrame
    ruled: Collection[int] = ()
    over: str = ""
    corner: str = ""


class Pairs(NamedTuple):
    """Names and values under a title, in HTML and LaTeX in two columns."""

    title: str
    left: Fields
    right: Fields = ()


class Lines(NamedTuple):
    """Sentences, one per line."""

    lines: Sequence[str]


class Typewritten(NamedTuple):
    """Lines in a fixed-width font."""

    lines: Sequence[str]


Part: TypeAlias = Heading | Cells | Pairs | Lines | Typewritten


def part_html(part: Part) -> str:
    """Write a part as HTML."""
    match part:
        case Heading(text):
            return f"<b>{escape(text)}</b>"
        case Cells(params, ruled, over, corner):
            return params_html(params, ruled, over, corner)
        case Pairs(title, left, right):
            return header_html(title, left, right)
        case Lines(lines):
            return lines_html(lines)
        case Typewritten(lines):
            text = escape("\n".join(lines))
            return f'<pre style="font-family: monospace">{text}</pre>'


def part_markdown(part: Part) -> str:
    """Write a part as Markdown."""
    match part:
        case Heading(text):
            return f"**{markdown(text)}**"
        case Cells(params, _, over, corner):
            return params_markdown(
                params, ", ".join(filter(None, [corner, over.lower()]))
            )
        case Pairs(title, left, right):
            pairs = [pair for pair in (*left, *right) if pair != ("", "")]
            names = [name for name, _ in pairs]
            values = pd.DataFrame({"": [value for _, value in pairs]}, names)
            return params_markdown(values, title)
        case Lines(lines):
            return "\n\n".join(map(markdown, lines))
        case Typewritten(lines):
            return "\n".join(f"    {visible(line)}" for line in lines)


def part_latex(part: Part) -> str:
    """Write a part as LaTeX."""
    match part:
        case Heading(text):
            return rf"\textbf{{{latex(text)}}}"
        case Cells(params, ruled, over, corner):
            return params_latex(params, ruled, over, corner)
        case Pairs(title, left, right):
            head = f"{part_latex(Heading(title))}\n\n" if title else ""
            return head + columns_latex(left, right)
        case Lines(lines):
            return "\n\n".join(map(latex, lines))
        case Typewritten(lines):
            rows = (latex(line).replace(" ", "~") for line in lines)
            return "\\\\\n".join(rf"\texttt{{{row}}}" for row in rows)


def html_of(parts: Sequence[Part]) -> str:
    """Write parts as HTML."""
    return "\n".join(filter(None, map(part_html, parts)))


def markdown_of(parts: Sequence[Part]) -> str:
    """Write parts as Markdown, with blank lines between them."""
    return "\n\n".join(filter(None, map(part_markdown, parts)))


def latex_of(parts: Sequence[Part]) -> str:
    """Write parts as LaTeX, with blank lines between them."""
    return "\n\n".join(filter(None, map(part_latex, parts)))


class Displayed(ABC):
    """A result that notebooks display as tables and lines."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """Return the displayed parts."""

    def _repr_html_(self) -> str:
        return html_of(self._parts())

    def _repr_markdown_(self) -> str:
        return markdown_of(self._parts())

    def _repr_latex_(self) -> str:
        return latex_of(self._parts())


class Exported(Displayed):
    """A result with a table and lines below it, which can be exported."""

    _over: ClassVar[str] = ""  # heading above all columns
    _corner: ClassVar[str] = ""  # heading above the names

    @abstractmethod
    def _sheet(self) -> tuple[pd.DataFrame, Sequence[str], Collection[int]]:
        """Return the table, lines below it, and positions of rows with a rule above."""

    def _parts(self) -> Sequence[Part]:
        table, lines, ruled = self._sheet()
        return [Cells(table, ruled, self._over, self._corner), Lines(lines)]

    def to_html(self) -> str:
        """Return an HTML table, with notes below it."""
        return html_of(Exported._parts(self))

    @suggest_arguments
    def to_latex(self, caption: str = "", label: str = "") -> str:
        """Return a LaTeX table for the package booktabs, with notes below it.

        Parameters
        ----------
        caption, label : str, optional
            With a caption or a label, the result is a floating ``table``; otherwise a
            ``tabular``.
        """
        if not (caption or label):
            return latex_of(Exported._parts(self))
        table, lines, ruled = self._sheet()
        tabular = params_latex(table, ruled, self._over, self._corner)
        return floating_latex(tabular, caption, label, lines)

    def to_markdown(self) -> str:
        """Return a Markdown table, with notes below it as paragraphs."""
        return markdown_of(Exported._parts(self))


class Facts(Displayed):
    """A result that is displayed as a few facts."""

    _title: ClassVar[str]
    n_left_out: int

    @abstractmethod
    def _facts(self) -> dict[str, str]:
        """Return facts by name, as text."""

    def _with_rows(self) -> dict[str, str]:
        """Return the facts and the number of excluded rows."""
        rows = {"Excluded": f"{counted(self.n_left_out, 'row')} with a missing value"}
        return self._facts() | (rows if self.n_left_out else {})

    def __str__(self) -> str:
        facts = self._with_rows()
        width = max(map(len, facts)) + 2
        return "\n".join(name.ljust(width) + fact for name, fact in facts.items())

    def __repr__(self) -> str:
        return str(self)

    def _parts(self) -> Sequence[Part]:
        return [Pairs(self._title, list(self._with_rows().items()))]


@suggest_names("summary")
@dataclass(frozen=True, repr=False, eq=False)
class Summary(Displayed):
    """A summary, which ``print()`` shows as text and a notebook as HTML.

    Attributes
    ----------
    header : sequence of str
        Lines of the header; the first is the title.
    params : DataFrame
        One row per coefficient; the columns contain text.
    notes : sequence of str
        Paragraphs below the table.
    left, right : sequences of (name, value)
        Further facts, in two columns.
    footer : str
        The last line.
    """

    header: Sequence[str]
    params: pd.DataFrame
    notes: Sequence[str]
    left: Fields = ()
    right: Fields = ()
    footer: str = ""

    def as_text(self) -> str:
        """Return plain text, 78 characters wide, or more if numbers need it.

        An empty line at the end separates it from the next output.
        """
        table = params_text(self.params)
        facts = columns_text(self.left, self.right, len(table[0]))
        rule = [table[0]] * bool(facts)
        notes = [line for note in self.notes for line in note_text(note)]
        last = note_text(self.footer) if self.footer else []
        return "\n".join([*self.header, *rule, *facts, *table, *notes, *last, ""])

    def _parts(self) -> Sequence[Part]:
        return [*self._body(), Lines([self.footer] if self.footer else [])]

    def _body(self) -> Sequence[Part]:
        """Return all parts except the footer."""
        title, *others = self._titles()
        facts = [Pairs("", self.left, self.right)] if self.left else []
        head: list[Part] = [Heading(title), Lines(others)]
        return [*head, *facts, Cells(self.params), Lines(self.notes)]

    def _titles(self) -> list[str]:
        """Return the title and the other items of the header, joined by semicolons."""
        (title, *outcome), *others = map(WIDE_GAP.split, self.header)
        return [title, *map("; ".join, [outcome] * bool(outcome) + others)]

    def _exported(self) -> list[str]:
        """Return the footer for export, without the hint at summary(details=True)."""
        footer = self.footer.removesuffix(MORE).rstrip()
        return [footer] if footer else []

    def to_html(self) -> str:
        """Return HTML: the header, tables, and the notes."""
        return self._repr_html_()

    @suggest_arguments
    def to_latex(self, caption: str = "", label: str = "") -> str:
        """Return LaTeX for the package booktabs, with aligned decimal points.

        Parameters
        ----------
        caption, label : str, optional
            With a caption or a label, the result is a floating ``table`` with header
            and notes below the tabular. Otherwise the header is above the tabular, and
            the notes are paragraphs below it. Further facts, if there are any, are in a
            tabular above the coefficients.
        """
        if not (caption or label):
            return latex_of([*self._body(), Lines(self._exported())])
        notes = [*self._titles(), *self.notes, *self._exported()]
        facts = f"{columns_latex(self.left, self.right)}\n\n" if self.left else ""
        tabular = facts + params_latex(self.params)
        return floating_latex(tabular, caption, label, notes)

    def to_markdown(self) -> str:
        """Return Markdown tables, with header and notes as paragraphs."""
        return markdown_of([*self._body(), Lines(self._exported())])

    __str__ = __repr__ = as_text


class DisplayedBySummary:
    """A result that notebooks display by its `summary()`."""

    summary: Callable[..., Summary]

    def _displayed(self) -> Summary:
        return self.summary()

    def _repr_html_(self) -> str:
        return self._displayed().to_html()

    def _repr_markdown_(self) -> str:
        return self._displayed().to_markdown()

    def _repr_latex_(self) -> str:
        return self._displayed().to_latex()


class Summarised(DisplayedBySummary):
    """A result that prints and displays its `summary()`."""

    def __repr__(self) -> str:
        return self.summary().as_text()


def percent(share: float) -> str:
    """Write a share in percent: one decimal, or three significant digits below 10%.

    Examples
    --------
    >>> percent(0.4966), percent(0.057), percent(1e-6), percent(2e-9), percent(0.0)
    ('49.7%', '5.70%', '0.000100%', '2.00e-07%', '0%')
    """
    hundredths = 100.0 * share
    if hundredths in (0.0, 100.0):
        return f"{hundredths:.0f}%"
    return f"{hundredths:.1f}%" if hundredths >= 10.0 else f"{hundredths:#.3g}%"


def significant(value: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits.

    Examples
    --------
    >>> significant(-0.69526668), significant(1234567.0), significant(-0.0)
    ('-0.6953', '1.235e+06', '0')
    """
    return f"{value:z.{digits}g}"


def without_power(value: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits, or as a whole number.

    Whole numbers are for numbers below a million that have at least `digits` digits
    before the point. Very small numbers and numbers from a million are in scientific
    notation.

    Examples
    --------
    >>> without_power(942.3, 2), without_power(1182.0, 3), without_power(2.5e6, 2)
    ('942', '1,182', '2.5e+06')
    >>> without_power(63.7), without_power(11.0, 3), without_power(999.96)
    ('63.70', '11.0', '1000')
    """
    if 10.0 ** (digits - 1) <= abs(value) < 999_999.5:
        return f"{value:,.0f}"
    return f"{value:z#.{digits}g}".rstrip(".")


def fixed(value: float, digits: int = 3) -> str:
    """Write a number with `digits` decimals, or in scientific notation.

    Scientific notation is for numbers that would be rounded to 0, and from a million.

    Examples
    --------
    >>> fixed(0.33), fixed(-1.58), fixed(12345.0), fixed(-0.0), fixed(-0.00012)
    ('0.330', '-1.580', '12345.000', '0.000', '-1.20e-04')
    """
    is_small = 0.0 < abs(value) < 0.5 * 10.0**-digits
    if is_small or 1e6 <= abs(value) < inf:
        return f"{value:.{max(digits - 1, 0)}e}"
    return f"{value:z.{digits}f}"


def headings_of_tests(df: float, resampled: bool = False) -> list[str]:
    """Return the headings of a test statistic and its p-value.

    The statistic is ``t`` for finite degrees of freedom, otherwise ``z``. P-values that
    count bootstrap resamples (`resampled`) have no test statistic.

    Examples
    --------
    >>> headings_of_tests(float("inf")), headings_of_tests(5.0, resampled=True)
    (['z', 'P>|z|'], ['p-value'])
    """
    if resampled:
        return COUNTED
    letter = "t" if isfinite(df) else "z"
    return [letter, f"P>|{letter}|"]


def estimate_cells(
    tidy: pd.DataFrame,
    headings: Sequence[str] = (),
    alpha: float = 0.05,
    digits: int = 3,
) -> pd.DataFrame:
    """Write a table of estimates with the headings of statsmodels; ``-`` for NaN.

    Parameters
    ----------
    tidy : DataFrame
        Columns ``term, estimate, std_error, statistic, p_value, conf_low, conf_high``.
    headings : sequence of str
        Headings of tests, see `headings_of_tests`; without them, the table contains
        only estimates.
    alpha : float
        The confidence level of the limits is ``1 - alpha``; their headings show it.
    digits : int
        Decimals of estimates, standard errors and limits.
    """
    terms = list(tidy["term"])

    rounding = (
        LIMIT_ROUNDING * (tidy["conf_high"] - tidy["conf_low"]) if headings else 0.0
    )

    def written(column: str) -> list[str]:
        values = tidy[column]
        if column in LIMITS:  # 1e-14 in an interval of width 1 is rounding
            values = values.mask(values.abs() <= rounding, 0.0)
        cells = [fixed(value, digits) for value in values]
        return ["-" if cell == "nan" else cell for cell in cells]

    coef = {"coef": written("estimate")}
    if not headings:
        return pd.DataFrame(coef, index=terms)
    low, high = (significant(share, 4) for share in (alpha / 2, 1 - alpha / 2))
    statistic = [
        "-" if isnan(z) else f"{z:z.2f}" if abs(z) < 1e6 else f"{z:.1e}"
        for z in tidy["statistic"]
    ]
    tests = dict.fromkeys(headings, statistic)
    tests[list(tests)[-1]] = [
        "-" if isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}"
        for p in tidy["p_value"]
    ]
    error = "boot sd" if headings == COUNTED else "std err"
    limits = {f"[{low}": written("conf_low"), f"{high}]": written("conf_high")}
    columns = coef | {error: written("std_error")} | tests | limits
    return pd.DataFrame(columns, index=terms)


def maketables_columns(tidy: pd.DataFrame) -> pd.DataFrame:
    """Rename the columns of ``tidy()`` for the package maketables.

    Examples
    --------
    >>> tidy = pd.DataFrame({"term": ["x"], "estimate": [1.0], "p_value": [0.5]})
    >>> maketables_columns(tidy).columns.tolist()
    ['b', 'p']
    """
    names = {"estimate": "b", "std_error": "se", "statistic": "t", "p_value": "p"}
    names |= {"conf_low": "ci95l", "conf_high": "ci95u"}
    return tidy.set_index("term").rename_axis("Coefficient").rename(columns=names)


def filled(items: Sequence[str], width: int = TEXT_WIDTH) -> list[str]:
    """Write items side by side, in as many lines as they need.

    Examples
    --------
    >>> filled(["SVM", "y: no, yes", "n 12", "converged"], width=20)
    ['SVM    y: no, yes', 'n 12    converged']
    """
    rows = [[items[0]]]
    for item in items[1:]:
        if len("  ".join([*rows[-1], item])) > width:
            rows.append([])
        rows[-1].append(item)
    lines = []
    for row in rows:
        free, gaps = width - sum(map(len, row)), max(len(row) - 1, 1)
        lines.append((" " * min(free // gaps, 4)).join(row))
    return lines


def columns_text(left: Fields, right: Fields, width: int = TEXT_WIDTH) -> list[str]:
    """Write names and values side by side; cut long values in the middle.

    Examples
    --------
    >>> columns_text([("Loss:", "hinge")], [])[0]
    'Loss:                            hinge'
    """
    wide, narrow = _width_needed(left), _width_needed(right)
    half = (width - GAP) // 2
    if wide > half:
        half = min(wide, max(width - GAP - narrow, half))
    other = width - GAP - half
    height = max(len(left), len(right))
    sides = [
        [_side_by_side(name, value, size) for name, value in side]
        + [" " * size] * (height - len(side))
        for side, size in ((left, half), (right, other))
    ]
    lines = [one + " " * GAP + two for one, two in zip(*sides, strict=True)]
    return [line.rstrip() for line in lines]


def params_text(params: pd.DataFrame, ruled: Collection[int] = ()) -> list[str]:
    """Write coefficients in rows under their headings, between rules.

    Long names span several lines. The table is wider than 78 characters only if its
    numbers leave fewer than 12 characters for the names. There is also a rule above the
    rows in `ruled`, counted from 0.

    Examples
    --------
    >>> params_text(pd.DataFrame({"coef": ["0.5"]}, ["x"]))[2]
    'x        0.5'
    """
    columns = params.to_numpy(dtype=object).T
    padded = [[_line(c) + " " * len(end) for c, end in at_points(x)] for x in columns]
    cells = list(zip(*padded, strict=True))
    heads = [_line(str(column)) for column in params.columns]
    natural = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    names = [_line(str(name)) for name in params.index]
    longest = max(map(len, names), default=0)
    sizes = [size + GAP for size in natural]
    while sum(sizes) < TEXT_WIDTH - longest and min(sizes, default=COLUMN) < COLUMN:
        sizes[sizes.index(min(sizes))] += 1  # the narrowest first
    first = min(longest, max(TEXT_WIDTH - sum(sizes), MIN_NAME_WIDTH))
    rows = []
    for name, row in zip(["", *names], [heads, *cells], strict=True):
        begin, *others = TermWrapper(max(first, 1)).wrap(name) or [""]
        numbers = "".join(c.rjust(n) for c, n in zip(row, sizes, strict=True))
        rows.append("\n".join([(begin.ljust(first) + numbers).rstrip(), *others]))
    rule = "-" * max(TEXT_WIDTH, first + sum(sizes))
    if params.empty:
        return [rule]
    head, *lines = rows
    for i in sorted(ruled, reverse=True):
        lines.insert(i, rule)
    return [rule, head, *lines, rule]


class TermWrapper(TextWrapper):
    """Wrap a term at spaces and hyphens, and longer words at their brackets.

    Examples
    --------
    >>> TermWrapper(12).wrap("C(ward)[T.Medicine]")
    ['C(ward)[T.', '  Medicine]']
    """

    def __init__(self, width: int) -> None:
        super().__init__(width, subsequent_indent="  ")

    def _split(self, text: str) -> list[str]:
        room = self.width - len(self.subsequent_indent)
        parts = super()._split(text)
        for place in (BRACKET, LEVEL):  # only parts that are still too long
            split = (place.split(x) if len(x) > room else [x] for x in parts)
            parts = list(filter(None, chain.from_iterable(split)))
        return parts


def note_text(note: str, mark: str = "") -> list[str]:
    """Wrap a note at its spaces; indent all but the first line by the mark's length.

    Examples
    --------
    >>> note_text("word " * 14 + chr(160).join(["no", "break", "please"]))[1]
    'no break please'
    """
    indent = " " * len(mark)
    text = f"{mark}{note}"
    lines = wrap(text, TEXT_WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def cut(text: str, width: int) -> str:
    """If a text is longer than `width`, replace its middle by three dots.

    Examples
    --------
    >>> cut("the far north", 9)
    'the...rth'
    """
    text = _line(text)
    if len(text) <= width:
        return text
    length = max(width - 3, 2)
    return f"{text[: (length + 1) // 2]}...{text[-(length // 2) :]}"


def _width_needed(side: Fields) -> int:
    return max((len(_line(f"{name} {value}")) for name, value in side), default=0)


def _side_by_side(name: str, value: str, size: int) -> str:
    """Write a name at the left and its value at the right end of a field."""
    name, value = cut(_line(name), size - 4), _line(value)
    room = size - len(name) - 1
    return f"{name} {cut(value, room).rjust(room)}"


def _line(text: str) -> str:
    """Write a text in one line."""
    return visible(" ".join(text.split()) if len(text.splitlines()) > 1 else text)


def header_html(title: str, left: Fields, right: Fields) -> str:
    """Write names and values in two columns, under a caption if there is a title."""
    caption = f'<caption style="font-weight:bold">{escape(title)}</caption>'
    lines = [caption] if title else []
    for row in _paired_rows(left, right):
        cells = [
            _html_cell("th", name, NAME)
            + _html_cell("td", value, f"{VALUE};padding-right:2em")
            for name, value in row
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return _table(lines, TABLE)


def params_html(
    params: pd.DataFrame, ruled: Collection[int] = (), over: str = "", corner: str = ""
) -> str:
    """Write a table: names from the index, numbers to the right, optional rules.

    Parameters
    ----------
    params : DataFrame
    ruled : collection of int
        Rows, from 0, with a rule above them.
    over, corner : str
        A heading above all columns, and one above the names.

    Examples
    --------
    >>> "<td" in params_html(pd.DataFrame({"coef": ["0.5"]}, index=["x"]))
    True
    """
    heads = "".join(_html_cell("th", str(name), VALUE) for name in params.columns)
    first = _html_cell("th", corner, NAME) if corner else "<td></td>"
    lines = [f'<tr style="{CLOSED}">{first}{heads}</tr>']
    if over:
        span = f'<th colspan="{params.shape[1]}" style="{OVER}">{escape(over)}</th>'
        lines.insert(0, f"<tr><td></td>{span}</tr>")
    for i, (name, *cells) in enumerate(params.itertuples(name=None)):
        numbers = "".join(_html_cell("td", str(cell), VALUE) for cell in cells)
        begin = f'<tr style="{OPENED}">' if i in ruled else "<tr>"
        lines.append(f"{begin}{_html_cell('th', str(name), NAME)}{numbers}</tr>")
    return _table(lines, TABLE)


def lines_html(lines: Sequence[str]) -> str:
    """Write lines as a paragraph.

    Examples
    --------
    >>> lines_html(["a < b", "c"])
    '<p>a &lt; b<br>c</p>'
    """
    return f"<p>{'<br>'.join(map(escape, lines))}</p>" if lines else ""


def columns_latex(left: Fields, right: Fields) -> str:
    """Write names and values in two columns, with rules of booktabs."""
    rows = [
        [latex(text) for cell in row for text in cell]
        for row in _paired_rows(left, right)
    ]
    return _tabular("lrlr", [*map(_row, rows)])


def params_latex(
    params: pd.DataFrame, ruled: Collection[int] = (), over: str = "", corner: str = ""
) -> str:
    """Write a tabular: names from the index, numbers aligned at their points.

    Parameters
    ----------
    params, ruled, over, corner
        As for `params_html`.
    """
    heads = [latex(text) for text in (corner, *map(str, params.columns))]
    columns = [
        [_phantom(*cell) for cell in at_points(params.iloc[:, j])]
        for j in range(params.shape[1])
    ]
    names = [latex(str(name)) for name in params.index]
    lines = [_row(cells) for cells in zip(names, *columns, strict=True)]
    for i in sorted(ruled, reverse=True):
        lines.insert(i, r"\midrule")
    count = params.shape[1]
    span = rf" & \multicolumn{{{count}}}{{c}}{{{latex(over)}}} \\"
    above = [span, rf"\cmidrule(lr){{2-{count + 1}}}"] if over else []
    return _tabular("l" + "r" * count, [*above, _row(heads), r"\midrule", *lines])


def at_points(cells: Iterable[object]) -> list[tuple[str, str]]:
    """Pair each cell with the decimals that it lacks.

    Blanks as wide as these decimals, after right-justified numbers, align the decimal
    points of a column. For a cell that is not a number the text is empty.

    Examples
    --------
    >>> at_points(["-1.25", "0.5*", "10", "no"])
    [('-1.25', ''), ('0.5*', ''), ('10', '.25'), ('no', '')]
    """
    texts = [str(cell) for cell in cells]
    matches = [NUMBER.fullmatch(text) for text in texts]
    longest = max((match[1] for match in matches if match), key=len, default="")
    ends = [longest[len(match[1]) :] if match else "" for match in matches]
    return list(zip(texts, ends, strict=True))


def _phantom(cell: str, end: str) -> str:
    r"""Write a cell for LaTeX, followed by a blank as wide as `end`.

    Examples
    --------
    >>> _phantom("-10", ".25")
    '$-$10\\phantom{.25}'
    """
    room = rf"\phantom{{{latex(end)}}}" if end else ""
    return NEGATIVE.sub("$-$", latex(cell)) + room


def floating_latex(
    tabular: str, caption: str, label: str, notes: Sequence[str] = ()
) -> str:
    """Write a ``table`` of LaTeX: caption, label, tabular and notes."""
    body = tabular.replace("\\begin{center}\n", "").replace("\n\\end{center}", "")
    parts = [r"\begin{table}[htbp]", r"\centering"]
    parts += [rf"\caption{{{latex(caption)}}}"] * bool(caption)
    parts += [rf"\label{{{label}}}"] * bool(label)
    lines = [f"{latex(note)}\\par" for note in notes]
    below = [r"\begin{flushleft}\footnotesize", *lines, r"\end{flushleft}"]
    return "\n".join([*parts, body, *(below if notes else []), r"\end{table}"])


def params_markdown(params: pd.DataFrame, corner: str = "") -> str:
    r"""Write a table for Markdown: names from the index, numbers to the right.

    Examples
    --------
    >>> print(params_markdown(pd.DataFrame({"a|b": ["0.5"]}, index=["x_1"])))
    |  | a\|b |
    |:--|--:|
    | x\_1 | 0.5 |
    """
    heads = [corner, *map(str, params.columns)]
    rule = "|:--|" + "--:|" * params.shape[1]
    rows = [heads, *([str(c) for c in row] for row in params.itertuples(name=None))]
    first, *others = (f"| {' | '.join(map(markdown, row))} |" for row in rows)
    return "\n".join([first, rule, *others])


def markdown(text: str) -> str:
    r"""Escape the special characters of Markdown, and write a text on one line.

    Examples
    --------
    >>> print(markdown("a_b | <c>"))
    a\_b \| \<c>
    """
    return MARKS.sub(r"\\\1", visible(" ".join(text.splitlines())))


def latex(text: str) -> str:
    r"""Escape the special characters of LaTeX, and write a text on one line.

    Examples
    --------
    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    line = visible(" ".join(text.splitlines()))  # an empty line would end the paragraph
    return "".join(LATEX.get(character, character) for character in line)


def _paired_rows(left: Fields, right: Fields) -> list[list[tuple[str, str]]]:
    """Pair two columns row by row; pad the shorter column with blanks."""
    height = max(len(left), len(right))
    sides = [[*side, *[("", "")] * (height - len(side))] for side in (left, right)]
    return [list(row) for row in zip(*sides, strict=True)]


def _html_cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _table(lines: Sequence[str], style: str) -> str:
    begin = f'<div style="{SCROLLED}"><table style="{style}">'
    return "\n".join([begin, *lines, "</table></div>"])


def _row(cells: Sequence[str]) -> str:
    guard = "{}" if cells[0].startswith("*") else ""  # "\\*" would be a command
    return guard + " & ".join(cells) + r" \\"


def _tabular(columns: str, lines: Sequence[str]) -> str:
    begin = [r"\begin{center}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    end = [r"\bottomrule", r"\end{tabular}", r"\end{center}"]
    return "\n".join([*begin, *lines, *end])


@dataclass(frozen=True, repr=False)
class SessionInfo(Displayed):
    """Versions of libraries and the operating system, shown by ``print()``.

    Attributes
    ----------
    versions : mapping of str to str
        Versions of Python and of installed libraries, pegasos_stats first.
    system : str
        Operating system and processor architecture.

    Examples
    --------
    >>> SessionInfo({"pegasos_stats": "0.1.0"}, "Linux, x86_64")
    pegasos_stats  0.1.0
    System         Linux, x86_64
    """

    versions: Mapping[str, str]
    system: str

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Lines of the output: pairs of a name and a value."""
        return [*self.versions.items(), ("System", self.system)]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.pairs)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.pairs)

    __repr__ = __str__

    def _parts(self) -> Sequence[Part]:
        return [Typewritten(str(self).splitlines())]


def session_info() -> SessionInfo:
    """Return versions of libraries and the operating system, as R's ``sessionInfo()``.

    Returns
    -------
    SessionInfo

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> print(ps.session_info())
    pegasos_stats  ...
    Python         ...
    numpy          ...
    """
    installed = {"pegasos_stats": "", "Python": platform.python_version()}
    for name in LIBRARIES.split():
        with suppress(PackageNotFoundError):  # reads metadata without an import
            installed[name] = version(name)
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return SessionInfo(installed, system)
