"""The figures of a fit, behind ``result.plot``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_COEFFICIENTS = (
    "A kernel model has no coefficients of predictors; fit ps.svm() or ps.logit() for "
    "this figure."
)


class Fitted(Protocol):
    """What the figures need of a fit."""

    @property
    def problem(self) -> Any:
        """What was minimised."""

    @property
    def solver(self) -> Any:
        """How."""

    @property
    def refinement(self) -> Any:
        """What went on from the solver, or None."""

    @property
    def coding(self) -> Any:
        """The two levels."""

    @property
    def trace(self) -> pd.DataFrame | None:
        """One line per epoch, or None."""

    @property
    def training_table(self) -> Any:
        """Confusion table of the rows of the fit."""

    def confusion(self, data: Any = None, actual: Any = None) -> Any:
        """Confusion table, with the scores of the rows."""


@dataclass(frozen=True, repr=False)
class ResultPlots:
    """Figures of a fit, one method each; made by ``result.plot``.

    Each draws on the axes given as `ax`, or makes a figure, and returns the axes.
    Nothing is shown or written: a notebook shows the figure by itself, elsewhere
    ``ax.figure.savefig("name.pdf")`` writes it. The settings of matplotlib are left
    as they are. All raise `DependencyError` if matplotlib is not installed.

    Attributes
    ----------
    result : Results

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.plot
    <Figures: trace, margins, confusion, roc, coefficients, coefficient_image>
    >>> from matplotlib.figure import Figure
    >>> print(result.plot.roc(test, ax=Figure().subplots()).get_xlabel())
    False positive rate
    (share of 5 predicted 6)
    """

    result: Fitted
    names: ClassVar[tuple[str, ...]] = ("trace", "margins", "confusion", "roc")

    def trace(self, *, ax: "Axes | Sequence[Axes] | None" = None) -> NDArray[Any]:
        """Objective with certified bound, duality gap, and errors, against epoch.

        The optimum lies between the two lines of the first panel. Axes are logarithmic
        where values span much; a bound or gap that is not above 0 is left out there.

        Parameters
        ----------
        ax : one to three Axes, optional
            For the objective, the gap and the errors, in this order.

        Returns
        -------
        array of Axes

        Raises
        ------
        OptionError
            If the fit kept no trace.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> solver = ps.Pegasos(epochs=5, seed=443)
        >>> result = ps.svm("digit ~ .", train).fit(solver, trace=True, test=test)
        >>> from matplotlib.figure import Figure
        >>> panels = result.plot.trace(ax=Figure().subplots(3))
        >>> [panel.get_ylabel() for panel in panels]
        ['Objective', 'Duality gap', 'Misclassified rows']
        """
        from pegasos_stats.output.plotting.trace import draw_trace

        result = self.result
        if result.trace is None:
            raise OptionError(
                "The fit kept no trace; fit again with fit(trace=True) for this figure."
            )
        refined = result.refinement is not None
        first = result.solver.n_epochs(result.problem.n) if refined else None
        return draw_trace(result.trace, ax, first)

    def margins(
        self, data: Any = None, actual: Any = None, *, ax: "Axes | None" = None
    ) -> "Axes":
        """Shares of the rows of each level by their margin.

        The margin is the score times -1 for the first and +1 for the second level:
        below 0 a row is misclassified, below 1 it costs hinge loss. Rows without a
        label or a score are left out and counted below the axis.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        actual : Series or array, optional
            Their labels; taken from the outcome's column of `data` if left out.
        ax : Axes, optional

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If no row has a label and a score, or the rows of the fit are needed and
            were not saved with it.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.SDCA(seed=1))
        >>> from matplotlib.figure import Figure
        >>> ax = result.plot.margins(test, ax=Figure().subplots())
        >>> ax.get_legend_handles_labels()[1][0]
        '5: 82 rows, 12 below 1, 1 below 0'
        """
        from pegasos_stats.output.plotting.margins import draw_margins

        codes, scores = self._scored(data, actual)
        logistic = self.result.problem.loss == "log"
        levels = self.result.coding.levels
        return draw_margins(codes, scores, levels, ax, logistic=logistic)

    def confusion(
        self, data: Any = None, actual: Any = None, *, ax: "Axes | None" = None
    ) -> "Axes":
        """Table of actual against predicted labels, see `ConfusionMatrix.plot`.

        Parameters
        ----------
        data, actual, ax : optional
            As for `margins`. A fit that was loaded has the table of its own rows.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.SDCA(seed=1))
        >>> from matplotlib.figure import Figure
        >>> result.plot.confusion(test, ax=Figure().subplots()).get_title()
        '1 of 163 misclassified (0.6%)'
        """
        found = (
            self.result.training_table
            if data is None and actual is None
            else self.result.confusion(data, actual)
        )
        drawn: Axes = found.plot(ax=ax)
        return drawn

    def roc(
        self, data: Any = None, actual: Any = None, *, ax: "Axes | None" = None
    ) -> "Axes":
        """ROC curve of the scores, with its area and the point of score 0.

        The second level is the positive one. Rows of the same score pass together, so
        that the area under the line is that of `ConfusionMatrix.overall`; its interval
        is DeLong's. Rows without a label or a score are left out and counted.

        Parameters
        ----------
        data, actual, ax : optional
            As for `margins`.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If a level has no row with a score, or the rows of the fit are needed and
            were not saved with it.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988).

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.SDCA(seed=1))
        >>> from matplotlib.figure import Figure
        >>> ax = result.plot.roc(test, ax=Figure().subplots())
        >>> ax.get_legend_handles_labels()[1][1]
        'Area 1.000'
        """
        from pegasos_stats.output.plotting.roc import draw_roc

        codes, scores = self._scored(data, actual)
        ties = self.result.solver.ties
        return draw_roc(codes, scores, self.result.coding.levels, ax, ties=ties)

    def _scored(
        self, data: Any, actual: Any
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Positions of the actual levels, and scores."""
        found = self.result.confusion(data, actual).scored
        return found.codes, found.scores

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(self.names)}>"


@dataclass(frozen=True, repr=False)
class KernelPlots(ResultPlots):
    """Figures of a kernel fit: those of `ResultPlots`."""

    def coefficients(
        self, max_terms: int | None = 30, *, ax: "Axes | None" = None
    ) -> NoReturn:
        """Raise `OptionError`: there is no coefficient of a predictor."""
        raise OptionError(NO_COEFFICIENTS)

    def coefficient_image(
        self, shape: Sequence[int], *, ax: "Axes | None" = None
    ) -> NoReturn:
        """Raise `OptionError`: there is no coefficient of a predictor."""
        raise OptionError(NO_COEFFICIENTS)
