"""Count the comparisons with R in the tests, and write the counts into two texts.

Usage: ``python scripts/parity_counts.py``. Each of `FILES` contains the counts between
two markers; a test fails if they are out of date or if a marker is missing.
"""

import csv
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
FILES = [ROOT / "tests/parity/README.md", ROOT / "README.md"]
BLOCK = re.compile(r"(?<=<!-- parity counts -->\n).*?(?=<!-- end of counts -->)", re.S)
LINES = """\
* {listed} listed fits ({pegasos} Pegasos, {sdca} SDCA): Python, R, stored numbers of R;
* {drawn} configurations drawn at random (solver, options, weights, storage): Python, R;
* {plain} fits with a factor, text, booleans, numbers as outcome, in plain rpy2;
* {tables} confusion tables against the stored output of `caret::confusionMatrix()`.
"""


def counts() -> dict[str, int]:
    """Return the numbers of comparisons, from the tests and their files."""
    from tests.parity import test_configurations_live, test_pegasos_rpy2

    plain = test_pegasos_rpy2
    reference = ROOT / "r_reference"
    fits = {
        name: _n_lines(reference / f"{prefix}cases.csv")
        for name, prefix in (("pegasos", ""), ("sdca", "sdca_"))
    }
    caret = json.loads((reference / "golden/caret.json").read_text("utf-8"))
    return fits | {
        "listed": sum(fits.values()),
        "drawn": test_configurations_live.DRAWN,
        "plain": len(plain.OUTCOMES) * len(plain.LAMBDAS) * len(plain.SEEDS),
        "tables": len(caret),
    }


def _n_lines(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        return len(list(csv.DictReader(file)))


def with_counts(text: str) -> str:
    """Replace the text between the markers by the current counts."""
    lines = LINES.format(**counts())
    return BLOCK.sub(lambda found: lines, text)


def main() -> None:
    """Write the counts into all files."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        path.write_text(with_counts(text), encoding="utf-8")


if __name__ == "__main__":
    main()
