"""The figures of a fit, behind ``result.plot``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks
from pegasos_stats.errors import CallError, OptionError
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.effects import rows_of
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.summaries import INTERCEPT, largest_terms
from pegasos_stats.output.plotting import curves, forest, style
from pegasos_stats.output.plotting.style import Axes, Style
from pegasos_stats.output.plotting.tiles import draw_image
from pegasos_stats.solvers.pegasos import Pegasos

Against = Literal["epoch", "steps"]

HEIGHT = 6.8  # inches of the three panels
RATES = {"training_error": "Rows of the fit", "test_error": "Held-out rows"}
OF_FACTOR = re.compile(r"\w+\(([^,()]+)[,)]")  # relevel(a, ...), C(a)
MARKED = 40  # epochs, at most, that are shown as points
DEPTH = 30.0  # times below the least objective, where the axis of the bound ends
PANELS = "one to three, as for objective, gap and errors: plt.subplots(3, 1)[1]"


def draw_trace(
    trace: pd.DataFrame,
    ax: "Axes | Sequence[Axes] | None",
    line: Style,
    refined_from: int | None = None,
    x: Against = "epoch",
    optimum: float | None = None,
    lower: float = 0.0,
) -> NDArray[np.object_]:
    """Draw objective with bound, gap, and errors, see `ResultPlots.trace`.

    Parameters
    ----------
    trace : DataFrame
        As ``fit(trace=True)`` records it.
    ax : one to three axes, optional
    line : mapping
        Keywords of the lines.
    refined_from : int, optional
        Last epoch of Pegasos, where Optimum went on from it.
    x : "epoch" or "steps"
    optimum : float, optional
        Of the objective, for ``"steps"``; if left out the largest of the bounds of the
        trace and `lower`.
    lower : float
        Lower bound of the optimum.

    Returns
    -------
    array of Axes
    """
    at, objective, gap = (trace[name].to_numpy() for name in (x, "objective", "gap"))
    bound = np.maximum(0.0, objective - gap)
    floor = float(objective.min()) / DEPTH
    wide = floor > 0.0 and style.is_wide(objective)
    rates = {n: trace[c].to_numpy() for c, n in RATES.items() if c in trace}
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
    axes = style.panels_of(ax, [1, 2, 3], PANELS, (style.WIDTH, HEIGHT))
    few = "o" if len(trace) <= MARKED else "None"
    panels[third] = ends, "percent"
    curves.draw_panels(axes, panels, line, marker=few, markersize=3.5)
    for panel in axes:
        panel.set_xlabel(x.capitalize())
        if refined_from is not None:
            last = trace.loc[trace["epoch"] == refined_from, x].item()
            text = "Optimum from here" if panel is axes[0] else ""
            style.reference(panel, last, None, text)
    if x == "epoch":
        fill = {"color": style.ink(axes[0]), "alpha": 0.12, "linewidth": 0}
        axes[0].fill_between(at, bound, objective, **fill)
        if wide and bound.min() < floor:
            axes[0].set_ylim(bottom=floor)
    style.finish(*axes)
    return np.array(axes, dtype=object)


@suggest_names("result.plot")
@dataclass(frozen=True, repr=False)
class ResultPlots:
    """Figures of a fit, one method each; made by ``result.plot``.

    Each method draws on the axes passed as ``ax=``, or makes a figure, and returns the
    axes; further keywords, such as ``color=`` or ``linewidth=``, are properties of its
    lines. Drawn twice on the same axes, each time with a ``label=``, two fits are
    compared. Nothing is shown or written: a notebook shows the figure by itself,
    elsewhere ``ax.figure.savefig("name.pdf")`` writes it, with TrueType fonts (type 42)
    if the package has made the figure. The settings of matplotlib hold, also dark
    styles.

    `data` are new rows, and `actual` their labels. Labels that are not given are taken
    from the outcome's column of `data`; without `data` the rows of the fit are drawn.
    Rows without a label or a score are left out, and the figure says how many.

    Attributes
    ----------
    result : LinearResults or KernelResults

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    DataError
        If no row has a label and a score, or the rows of the fit are needed and were
        not saved with it.

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
        """Name the figures, one of which ``plot()`` does not choose.

        Raises
        ------
        CallError
        """
        figures = ", ".join(f"result.plot.{name}()" for name in self.names)
        raise CallError(
            "There are several figures, none of them of regions of two predictors; "
            f"write one of {figures}."
        )

    def trace(
        self,
        x: Against = "epoch",
        *,
        optimum: float | None = None,
        ax: "Axes | Sequence[Axes] | None" = None,
        **line: object,
    ) -> NDArray[np.object_]:
        """Objective with certified bound, duality gap, and errors, against epoch.

        The optimum lies between the two lines of the first panel. Axes are logarithmic
        where values span much; a bound or gap that is not above 0 is left out there.

        Parameters
        ----------
        x : "epoch" or "steps"
            ``"steps"``: the distance from the optimum, the gap and the accuracy against
            the number of steps.
        optimum : float, optional
            The least objective, such as ``model.fit().objective``, for ``x="steps"``.
            If left out the largest lower bound that is known takes its place; then the
            distance drawn is at least the true one.
        ax : one to three Axes, optional
            For the objective, the gap and the errors, in this order.
        **line
            Properties of the lines.

        Returns
        -------
        array of Axes

        Raises
        ------
        OptionError
            If the fit kept no trace, `x` is not known, or `optimum` is above an
            objective of the trace.
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
                "The fit kept no trace; fit again with fit(trace=True) for this figure."
            )
        first = None
        if self.result.refinement is not None and isinstance(solver, Pegasos):
            first = self.result.n_epochs or solver.passes.count(self.result.problem.n)
        return draw_trace(
            trace, ax, line, first, x, optimum, self.result.dual_objective
        )

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
        """Shares of the rows of each level by their margin.

        The margin is the score times -1 for the first and +1 for the second level:
        below 0 a row is misclassified, below 1 it costs hinge loss. With a `threshold`,
        as for ``result.predict()``, it is the score less that of the threshold.

        Raises
        ------
        OptionError
            If the threshold is no finite score, as the probabilities 0 and 1 are not.
        """
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_margins(table, self.result, ax, line, threshold)

    def confusion(
        self,
        data: object = None,
        actual: object = None,
        *,
        threshold: float | None = None,
        ax: "Axes | None" = None,
        offset: object = None,
    ) -> "Axes":
        """Table of actual against predicted labels, see `ConfusionMatrix.plot`.

        A fit that was loaded has the table of its own rows, without a `threshold`.
        """
        if data is None and actual is None and offset is None and threshold is None:
            return self.result.training_table.plot(ax=ax)
        table = self.result.confusion(data, actual, offset=offset, threshold=threshold)
        return table.plot(ax=ax)

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
        """ROC curve of the scores, with its area and the point of a threshold.

        That is the score 0, or the `threshold`, as for ``result.predict()``.

        The second level is the positive one. Rows of the same score pass together, so
        that the area under the line is that of `ConfusionMatrix.overall`; its interval,
        of new rows alone, has DeLong's variance on the logit scale.

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
    """Variable, level and reference level of a term that is a level of a factor.

    Examples
    --------
    >>> level_of("relevel(ward, ref='A')[T.B]", {"relevel(ward, ref='A')": "A"})
    ('ward', 'B', 'A')
    """
    factor, bracket, level = term.partition("[T.")
    if not bracket or not level.endswith("]") or ":" in term or factor not in bases:
        return None
    called = OF_FACTOR.match(factor)
    return called[1] if called else factor, level[:-1], bases[factor]


