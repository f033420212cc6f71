"""Write the table of imports between subpackages into docs/developer/architecture.rst.

Usage: ``python scripts/architecture.py``. A test fails if the table is out of date. The
order of the layers is the order of the contract in ``pyproject.toml``.
"""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/developer/architecture.rst"
PICTURE = re.compile(r"(?<=\.\. imports\n\n).*?(?=\.\. end of imports\n)", re.S)
PACKAGE = "pegasos_stats"


def layers() -> list[str]:
    """Return the layers, subpackages and modules, from the top."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    contract = tomllib.loads(text)["tool"]["importlinter"]["contracts"][0]
    return [name for layer in contract["layers"] for name in layer.split(" | ")]


def imports() -> dict[str, set[str]]:
    """Return the top-level imports of each layer above the utilities."""
    names = layers()
    names = [name for name in names[: names.index("tables")] if name != "__main__"]
    needs: dict[str, set[str]] = {name: set() for name in names}
    for path in (ROOT / PACKAGE).rglob("*.py"):
        own = path.relative_to(ROOT / PACKAGE).with_suffix("").parts[0]
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and own in needs:
                targets = {f"{node.module}.{alias.name}" for alias in node.names}
                parts = (target.split(".") for target in targets)
                needs[own] |= {part[1] for part in parts if part[0] == PACKAGE}
    return {name: (needs[name] & {*names}) - {name} for name in names}


def picture() -> str:
    """Return a table in which a dot marks that the row imports the column."""
    needs = imports()
    rows = [
        f"   {place:2} {name:9}"
        + "".join("  ●" if other in needs[name] else "  ·" for other in needs)
        for place, name in enumerate(needs, 1)
    ]
    head = f"   {'':12}" + "".join(f"{place:3}" for place in range(1, len(rows) + 1))
    return "\n".join([".. code-block:: text", "", head, *rows, "", ""])


def with_picture(text: str) -> str:
    """Replace the text between the markers by the current table."""
    return PICTURE.sub(lambda old: picture(), text)


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text("utf-8")), "utf-8")
