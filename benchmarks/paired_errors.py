"""Simulate how often intervals for a difference of cross-validated errors exclude 0.

``python benchmarks/paired_errors.py`` takes about 20 minutes. The predictors of the two
models have the same distribution, so the true difference is 0, and 5% of 95% intervals
should exclude 0. "corrected" intervals are those of `ps.compare_errors`; "plain" ones
omit its correction for training rows that folds share; "rows'" intervals use the
differences of single rows and the normal distribution.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, t

import pegasos_stats as ps

# Effects of the six predictors, and the predictors of the two models.
POPULATIONS = {
    "one predictor each": ([1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0], [1]),
    "noise of their own": ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0, 2, 3], [0, 4, 5]),
    "nothing but noise": ([0.0] * 6, [0, 1, 2], [3, 4, 5]),
}
MODELS = [(ps.Logit, "error_rate"), (ps.Logit, "log_loss"), (ps.SVM, "error_rate")]


def losses(
    found: ps.CrossValidation, y: NDArray[np.float64], metric: str
) -> NDArray[np.float64]:
    """Return the mean loss of each row over the repeats."""
    margins = found.scores_by_repeat.to_numpy() * y[:, None]
    each = margins < 0.0 if metric == "error_rate" else np.logaddexp(0.0, -margins)
    return np.asarray(each.mean(axis=1))


def p_values(
    rng: np.random.Generator, n: int, population: str, model: int, repeats: int
) -> tuple[float, float, float]:
    """Simulate a sample; return p-values for equal errors, by the three methods."""
    effects, first, second = POPULATIONS[population]
    build, metric = MODELS[model]
    X = rng.normal(size=(n, 6))
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-X @ effects)), 1.0, -1.0)
    models = {
        "a": build(y, X[:, first], lam=0.01),
        "b": build(y, X[:, second], lam=0.01),
    }
    found = ps.compare_errors(models, metric=metric, repeats=repeats, seed=1, workers=1)
    line = found.tidy().iloc[0]
    one, two = found.cross_validations.values()
    folds, share = (
        len(one.by_fold),
        (one.by_fold["n_test"] / one.by_fold["n_train"]).mean(),
    )
    plain = line["statistic"] * np.sqrt(1.0 + folds * share)
    d = losses(one, y, metric) - losses(two, y, metric)
    by_rows = d.mean() / (d.std(ddof=1) / np.sqrt(n))
    return (
        line["p_value"],
        2.0 * t.sf(abs(plain), folds - 1),
        2.0 * norm.sf(abs(by_rows)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[60, 200])
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for n in asked.rows:
        for population in POPULATIONS:
            for model, (build, metric) in enumerate(MODELS):
                rng = np.random.default_rng(5)
                given = rng, n, population, model, asked.repeats
                found = np.array([p_values(*given) for _ in range(asked.samples)])
                shares = (found < 0.05).mean(axis=0)
                lines.append([n, population, build.__name__, metric, *shares])
                print(*lines[-1], flush=True)
    titles = ["rows", "population", "model", "metric", "corrected", "plain", "rows'"]
    print(pd.DataFrame(lines, columns=titles).to_string(index=False))


if __name__ == "__main__":
    main()
