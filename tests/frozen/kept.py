"""Saved objects that later versions are to read, ``tests/frozen/kept``, one a kind."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pegasos_stats as ps
from tests.persist import fits, studies

FOLDER = Path(__file__).parent / "kept"
FITS = ["linear", "refined", "bootstrapped", "kernel", "gram"]
STUDIES = [
    "cross_validation",
    "path",
    "tuning",
    "calibrated_kernel",
    "thresholds",
    "reliability",
    "errors",
    "models",
    "solvers",
    "predictions",
    "table",
    "weighted_table",
    "margins",
    "contrasts",
    "joint",
    "folds",
    "coding",
]


def save() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for names, makers in ((FITS, fits.FITS), (STUDIES, studies.OBJECTS)):
        for name in names:
            path = FOLDER / f"{name}.model"
            ps.save(makers[name](), path, about=None, overwrite=True)


def of_frame(table: pd.DataFrame) -> list[float]:
    """All numbers of a table, by row."""
    return [float(x) for x in table.select_dtypes("number").to_numpy(float).ravel()]


def numbers(found: Any) -> list[float]:
    """Numbers of a saved object, whatever its kind."""
    if isinstance(found, ps.Results):
        linear = isinstance(found, ps.LinearResults)
        values = found.params if linear else found.dual_coef
        facts = [found.objective, found.gap, found.intercept, *values]
        facts += [found.n_iter, found.n_violations]
        return [float(value) for value in facts]
    if isinstance(found, ps.Folds):
        return [float(fold) for fold in np.ravel(found.assignment)]
    if isinstance(found, ps.LabelCoding):
        return [float(sign) for sign in found.encode(pd.Series(list(found.levels)))]
    if isinstance(found, ps.KernelTuning | ps.Reliability | ps.PairedComparison):
        return of_frame(found.table)
    if hasattr(found, "tidy"):
        return of_frame(found.tidy())
    return [float(found.statistic), float(found.pvalue)]


def kept() -> dict[str, list[float]]:
    """Numbers of the objects in the files."""
    return {
        name: numbers(ps.load(FOLDER / f"{name}.model", functions=None))
        for name in [*FITS, *STUDIES]
    }
