"""Simulate how well ``result.thresholds()`` estimates the cost on new rows.

    python benchmarks/threshold_choice.py [samples]

The population has one weak predictor and four without effect. Each sample selects a
threshold. Its cost on 20,000 new rows is compared with the nested estimate, and with
the apparent cost on the rows that selected it.
"""

import sys

import numpy as np
import pandas as pd

import pegasos_stats as ps

COST = {"no": 1.0, "yes": 4.0}
MANY = 20_000


def population(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Simulate rows whose label depends weakly on the first of five predictors."""
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    chance = 1.0 / (1.0 + np.exp(1.5 - 0.8 * frame["a"]))
    frame["y"] = np.where(rng.random(n) < chance, "yes", "no")
    return frame


def costs(seed: int, n: int, loss: str, new: pd.DataFrame) -> tuple[float, ...]:
    """Return nested estimate, apparent cost, cost on new rows and standard error."""
    rng = np.random.default_rng(seed)
    make = ps.logit if loss == "log" else ps.svm
    model = make("y ~ .", population(rng, n), lam=0.01, weights="balanced")
    result = model.fit(ps.Optimum(tol=1e-3, seed=1))
    found = result.thresholds(cost=COST, folds=10, seed=seed, workers=1)
    table = result.confusion(new, threshold=found.threshold).table
    paid = COST["no"] * table.loc["no", "yes"] + COST["yes"] * table.loc["yes", "no"]
    return found.estimate, found.apparent, float(paid) / MANY, found.std_error


def main(samples: int) -> None:
    """Print biases with their Monte Carlo standard errors."""
    new = population(np.random.default_rng(10**6), MANY)
    print("loss   n    true    nested - true      apparent - true    covered")
    for loss in ("hinge", "log"):
        for n in (60, 200):
            found = np.array([costs(seed, n, loss, new) for seed in range(samples)])
            true = found[:, 2]
            words = [f"{loss:5}  {n:3}  {true.mean():.4f}"]
            for column in (0, 1):
                off = found[:, column] - true
                error = off.std(ddof=1) / np.sqrt(samples)
                words.append(f"{off.mean():+.4f} ({error:.4f})")
            inside = np.abs(found[:, 0] - true) <= 1.96 * found[:, 3]
            print("   ".join([*words, f"{inside.mean():.3f}"]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
