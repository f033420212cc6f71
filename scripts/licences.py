"""Write LICENSES.md: what the package needs, and under which licence that is.

Usage: licences.py. Names are those of setup.cfg, licences those that the metadata of
the installed versions state; a library that is not installed keeps its line.
"""

import re
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "LICENSES.md"
NAME = re.compile(r"^([A-Za-z0-9_.-]+)", re.MULTILINE)
BEGIN = """# Licences of what the package needs

The package is under the BSD 3-clause licence and holds no code of others. It imports
the libraries below, which pip installs beside it: the first ones always, the others
with an extra, such as `pip install 'pegasos_stats[report]'`. Those of the extra `dev`
and rpy2, which embeds R, are for tests and are no part of what is distributed.
`python scripts/licences.py` writes this file from their metadata.

| Library | Extra | Licence |
|:--|:--|:--|
"""


def needed() -> dict[str, list[str]]:
    """Libraries by name, with the extras that bring them; the package's own first."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    asked = {"": setup["options"]["install_requires"]}
    asked |= dict(setup["options.extras_require"])
    found: dict[str, list[str]] = {}
    for extra, lines in asked.items():
        for name in NAME.findall(lines.strip()):
            if name != "pegasos_stats":
                found.setdefault(name, []).append(extra)
    return found


def licence_of(name: str) -> str | None:
    """What the metadata state: an expression, a short name, or classifiers."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    short = (told.get("License") or "").strip()
    classes = [
        line.rpartition(" :: ")[2]
        for line in told.get_all("Classifier") or []
        if line.startswith("License")
    ]
    one_line = short if "\n" not in short and len(short) <= 60 else ""
    return told.get("License-Expression") or one_line or ", ".join(classes)


def listed() -> dict[str, tuple[str, str]]:
    """Extras and licence of each library in the file."""
    rows = re.findall(
        r"^\| (\S+) \| (.*?) \| (.*?) \|$", FILE.read_text(), re.MULTILINE
    )
    return {
        name: (extras, licence) for name, extras, licence in rows if name != "Library"
    }


def main() -> None:
    """Write the file."""
    before = listed() if FILE.exists() else {}
    lines = []
    for name, extras in needed().items():
        licence = licence_of(name) or before.get(name, ("", "not known"))[1]
        lines.append(f"| {name} | {', '.join(filter(None, extras))} | {licence} |")
    FILE.write_text(BEGIN + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
