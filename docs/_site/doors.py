"""Their line beside our line: the rows of the three pages on coming from elsewhere.

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
    """Lines before the rows of a page: the data, and a fit of each side."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Row:
    """A row of a page; `their_value` and `our_value` are what a test compares."""

    group: str
    calls: list[str]
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
    elsewhere: dict[str, str] = field(default_factory=dict)  # calls that have no row
    row: list[Row] = field(default_factory=list)


def door(name: str) -> Door:
    """The rows of a page by its name: ``r``, ``statsmodels``, ``sklearn``."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        read = tomllib.load(file)
    shared = [Shared(**_stripped(given)) for given in read["shared"]]
    rows = [Row(**_stripped(given)) for given in read["row"]]
    return Door(shared, read["elsewhere"], rows)


def _stripped(given: dict[str, str | float]) -> dict[str, str | float]:
    return {k: v.strip() if isinstance(v, str) else v for k, v in given.items()}


def setup(app: Sphinx) -> dict[str, bool]:
    """Make known ``door``."""
    app.add_directive("door", DoorTable)
    return {"parallel_read_safe": True}


class DoorTable(SphinxDirective):
    """An index of calls, and all rows: their lines beside ours, and what differs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The index, the shared lines, and a section for each group of rows."""
        name = self.arguments[0]
        self.env.note_dependency(str(FOLDER / f"{name}.toml"))
        theirs = LANGUAGES.get(name, ("scikit-learn", "python"))
        found = door(name)
        parts = [_titled("Index of calls"), _index(found), _titled("Data")]
        parts += [_head(theirs[0])]
        parts += [_pair(part.theirs, part.ours, theirs) for part in found.shared]
        numbered = enumerate(found.row)
        for group, rows in groupby(numbered, key=lambda numbered: numbered[1].group):
            parts += [_titled(group), _head(theirs[0])]
            for number, row in rows:
                parts.append(_pair(row.theirs, row.ours, theirs, f"row-{number}"))
                parts += _differs(row.differs)
        return self.parse_text_to_nodes("\n\n".join(parts), allow_section_headings=True)


def _differs(text: str) -> list[str]:
    return [f".. container:: differs\n\n{indent(text, '   ')}"] if text else []


def _titled(title: str) -> str:
    return f"{title}\n{'-' * len(title)}"


def _index(found: Door) -> str:
    """Links to the rows and to other places, in the order of the alphabet."""
    numbered = enumerate(found.row)
    rows = {call: f"#row-{number}" for number, row in numbered for call in row.calls}
    places = sorted((rows | found.elsewhere).items(), key=lambda at: at[0].lower())
    links = ",\n".join(f"`{call} <{place}>`__" for call, place in places)
    return f".. container:: calls\n\n{indent(links, '   ')}"


def _head(theirs: str) -> str:
    """The names of the two columns."""
    return (
        f".. container:: pair head\n\n   .. container:: side\n\n      {theirs}\n\n"
        "   .. container:: side\n\n      pegasos_stats"
    )


def _pair(theirs: str, ours: str, language: tuple[str, str], name: str = "") -> str:
    """Two blocks of code in a container, which a wide screen has side by side."""
    blocks = "\n\n".join(
        f".. code-block:: {kind}\n\n{indent(code, '   ')}"
        for kind, code in ((language[1], theirs), ("python", ours))
    )
    named = f"\n   :name: {name}" if name else ""
    return f".. container:: pair{named}\n\n{indent(blocks, '   ')}"
