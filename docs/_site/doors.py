"""Their line, our line, what differs: the rows behind the three doors.

The rows are data, ``docs/doors/*.toml``; the pages are made from them, and
``tests/test_site_doors.py`` runs both lines of each and compares the values.
"""

import tomllib
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from textwrap import indent

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[1] / "doors"
LANGUAGES = {"r": ("R", "r"), "statsmodels": ("statsmodels", "python")}


@dataclass(frozen=True)
class Shared:
    """Lines before the rows of a door: the data, and a fit of each side."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Row:
    """A row of a door; `their_value` and `our_value` are what a test compares."""

    group: str
    theirs: str
    ours: str
    differs: str
    their_value: str = "it"
    our_value: str = "it"
    close: float = 0.0
    because: str = ""
    needs: str = ""


@dataclass(frozen=True)
class Door:
    """A page: what is shared by its rows, and the rows."""

    shared: list[Shared] = field(default_factory=list)
    row: list[Row] = field(default_factory=list)


def door(name: str) -> Door:
    """The rows of a door by its name: ``r``, ``statsmodels``, ``sklearn``."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        read = tomllib.load(file)
    shared = [Shared(**_stripped(given)) for given in read["shared"]]
    return Door(shared, [Row(**_stripped(given)) for given in read["row"]])


def _stripped(given: dict[str, str | float]) -> dict[str, str | float]:
    return {k: v.strip() if isinstance(v, str) else v for k, v in given.items()}


def setup(app: Sphinx) -> dict[str, bool]:
    """Make known ``door``."""
    app.add_directive("door", DoorTable)
    return {"parallel_read_safe": True}


class DoorTable(SphinxDirective):
    """All rows of a door: their lines above or beside ours, and what differs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A section for each group of rows."""
        name = self.arguments[0]
        self.env.note_dependency(str(FOLDER / f"{name}.toml"))
        theirs = LANGUAGES.get(name, ("scikit-learn", "python"))
        found = door(name)
        parts = ["In what follows both sides have these data, and these fits:"]
        parts += [_pair(part.theirs, part.ours, theirs) for part in found.shared]
        for group, rows in groupby(found.row, key=lambda row: row.group):
            parts.append(f"{group}\n{'-' * len(group)}")
            parts += [
                f"{_pair(row.theirs, row.ours, theirs)}\n\n{row.differs}"
                for row in rows
            ]
        return self.parse_text_to_nodes("\n\n".join(parts), allow_section_headings=True)


def _pair(theirs: str, ours: str, language: tuple[str, str]) -> str:
    """Two blocks of code in a container, which a wide screen has side by side."""
    name, lexer = language
    blocks = "\n\n".join(
        f".. code-block:: {kind}\n   :caption: {title}\n\n{indent(code, '   ')}"
        for title, kind, code in (
            (name, lexer, theirs),
            ("pegasos_stats", "python", ours),
        )
    )
    return f".. container:: pair\n\n{indent(blocks, '   ')}"
