"""Rows for tests of thresholds, and what wrong decisions cost."""

import numpy as np
import pandas as pd

import pegasos_stats as ps

SOLVER = ps.Optimum(tol=1e-4, epochs=200)
COST = {"no": 1.0, "yes": 4.0}


def frame(seed, n=90):
    """Rows with a label that the first of five predictors says little about."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    chance = 1.0 / (1.0 + np.exp(1.5 - 0.8 * found["a"]))
    found["y"] = np.where(rng.random(n) < chance, "yes", "no")
    return found
