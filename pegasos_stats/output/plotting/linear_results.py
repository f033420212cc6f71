"""The figures of a linear fit: those of every fit, and of its coefficients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from pegasos_stats.checks import check_count
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.plotting.results import Fitted, ResultPlots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FittedLinear(Fitted, Protocol):
    """What the figures of coefficients need."""

    @property
    def coef(self) -> "pd.Series[float]":
        """Coefficients, the intercept left out."""

    def coefficient_table(self) -> pd.DataFrame:
        """Columns ``term``, ``estimate``, and those of intervals if there are any."""

    @property
    def scaling(self) -> Any:
        """How the predictors were scaled, or None."""


@dataclass(frozen=True, repr=False)
class LinearPlots(ResultPlots):
    """Figures of a linear fit; those of `ResultPlots`, and of its coefficients."""

    result: FittedLinear
    names = (*ResultPlots.names, "coefficients", "coefficient_image")

    def coefficients(
        self, max_terms: int | None = 30, *, ax: "Axes | None" = None
    ) -> "Axes":
        """Coefficients, the largest at the top, with 95% intervals where there are any.

        The intercept is left out: it is not penalised, and not on their scale.

        Parameters
        ----------
        max_terms : int or None, default 30
            With more terms than this only the largest by absolute value are drawn, as
            many; ``None`` draws all.
        ax : Axes, optional

        Returns
        -------
        Axes

        Raises
        ------
        OptionError
            If `max_terms` is not above zero.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ p34 + p43", train).fit(ps.SDCA(seed=1))
        >>> from matplotlib.figure import Figure
        >>> ax = result.plot.coefficients(ax=Figure().subplots())
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['p43', 'p34']
        """
        from pegasos_stats.output.plotting.coefficients import draw_coefficients

        if max_terms is not None:
            check_count("max_terms", max_terms)
        table, p = self.result.coefficient_table(), len(self.result.coef)
        slopes = table[table["term"] != INTERCEPT].reset_index(drop=True)
        shown = largest_terms(slopes, max_terms)
        return draw_coefficients(
            shown.sort_values("estimate", ascending=False, kind="stable"),
            self.result.coding.levels,
            ax,
            title=_title(shown, p),
            unit=self._unit(),
        )

    def coefficient_image(
        self, shape: Sequence[int], *, ax: "Axes | None" = None
    ) -> "Axes":
        """Coefficients of pixels as an image, blue below 0 and red above.

        Colours are symmetric about 0. Where pixels are large enough those below 0 have
        a dot, so that grey print tells the signs apart.

        Parameters
        ----------
        shape : pair of int
            Rows and columns of the image; the predictors are its pixels row by row.
        ax : Axes, optional

        Returns
        -------
        Axes

        Raises
        ------
        OptionError
            If the image has another number of pixels than the model coefficients.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.SDCA(seed=1))
        >>> from matplotlib.figure import Figure
        >>> ax = result.plot.coefficient_image((8, 8), ax=Figure().subplots())
        >>> ax.images[0].get_array().shape
        (8, 8)
        """
        from pegasos_stats.output.plotting.image import draw_image

        beta = self.result.coef.to_numpy()
        levels = self.result.coding.levels
        return draw_image(beta, shape, levels, ax, unit=self._unit())

    def _unit(self) -> str:
        return "unit" if self.result.scaling is None else "standard deviation"


def _title(shown: pd.DataFrame, p: int) -> str:
    """What is drawn, where it is not all coefficients without intervals."""
    n = len(shown)
    which = f"The {n} largest of {p:,} coefficients" if n < p else ""
    has = "conf_low" in shown and shown["conf_low"].notna().any()
    return ", ".join(part for part in (which, "95% intervals" * bool(has)) if part)
