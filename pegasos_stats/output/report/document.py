"""A report as data: sections of blocks, of which templates make HTML or Markdown.

Text is a sequence of pieces. What a user gave (names, labels, paths) enters as a plain
string, which is escaped when it is written; only the templates of `prose` are read.
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Math:
    """A formula in TeX, within a line."""

    tex: str


@dataclass(frozen=True)
class Code:
    """A word of a program, set in a fixed width."""

    text: str


@dataclass(frozen=True)
class Strong:
    """An important word."""

    text: str


Piece = str | Math | Code | Strong
Text = Piece | Sequence[Piece]

MARKUP = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*\*([^*]+)\*\*|(\{\})")


def prose(template: str, *values: Piece) -> tuple[Piece, ...]:
    """Read a sentence with formulas, words of programs and gaps to fill.

    Parameters
    ----------
    template : str
        ``$...$`` is a formula in TeX, ``**...**`` is strong, backticks enclose code,
        and ``{}`` is a gap.
    *values : str, Math, Code or Strong
        One for each gap; taken as they are.

    Examples
    --------
    >>> prose("The column {} has $n$ rows.", Code("a$b"))
    ('The column ', Code(text='a$b'), ' has ', Math(tex='n'), ' rows.')
    """
    filling = iter(values)
    pieces: list[Piece] = []
    end = 0
    for found in MARKUP.finditer(template):
        pieces.append(template[end : found.start()])
        tex, code, strong, gap = found.groups()
        if gap:
            pieces.append(next(filling))
        else:
            pieces.append(Math(tex) if tex else Code(code) if code else Strong(strong))
        end = found.end()
    pieces.append(template[end:])
    return tuple(piece for piece in pieces if piece != "")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Text


@dataclass(frozen=True)
class Definitions:
    """Names with their values, a line each: a list of definitions in HTML."""

    rows: Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows.

    Attributes
    ----------
    columns : sequence of Text
        The header.
    rows : sequence of sequences of Text
    caption : Text
    words : sequence of int
        Columns beside the first that hold words; all others hold numbers.
    """

    columns: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    caption: Text = ""
    words: Sequence[int] = ()

    @property
    def kinds(self) -> list[Literal["word", "number"]]:
        """What each column holds."""
        words = {0, *self.words}
        return ["word" if at in words else "number" for at in range(len(self.columns))]


@dataclass(frozen=True)
class Formula:
    """A formula on a line of its own."""

    tex: str


@dataclass(frozen=True)
class Listing:
    """Lines of a program."""

    code: str
    language: Literal["python", "r", "sh", "text"]


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    svg : str
        Text is drawn as outlines; no font is needed.
    alt : str
        What the figure shows, for those who do not see it.
    """

    svg: str
    alt: str

    @property
    def uri(self) -> str:
        """The figure as the address of an image that holds all of it."""
        coded = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


@dataclass(frozen=True)
class Picture:
    """A figure with its caption."""

    figure: Figure
    caption: Text


@dataclass(frozen=True)
class Beside:
    """Tables or figures side by side, where there is room for it."""

    blocks: Sequence[Table | Picture]

    @property
    def kind(self) -> Literal["tables", "pictures"]:
        """What it holds: tables alone or with figures, or figures only."""
        tables = any(isinstance(block, Table) for block in self.blocks)
        return "tables" if tables else "pictures"


@dataclass(frozen=True)
class Columns:
    """Blocks in columns side by side, one below the other on a narrow screen."""

    columns: Sequence[Sequence["Block"]]


@dataclass(frozen=True)
class Lead:
    """The conclusion of a report, in large letters."""

    text: Text


@dataclass(frozen=True)
class CsvFile:
    """A table written to a CSV file beside the page, with a link to it.

    Attributes
    ----------
    content : str
    text : Text
        What is in the file.
    """

    content: str
    text: Text


@dataclass(frozen=True)
class Notice:
    """What a reader should not miss: a warning, or a note."""

    text: Text
    kind: Literal["warning", "note"] = "note"


class Tile(NamedTuple):
    """A number that is looked for first, with its name and a remark."""

    name: Text
    value: str
    note: Text


@dataclass(frozen=True)
class Tiles:
    """The main numbers of a report, side by side."""

    tiles: Sequence[Tile]


Block = (
    Paragraph
    | Definitions
    | Table
    | Formula
    | Listing
    | Picture
    | Beside
    | Columns
    | Lead
    | CsvFile
    | Notice
    | Tiles
)


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading; `anchor` names it in links."""

    title: str
    anchor: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Document:
    """A report.

    Attributes
    ----------
    title : str
    lead : Text
        What the report is about, in a line below the title.
    sections : sequence of Section
        Folded in HTML.
    footer : Text
    summary : sequence of Block
        The first screen.
    """

    title: str
    lead: Text
    sections: Sequence[Section]
    footer: Text = ""
    summary: Sequence[Block] = ()

    @property
    def csv(self) -> str | None:
        """Content of the CSV file beside the page, if there is one."""
        blocks = [block for section in self.sections for block in section.blocks]
        files = [block.content for block in blocks if isinstance(block, CsvFile)]
        return files[0] if files else None


def plain_text(text: Text) -> str:
    """Write a text without marks, for a caption that a screen reader reads.

    Examples
    --------
    >>> plain_text(prose("the column `a`, $n$ rows"))
    'the column a, n rows'
    """
    if isinstance(text, str):
        return text
    if isinstance(text, Sequence):
        return "".join(map(plain_text, text))
    return text.tex if isinstance(text, Math) else text.text
