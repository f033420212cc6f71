"""Average effects and predictions with their errors, as tables."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import tables
from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.inference.wald import ContrastTests

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SLOPE = "dY/dX"
TESTS = ["statistic", "p_value"]
LIMITS = ["conf_low", "conf_high"]


@suggest_names("margins")
@dataclass(frozen=True, repr=False, eq=False)
class Margins:
    """Average effects or predictions; made by ``result.margins()`` or `predictions`.

    Attributes
    ----------
    keys : DataFrame
        What each is of: columns ``term, contrast`` (``term, value`` of predictions),
        and ``at_`` with the name of each predictor that ``at=`` names.
    estimates : ContrastTests
        With ``effect, sd, pvalue, conf_int()``.
    title : str
    header : list of pairs of str
    notes : list of str
    are_shares : bool
        Whether these are of probabilities or shares, whose intervals end at 0 and 1, of
        differences at -1 and 1; those of slopes have no end.
    observed : dict of name to float64 array
        Values in the rows of the numeric predictors that predictions are at.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit(ps.SDCA(seed=1))
    >>> print(result.margins().tidy().iloc[:, :4].round(4))
      term contrast  estimate  std_error
    0  p34    dY/dX   -0.0...
    1  p43    dY/dX    0.0...
    """

    keys: pd.DataFrame
    estimates: ContrastTests
    title: str
    header: list[tuple[str, str]]
    notes: list[str]
    are_shares: bool = False
    observed: dict[str, Vector] = field(default_factory=dict)

    @property
    def are_predictions(self) -> bool:
        """Whether these are predictions, which are not tested."""
        return "value" in self.keys.columns

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """A row for each estimate.

        Parameters
        ----------
        conf_level : float, default 0.95

        Returns
        -------
        DataFrame
            The columns of `keys`, then ``estimate, std_error, statistic, p_value,
            conf_low, conf_high``; predictions have neither statistic nor p-value.
            Without standard errors, as with ``cov_type="none"``, these are NaN.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1.
        """
        level = check_fraction("conf_level", conf_level)
        numbers = self._frame(level, self.keys["term"]).drop(columns="term")
        if self.are_predictions:
            numbers = numbers.drop(columns=TESTS)
        return pd.concat([self.keys, numbers], axis=1)

    def summary(self, alpha: float = 0.05) -> tables.Summary:
        """Header, estimates and notes; ``print()`` shows text, a notebook HTML.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        """
        alpha, headings = check_fraction("alpha", alpha), self.estimates.headings
        unknown = bool(np.isnan(self.estimates.sd).all())
        table = self._frame(1.0 - alpha, self.estimates.hypotheses)
        cells = tables.estimate_cells(table, () if unknown else headings, alpha)
        cells = cells.rename(columns={"coef": "estimate"})
        if self.are_predictions and not unknown:
            cells = cells.drop(columns=headings)
        half = (len(self.header) + 1) // 2
        sides = self.header[:half], self.header[half:]
        return tables.Summary([self.title], cells, self.notes, *sides)

    def plot(
        self, *, conf_level: float = 0.95, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw predictions against a numeric predictor, or estimates a row each.

        Predictions at several values of a number are a line with its band, and a rug of
        the values in the rows; each value of other predictors has a line of its own.

        Parameters
        ----------
        conf_level : float, default 0.95
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the lines, such as ``color`` or ``label``.

        Returns
        -------
        Axes

        Raises
        ------
        DependencyError
            If matplotlib is not installed.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit()
        >>> from matplotlib.figure import Figure
        >>> ax = result.predictions("p34").plot(ax=Figure().subplots())
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('p34', 'Probability of 6')
        """
        from pegasos_stats.output.plotting.forest import draw_averages

        return draw_averages(self, conf_level, ax, line)

    def _frame(self, level: float, terms: Iterable[str]) -> pd.DataFrame:
        """Estimates with intervals; those of a share end at 0 and 1."""
        found = self.estimates.frame(level, list(terms))
        lowest, bounded = (0.0 if self.are_predictions else -1.0), self._bounded
        found.loc[bounded, LIMITS] = found.loc[bounded, LIMITS].clip(lowest, 1.0)
        return found

    @property
    def _bounded(self) -> NDArray[np.bool_]:
        """Which are shares, or differences of them."""
        if self.are_predictions:
            return np.full(len(self.keys), self.are_shares)
        return self.are_shares & (self.keys["contrast"] != SLOPE).to_numpy(dtype=bool)

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def __str__(self) -> str:
        return self.summary().as_text()

    __repr__ = __str__
