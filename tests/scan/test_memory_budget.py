"""A fit from files holds memory=, or says before it counts rows what it takes."""

import subprocess
import sys

import numpy as np
import pandas as pd

MIB = 2**20
BUDGET = 128
# A first fit of a few rows loads code and compiles: what it takes is no work on rows.
# Beside the budget pyarrow, malloc and BLAS hold what they were given back: up to 96.
ALLOWANCE = 96
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


def test_many_columns_are_fitted_within_it(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 600)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(600)])
    frame["y"] = np.where(X[:, :5].sum(axis=1) > rng.normal(size=1500), "a", "b")
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path, row_group_size=500)
    assert peak_of(path, "y ~ .", tmp_path) < BUDGET + ALLOWANCE
