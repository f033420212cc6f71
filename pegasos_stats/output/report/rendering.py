"""A document as one HTML page that loads nothing, or as Markdown.

Both are templates of jinja2, and whatever is put into them is escaped.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from pegasos_stats.errors import DependencyError
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.drawing import outline
from pegasos_stats.tables import markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Escape = Callable[[str], str]
Address = Callable[[doc.Figure], str]

UNBROKEN = 24  # letters of code that stay on one line
SHORT = 12  # rows of a table that stays on one page of paper
SIGN = 'content="pegasos_stats"'  # in the head of each HTML page
MARK = "<!-- written by pegasos_stats -->"  # what each Markdown file begins with


@cache
def templates(escape: Escape) -> "Environment":
    """The templates of the reports, loaded when first needed.

    Parameters
    ----------
    escape : callable
        Writes a string so that no character of it is a mark of the format. It is
        applied to every value, except what a template wrote or calls ``safe``.

    Raises
    ------
    DependencyError
        If jinja2 is not installed.

    Examples
    --------
    >>> from html import escape
    >>> templates(escape).from_string("<b>{{ name }}</b>").render(name="a < b")
    '<b>a &lt; b</b>'
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise DependencyError(
            "Reports need jinja2, which is not installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None
    return Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=partial(_escaped, escape),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _escaped(escape: Escape, value: object) -> "Markup":
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(escape(str(value)))


class Writer:
    """Writes a document, or a part of it, by the macros of a template.

    Parameters
    ----------
    template : str
        Its name. Each type of `document` has a macro of its name there.
    escape : callable
        As for `templates`.
    **given : object
        What the macros use beside the document.
    """

    def __init__(self, template: str, escape: Escape, **given: object) -> None:
        self._escape = escape
        macros = templates(escape).get_template(template)
        self._macros = macros.make_module({"written": self, **given})

    def __call__(
        self, part: doc.Document | doc.Section | doc.Block | doc.Text
    ) -> "Markup":
        """Write a document, or a part of it."""
        if isinstance(part, str):
            return _escaped(self._escape, part)
        if isinstance(part, Sequence):
            return _escaped(self._escape, "").join(map(self, part))
        return self.macro(type(part).__name__, part)

    def macro(self, name: str, *values: object) -> "Markup":
        """Write values by the macro of a name, without line feeds around it."""
        written: Markup = getattr(self._macros, name)(*values)
        return written.strip("\n")


def written_html(document: doc.Document, csv: str = "") -> str:
    """Write a document as a page; `csv` is the name of the file beside it, if any.

    Examples
    --------
    >>> "<title>a &lt; b</title>" in written_html(doc.Document("a < b", "", []))
    True
    """
    return page(document.title, _html(csv)(document))


def page(title: str, body: str, more_style: str = "") -> str:
    """Put a body of HTML into a page of its own, in the look of the reports.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    more_style : str
        CSS beside that of the reports.
    """
    whole = templates(escape).get_template("page.html")
    return whole.render(title=title, body=body, more_style=more_style)


def beginning() -> str:
    """What every page begins with, up to the name of the package.

    Examples
    --------
    >>> beginning()[:15], beginning()[-23:]
    ('<!DOCTYPE html>', 'content="pegasos_stats"')
    """
    page = files("pegasos_stats.output.report") / "templates" / "page.html"
    before, sign, _ = page.read_text(encoding="utf-8").partition(SIGN)
    return before + sign


def inline(text: doc.Text) -> str:
    """Write a text as HTML within a line."""
    return str(_html()(text))


def scrolled(inner: str, label: str) -> str:
    """Put HTML that may be too wide into a box that scrolls by itself."""
    return str(_html().macro("scrolled", inner, label))


def framed(page: str) -> str:
    """Put a whole page into a frame, for a notebook to show."""
    return str(_html().macro("framed", page))


@lru_cache(maxsize=512)
def formula_svg(tex: str) -> str:
    r"""Draw a formula as an SVG element that stands on the base line of a text.

    It takes colour and size from the text around it, and reads as its TeX where
    it cannot be seen. For errors see `outline`.

    Examples
    --------
    >>> formula_svg(r"\lambda")
    '<svg class="math" role="img" aria-label="\\lambda" ...</svg>'
    """
    drawing = templates(escape).get_template("formula.svg")
    return drawing.render(tex=tex, **outline(tex)._asdict())


@lru_cache(maxsize=8)
def _html(csv: str = "") -> Writer:
    return Writer(
        "report.html",
        escape,
        csv=csv,
        quote=quote,
        formula_svg=formula_svg,
        plain_text=doc.plain_text,
        SHORT=SHORT,
        UNBROKEN=UNBROKEN,
    )


def written_markdown(
    part: doc.Document | doc.Block, address: Address, csv: str = ""
) -> str:
    r"""Write a document, or a block of one, as GitHub and pandoc read Markdown.

    Parameters
    ----------
    part : Document or Block
    address : callable
        From a figure to the address of its image.
    csv : str
        Name of the CSV file beside the page, if there is one.

    Examples
    --------
    >>> print(written_markdown(doc.Document("a < b", "", []), lambda figure: ""))
    <!-- written by pegasos_stats -->
    <BLANKLINE>
    # a \< b
    <BLANKLINE>
    """
    writer = Writer(
        "report.md",
        markdown,
        address=address,
        csv=csv,
        quote=quote,
        longer_ticks=longer_ticks,
        mark=MARK,
        one_line=one_line,
    )
    return f"{writer(part)}\n"


def one_line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.splitlines())


def longer_ticks(text: str, least: int) -> str:
    """Backticks that enclose a text, more of them than it holds in a row.

    Examples
    --------
    >>> longer_ticks("a `b` c", 1), longer_ticks("a", 3)
    ('``', '```')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