@dataclass(frozen=True, repr=False)
class LinearPlots(ResultPlots):
    """Figures of a linear fit: those of `ResultPlots`, and of its coefficients.

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
        """Coefficients, the largest at the top, with 95% intervals where there are any.

        The intercept is left out: it is not penalised, and not on their scale.

        Parameters
        ----------
        max_terms : int or None, default 30
            How many coefficients are drawn at most, those of the largest absolute
            value; ``None`` draws all.
        ax : Axes, optional
        **line
            Properties of points and intervals.

        Raises
        ------
        OptionError
            If `max_terms` is not above zero.
        """
        table, title, _ = self._largest(max_terms)
        table = table.sort_values("estimate", ascending=False, kind="stable")
        levels, look = self.result.coding.levels, {"title": title, "unit": self._unit}
        return forest.draw_coefficients(table, levels, ax, line, **look)

    def odds_ratios(
        self, max_terms: int | None = 30, *, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Odds ratios with 95% intervals on a logarithmic axis, in the model's order.

        Each factor has a row for its reference level, a ring at 1. The intercept is
        left out.

        Parameters
        ----------
        max_terms, ax, **line
            As for `coefficients`.

        Raises
        ------
        OptionError
            For the hinge loss, which has no odds.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.odds_ratios()")
        table, title, references = self._largest(max_terms)
        ratios = table.set_index("term")[forest.NUMBERS].astype(float)
        with np.errstate(over="ignore"):
            ratios = ratios.apply(np.exp)
        names = list(ratios.index)
        for level, reference in references.items():  # above the first of its levels
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
            xlabel=style.written(x_label),
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
        """Average prediction against a predictor, with 95% band and rug.

        At each value of the predictor all rows have this value and keep the others;
        their mean probability is drawn: `LinearResults.predictions`. A factor has a
        point for each level.

        Parameters
        ----------
        variable : str
            A predictor by its name in the data.
        data : DataFrame, optional
            Rows to average over; those of the fit if left out.
        at : mapping of name to values, optional
            Other predictors to set; each combination has a line.
        scale : "response" or "link", optional
            ``"link"`` is the score. By default the probability for the log loss, the
            score for the hinge.
        points : int, default 50
            Number of values between the smallest and the largest.
        ax : Axes, optional
        **line
            Properties of the lines.

        Raises
        ------
        OptionError
            If it is not a predictor of the fit.
        """
        result = self.result
        checks.check_count("points", points)
        if scale is None:
            scale = "response" if result.problem.loss == "log" else "link"
        rows = rows_of(result, data, None, False)
        (name,) = rows.checked([variable])
        if name in rows.levels:
            found = result.predictions(variable, data, at=at, scale=scale)
        else:
            values = rows.numbers(name)
            grid = list(np.linspace(values.min(), values.max(), points))
            chosen = {name: grid, **(at or {})}
            found = result.predictions(None, data, at=chosen, scale=scale)
        return found.plot(ax=ax, **line)

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
        """Shares of the rows of each level by their predicted probability.

        Raises
        ------
        OptionError
            For the hinge loss, which has no probabilities.
        """
        checks.check_log_loss(self.result.problem.loss, "plot.probabilities()")
        table = self.result.confusion(data, actual, offset=offset)
        return curves.draw_margins(
            table, self.result, ax, line, threshold, are_shares=True
        )

    def _largest(
        self, max_terms: int | None
    ) -> tuple[pd.DataFrame, str, dict[str, str]]:
        """The largest coefficients, what is drawn, and the reference of each level."""
        if max_terms is not None:
            checks.check_count("max_terms", max_terms)
        table, p = self.result.coefficient_table(), len(self.result.coef)
        slopes = table[table["term"] != INTERCEPT].dropna(subset=["estimate"])
        slopes = slopes.reset_index(drop=True)
        drawn = largest_terms(slopes, max_terms)
        title = f"The {len(drawn)} largest of {p:,} coefficients, " * (len(drawn) < p)
        known = drawn["conf_low"].notna().any()
        title += "95% intervals" if known else "no intervals, see summary()"
        names, references = [], {}
        for term in map(str, drawn["term"]):
            found, name = level_of(term, self.result.reference_levels), term
            if found is not None:
                variable, level, reference = found
                name = f"{variable}: {level}"
                references[name] = f"{variable}: {reference} (reference)"
            names.append(name)
        return drawn.assign(term=names), title[:1].upper() + title[1:], references

    def coefficient_image(
        self, shape: Sequence[int], *, ax: "Axes | None" = None
    ) -> "Axes":
        """Coefficients of pixels as an image, blue below 0 and red above.

        Colours are symmetric about 0. Where pixels are large enough those below 0 have
        a dot, which tells the signs apart in grey print.

        Parameters
        ----------
        shape : pair of int
            Rows and columns of the image; the predictors are its pixels row by row.
        ax : Axes, optional

        Raises
        ------
        OptionError
            If the image does not have a pixel for each coefficient.
        """
        beta, levels = self.result.solution.beta, self.result.coding.levels
        return draw_image(beta, shape, levels, ax, unit=self._unit)

    @property
    def _unit(self) -> str:
        return "unit" if self.result.scaling is None else "standard deviation"
