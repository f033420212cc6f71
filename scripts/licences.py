"""Write LICENSES.md: the libraries that the package needs, and their licences.

Usage: licences.py. The names are from setup.cfg, the licences from the metadata of the
installed versions. A library that is not installed keeps its line.
"""

import re
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "LICENSES.md"
NAME = re.compile(r"^([A-Za-z0-9_.-]+)", re.MULTILINE)
BEGIN = """# Licences of the dependencies

The package has the BSD 3-clause licence and contains no code of other projects. It
imports the libraries below, which pip installs: those without an extra always, the
others with their extra, such as `pip install 'pegasos_stats[report]'`. The libraries of
the extra `dev`, and rpy2, which embeds R, are used for tests and are not distributed.
`python scripts/licences.py` writes this file from the metadata of the libraries.

| Library | Extra | Licence |
|:--|:--|:--|
"""


def needed() -> dict[str, list[str]]:
    """Return libraries by name, with the extras that install them; "" for none."""
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
    """Return the licence in the metadata: an expression, a short name, or classifiers.

    Returns None if the library is not installed.
    """
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
    """Return extras and licence of each library in the existing file."""
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
