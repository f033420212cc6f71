"""Memory of a fit from files: within memory=, and a few bytes per row."""

import subprocess
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

MIB = 2**20
BUDGET = 128
# A first fit of a few rows loads code and compiles: what it takes is no work on rows.
# Beside the budget pyarrow, malloc and BLAS hold what they were given back: up to 96.
ALLOWANCE = 96
FEW, MANY = 45_000, 105_000  # rows, with which samples and retained rows fill `SMALL`
SMALL = MIB
ROW_BYTES = 20  # of a fit
SAVED = 32  # bytes a row that save() takes, beside what the fit has
LABELS = 24  # bytes a row of predicted whole numbers, in pieces and joined
FIT = """
import resource, sys, warnings
import numpy as np, pandas as pd, pegasos_stats as ps
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
path, formula, folder = sys.argv[1:]
few = pd.DataFrame({"y": list("ab") * 50, "g": list("uvwx") * 25})
few["x"] = np.sin(np.arange(100.0)).astype(np.float32)
few.to_parquet(f"{folder}/few.parquet")
def fit(formula, path):
    rows = ps.scan(path, memory="128MiB")
    solver = ps.Optimum(tol=1e-2, seed=1)
    ps.logit(formula, rows, lam=0.01).fit(solver, cov_type="none")
fit("y ~ x + g", f"{folder}/few.parquet")
before = peak()
fit(formula, path)
print(peak() - before)
"""


def peak_of(path, formula, folder):
    given = [sys.executable, "-W", "ignore", "-c", FIT, str(path), formula, str(folder)]
    return float(subprocess.check_output(given, text=True).split()[-1])


@pytest.mark.slow
def test_many_columns_are_fitted_within_it(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 600)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(600)])
    frame["y"] = np.where(X[:, :5].sum(axis=1) > rng.normal(size=1500), "a", "b")
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path, row_group_size=500)
    assert peak_of(path, "y ~ .", tmp_path) < BUDGET + ALLOWANCE


def growth(call):
    """Bytes by which the peak of a call grows with each row."""
    peaks = []
    call(FEW)  # the first imports and compiles
    for n in (FEW, MANY):
        tracemalloc.start()
        try:
            call(n)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return (peaks[1] - peaks[0]) / (MANY - FEW)


@pytest.mark.slow
@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_memory_grows_with_rows_as_the_page_on_scale_says(make, tmp_path):
    rng, files = np.random.default_rng(4), {}
    for n in (FEW, MANY):
        frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=[*"abcd"])
        frame["y"] = (frame["a"] + rng.normal(size=n) > 0.0).astype(np.int64)
        frame.to_parquet(tmp_path / f"{n}.parquet", row_group_size=5000)
        files[n] = replace(ps.scan(tmp_path / f"{n}.parquet"), memory=SMALL)

    def fit(n):
        solver = ps.Optimum(tol=1e-2, seed=1)
        fits[n] = make("y ~ a + b + c + d", files[n]).fit(solver, cov_type=None)

    fits, place = {}, tmp_path / "fit.model"
    assert growth(fit) < ROW_BYTES
    assert growth(lambda n: ps.save(fits[n], place, overwrite=True)) < SAVED
    assert growth(lambda n: fits[n].predict(files[n])) < LABELS


@pytest.mark.parametrize("kind", ["int64", "bool", "str", "category"])
def test_labels_predicted_by_block_are_those_of_the_frame(kind, tmp_path):
    """In type too, where one block alone lacks a value."""
    rng, n = np.random.default_rng(2), 300
    data = pd.DataFrame({"x": rng.normal(size=n)})
    data["y"] = (data["x"] + rng.normal(size=n) > 0.0).astype("int64").astype(kind)
    result = ps.logit("y ~ x", data).fit()
    data.loc[n // 2, "x"] = np.nan
    data[["x"]].to_parquet(tmp_path / "rows.parquet")
    by_block = replace(ps.scan(tmp_path / "rows.parquet"), memory=2**14)
    pd.testing.assert_series_equal(result.predict(by_block), result.predict(data))
