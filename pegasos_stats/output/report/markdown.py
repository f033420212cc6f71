"""A document as Markdown, with tables and formulas as GitHub and pandoc read them."""

import re
from collections.abc import Callable, Sequence
from functools import singledispatch

from pegasos_stats.output.plotting.figures import Figure
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
    Table,
    Text,
    Tiles,
    pieces_of,
)

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
    parts = [MARK, f"# {escaped(document.title)}", inline(document.lead)]
    for part in document.sections:
        parts.append(f"## {escaped(part.title)}")
        parts += [block_markdown(block, address) for block in part.blocks]
    parts.append(inline(document.footer))
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    r"""Write a text so that no character of it is a mark, on one line.

    Examples
    --------
    >>> print(escaped("a_b | <c>"))
    a\_b \| \<c>
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.splitlines()))


def inline(text: Text) -> str:
    """Write a text within a line."""
    return "".join(_piece(piece) for piece in pieces_of(text))


def _piece(piece: Piece) -> str:
    if isinstance(piece, str):
        return escaped(piece)
    if isinstance(piece, Math):
        return f"${piece.tex}$"
    if isinstance(piece, Code):
        return _coded(" ".join(piece.text.splitlines()).replace("|", r"\|"))
    return f"**{escaped(piece.text)}**"


def _coded(text: str) -> str:
    """Enclose in more backticks than the text holds in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


@singledispatch
def block_markdown(block: Block, address: Address) -> str:
    """Write a block."""
    raise TypeError(f"{type(block).__name__} is no block")


@block_markdown.register
def _(block: Paragraph, address: Address) -> str:
    return inline(block.text)


@block_markdown.register
def _(block: Bullets, address: Address) -> str:
    return "\n".join(f"* {inline(item)}" for item in block.items)


@block_markdown.register
def _(block: Pairs, address: Address) -> str:
    return _table(("", ""), block.rows, words=(1,))


@block_markdown.register
def _(block: Table, address: Address) -> str:
    caption = f"{inline(block.caption)}\n\n" if block.caption else ""
    return caption + _table(block.columns, block.rows, block.words)


def _table(
    columns: Sequence[Text], rows: Sequence[Sequence[Text]], words: Sequence[int]
) -> str:
    marks = [":---" if at in (0, *words) else "---:" for at in range(len(columns))]
    lines = [[inline(cell) for cell in line] for line in (columns, *rows)]
    return "\n".join(
        f"| {' | '.join(line)} |" for line in (lines[0], marks, *lines[1:])
    )


@block_markdown.register
def _(block: Formula, address: Address) -> str:
    return f"$$\n{block.tex}\n$$"


@block_markdown.register
def _(block: Listing, address: Address) -> str:
    longest = max((len(run) for run in re.findall("`+", block.code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.code}\n{fence}"


@block_markdown.register
def _(block: Picture, address: Address) -> str:
    image = f"![{escaped(block.figure.alt)}]({address(block.figure)})"
    return f"{image}\n\n{inline(block.caption)}"


@block_markdown.register
def _(block: Beside, address: Address) -> str:
    return "\n\n".join(block_markdown(inner, address) for inner in block.blocks)


@block_markdown.register
def _(block: Notice, address: Address) -> str:
    return f"> **{block.kind.capitalize()}:** {inline(block.text)}"


@block_markdown.register
def _(block: Tiles, address: Address) -> str:
    rows = [(tile.name, tile.value, tile.note) for tile in block.tiles]
    return _table(("", "", ""), rows, words=(1, 2))
