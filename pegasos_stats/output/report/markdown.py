"""A document as Markdown, with tables and formulas as GitHub and pandoc read them."""

import re
from collections.abc import Callable

from pegasos_stats.output.plotting.figures import Figure
from pegasos_stats.output.report.document import Block, Document
from pegasos_stats.output.report.rendering import Writer

Address = Callable[[Figure], str]

MARK = "<!-- written by pegasos_stats -->"
SPECIAL = re.compile(r"([\\`*_{\[<#|$~^&])")


def written_markdown(document: Document, address: Address) -> str:
    r"""Write a document as Markdown.

    Parameters
    ----------
    document : Document
    address : callable
        From a figure to the address of its image.

    Examples
    --------
    >>> from pegasos_stats.output.report.document import Document
    >>> print(written_markdown(Document("a < b", "", []), lambda figure: figure.uri))
    <!-- written by pegasos_stats -->
    <BLANKLINE>
    # a \< b
    <BLANKLINE>
    """
    return f"{_writer(address)(document)}\n"


def block_markdown(block: Block, address: Address) -> str:
    """Write a block."""
    return str(_writer(address)(block))


def _writer(address: Address) -> Writer:
    return Writer(
        "report.md",
        escaped,
        address=address,
        longer_ticks=longer_ticks,
        mark=MARK,
        one_line=one_line,
    )


def escaped(text: str) -> str:
    r"""Write a text so that no character of it is a mark, on one line.

    Examples
    --------
    >>> print(escaped("a_b | <c>"))
    a\_b \| \<c>
    """
    return SPECIAL.sub(r"\\\1", one_line(text))


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
