"""A document as one HTML file that loads nothing."""

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from importlib.resources import files

from pegasos_stats.output.report.document import (
    Beside,
    Block,
    Bullets,
    Code,
    Document,
    Formula,
    Listing,
    Math,
    Notice,
    Pairs,
    Paragraph,
    Picture,
    Piece,
    Section,
    Table,
    Text,
    Tiles,
    pieces_of,
    plain_text,
)
from pegasos_stats.output.report.mathematics import formula_svg

# The browser itself is told to load nothing and to run nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

GENERATOR = "pegasos_stats"
UNBROKEN = 24  # letters of code that stay on one line
SHORT = 12  # rows of a table that stays on one page of paper

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="{generator}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


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
    style = files("pegasos_stats.output.report").joinpath("style.css")
    return PAGE.format(
        generator=GENERATOR,
        policy=POLICY,
        title=escape(title),
        style=style.read_text(encoding="utf-8") + more_style,
        body=body,
    )


def written_html(document: Document) -> str:
    """Write a document as a page.

    Examples
    --------
    >>> from pegasos_stats.output.report.document import Document
    >>> "<title>a &lt; b</title>" in written_html(Document("a < b", "", []))
    True
    """
    contents = "".join(
        f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>'
        for part in document.sections
    )
    body = [
        f"<header><h1>{escape(document.title)}</h1>",
        f'<p class="lead">{inline(document.lead)}</p></header>',
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>',
        *(_section(part) for part in document.sections),
        f"<footer><p>{inline(document.footer)}</p></footer>",
    ]
    return page(document.title, "\n".join(body))


def _section(part: Section) -> str:
    blocks = "\n".join(block_html(block) for block in part.blocks)
    return (
        f'<section id="{part.anchor}">\n<h2>{escape(part.title)}</h2>\n'
        f"{blocks}\n</section>"
    )


def inline(text: Text) -> str:
    """Write a text as HTML within a line."""
    return "".join(_piece(piece) for piece in pieces_of(text))


def _piece(piece: Piece) -> str:
    if isinstance(piece, str):
        return escape(piece)
    if isinstance(piece, Math):
        return formula_svg(piece.tex)
    if isinstance(piece, Code):
        kind = ' class="short"' if len(piece.text) <= UNBROKEN else ""
        return f"<code{kind}>{escape(piece.text)}</code>"
    return f"<strong>{escape(piece.text)}</strong>"


@singledispatch
def block_html(block: Block) -> str:
    """Write a block as HTML."""
    raise TypeError(f"{type(block).__name__} is no block")


@block_html.register
def _(block: Paragraph) -> str:
    return f"<p>{inline(block.text)}</p>"


@block_html.register
def _(block: Bullets) -> str:
    items = "".join(f"<li>{inline(item)}</li>" for item in block.items)
    return f"<ul>{items}</ul>"


@block_html.register
def _(block: Pairs) -> str:
    rows = "".join(
        f"<div><dt>{inline(name)}</dt><dd>{inline(value)}</dd></div>"
        for name, value in block.rows
    )
    return f'<dl class="pairs">{rows}</dl>'


@block_html.register
def _(block: Table) -> str:
    head = _cells("th", block.columns, block.words, ' scope="col"')
    rows = "".join(_row(line, block.words) for line in block.rows)
    short = ' class="short"' if len(block.rows) <= SHORT else ""
    table = f"<table{short}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    inner = scrolled(table, plain_text(block.caption) or "Table")
    if not block.caption:
        return inner
    caption = f"<figcaption>{inline(block.caption)}</figcaption>"
    return f'<figure class="table">{caption}{inner}</figure>'


def _row(line: Sequence[Text], words: Sequence[int]) -> str:
    first, *rest = line
    cells = _cells("td", rest, words)
    return f'<tr><th scope="row">{inline(first)}</th>{cells}</tr>'


def _cells(
    tag: str, texts: Sequence[Text], words: Sequence[int], attribute: str = ""
) -> str:
    """Cells of one line; a header line holds the first column too."""
    first = 0 if tag == "th" else 1
    return "".join(
        f'<{tag}{attribute} class="{"word" if at in (0, *words) else "number"}">'
        f"{inline(text)}</{tag}>"
        for at, text in enumerate(texts, first)
    )


def scrolled(inner: str, label: str) -> str:
    """Put something that may be too wide into a box that scrolls by itself."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"{inner}</div>"
    )


@block_html.register
def _(block: Formula) -> str:
    label = escape(block.tex)
    return (
        f'<p class="formula" tabindex="0" role="region" aria-label="{label}">'
        f"{formula_svg(block.tex)}</p>"
    )


@block_html.register
def _(block: Listing) -> str:
    code = f"<code>{escape(block.code)}</code>"
    return f'<pre class="{block.language}" tabindex="0">{code}</pre>'


@block_html.register
def _(block: Picture) -> str:
    figure = block.figure
    return (
        f'<figure><img src="{figure.uri}" alt="{escape(figure.alt)}">'
        f"<figcaption>{inline(block.caption)}</figcaption></figure>"
    )


@block_html.register
def _(block: Beside) -> str:
    tables = any(isinstance(inner, Table) for inner in block.blocks)
    kind = "tables" if tables else "pictures"
    return f'<div class="{kind}">{"".join(map(block_html, block.blocks))}</div>'


@block_html.register
def _(block: Notice) -> str:
    return f'<p class="notice {block.kind}">{inline(block.text)}</p>'


@block_html.register
def _(block: Tiles) -> str:
    tiles = "".join(
        f'<div><dt>{inline(tile.name)}</dt><dd class="value">{escape(tile.value)}</dd>'
        f"<dd>{inline(tile.note)}</dd></div>"
        for tile in block.tiles
    )
    return f'<dl class="tiles">{tiles}</dl>'
