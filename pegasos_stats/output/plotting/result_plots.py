"""Figures of a fitted model: the methods of ``result.plot``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks
from pegasos_stats.errors import CallError, OptionError
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.effects import rows_of
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.plotting import curves, forest, style
from pegasos_stats.output.plotting.style import Axes, Style
from pegasos_stats.output.plotting.tiles import draw_image
from pegasos_stats.solvers.pegasos import Pegasos

Against = Literal["epoch", "steps"]

TRACE_HEIGHT = 6.8  # inches
ERROR_LABELS = {"training_error": "Rows of the fit", "test_error": "Held-out rows"}
FACTOR_CALL = re.compile(r"\w+\(([^,()]+)[,)]")  # relevel(a, ...), C(a)
MAX_MARKED_EPOCHS = 40  # longer runs have no point markers
MAX_BOUND_RATIO = 30.0  # smallest objective / lower end of the axis
TRACE_AXES = "one to three, as for objective, gap and errors: plt.subplots(3, 1)[1]"


def draw_trace(
    trace: pd.DataFrame,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
    refined_from: int | None = None,
    x: Against = "epoch",
    optimum: float | None = None,
    lower: float = 0.0,
) -> NDArray[np.object_]:
    """Draw objective and bound, duality gap, and error rates, see `ResultPlots.trace`.

    Parameters
    ----------
    trace : DataFrame
        Recorded by ``fit(trace=True)``.
    ax : one to three axes, optional
    line : mapping
        Properties of the lines.
    refined_from : int, optional
        Last epoch of Pegasos, if Optimum continued from it.
    x : "epoch" or "steps"
    optimum : float, optional
        Minimum of the objective, for ``"steps"``. By default the largest of `lower` and
        the bounds of the trace.
    lower : float
        Lower bound of the minimum.

    Returns
    -------
    array of Axes
    """
    at, objective, gap = (trace[name].to_numpy() for name in (x, "objective", "gap"))
    bound = np.maximum(0.0, objective - gap)
    floor = float(objective.min()) / MAX_BOUND_RATIO
    wide = floor > 0.0 and style.is_wide(objective)
    rates = {n: trace[c].to_numpy() for c, n in ERROR_LABELS.items() if c in trace}
    if x == "epoch":
        first, third, scale = "Objective", "Misclassified rows", "log" * wide
        above = {"Objective of the fit": (at, objective)}
        above["Certified lower bound of the optimum"] = at, bound
    else:
        first, third, scale = "Objective above the optimum", "Accuracy", "log"
        rates = {name: 1.0 - rate for name, rate in rates.items()}
        label = first if optimum is not None else f"{first}, at most"
        least = max(lower, float(bound.max())) if optimum is None else optimum
        if optimum is not None and not optimum <= objective.min():
            why = f"is above the objective {objective.min():.6g} of the trace."
            raise OptionError(why, "optimum", optimum)
        above = {label: (at, objective - least)}
    end = f"relative gap {gap[-1] / objective[-1]:.2g} at the end"
    gaps = {f"Objective less bound; {end}": (at, gap)}
    ends = {f"{n}, {rate[-1]:.2%} at the end": (at, rate) for n, rate in rates.items()}
    panels = {first: (above, scale), "Duality gap": (gaps, "log")}
    axes = style.panels_of(
        ax, [1, 2, 3], TRACE_AXES, (style.FIGURE_WIDTH, TRACE_HEIGHT)
    )
    few = "o" if len(trace) <= MAX_MARKED_EPOCHS else "None"
    panels[third] = ends, "percent"
    curves.draw_panels(axes, panels, line, marker=few, markersize=3.5)
    for panel in axes:
        panel.set_xlabel(x.capitalize())
        if refined_from is not None:
            last = trace.loc[trace["epoch"] == refined_from, x].item()
            text = "Optimum from here" if panel is axes[0] else ""
            style.draw_reference(panel, last, None, text)
    if x == "epoch":
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
    axes. Further keywords, such as ``color=`` or ``linewidth=``, are line properties.
    To compare two fits, draw both on the same axes, each with a ``label=``.

    Notebooks show the figure; elsewhere save it with ``ax.figure.savefig("name.pdf")``.
    Figures that the package creates embed TrueType fonts (type 42). The settings of
    matplotlib apply, including dark styles.

    `data` are new rows and `actual` their labels, by default the outcome's column of
    `data`. Without `data` the training data are drawn. Rows without a label or a score
    are excluded, and the figure counts them.

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
    <Figures: trace, margins, confusion, roc, probabilities, coefficients, ...>
    >>> from matplotlib.figure import Figure
    >>> panels = result.plot.trace(ax=Figure((6.4, 7.0)).subplots(3))
    >>> [panel.get_ylabel() for panel in panels]
    ['Objective', 'Duality gap', 'Misclassified rows']
    >>> ax = result.plot.margins(test, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1][0]
    '5: 82 rows, 12 below 1, 1 below 0'
    >>> result.plot.confusion(test, ax=Figure().subplots()).get_title()
    '1 of 163 misclassified (0.613%)'
    >>> ax = result.plot.roc(test, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1][0]
    'Area 1.000'
    """

    result: curves.Fitted
    names: ClassVar[tuple[str, ...]] = ("trace", "margins", "confusion", "roc")

    def __call__(self, *arguments: object, **named: object) -> NoReturn:
        """Raise an error that lists the figures.

        Raises
        ------
        CallError
            Always: ``plot`` is a group of figures.
        """
        figures = ", ".join(f"result.plot.{name}()" for name in self.names)
        raise CallError(
            f"plot() is a group of figures; choose one: {figures}. There is no figure "
            "of the regions of two predictors."
        )

    @suggest_arguments
    def trace(
        self,
        x: Against = "epoch",
        *,
        optimum: float | None = None,
        ax: "Axes | Sequence[Axes] | None" = None,
        **line: object,
    ) -> NDArray[np.object_]:
        """Draw objective and certified bound, duality gap, and error rates by epoch.

        The minimum of the objective lies between the two lines of the first panel. Axes
        of values with a wide range are logarithmic and omit a bound or gap of 0.

        Parameters
        ----------
        x : "epoch" or "steps"
            ``"steps"`` draws the distance from the optimum, the gap and the accuracy
            against the number of steps.
        optimum : float, optional
            Minimum of the objective, such as ``model.fit().objective``, for
            ``x="steps"``. By default the largest lower bound replaces it, and the
            distance drawn is an upper bound of the true distance.
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
            If the fit has no trace, `x` is not one of the choices, or `optimum` is
            above an objective of the trace.
        """
        checks.check_choice("x", x, ("epoch", "steps"))
        if optimum is not None:
            optimum = checks.check_nonnegative("optimum", optimum)
            if x == "epoch":
                raise OptionError(
                    "optimum= goes with x='steps', where the distance from it is drawn."
                )
        trace, solver = self.result.trace, self.result.solver
        if trace is None:
            raise OptionError(
                "The fit has no trace; fit again with fit(trace=True) for this figure."
            )
        first = None
        if self.result.refinement is not None and isinstance(solver, Pegasos):
            first = self.result.n_epochs or solver.passes.count(self.result.problem.n)
        return draw_trace(
            trace, ax, line, first, x, optimum, self.result.dual_objective
        )

    @suggest_arguments
    def margins(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float | None = None,
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw a histogram of the margins of each level.

        The margin is the score times -1 for the first and +1 for the second level. A
        row is misclassified if its margin is below 0, and has a positive hinge loss if
        it is below 1. With a `threshold`, as for ``result.predict()``, the score at the
        threshold is subtracted from all scores.

        Raises
        ------
        OptionError
            If the score at the threshold is infinite, as for the probabilities 0 and 1.
        """
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_margins(table, self.result, ax, line, threshold)

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

        A saved fit includes the table of its training data, without a `threshold`.
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
        ax: "Axes | None" = None,
        offset: object = None,
        **line: object,
    ) -> "Axes":
        """Draw the ROC curve of the scores, with its area and the point of a threshold.

        The threshold is the score 0 or `threshold`, as for ``result.predict()``. The
        second level is the positive class. Rows with equal scores form one step, so the
        area equals the one in `ConfusionMatrix.overall`. For new rows the legend adds
        an interval, from DeLong's variance on the logit scale.

        Raises
        ------
        DataError
            If a level has no row with a score.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988).
        """
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_roc(table, self.result, ax, line, threshold)

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(self.names)}>"


def level_of(term: str, bases: Mapping[str, object]) -> tuple[str, str, object] | None:
    """Return variable, level and reference level of the term of a factor level.

    Examples
    --------
    >>> level_of("relevel(ward, ref='A')[T.B]", {"relevel(ward, ref='A')": "A"})
    ('ward', 'B', 'A')
    """
    factor, bracket, level = term.partition("[T.")
    if not bracket or not level.endswith("]") or ":" in term or factor not in bases:
        return None
    call = FACTOR_CALL.match(factor)
    return call[1] if call else factor, level[:-1], bases[factor]


@dataclass(frozen=True, repr=False)
class LinearPlots(ResultPlots):
    """Figures of a linear fit: those of `ResultPlots`, and figures of coefficients.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit(ps.Optimum(seed=1))
    >>> from matplotlib.figure import Figure
    >>> ax = result.plot.coefficients(max_terms=2, ax=Figure().subplots())
    >>> ax.get_title()
    'The 2 largest of 64 coefficients, 95% intervals'
    >>> ax = result.plot.coefficient_image((8, 8), ax=Figure().subplots())
    >>> ax.images[0].get_array().shape
    (8, 8)
    """

    result: LinearResults
    names = (
        *ResultPlots.names,
        *("probabilities", "coefficients", "odds_ratios", "effect"),
        "coefficient_image",
    )

    def coefficients(
        self, max_terms: int | None = 30, *, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw coefficients in decreasing order, with 95% intervals if available.

        The intercept is omitted: it is not penalised and has another scale.

        Parameters
        ----------
        max_terms : int or None, default 30
            Maximum number of coefficients, the largest in absolute value; ``None``
            draws all.
        ax : Axes, optional
        **line
            Properties of the points and intervals.

        Raises
        ------
        OptionError
            If `max_terms` is not positive.
        """
        table, title, _ = self._largest(max_terms)
        table = table.sort_values("estimate", ascending=False, kind="stable")
        levels, look = self.result.coding.levels, {"title": title, "unit": self._unit}
        return forest.draw_coefficients(table, levels, ax, line, **look)

    def odds_ratios(
        self, max_terms: int | None = 30, *, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw odds ratios with 95% intervals on a logarithmic axis, in model order.

        A ring at 1 marks the reference level of each factor. The intercept is omitted.

        Parameters
        ----------
        max_terms, ax, **line
            See `coefficients`.

        Raises
        ------
        OptionError
            If the loss is the hinge, which defines no odds.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.odds_ratios()")
        table, title, references = self._largest(max_terms)
        ratios = table.set_index("term")[forest.INTERVAL].astype(float)
        with np.errstate(over="ignore"):
            ratios = ratios.apply(np.exp)
        names = list(ratios.index)
        for (
            level,
            reference,
        ) in references.items():  # above the first level of the factor
            if reference not in names:
                names.insert(names.index(level), reference)
        x_label = f"Odds ratio of {self.result.coding.positive} per {self._unit}"
        return forest.draw_forest(
            names,
            [forest.Series(ratios, marker="s")],
            ax,
            line,
            zero=1.0,
            references=[*dict.fromkeys(references.values())],
            xlabel=style.as_text(x_label),
            title=title,
        )

    def effect(
        self,
        variable: str,
        data: object = None,
        *,
        at: Mapping[str, object] | None = None,
        scale: Literal["response", "link"] | None = None,
        points: int = 50,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> "Axes":
        """Draw the average prediction against a predictor, with 95% band and rug.

        At each value of the predictor, all rows are set to this value, and the mean of
        their probabilities is drawn; see `LinearResults.predictions`. For a factor, one
        point per level is drawn.

        Parameters
        ----------
        variable : str
            Name of a predictor in the data.
        data : DataFrame, optional
            Rows to average over, by default the training data.
        at : mapping of name to values, optional
            Other predictors to set; one line is drawn per combination.
        scale : "response" or "link", optional
            ``"link"`` is the score. By default the probability for the log loss, the
            score for the hinge.
        points : int, default 50
            Number of values between the smallest and the largest.
        ax : Axes, optional
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
        return margins.plot(ax=ax, **line)

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
        """Draw a histogram of the predicted probabilities of each level.

        Raises
        ------
        OptionError
            If the loss is the hinge, which defines no probabilities.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.probabilities()")
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_margins(
            table, self.result, ax, line, threshold, are_shares=True
        )

    def _largest(
        self, max_terms: int | None
    ) -> tuple[pd.DataFrame, str, dict[str, str]]:
        """Return the largest coefficients, a title, and the reference of each level."""
        if max_terms is not None:
            checks.check_count("max_terms", max_terms)
        table, p = self.result.coefficient_table(), len(self.result.coef)
        slopes = table[table["term"] != INTERCEPT].dropna(subset=["estimate"])
        slopes = slopes.reset_index(drop=True)
        largest = largest_terms(slopes, max_terms)
        count = len(largest)
        title = f"The {count} largest of {p:,} coefficients, " * (count < p)
        has_intervals = largest["conf_low"].notna().any()
        title += "95% intervals" if has_intervals else "no intervals, see summary()"
        names, references = [], {}
        for term in map(str, largest["term"]):
            factor_level, name = level_of(term, self.result.reference_levels), term
            if factor_level is not None:
                variable, level, reference = factor_level
                name = f"{variable}: {level}"
                references[name] = f"{variable}: {reference} (reference)"
            names.append(name)
        return largest.assign(term=names), title[:1].upper() + title[1:], references

    def coefficient_image(
        self, shape: Sequence[int], *, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the coefficients of pixels as an image, blue below 0 and red above.

        Colours are symmetric about 0. Dots mark negative pixels, if pixels are large
        enough, so that signs differ in grey print.

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
