"""Simulate how well nested cross-validation estimates the error rate on new rows.

    python benchmarks/nested.py

Each sample has 60 rows and four predictors, of which one or none has an effect. Lambda
is chosen by ten-fold cross-validation. Its error rate is estimated by the same folds
(``best``), and by five folds in each of which lambda is chosen anew (``nested``). The
true error rate is that of the chosen fit on 20,000 new rows, weighted so that the class
shares equal those of the sample, as in stratified folds. Prints the mean difference
between estimate and truth with its Monte Carlo standard error, and how often the
estimate plus or minus 1.96 standard errors contains the truth.
"""

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray

import pegasos_stats as ps

Vector = NDArray[np.float64]
GRID = [1.0, 0.1, 0.01]
QUICK = ps.Optimum(tol=1e-3, epochs=100, seed=1)
NEW = 20_000


def drawn(rng: np.random.Generator, n: int, effect: float) -> tuple[Vector, Vector]:
    """Simulate predictors and labels."""
    X = rng.normal(size=(n, 4))
    return X, np.where(effect * X[:, 0] + rng.normal(size=n) > 0.0, 1, 0)


def sample(effect: float, seed: int) -> tuple[Vector, Vector]:
    """Return estimates minus truth, and standard errors, of ``best`` and ``nested``."""
    rng = np.random.default_rng([seed, int(10 * effect)])
    X, y = drawn(rng, 60, effect)
    model = ps.SVM(y, X, lam=1.0)
    given = {"seed": seed, "workers": 1}
    path = ps.lambda_path(model, GRID, QUICK, metric="error_rate", **given)
    lines = path.tidy().query("term == 'error_rate'").set_index("lam")
    best = lines.loc[path.lambda_min]
    nested = ps.cross_validate(
        model, QUICK, folds=5, lambda_path=path, rule="min", **given
    )
    new, labels = drawn(rng, NEW, effect)
    wrong = path.refit("min").predict(new).to_numpy() != labels
    share = y.mean()
    truth = share * wrong[labels == 1].mean() + (1 - share) * wrong[labels == 0].mean()
    found = [best["estimate"], nested.mean["error_rate"]]
    errors = [best["std_error"], nested.std_error["error_rate"]]
    return np.array(found) - truth, np.array(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    count = parser.parse_args().samples
    warnings.simplefilter("ignore")
    for effect in (0.0, 1.0):
        done = [sample(effect, seed) for seed in range(1, count + 1)]
        apart, errors = (np.array(part) for part in zip(*done, strict=True))
        spread = apart.std(axis=0, ddof=1) / np.sqrt(count)
        held = (np.abs(apart) <= 1.96 * errors).mean(axis=0)
        print(f"effect {effect:g}, {count} samples")
        for j, name in enumerate(("best", "nested")):
            print(
                f"  {name:7s} {apart[:, j].mean():+.4f} +- {spread[j]:.4f}, "
                f"covers {held[j]:.3f}"
            )


if __name__ == "__main__":
    main()
