"""Frames in several Parquet files, and how fits of them are made."""

from pathlib import Path

import numpy as np
import pandas as pd

import pegasos_stats as ps

N = 2400
SOLVER = ps.Optimum(tol=1e-8, seed=1)
LAM = 0.01


def frame_of(n: int = N) -> pd.DataFrame:
    """Numbers, a factor with a level that comes last, missing values."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(n) < 0.3, "yes", "no")
    data = pd.DataFrame({"y": y})
    for j in range(3):
        data[f"x{j}"] = rng.standard_normal(n) + 0.6 * (y == "yes") * (j != 1)
    data["k"] = rng.integers(0, 3, n)
    data["g"] = rng.choice(["b", "a", "c"], n)
    data.loc[n - 40 :, "g"] = "A last level"
    data["w"] = rng.integers(1, 4, n).astype(float)
    data.loc[[3, n // 2], "x1"] = np.nan
    data.loc[[5, n - 3], "y"] = None
    data.loc[[8, 9], "g"] = None
    return data


def told_apart(data: pd.DataFrame) -> pd.DataFrame:
    """The same with levels further apart: a hinge fit of them is not flat."""
    found = data.copy()
    found[["x0", "x2"]] += 1.2 * (found["y"] == "yes").to_numpy()[:, None]
    return found


def written(
    data: pd.DataFrame, folder: Path, parts: int = 4, group: int = 200
) -> list[Path]:
    """Write rows that follow each other to files `part0.parquet` and so on."""
    edges = np.linspace(0, len(data), parts + 1).astype(int)
    files = [folder / f"part{i}.parquet" for i in range(parts)]
    for file, first, last in zip(files, edges, edges[1:], strict=False):
        data.iloc[first:last].to_parquet(file, row_group_size=group, index=False)
    return files
