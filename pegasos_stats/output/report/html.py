"""A document as one HTML file that loads nothing."""

from functools import cache
from html import escape
from importlib.resources import files

from pegasos_stats.output.report.document import Document, Text, plain_text
from pegasos_stats.output.report.mathematics import formula_svg
from pegasos_stats.output.report.rendering import Writer, templates

UNBROKEN = 24  # letters of code that stay on one line
SHORT = 12  # rows of a table that stays on one page of paper
SIGN = 'content="pegasos_stats"'


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


def written_html(document: Document) -> str:
    """Write a document as a page.

    Examples
    --------
    >>> from pegasos_stats.output.report.document import Document
    >>> "<title>a &lt; b</title>" in written_html(Document("a < b", "", []))
    True
    """
    return page(document.title, _writer()(document))


def inline(text: Text) -> str:
    """Write a text as HTML within a line."""
    return str(_writer()(text))


def scrolled(inner: str, label: str) -> str:
    """Put HTML that may be too wide into a box that scrolls by itself."""
    return str(_writer().macro("scrolled", inner, label))


def framed(page: str) -> str:
    """Put a whole page into a frame, for a notebook to show."""
    return str(_writer().macro("framed", page))


@cache
def _writer() -> Writer:
    return Writer(
        "report.html",
        escape,
        formula_svg=formula_svg,
        plain_text=plain_text,
        SHORT=SHORT,
        UNBROKEN=UNBROKEN,
    )
