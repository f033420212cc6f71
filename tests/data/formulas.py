"""Formulas that the package computes or refuses, and a frame with columns for them.

Those of formulas.json that are refused run ("running"; a payload that is run writes the
file canary, in the folder of the test), write, or grow without bound. The list only
grows. All of `HOSTILE` are refused: as a term, inside of braces and calls, as an
outcome, and in a saved model; of `UNREADABLE` a few can be read after all.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

N = 60


def everything():
    """Columns of all kinds, complete."""
    rng = np.random.default_rng(0)
    levels = ["lo", "mid", "hi"]
    return pd.DataFrame(
        {
            "y": np.resize(["no", "yes"], N),
            "a": rng.uniform(1.0, 3.0, N),
            "b": rng.normal(size=N),
            "h": rng.uniform(0.1, 1.0, N),
            "k": rng.integers(1, 5, N),
            "n": pd.array(rng.integers(1, 9, N), dtype="Int64"),
            "f": rng.choice([True, False], N),
            "g": np.resize(["u", "v", "w"], N),
            "g2": rng.choice(["p", "q"], N),
            "c": pd.Categorical(np.resize(levels, N), levels, ordered=True),
            "my col": rng.normal(size=N),
            "Petal.Width": rng.uniform(0.1, 1.0, N),
            "2x": rng.normal(size=N),
            "é": rng.normal(size=N),
            **{n: rng.uniform(0.1, 1.0, N) for n in ("µg", "log", "np", "C", "pi")},
        }
    )


LISTS = json.loads(Path(__file__).with_name("formulas.json").read_text("utf-8"))
ACCEPTED = [
    *(f"y ~ {terms}" for terms in LISTS["terms"]),
    *(f"{outcome} ~ h" for outcome in LISTS["outcomes"]),
]
RUNNING, UNREADABLE = LISTS["running"], LISTS["unreadable"]
HOSTILE = RUNNING + LISTS["writing"] + LISTS["growing"]
HOSTILE += [
    "I(" + "(" * 5000 + "x" + ")" * 5000 + ")",
    "I(" + "-" * 50_000 + "x)",
    "I(" + "not " * 5000 + "x)",
    "I(" + "x+" * 20_000 + "x)",
    "I(" + "x**" * 3000 + "x)",
    "I(" + "[" * 3000 + "]" * 3000 + ")",
    "I(" + "1" * 5000 + ")",
    "I(" + "x.abs()" + ".abs()" * 1500 + ")",
    "I('" + "a" * 200_000 + "')",
    "log(" * 2000 + "x" + ")" * 2000,
]
