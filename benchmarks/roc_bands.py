"""Coverage and width of 95% bands of a ROC curve, in simulated samples.

    python benchmarks/roc_bands.py [--samples 200]

The first share is that of samples whose simultaneous band (`ps.roc_band`) contains the
whole curve; the second that of samples whose pointwise intervals do, which are by the
normal distribution with the true variance, at 199 places. The width is the mean width
of the band, as a multiple of that of the intervals.
"""

import argparse

import numpy as np
from scipy import stats

import pegasos_stats as ps
from pegasos_stats.metrics.scores import roc_curve

POPULATIONS = {  # means and standard deviations of normal scores of positives
    "equal variances": (1.0, 1.0),
    "unequal variances": (1.5, 2.0),
    "strong": (2.5, 1.0),
    "no difference": (0.0, 1.0),
}
SHAPES = [(150, 0.5), (600, 0.5), (600, 0.15), (2000, 0.3)]
AT = np.arange(1, 200) / 200.0


def measured(
    n: int, share: float, mean: float, deviation: float, samples: int
) -> tuple[float, float, float]:
    rng, actual = np.random.default_rng(7), (np.arange(n) < share * n).astype(int)
    quantile = stats.norm.isf(AT)
    true = stats.norm.sf((quantile - mean) / deviation)
    slope = stats.norm.pdf((quantile - mean) / deviation) / deviation
    slope /= stats.norm.pdf(quantile)
    m = int(actual.sum())
    variances = true * (1 - true) / m + slope**2 * AT * (1 - AT) / (n - m)
    reach = 1.96 * np.sqrt(variances)
    inside, pointwise, widths = 0, 0, []
    for _ in range(samples):
        normal = rng.standard_normal(n)
        scores = np.where(actual, mean + deviation * normal, normal)
        x, low, high = ps.roc_band(actual, scores).to_numpy().T
        curve = stats.norm.sf((stats.norm.isf(x) - mean) / deviation)
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
