"""Simulate the coverage and width of 95% bands of a ROC curve.

    python benchmarks/roc_bands.py [--samples 200]

Prints the share of samples whose simultaneous band (`ps.roc_band`) contains the whole
true curve. For comparison, prints the share of samples whose pointwise intervals at 199
false positive rates all contain it; these are normal intervals with the true variance.
The width is the mean width of the band divided by the mean width of these intervals.
"""

import argparse
from typing import Any

import numpy as np
from scipy import stats

import pegasos_stats as ps
from pegasos_stats.metrics.scores import roc_curve

POPULATIONS = {  # distributions of the scores of negative and of positive rows
    "equal variances": (stats.norm(), stats.norm(1.0)),
    "unequal variances": (stats.norm(), stats.norm(1.5, 2.0)),
    "no difference": (stats.norm(), stats.norm()),
    "exponential": (stats.expon(), stats.expon(scale=4.0)),
    "logistic": (stats.logistic(), stats.logistic(0.95)),
    "heavy tails": (stats.t(3), stats.t(3, 1.5)),
    "beta": (stats.beta(1.2, 4.0), stats.beta(4.0, 3.0)),
    "area 0.96": (stats.norm(), stats.norm(2.5)),
    "area 0.98": (stats.norm(), stats.norm(3.0)),
}
SHAPES = [(150, 0.5), (600, 0.5), (600, 0.15), (2000, 0.3)]
AT = np.arange(1, 200) / 200.0


def measured(
    n: int, share: float, negative: Any, positive: Any, samples: int
) -> tuple[float, float, float]:
    rng, actual = np.random.default_rng(7), (np.arange(n) < share * n).astype(int)
    quantile = negative.isf(AT)
    true = positive.sf(quantile)
    slope = positive.pdf(quantile) / negative.pdf(quantile)
    m = int(actual.sum())
    variances = true * (1 - true) / m + slope**2 * AT * (1 - AT) / (n - m)
    reach = 1.96 * np.sqrt(variances)
    inside, pointwise, widths = 0, 0, []
    for _ in range(samples):
        scores = np.where(actual, positive.rvs(n, rng), negative.rvs(n, rng))
        x, low, high = ps.roc_band(actual, scores).to_numpy().T
        curve = positive.sf(negative.isf(x))
        inside += (curve[1:] <= high[:-1]).all() and (curve[:-1] >= low[1:]).all()
        points = roc_curve(actual, scores)
        own = np.interp(AT, points.false_positive, points.true_positive)
        pointwise += (np.abs(own - true) <= reach).all()
        tops = high[np.searchsorted(x, AT, side="right") - 1]
        widths.append((tops - low[np.searchsorted(x, AT)]).mean())
    width = np.mean(widths) / (2 * reach.mean())
    return inside / samples, pointwise / samples, float(width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args().samples
    print("rows  positive  population         simultaneous  pointwise  width")
    for n, share in SHAPES:
        for name, population in POPULATIONS.items():
            found = measured(n, share, *population, samples)
            print(
                f"{n:<6}{share:<10}{name:<19}",
                "{:<14.3f}{:<11.3f}{:.2f}".format(*found),
            )


if __name__ == "__main__":
    main()
