"""Coverage of 95% intervals with few rows to a coefficient.

``python benchmarks/few_rows.py``: a minute. The truth is the fit to 200,000 rows;
two normal classes, two of whose predictors have other means, as many rows of each.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import pegasos_stats as ps

ROWS = (1, 2, 5, 10, 20)  # to a coefficient
Fit = Callable[[int], ps.LinearResults]


def drawn(
    rng: np.random.Generator, n: int, p: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    positive = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, p))
    X[:, 0] += positive
    X[:, 1] += 0.5 * positive
    return positive, X


def coverage(fit: Fit, truth: NDArray[np.float64], n: int, samples: int) -> float:
    """Share of intervals that hold the truth, over samples and coefficients."""
    held = []
    for _ in range(samples):
        low, high = fit(n).conf_int().to_numpy().T
        held.append(np.mean((low <= truth) & (truth <= high)))
    return float(np.mean(held))


def line(build: type[ps.SVM] | type[ps.Logit], lam: float, p: int, samples: int) -> str:
    rng = np.random.default_rng(1)

    def fit(n: int) -> ps.LinearResults:
        model = build(*drawn(rng, n, p), lam=lam)
        return model.fit(ps.SDCA(tol=1e-7, seed=1))

    truth = fit(200_000).params.to_numpy()
    shares = [coverage(fit, truth, rows * (p + 1), samples) for rows in ROWS]
    name = f"{build.__name__} lam {lam:g} p {p}"
    return f"{name:<22}" + "".join(f"{share:8.3f}" for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args().samples
    warnings.simplefilter("ignore")
    print("rows to a coefficient ", *(f"{rows:>7}" for rows in ROWS))
    for build in (ps.SVM, ps.Logit):
        for lam in (0.01, 0.1):
            for p in (10, 50):
                print(line(build, lam, p, samples), flush=True)


if __name__ == "__main__":
    main()
