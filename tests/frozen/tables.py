"""Confusion tables whose statistics are frozen, from labels that are written down."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

import pegasos_stats as ps
from tests.frozen import rows

N = 120
SCORES = rows.normal(N, 1, 31)[:, 0]
NOISE = rows.normal(N, 1, 32)[:, 0]
ACTUAL = np.where(SCORES + 0.8 * NOISE > 0.4, "yes", "no").astype(object)
PREDICTED = np.where(SCORES > 0.0, "yes", "no").astype(object)
PROBABILITIES = (1.0 / (1.0 + np.exp(-2.0 * SCORES))).round(9)
UNDECIDED = np.where(np.abs(SCORES) < 0.1, None, PREDICTED)
UNLABELLED = np.where(np.arange(N) % 17 == 0, None, ACTUAL)
THREE = np.array(["a", "b", "c"], dtype=object)[np.digitize(SCORES, [-0.5, 0.6])]
OF_THREE = np.array(["a", "b", "c"], dtype=object)[
    np.digitize(SCORES + 0.6 * NOISE, [-0.5, 0.6])
]
WEIGHTS, COUNTS = rows.uniform(N, 33), rows.counts(N, 34)

TABLE: dict[str, Any] = {
    "levels": ["no", "yes"],
    "scores": None,
    "probabilities": None,
    "mode": None,
    "prevalence": None,
    "beta": 1.0,
    "freq_weights": None,
    "weights": None,
}
SCORED = {"scores": SCORES, "probabilities": PROBABILITIES}
OPTIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "labels": (ACTUAL, PREDICTED, {}),
    "scores and probabilities": (ACTUAL, PREDICTED, SCORED),
    "missing labels": (UNLABELLED, UNDECIDED, {}),
    "prevalence and beta": (ACTUAL, PREDICTED, {"prevalence": 0.1, "beta": 2.0}),
    "levels reversed": (ACTUAL, PREDICTED, {"levels": ["yes", "no"]}),
    "freq_weights": (ACTUAL, PREDICTED, {"freq_weights": COUNTS}),
    "weights": (ACTUAL, PREDICTED, {"weights": WEIGHTS}),
}
CASES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    **{
        f"{name}, positive {positive}": (actual, predicted, positive, TABLE | given)
        for name, (actual, predicted, given) in OPTIONS.items()
        for positive in ("no", "yes")
    },
    "three levels": (OF_THREE, THREE, None, TABLE | {"levels": ["a", "b", "c"]}),
}


def statistics(name: str) -> dict[str, Any]:
    """Counts, and each statistic with both kinds of intervals, by term and class."""
    actual, predicted, positive, options = CASES[name]
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.errors.UndefinedMetricWarning)
        table = ps.confusion(actual, predicted, positive, **options)
        for method in ("exact", "wilson"):
            tidy = table.tidy(method=method, level=0.95)
            for row in tidy.itertuples(index=False):
                key = f"{row[0]} {'' if pd.isna(row[1]) else row[1]}".strip()
                found[f"{method}, {key}"] = [float(value) for value in row[2:]]
    counts = [[float(count) for count in line] for line in table.table.to_numpy()]
    return {"counts": counts, "statistics": found}
