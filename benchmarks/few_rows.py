"""Coverage of 95% intervals, and size of joint tests, with few rows to a coefficient.

``python benchmarks/few_rows.py``: some minutes. The truth is the fit to 200,000 rows;
two normal classes, two of whose predictors have other means, as many rows of each. In
brackets is how often the true values of three, of half and of all coefficients of
predictors were rejected together at 5%.
"""

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray

import pegasos_stats as ps

ROWS = (1, 2, 5, 10, 15, 20, 30)  # to a coefficient
LEVEL = 0.05
Vector = NDArray[np.float64]


def drawn(
    rng: np.random.Generator, n: int, p: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    positive = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, p))
    X[:, 0] += positive
    X[:, 1] += 0.5 * positive
    return positive, X


def outcomes(found: ps.LinearResults, truth: Vector) -> list[float]:
    """Share of intervals that hold the truth; whether joint tests reject it."""
    low, high = found.conf_int().to_numpy().T
    held, p = float(np.mean((low <= truth) & (truth <= high))), truth.size - 1
    tests = []
    for k in (3, p // 2, p):  # the last ones, which have no effect but if all are asked
        R = np.eye(p + 1)[-k:]
        tests.append(float(found.wald_test((R, truth[-k:])).pvalue <= LEVEL))
    return [held, *tests]


def line(build: type[ps.SVM] | type[ps.Logit], lam: float, p: int, samples: int) -> str:
    rng = np.random.default_rng(1)

    def fit(n: int) -> ps.LinearResults:
        model = build(*drawn(rng, n, p), lam=lam)
        return model.fit(ps.SDCA(tol=1e-7, seed=1))

    truth, cells = fit(200_000).params.to_numpy(), ""
    for rows in ROWS:
        found = [outcomes(fit(rows * (p + 1)), truth) for _ in range(samples)]
        held, *sizes = np.mean(found, axis=0)
        cells += f"{held:7.3f} ({' '.join(f'{size:.2f}' for size in sizes)})"
    return f"{build.__name__} lam {lam:g} p {p}".ljust(22) + cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args().samples
    warnings.simplefilter("ignore")
    print("rows to a coefficient ", *(f"{rows:>21}" for rows in ROWS))
    for build in (ps.SVM, ps.Logit):
        for lam in (0.01, 0.1):
            for p in (10, 50):
                print(line(build, lam, p, samples), flush=True)


if __name__ == "__main__":
    main()
