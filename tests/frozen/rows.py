"""Rows of the frozen fits, the same on every machine and with every version.

They are from numpy's `RandomState`, whose streams never change, rounded so that no last
bit of a library for mathematics matters.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

VALUES = Path(__file__).parent / "values"


def normal(n, p, seed):
    """Standard normal numbers of six digits, shape (n, p)."""
    return np.random.RandomState(seed).normal(size=(n, p)).round(6)


def labels(X, seed):
    """Text labels of two levels: "yes" depends on the first two columns."""
    score = X[:, 0] - 0.6 * X[:, 1] + normal(len(X), 1, seed)[:, 0]
    return np.where(score > 0.2, "yes", "no")


def uniform(n, seed):
    """Numbers from 0.5 to 2."""
    return np.random.RandomState(seed).uniform(0.5, 2.0, n).round(6)


def counts(n, seed):
    """Whole numbers from 1 to 3."""
    return np.random.RandomState(seed).randint(1, 4, n)


def sparse_entries(n, p, seed):
    """Rows of which nine entries in ten are 0, the first two columns excepted."""
    X, draw = normal(n, p, seed), np.random.RandomState(seed + 1)
    X[:, 2:][draw.uniform(size=(n, p - 2)) < 0.9] = 0.0
    return X


def frame(n=160, seed=7):
    """Numbers, a factor, a logical value, weights, groups; some values missing."""
    X, draw = normal(n, 3, seed), np.random.RandomState(seed + 1)
    data = pd.DataFrame(X, columns=["a", "b", "c"])
    data["g"] = np.array(["u", "v", "w's"], dtype=object)[draw.randint(0, 3, n)]
    data["h"] = draw.randint(0, 2, n) == 1
    data["y"] = labels(X + 0.5 * (data["g"] == "v").to_numpy()[:, None], seed + 2)
    data["w"], data["f"] = uniform(n, seed + 3), counts(n, seed + 4)
    data["o"] = normal(n, 1, seed + 5)[:, 0]
    data["school"], data["town"] = draw.randint(0, 24, n), draw.randint(0, 17, n)
    data.loc[[3, 50], "a"] = np.nan
    data.loc[9, "g"] = None
    return data


def read(name):
    """Frozen values by the name of a case."""
    return json.loads((VALUES / f"{name}.json").read_text(encoding="utf-8"))
