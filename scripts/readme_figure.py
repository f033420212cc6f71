"""Draw the figure of the README: python scripts/readme_figure.py."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import pegasos_stats as ps
from pegasos_stats.output.plotting.style import pyplot, styled

HERE = Path(__file__).parents[1]


def main() -> None:
    """Fit the packaged digits and draw what was found."""
    train, test = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=20, seed=443))
    with styled():
        figure, axes = pyplot().subplots(1, 2, figsize=(9.0, 3.6))
        result.plot.coefficient_image((8, 8), ax=axes[0])
        result.plot.margins(test, ax=axes[1])
        figure.savefig(HERE / "docs" / "_static" / "readme.png", dpi=110)


if __name__ == "__main__":
    main()
