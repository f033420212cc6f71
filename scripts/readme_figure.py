"""Draw the figure of the README: python scripts/readme_figure.py."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import pegasos_stats as ps
from pegasos_stats.output.plotting.style import new_axes

HERE = Path(__file__).parents[1]
FORMULA = "affair ~ rate_marriage + yrs_married + educ + occupation"


def main() -> None:
    """Fit half of the rows; draw the coefficients, and the ROC curve of the rest."""
    data = ps.load_affairs()
    train, new = data.iloc[::2], data.iloc[1::2]
    result = ps.logit(FORMULA, train).fit()
    left, right = new_axes(1, 2, (10.0, 4.0))[0]
    result.plot.coefficients(ax=left)
    result.plot.roc(new, ax=right)
    left.figure.savefig(HERE / "docs" / "_static" / "readme.png", dpi=110)


if __name__ == "__main__":
    main()
