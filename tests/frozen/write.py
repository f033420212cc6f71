"""Write the frozen values beside the tests, ``tests/frozen/values``.

Usage, by hand: ``python -m tests.frozen.write`` for all files, or with the names of
some, such as ``objectives errors``. Frozen values stay as they are. Where a number is
meant to change, its file is written anew in the same commit, whose message gives the
reason.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from tests.frozen import draws, errors, kept, scores, tables
from tests.frozen.fits import FITS
from tests.frozen.rows import VALUES


def objectives() -> dict[str, Any]:
    """Objective, gap and coefficients of the fits at the optimum."""
    return {
        name: {
            "objective": fit.result.objective,
            "gap": fit.result.gap,
            "position": fit.position.tolist(),
        }
        for name, make in FITS.items()
        for fit in [make()]
    }


def saved() -> dict[str, Any]:
    """Numbers of saved objects, whose files are written anew."""
    kept.save()
    return kept.kept()


FILES: dict[str, Callable[[], Any]] = {
    "objectives": objectives,
    "errors": lambda: {name: errors.numbers(name) for name in errors.CASES},
    "folds": draws.folds,
    "validations": draws.validations,
    "runs": draws.runs,
    "scores": scores.scores,
    "kept": saved,
    "tables": lambda: {name: tables.statistics(name) for name in tables.CASES},
}


def write(names: list[str]) -> None:
    """Write these files, or all."""
    VALUES.mkdir(exist_ok=True)
    for name in names or FILES:
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value)}"
            for key, value in FILES[name]().items()
        )
        text = f"{{\n{lines}\n}}\n"
        (VALUES / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
