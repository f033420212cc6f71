"""The command ``compile``: small fits on every path that is compiled.

What they compile is kept, so that in an image of a container, or before tests, nobody
waits for it later. Kernels for other types of numbers, such as single precision, are
compiled when they are first needed.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats.data.scan.files import scan
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.output.cli.printed import Printed
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.cross_validation import cross_validate

RUNS = [
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
]
PERM = [SDCA(algorithm="perm", start=start, seed=1) for start in ("zero", "sgd")]


def compile_all(options: argparse.Namespace) -> Printed:
    """Fill the cache of compiled kernels; tell how many there are, and where."""
    from pegasos_stats.compiled.cache import folder, sources  # loads numba

    began = time.perf_counter()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        fit_all(Path(place) / "rows.csv")
    kept = folder()
    count = 0 if kept is None else len(list(kept.glob(f"*.{sources()}-*.nbc")))
    seconds = time.perf_counter() - began
    return Printed(f"{count} compiled kernels in {kept} ({seconds:.0f} s)\n")


def fit_all(file: Path) -> None:
    """Fit all kinds of rows by all solvers; rows of a file are written there."""
    rng = np.random.default_rng(1)
    y = np.tile([-1, 1], 200)
    few, many = rng.normal(size=(80, 4)), rng.normal(size=(400, 70))
    wide = rng.normal(size=(40, 60))
    sparse = csr_array((rng.random((80, 30)) < 0.3).astype(np.float64))
    frame = pd.DataFrame(np.tile(few, (20, 1)), columns=list("abcd"))
    frame.assign(y=np.tile(y, 4)).to_csv(file, index=False)
    for kind in (SVM, Logit):
        for X in (few, sparse):
            model = kind(y[:80], X, lam=0.1)
            for run in RUNS:
                model.fit(run)
            model.fit().summary()
            cross_validate(model, folds=3)
            free = kind(y[:80], X, lam=0.1, intercept=False)
            for solver in PERM:
                free.fit(solver)
        for X in (wide, many):
            for intercept in (True, False):
                kind(y[: len(X)], X, lam=0.1, intercept=intercept).fit()
        kind.from_formula("y ~ .", scan(file), lam=0.1).fit()
    kernel = KernelSVM(y[:80], few, lam=0.1)
    kernel.fit().summary()
    kernel.fit(RUNS[0])
