"""A frame with columns of many kinds, and designs of it."""

import numpy as np
import pandas as pd

from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.formula_design import design_of as read_design


def frame():
    return pd.DataFrame(
        {
            "y": ["no", "yes", "no", "yes", "no"],
            "x": [1.0, 2.0, np.nan, 4.0, 8.0],
            "g": ["u", "v", "u", "w", "v"],
            "blood type": [1, 2, 3, 4, 5],
            "c": pd.Categorical(list("ababa"), categories=["z", "b", "a"]),
            "flag": pd.array([True, None, True, False, True], dtype="boolean"),
        },
        index=["r1", "r2", "r3", "r4", "r1"],
    )


def design_of(formula, data, **options):
    usable = outcome_of(formula, data).notna().to_numpy()
    return read_design(formula, data, usable, **options)[:2]
