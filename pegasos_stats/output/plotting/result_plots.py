"""Figures of a fitted model: the methods of ``result.plot``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import isfunction
from typing import Any, Literal, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks
from pegasos_stats.arrays import Axes
from pegasos_stats.errors import CallError, OptionError
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.effects import rows_of
from pegasos_stats.models.inference.wald import BootstrapResult
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import checked_threshold, score_at
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.plotting import curves, forest, style
from pegasos_stats.output.plotting.style import Style
from pegasos_stats.output.plotting.tiles import draw_image
from pegasos_stats.solvers.pegasos import Pegasos

ERROR_LABELS = {"training_error": "Training rows", "test_error": "Test rows"}
TRACE_AXES = "one to three, as for objective, gap and errors: plt.subplots(3, 1)[1]"


def draw_trace(
    trace: pd.DataFrame,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
    refined_from: int | None = None,
) -> NDArray[np.object_]:
    """Draw objective, bound, gap and error rates by epoch, see `ResultPlots.trace`.

    Parameters
    ----------
    trace : DataFrame
        Recorded by ``fit(trace=True)``.
    ax : one to three axes, optional
    line : mapping
        Properties of the lines.
    refined_from : int, optional
        Last epoch of Pegasos, if Optimum continued from it.

    Returns
    -------
    array of Axes
    """
    columns = "epoch", "objective", "gap"
    at, objective, gap = (trace[name].to_numpy() for name in columns)
    bound = np.maximum(0.0, objective - gap)
    floor = float(objective.min()) / 30.0
    wide = floor > 0.0 and style.is_wide(objective)
    rates = {n: trace[c].to_numpy() for c, n in ERROR_LABELS.items() if c in trace}
    above = {"Objective of the fit": (at, objective)}
    above["Certified lower bound of the minimum"] = at, bound
    end = f"relative gap {gap[-1] / objective[-1]:.2g} at the end"
    gaps = {f"Objective minus bound; {end}": (at, gap)}
    ends = {f"{n}, {rate[-1]:.2%} at the end": (at, rate) for n, rate in rates.items()}
    panels = {"Objective": (above, "log" * wide), "Duality gap": (gaps, "log")}
    panels["Misclassified rows"] = ends, "percent"
    axes = style.panels_of(ax, [1, 2, 3], TRACE_AXES, (style.FIGURE_WIDTH, 6.8))
    few = "o" if len(trace) <= 40 else "None"
    curves.draw_panels(axes, panels, line, marker=few, markersize=3.5)
    for panel in axes if refined_from is not None else ():
        text = "Optimum from here" if panel is axes[0] else ""
        style.draw_reference(panel, refined_from, None, text)
    fill = {"color": style.text_colour(axes[0]), "alpha": 0.12, "linewidth": 0}
    axes[0].fill_between(at, bound, objective, **fill)
    if wide and bound.min() < floor:
        axes[0].set_ylim(bottom=floor)
    style.finish(*axes)
    return np.array(axes, dtype=object)


@suggest_names("result.plot")
@dataclass(frozen=True, repr=False)
class ResultPlots:
    """Figures of a fitted model, one method per figure; see ``result.plot``.

    Each method draws on the axes passed as ``ax=``, or on a new figure, and returns the
    axes. Methods that draw lines accept line properties, such as ``color=``.
    To compare two fits, draw both on the same axes, each with a ``label=``.

    Notebooks show the figure; elsewhere save it with ``ax.figure.savefig("name.pdf")``.
    Figures that the package creates embed TrueType fonts (type 42). The settings of
    matplotlib apply, including dark styles.

    `data` are new rows and `actual` their labels; by default the labels are the outcome
    column of `data`. Without `data` the training data are drawn. Rows without a label
    or a score are excluded, and the figure states their number.

    Attributes
    ----------
    result : LinearResults or KernelResults

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    DataError
        If no row has a label and a score, or if the figure needs training data that
        were not saved with the fit.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train, lam=1.0)
    >>> result = model.fit(ps.Optimum(seed=1), trace=True, test=test)
    >>> result.plot
    <Figures: trace, scores, confusion, roc, rates, regions, ...>
    >>> from matplotlib.figure import Figure
    >>> panels = result.plot.trace(ax=Figure((6.4, 7.0)).subplots(3))
    >>> [panel.get_ylabel() for panel in panels]
    ['Objective', 'Duality gap', 'Misclassified rows']
    >>> ax = result.plot.scores(test, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1][0]
    '5: 82 rows, 1 above'
    >>> result.plot.confusion(test, ax=Figure().subplots()).get_title()
    '1 of 163 misclassified (0.613%)'
    >>> ax = result.plot.roc(test, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1][0]
    'Area 1.000'
    """

    result: curves.Fitted

    @property
    def names(self) -> list[str]:
        """Names of the figures."""
        classes = reversed(type(self).__mro__[:-1])
        members = [item for kind in classes for item in vars(kind).items()]
        return [name for name, m in members if isfunction(m) and name[0] != "_"]

    def __call__(self, *arguments: object, **named: object) -> NoReturn:
        """Raise an error that lists the figures.

        Raises
        ------
        CallError
            Always: ``plot`` is a group of figures.
        """
        figures = ", ".join(f"result.plot.{name}()" for name in self.names)
        raise CallError(f"plot() is a group of figures; choose one: {figures}.")

    @suggest_arguments
    def trace(
        self, *, ax: "Axes | Sequence[Axes] | None" = None, **line: object
    ) -> NDArray[np.object_]:
        """Draw objective and certified bound, duality gap, and error rates by epoch.

        The minimum of the objective lies between the two lines of the first panel. The
        axis of the gap is logarithmic, as is the axis of an objective with a wide
        range. Logarithmic axes omit a bound or gap of 0.

        Parameters
        ----------
        ax : one to three Axes, optional
            Axes of the objective, the gap and the error rates, in this order.
        **line
            Line properties.

        Returns
        -------
        array of Axes

        Raises
        ------
        OptionError
            If the fit has no trace.
        """
        trace, solver = self.result.trace, self.result.solver
        if trace is None:
            raise OptionError(
                "The fit has no trace; fit again with fit(trace=True) for this figure."
            )
        first = None
        if self.result.refinement is not None and isinstance(solver, Pegasos):
            first = self.result.n_epochs or solver.passes.count(self.result.problem.n)
        return draw_trace(trace, ax, line, first)

    @suggest_arguments
    def scores(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float | None = None,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw a histogram of the scores of each class.

        A line marks the score 0, or the score at a `threshold`, as for
        ``result.predict()``. Without a threshold, dashed lines mark the margins of an
        SVM, at -1 and 1: rows of the second class below 1, and rows of the first class
        above -1, have a positive hinge loss.

        Raises
        ------
        OptionError
            If the score at the threshold is infinite, as for the probabilities 0 and 1.
        """
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_scores(table, self.result, ax, line, threshold)

    @suggest_arguments
    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float | None = None,
        ax: "Axes | None" = None,
        offset: object = None,
    ) -> "Axes":
        """Draw the table of actual and predicted labels, see `ConfusionMatrix.plot`.

        A fit loaded from a file has the table of its training data only at the default
        threshold.
        """
        if data is None and actual is None and offset is None and threshold is None:
            return self.result.training_table.plot(ax=ax)
        table = self.result.confusion(data, actual, offset=offset, threshold=threshold)
        return table.plot(ax=ax)

    @suggest_arguments
    def roc(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float | None = None,
        band: Literal["simultaneous"] | None = None,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw the ROC curve of the scores, with its area and the point of a threshold.

        The point marks the rates at the score 0, or at `threshold`, as for
        ``result.predict()``. The second class is the positive class. Rows with equal
        scores form one step, so the area equals the AUC in `ConfusionMatrix.overall`.
        For new rows the legend adds a 95% interval, from DeLong's variance on the logit
        scale. With ``band="simultaneous"``, a band covers the whole curve with 95%
        confidence, see `pegasos_stats.roc_band`. For training data, curve and band are
        too optimistic.

        Raises
        ------
        DataError
            If a class has no row with a score.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988).
        """
        table = self.result.confusion(data, actual, offset=offset)
        if band is not None:
            checks.check_choice("band", band, ("simultaneous",))
        return curves.draw_roc(
            table, self.result, ax, line, threshold, band is not None
        )

    @suggest_arguments
    def rates(
        self,
        data: object = None,
        actual: object = None,
        *,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw sensitivity and specificity against the threshold.

        The second class is the positive class. The threshold is a probability for the
        log loss, otherwise a score; rows at the threshold count as positive.

        Raises
        ------
        DataError
            If a class has no row with a score.
        """
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_rates(table, self.result, ax, line)

    @suggest_arguments
    def regions(
        self,
        x: str,
        y: str,
        data: pd.DataFrame,
        *,
        at: Mapping[str, object] | None = None,
        threshold: float | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw rows by two numeric predictors, and the regions predicted as each class.

        The line between the regions is the decision boundary.

        Parameters
        ----------
        x, y : str
            Numeric predictors, columns of `data`.
        data : DataFrame
            Rows with the outcome.
        at : mapping of name to value, optional
            Values of other predictors, by default the median in `data` if numeric, else
            the most frequent level.
        threshold : float, optional
            As for ``result.predict()``.
        ax : Axes, optional

        Raises
        ------
        OptionError
            If `x` or `y` is not a numeric column of `data`.
        """
        for name, column in (("x", x), ("y", y)):
            is_column = isinstance(data, pd.DataFrame) and column in data.columns
            if not is_column or not pd.api.types.is_numeric_dtype(data[column]):
                raise OptionError("is not a numeric column of data.", name, column)
        problem, cut = self.result.problem, 0.0
        if threshold is not None:
            cut = score_at(checked_threshold(threshold, problem), problem)
        return curves.draw_regions(self.result, data, (x, y), at or {}, cut, ax)

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(self.names)}>"


@dataclass(frozen=True, repr=False)
class LinearPlots(ResultPlots):
    """Figures of a linear fit, one method per figure.

    Each method draws on the axes passed as ``ax=``, or on a new figure, and returns the
    axes. An optional argument `data` defaults to the training data. A kernel fit has
    the figures ``trace, scores, confusion, roc, rates`` and ``regions``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit(ps.Optimum(seed=1))
    >>> from matplotlib.figure import Figure
    >>> ax = result.plot.coefficients(max_terms=2, ax=Figure().subplots())
    >>> ax.get_title()
    'The 2 largest of 64 coefficients'
    >>> ax = result.plot.coefficient_image((8, 8), ax=Figure().subplots())
    >>> ax.images[0].get_array().shape
    (8, 8)
    """

    result: LinearResults

    def coefficients(
        self,
        max_terms: int | None = 30,
        *,
        numbers: bool = False,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw coefficients with 95% intervals if available, in model order.

        A ring at 0 marks the reference level of each factor. The intercept is omitted:
        it is not penalised and has another scale.

        Parameters
        ----------
        max_terms : int or None, default 30
            Maximum number of coefficients, the largest in absolute value; ``None``
            draws all.
        numbers : bool, default False
            Whether to write estimates and intervals to the right, as journals do.
        ax : Axes, optional
        **line
            Properties of the points and intervals.

        Raises
        ------
        OptionError
            If `max_terms` is not positive.
        """
        levels = self.result.coding.levels
        label = forest.meaning(self._unit, levels, interval="{interval}")
        return self._forest(max_terms, numbers, ax, line, 0.0, label)

    def odds_ratios(
        self,
        max_terms: int | None = 30,
        *,
        numbers: bool = False,
        ax: "Axes | None" = None,
        **line: object,
    ) -> "Axes":
        """Draw odds ratios with 95% intervals on a logarithmic axis, in model order.

        Intervals are drawn if available. A ring at 1 marks the reference level of each
        factor. The intercept is omitted.

        Parameters
        ----------
        max_terms, numbers, ax, **line
            See `coefficients`.

        Raises
        ------
        OptionError
            If the loss is not the log loss; other losses define no odds.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.odds_ratios()")
        positive = style.short_levels(self.result.coding.levels)[1]
        label = f"Odds ratio of {positive} per {self._unit}{{interval}}"
        return self._forest(max_terms, numbers, ax, line, 1.0, label)

    def _forest(
        self,
        max_terms: int | None,
        numbers: bool,
        ax: "Axes | None",
        line: Style,
        zero: float,
        label: str,
    ) -> "Axes":
        """Draw the largest coefficients, or their exponentials if `zero` is 1."""
        if max_terms is not None:
            checks.check_count("max_terms", max_terms)
        checks.check_flag("numbers", numbers)
        table, p = self.result.coefficient_table(), len(self.result.coef)
        slopes = table[table["term"] != INTERCEPT].dropna(subset=["estimate"])
        largest = largest_terms(slopes.reset_index(drop=True), max_terms)
        levels = self.result.reference_levels
        rows, references = forest.rows_of_terms(largest["term"], levels)
        shown = largest.assign(term=largest["term"].map(style.term_text))
        own = shown.set_index("term")[forest.INTERVAL].astype(float)
        if zero == 1.0:
            with np.errstate(over="ignore"):
                own = own.apply(np.exp)
        interval = ", 95% interval" * bool(own["conf_low"].notna().any())
        few = len(largest) < p
        return forest.draw_forest(
            rows,
            [forest.Series(own)],
            ax,
            line,
            zero=zero,
            references=references,
            numbers=numbers,
            xlabel=label.replace("{interval}", interval),
            title=f"The {len(largest)} largest of {p:,} coefficients" * few,
        )

    def effect(
        self,
        variable: str,
        data: object = None,
        *,
        at: Mapping[str, object] | None = None,
        scale: Literal["response", "link"] | None = None,
        points: int = 50,
        simultaneous: bool = False,
        ax: "Axes | Sequence[Axes] | None" = None,
        **line: Any,
    ) -> "Axes | NDArray[np.object_]":
        """Draw the average prediction against a predictor, with a 95% band and a rug.

        For each value on the horizontal axis, the predictor is set to this value in all
        rows, and the mean of the predictions is drawn; see `LinearResults.predictions`.
        The rug marks the values in the data. For a factor, one point per level is
        drawn.

        Parameters
        ----------
        variable : str
            Name of a predictor in the data.
        data : DataFrame, optional
            Rows to average over, by default the training data.
        at : mapping of name to values, optional
            Values of other predictors. For a numeric `variable`, one panel is drawn for
            each combination of these values.
        scale : "response" or "link", optional
            ``"response"`` draws probabilities, ``"link"`` draws scores. The default is
            ``"response"`` for the log loss and ``"link"`` for other losses.
        points : int, default 50
            Number of values of a numeric predictor, from the smallest to the largest.
        simultaneous : bool, default False
            Whether the band covers the whole curve with 95% confidence, see
            `Margins.tidy`; by default it covers each point with 95% confidence.
        ax : Axes or sequence of Axes, optional
            Axes for all combinations of `at`, or one for each.
        **line
            Line properties.

        Raises
        ------
        OptionError
            If `variable` is not a predictor of the fit.
        """
        result = self.result
        checks.check_count("points", points)
        if scale is None:
            scale = "response" if result.problem.loss == "log" else "link"
        rows = rows_of(result, data, None, False)
        (name,) = rows.checked([variable])
        if name in rows.levels:
            margins = result.predictions(variable, data, at=at, scale=scale)
        else:
            values = rows.numbers(name)
            grid = list(np.linspace(values.min(), values.max(), points))
            settings = {name: grid, **(at or {})}
            margins = result.predictions(None, data, at=settings, scale=scale)
        return margins.plot(simultaneous=simultaneous, ax=ax, **line)

    def probabilities(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float = 0.5,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw a histogram, for each class, of the probabilities of the second class.

        Raises
        ------
        OptionError
            If the loss is not the log loss; other losses define no probabilities.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.probabilities()")
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_scores(
            table, self.result, ax, line, threshold, are_shares=True
        )

    @suggest_arguments
    def binned_residuals(
        self,
        data: object = None,
        actual: object = None,
        *,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw mean residuals of groups of rows against their mean probability.

        A residual is 1 for the second class or 0 for the first, minus the probability.
        The n rows are sorted by probability and divided into about ``sqrt(n)`` groups
        of equal size. If the model is right, about 95% of the points are within the
        band of 2 standard errors.

        Raises
        ------
        OptionError
            If the loss is not the log loss.

        References
        ----------
        Gelman & Hill, *Data Analysis Using Regression and Multilevel/Hierarchical
        Models* (2007), section 5.6; ``binnedplot`` of R's arm.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.binned_residuals()")
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_binned_residuals(table, self.result, ax, line)

    @suggest_arguments
    def bootstrap(
        self, term: str, *, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw a histogram of a coefficient in the resamples of the bootstrap.

        Parameters
        ----------
        term : str
            Name of the coefficient in ``result.params``.

        Raises
        ------
        OptionError
            If there is no such coefficient, or the standard errors are not from a
            bootstrap.
        """
        result, params = self.result, self.result.params
        if term not in params.index:
            raise OptionError("is not a coefficient of the fit.", "term", term)
        resampled = result.covariance
        if not isinstance(resampled, BootstrapResult):
            raise OptionError(
                "The fit has no resamples; use result.with_covariance(ps.Bootstrap())."
            )
        row = result.coefficient_table().set_index("term").loc[term]
        values = resampled.estimates[:, params.index.get_loc(term)]
        return curves.draw_bootstrap(values, row, ax, line)

    def coefficient_image(
        self, shape: Sequence[int], *, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the coefficients of pixels as an image, blue below 0 and red above.

        Colours are symmetric about 0. Dots mark negative coefficients, if pixels are
        large enough, so that grey prints also show the signs.

        Parameters
        ----------
        shape : pair of int
            Rows and columns of the image, filled with the predictors row by row.
        ax : Axes, optional

        Raises
        ------
        OptionError
            If the number of pixels differs from the number of coefficients.
        """
        beta, levels = self.result.solution.beta, self.result.coding.levels
        return draw_image(beta, shape, levels, ax, unit=self._unit)

    @property
    def _unit(self) -> str:
        return "unit" if self.result.scaling is None else "standard deviation"
