"""Average effects, average predictions, and predictions of rows, with errors."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks, tables
from pegasos_stats.arrays import Matrix, Vector, dense_rows
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.labels import AT_ZERO, Level
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.weights import column_of_counts, numbers_of_rows
from pegasos_stats.errors import (
    DataError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.effects.rows import (
    EffectRows,
    Place,
    levels_of,
    new_rows,
    training_rows,
    value_text,
    written,
)
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.options import Bootstrap, Sandwich
from pegasos_stats.models.inference.separation import MOSTLY, is_unbounded
from pegasos_stats.models.summaries import Note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pegasos_stats.models.linear_results import LinearResults

USUAL = 0.05
BLOCK = 512  # rows whose scores by all resamples are held at once
SLOPE = "dY/dX"
TESTS = ["statistic", "p_value"]
LIMITS = ["conf_low", "conf_high"]
OVER_ROWS = "Means over the rows, in which other predictors have their own values."
OF_PENALISED = (
    "Estimates, errors and intervals are of the penalised fit, with lambda taken as "
    "fixed beforehand. They are for these rows: for the population that the rows are "
    "from, intervals would be wider."
)
INCREASED = (
    "+ is the change if each value is increased by this amount, or decreased where a "
    "term has no value for more."
)
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."
NO_RESAMPLES = Note(
    "standard errors",
    "note",
    "There are no standard errors: those of shares are from resamples of the training "
    "rows, which are not in memory.",
)
Scale = Literal["response", "link"]
Key = tuple[str, str, Place, str]  # predictor, contrast or value, at= what, label

SCALES: tuple[Scale, ...] = ("response", "link")
RESAMPLES = Bootstrap(399)  # of shares, which are steps
NUMBERS = "one number for each row"
TIES = {"na": 0.5, "positive": 1.0, "negative": 0.0}
Contrasts = Literal["reference", "pairwise"]
Change = float | None

CONTRASTS: tuple[Contrasts, ...] = ("reference", "pairwise")
CENTRAL = float(np.cbrt(np.finfo(float).eps))  # of x: best for central differences
ONE_SIDED = float(np.sqrt(np.finfo(float).eps))  # and for those at an end of the range
JUMP = 1e-3  # of a term, where its predictor moves by some 1e-5 of itself


Curve = Literal["probability", "share", "score"]

SCORES = 1e7  # scores that are held at once


@dataclass(frozen=True, eq=False)
class ResponseScale:
    """What a prediction is, from the score of a row.

    Attributes
    ----------
    curve : "probability", "share" or "score"
        ``1 / (1 + exp(-(f - shift)))`` of a score ``f``; whether it is above 0; or the
        score itself.
    shift : float, or float64 array, shape (b,)
        What weights of the classes have added to scores; of several fits each.
    tie : float
        The share of a score that is 0, to within 1e-5, as ties hold it there.
    """

    curve: Curve
    shift: float | Vector = 0.0
    tie: float = 0.5

    def of(self, scores: Matrix) -> Matrix:
        """Predictions."""
        if self.curve == "probability":
            return self._chances(scores)
        if self.curve == "share":
            at_zero = np.abs(scores) <= AT_ZERO
            return np.where(at_zero, self.tie, scores > 0.0)
        return scores

    def slope(self, scores: Matrix) -> Matrix:
        """Their derivative by the score; 0 for shares, which are steps."""
        if self.curve == "probability":
            chance = self._chances(scores)
            return chance * (1.0 - chance)
        return np.full_like(scores, float(self.curve == "score"))

    def bend(self, scores: Matrix) -> Matrix:
        """Their second derivative."""
        if self.curve == "probability":
            chance = self._chances(scores)
            return chance * (1.0 - chance) * (1.0 - 2.0 * chance)
        return np.zeros_like(scores)

    def _chances(self, scores: Matrix) -> Matrix:
        from scipy.special import expit

        return np.asarray(expit(scores - self.shift))


@dataclass(frozen=True, eq=False)
class Estimand:
    """A mean over rows: of predictions, of their difference, or of their slope.

    Attributes
    ----------
    shares : float64 array, shape (n,)
        Weights of the rows, whose sum is 1.
    rows : float64 array, shape (n, k)
        Where predictions, or slopes, are taken.
    other : float64 array, shape (n, k), optional
        Rows whose predictions are subtracted.
    direction : float64 array, shape (n, k), optional
        Derivative of `rows` by a predictor: then the mean is of ``dP/df D'theta``.
    offset : float64 array, shape (n,), optional
        Known part of the scores of the rows, whatever becomes of a predictor.
    """

    shares: Vector
    rows: Matrix
    other: Matrix | None = None
    direction: Matrix | None = None
    offset: Vector | None = None

    def values(
        self, thetas: Matrix, heights: ResponseScale, shifts: Vector | None = None
    ) -> Vector:
        """The mean by each of several fits, shape (b,).

        Parameters
        ----------
        thetas : float64 array, shape (b, k)
        heights : ResponseScale
        shifts : float64 array, shape (b,), optional
            Of each fit, in the place of that of `heights`.
        """
        size = max(1, int(SCORES / len(self.rows)))
        parts = []
        for first in range(0, len(thetas), size):
            some = slice(first, first + size)
            at = heights if shifts is None else replace(heights, shift=shifts[some])
            parts.append(self._some(thetas[some].T, at))
        return np.concatenate(parts)

    def _some(self, thetas: Matrix, heights: ResponseScale) -> Vector:
        if self.direction is not None:
            slope = heights.slope(self._scores(self.rows, thetas))
            return np.asarray(self.shares @ (slope * (self.direction @ thetas)))
        each = heights.of(self._scores(self.rows, thetas))
        if self.other is not None:
            each = each - heights.of(self._scores(self.other, thetas))
        return np.asarray(self.shares @ each)

    def gradient(self, theta: Vector, heights: ResponseScale) -> Vector:
        """Derivatives by ``theta`` and, last, by the shift of probabilities."""
        scores = self._scores(self.rows, theta)
        slope = self.shares * heights.slope(scores)
        if self.direction is not None:
            bend = self.shares * heights.bend(scores) * (self.direction @ theta)
            by_theta = bend @ self.rows + slope @ self.direction
            return np.append(by_theta, -bend.sum())
        found = np.append(slope @ self.rows, -slope.sum())
        if self.other is not None:
            scores = self._scores(self.other, theta)
            slope = self.shares * heights.slope(scores)
            found -= np.append(slope @ self.other, -slope.sum())
        return found

    def is_apart(self, unbounded: Matrix) -> bool:
        """Whether most of its rows, or of the others, have scores without limit."""
        taken = [self.rows] if self.other is None else [self.rows, self.other]
        grow = [self.shares @ is_unbounded(rows, unbounded) for rows in taken]
        return bool(max(grow) >= MOSTLY)

    def _scores(self, rows: Matrix, thetas: Matrix) -> Matrix:
        """Scores by one fit, or by several, a column for each."""
        scores = np.asarray(rows @ thetas)
        if self.offset is None:
            return scores
        return scores + (self.offset if thetas.ndim == 1 else self.offset[:, None])


def tested(
    theta: Vector,
    errors: wald.Estimate | None,
    estimands: Iterable[tuple[str, Estimand]],
    heights: ResponseScale,
    solver_noise: Vector | None,
) -> wald.ContrastTests:
    """Estimate each mean, with its error.

    The rows are taken as they are: errors are those of the coefficients. By the delta
    method the variance is ``g' V g``, with the gradient ``g`` of the mean and the
    covariance ``V`` of the coefficients; from resamples it is that of the mean by the
    coefficients of each resample, and so are intervals. Where balanced weights were
    taken off, both allow for what that depends on, the shares of the classes. There is
    none of predictions for separated rows, which vary by chance but not with the
    coefficients.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    errors : Covariance, BootstrapResult or None
        Of `theta`, for the predictors as the rows of the estimands have them.
    estimands : iterable of pairs (name, Estimand)
    heights : ResponseScale
    solver_noise : float64 array, shape (k,), or None
        What of each coefficient is the solver's.

    Examples
    --------
    >>> one = Estimand(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> scale = ResponseScale("probability")
    >>> tested(np.zeros(2), None, [("mean", one)], scale, None).effect
    array([0.5])
    """
    resampled = errors if isinstance(errors, wald.BootstrapResult) else None
    priors = None if resampled is None else resampled.priors
    free = None if errors is None else errors.unbounded
    names, values, gradients, replicates, apart = [], [], [], [], []
    for name, estimand in estimands:
        names.append(name)
        values.append(estimand.values(theta[None], heights)[0])
        gradients.append(estimand.gradient(theta, heights))
        apart.append(free is not None and estimand.is_apart(free))
        if resampled is not None:
            replicates.append(estimand.values(resampled.estimates, heights, priors))
    effect, (J, by_shift) = np.array(values), np.hsplit(np.array(gradients), [-1])
    sd, df = np.full(len(effect), np.nan), np.inf
    if resampled is not None:
        each = np.column_stack(replicates)
        covariance = np.atleast_2d(np.cov(each, rowvar=False))
        resampled = resampled.mapped(effect, each, covariance, J)
        sd = resampled.std_error
    elif isinstance(errors, wald.Covariance):
        variances = np.einsum("ij,jk,ik->i", J, errors.matrix, J)
        if errors.prior is not None and heights.curve == "probability":
            mixed, variance = errors.prior[:-1], errors.prior[-1]
            slope = by_shift[:, 0]
            variances += slope * (2.0 * J @ mixed + slope * variance)
        sd, df = np.sqrt(np.maximum(variances, 0.0)), errors.df
    sd = np.where(apart, np.nan, sd)
    least = None if solver_noise is None else np.abs(J) @ solver_noise
    return wald.ContrastTests(
        names, effect, sd, np.zeros(len(effect)), df, resampled, noise=least
    )


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
    estimates: wald.ContrastTests
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
        level = checks.check_fraction("conf_level", conf_level)
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
        alpha, headings = checks.check_fraction("alpha", alpha), self.estimates.headings
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


@suggest_arguments
@np.errstate(over="ignore", invalid="ignore")
def margins(
    self: "LinearResults",
    variables: object = None,
    data: object = None,
    *,
    at: object = None,
    contrasts: Contrasts = "reference",
    change: object = None,
    scale: Scale = "response",
    dummy: bool = False,
    weights: object = None,
    offset: object = None,
) -> Margins:
    """Average marginal effects of the predictors on the probability.

    For a numeric ``x`` this is the mean over the rows of ``dP/dx = P (1 - P)
    df/dx``; the derivative of the score ``f`` includes every term with ``x``, such
    as ``log(x)`` or ``x:g``. For factors and booleans it is the mean change of
    ``P`` from the reference level to each other level. For a hinge fit, which has
    no probabilities, it is the change in the share of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Predictors by their names in the data; all if omitted.
    data : DataFrame or array, optional
        Rows to average over; those of the fit if omitted.
    at : "mean" or mapping of name to values, optional
        ``"mean"``: effects at the means of the predictors, and for factors at the
        shares of their levels. A mapping sets predictors to these values in all
        rows, in every combination.
    contrasts : "reference" or "pairwise"
        Each level against the reference level, or all pairs of levels.
    change : "sd", float or mapping of name to these, optional
        For numeric predictors, the effect of an increase by one standard deviation
        or by this amount, instead of the derivative. Default ``"sd"`` for the hinge
        and for predictors in step functions such as ``I(x > 3)``, which have no
        derivative. Where a term has no value for the increased predictor, as beyond
        the range of a spline, the change is from the value that is smaller by this
        amount.
    scale : "response" or "link"
        ``"link"``: effects on the score, which for the log loss is the log odds.
    dummy : bool, default False
        Whether to treat numeric predictors with only the values 0 and 1 as factors,
        as booleans are.
    weights : array, Series or a column's name, optional
        Weights of the rows of `data` in the means. For the rows of the fit its own
        row weights (not class weights) and ``freq_weights=`` are used.
    offset : array, Series or a column's name, optional
        Offset of the rows of `data`, if that of the fit was given as numbers; or
        instead of the column that the fit used.

    Returns
    -------
    Margins
        With ``tidy()``. Standard errors are by the delta method from the covariance
        of the fit, or from its bootstrap resamples; for hinge shares always from
        resamples, 399 if the fit has none.

    Raises
    ------
    OptionError
        If a name or an option is not known.
    DataError
        If there are no rows, as for a loaded fit without `data`.

    Notes
    -----
    Each row keeps its offset, even if a predictor in the offset is changed.
    Standard errors are conditional on the rows, as in ``get_margeff`` of
    statsmodels and the packages margins and marginaleffects. ``result.plot.margins``
    is something else: it draws the margins ``y f(x)`` of rows.

    References
    ----------
    Bartus, *Estimation of marginal effects using margeff*, Stata Journal 5 (2005).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    >>> data["x"] = [float(i % 7) for i in range(30)]
    >>> result = ps.logit("y ~ g + x", data, lam=1e-6).fit(ps.SDCA(seed=1))
    >>> result.margins().tidy()[["term", "contrast", "estimate"]].round(3)
      term contrast  estimate
    0    g    v - u    -0.006
    1    g    w - u    -0.002
    2    x    dY/dX    -0.016
    """
    checks.check_choice("contrasts", contrasts, CONTRASTS)
    checks.check_flag("dummy", dummy)
    heights = heights_of(self, scale)
    rows = rows_of(self, data, weights, dummy, offset)
    names = rows.checked(variables)
    numbers = [name for name in names if name not in rows.levels]
    if contrasts == "pairwise" and variables is not None and numbers:
        raise OptionError(
            f"contrasts='pairwise' compares levels, and {listing(numbers)} is a "
            "number; give the difference to compare, such as change=10."
        )
    sloping = heights.curve != "share" and isinstance(change, Mapping | None)
    steps = without_slopes(rows, names) if sloping else names
    moved = checked_changes(change, rows, names, steps)
    at_means = isinstance(at, str) and at == "mean"

    def found() -> Iterable[tuple[Key, Estimand]]:
        for place in [{}] if at_means else rows.places(at, {*names} & {*rows.levels}):
            here = rows.at_means().at_known({}) if at_means else rows.at_known(place)
            each = effects(here, rows, names, moved, contrasts)
            for name, contrast, estimand in each:
                key = str(name), contrast, place, f"{name}: {contrast}"
                yield key, estimand

    kinds = {change is None for _, change in moved.values()}
    notes = [AT_MEANS if at_means else OVER_ROWS]
    notes += ["dY/dX is the derivative of the prediction."] * (True in kinds)
    notes += [INCREASED] * (False in kinds)
    notes += [
        f"{name} is in a step function, which has no derivative: it is changed by one "
        "standard deviation unless change= is given."
        for name in steps
        if sloping and moved[name][1] is not None
    ]
    title = "Marginal Effects at Means" if at_means else "Average Marginal Effects"
    return estimated(self, found(), rows, heights, title, "contrast", notes)


@suggest_arguments
@np.errstate(over="ignore", invalid="ignore")
def predictions(
    self: "LinearResults",
    variables: object = None,
    data: object = None,
    *,
    at: object = None,
    scale: Scale = "response",
    weights: object = None,
    offset: object = None,
) -> Margins:
    """Average adjusted predictions: mean probabilities by levels of predictors.

    The mean over the rows of the probability of the second level, with the named
    predictors set to the same values in all rows and the others as observed. For a
    hinge fit, the share of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Predictors to set: a factor to each of its levels, a numeric predictor to its
        minimum, quartiles and maximum, or to all values if these are five at most;
        several in every combination. Without any, the mean prediction. Give other
        values by ``at=``.
    data, at, scale, weights, offset
        As for `margins`.

    Returns
    -------
    Margins
        With ``tidy()``, as for `margins`, but without tests.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    >>> result = ps.logit("y ~ g", data, lam=1e-9).fit(ps.SDCA(seed=1))
    >>> result.predictions("g").tidy()[["term", "value", "estimate"]].round(3)
      term value  estimate
    0    g     u       0.4
    1    g     v       0.4
    2    g     w       0.4
    """
    heights = heights_of(self, scale)
    rows = rows_of(self, data, weights, False, offset)
    names = [] if variables is None else rows.checked(variables)
    at_means = isinstance(at, str) and at == "mean"
    base = rows.at_means() if at_means else rows
    values = [rows.values(name) for name in names]
    settings = [
        (place, dict(zip(names, chosen, strict=True)))
        for place in ([{}] if at_means else rows.places(at, names))
        for chosen in product(*values)
    ]
    stream = base.batches(
        base.at_known(place | chosen).frame for place, chosen in settings
    )
    term = ":".join(str(name) for name in names) or "all rows"

    def found() -> Iterable[tuple[Key, Estimand]]:
        for (place, chosen), Z in zip(settings, stream, strict=True):
            value = ", ".join(value_text(each) for each in chosen.values())
            key = term, value, place, written(chosen) or term
            yield key, Estimand(base.shares, Z, offset=base.offset)

    notes = [AT_MEANS if at_means else OVER_ROWS]
    title = "Predictions at Means" if at_means else "Average Predictions"
    varied = {str(name): name for name in [*names, *settings[0][0]]}
    made = estimated(self, found(), rows, heights, title, "value", notes)
    numeric = {n: name for n, name in varied.items() if name not in rows.levels}
    return replace(made, observed={n: rows.numbers(k) for n, k in numeric.items()})


def heights_of(result: "LinearResults", scale: Scale) -> ResponseScale:
    """What a prediction of the fit is, on this scale."""
    checks.check_choice("scale", scale, SCALES)
    problem = result.problem
    if scale == "link":
        return ResponseScale("score")
    if problem.loss == "log":
        return ResponseScale("probability", problem.prior_shift)
    return ResponseScale("share", tie=TIES[result.solver.ties])


def rows_of(
    result: "LinearResults",
    data: object,
    weights: object,
    dummy: bool,
    offset: object = None,
) -> EffectRows:
    """Rows to average over: those of the fit, or the complete ones of new data.

    Raises
    ------
    DataError
        If there are none.
    """
    design, problem, are_counts = result.design, result.problem, False
    if data is None:
        if not problem.has_rows:
            raise DataError(
                "Effects are averaged over rows, and those of the fit are in files or "
                "not saved, not in memory; give data=."
            )
        if weights is not None:
            raise OptionError("weights= are of the rows of data=; give both.")
        frame = training_rows(design, problem.X, result.unread)
        known = result._matrix(offset=offset).offset
        each = problem.outcome_weights
    else:
        given = result._frame(data)
        matrix = result._matrix(given, offset=offset)
        kept, known = np.flatnonzero(matrix.kept), matrix.offset
        frame = new_rows(design, given, kept)
        each = np.ones(len(frame))
        if weights is None:
            weights = column_of_counts(None, result.counted, given)
            are_counts = weights is not None
        if weights is not None:
            index = given.index
            each = numbers_of_rows("weights", weights, given, index, NUMBERS)[kept]
    if not (np.isfinite(each).all() and each.sum() > 0.0):
        raise DataError(
            "weights are missing in a complete row, or 0 in all; give one for each row."
        )
    levels = levels_of(design, frame, dummy)
    shares = each / each.sum()
    number = int(each.sum()) if are_counts else len(frame)
    return EffectRows(
        design, problem.intercept, frame, shares, number, levels, offsets=known
    )


def estimated(
    result: "LinearResults",
    found: Iterable[tuple[Key, Estimand]],
    rows: EffectRows,
    heights: ResponseScale,
    title: str,
    column: str,
    notes: list[str],
) -> Margins:
    """Estimate all, with errors of the fit; of shares from resamples."""
    theta = np.asarray(result.params, dtype=np.float64)
    options, problem = result.cov_type, result.problem
    missing = [] if result.has_covariance else wald.reason_unavailable(problem, options)
    if heights.curve == "share" and isinstance(options, Sandwich):
        missing = [] if problem.has_rows else [NO_RESAMPLES]
        result = result.with_covariance(RESAMPLES) if problem.has_rows else result
    errors = None
    if not missing:  # for predictors as the fit has standardized them
        errors = result._errors.covariance.original(np.eye(len(theta)))
    keys: list[Key] = []

    def named() -> Iterable[tuple[str, Estimand]]:
        for key, estimand in found:
            keys.append(key)
            *_, place, label = key
            yield (f"{label} at {written(place)}" if place else label), estimand

    tests = tested(theta, errors, named(), heights, result._noise)
    if errors is not None:
        said = [f"{result._uncertainty.kind}."]
        if np.isnan(errors.matrix).all():
            said = [note.sentence for note in errors.notes]
        said += [note.sentence for note in result._uncertainty.separated()]
        notes = [*notes, *said]
        notes.append(OF_PENALISED)
    notes = [*notes, *(note.sentence for note in missing)]
    positive = result.coding.positive
    outcomes = {
        "probability": f"probability of {plain(positive)}",
        "share": f"share predicted {plain(positive)}",
        "score": "log odds" if problem.loss == "log" else "score",
    }
    header = [
        (f"{result.coding.name}:", outcomes[heights.curve]),
        ("Averaged over:", counted(rows.number, "row")),
        ("Loss:", problem.loss),
        ("lambda:", problem.lambda_text),
    ]
    table = pd.DataFrame(
        {
            "term": [term for term, *_ in keys],
            column: [contrast for _, contrast, *_ in keys],
        }
        | {f"at_{name}": [place[name] for *_, place, _ in keys] for name in keys[0][2]}
    )
    shares = heights.curve != "score"
    return Margins(table, tests, title, header, notes, shares)


def checked_changes(
    change: object, rows: EffectRows, names: Sequence[Level], steps: Collection[Level]
) -> dict[Level, tuple[str, Change]]:
    """By how much each numeric predictor is moved, with a name of it; None for slopes.

    Parameters
    ----------
    change : None, "sd", number, or mapping of name to one of these
    rows : EffectRows
    names : list
        Predictors whose effects are asked for.
    steps : collection
        Those that have no slopes: they are moved by a standard deviation, if nothing
        else is said.

    Raises
    ------
    OptionError
    """
    of_names = change if isinstance(change, Mapping) else dict.fromkeys(names, change)
    given = {rows.checked([name])[0]: each for name, each in of_names.items()}
    found: dict[Level, tuple[str, Change]] = {}
    for name in names:
        each = given.get(name)
        each = "sd" if each is None and name in steps else each
        if name in rows.levels:
            continue
        if each is None:
            found[name] = SLOPE, None
        elif isinstance(each, str) and each == "sd":
            found[name] = "+ 1 sd", rows.spread(name)
        elif np.isfinite(checks.number_of(each)):
            found[name] = f"+ {plain(each)}", checks.check_positive("change", each)
        else:
            raise OptionError(
                f"change={shown(change)} is not allowed; give 'sd', a number above "
                "zero, or these by name, such as change={'x': 10}."
            )
    return found


def without_slopes(rows: EffectRows, names: Sequence[Level]) -> list[Level]:
    """Numeric predictors in terms that are steps, such as ``I(x > 3)``.

    A step stays as it is, or jumps, where its predictor moves by very little.
    """
    found: list[Level] = []
    for name in names if rows.composed else ():
        if name in rows.levels:
            continue
        x = rows.numbers(name)
        others = np.where(rows.valued({name: np.roll(x, 1)}), np.roll(x, 1), x)
        each = [x, others, *around(rows, rows, name)]
        Z, other, below, above = rows.batches(
            rows.at({name: values}).frame for values in each
        )
        size = np.abs(other - Z).max(axis=0)
        move = np.abs(above - below).max(axis=0)
        if ((size > 0.0) & ((move == 0.0) | (move > JUMP * size))).any():
            found.append(name)
    return found


def effects(
    here: EffectRows,
    whole: EffectRows,
    names: Sequence[Level],
    changes: Mapping[Level, tuple[str, Change]],
    contrasts: Contrasts,
) -> Iterator[tuple[Level, str, Estimand]]:
    """Name, contrast and estimand of each effect.

    Parameters
    ----------
    here : EffectRows
        Where effects are taken.
    whole : EffectRows
        The same rows with their own values.
    names : list
    changes : dict
        Of numeric predictors, see `checked_changes`.
    contrasts : "reference" or "pairwise"
    """
    values: dict[Level, Sequence[object]] = dict(here.levels)
    for name, (words, change) in changes.items():
        x = here.numbers(name)
        if change is None:
            values[name] = [x, *around(here, whole, name)]
        else:  # up, but where a term has no value for what is larger
            up = here.valued({name: x + change})
            low, high = np.where(up, x, x - change), np.where(up, x + change, x)
            here.at_known({name: low}, f"for {name} {words} nor the other way")
            values[name] = [low, high]
    estimand = partial(Estimand, here.shares, offset=here.offset)
    stream = here.batches(
        here.at({name: value}).frame for name in names for value in values[name]
    )
    for name in names:
        Z = [next(stream) for _ in values[name]]
        if name in here.levels:
            texts = [value_text(level) for level in here.levels[name]]
            for a, b in combinations(range(len(Z)), 2):
                if a == 0 or contrasts == "pairwise":
                    yield name, f"{texts[b]} - {texts[a]}", estimand(Z[b], Z[a])
            continue
        contrast, change = changes[name]
        if change is not None:
            yield name, contrast, estimand(Z[1], Z[0])
            continue
        _, low, high = np.array(values[name], dtype=np.float64)
        width = (high - low)[: len(Z[0])]  # of one mean row the same in all
        direction = (Z[2] - Z[1]) / width[:, None]
        yield name, contrast, estimand(Z[0], direction=direction)


def around(here: EffectRows, whole: EffectRows, name: Level) -> tuple[Vector, Vector]:
    """Values just below and above those of a predictor, or on that side with a value.

    Steps are relative where all values have one sign, so that ``log(x)`` stays defined;
    else they are relative to the standard deviation too.
    """
    x, known = here.numbers(name), whole.numbers(name)
    spread = whole.spread(name) or 1.0
    one_sign = (known >= 0.0).all() or (known <= 0.0).all()
    small = np.abs(x) if one_sign else np.maximum(np.abs(x), spread)
    size = np.where(small > 0.0, small, spread)
    low, high = x - CENTRAL * size, x + CENTRAL * size
    down, up = (here.valued({name: values}) for values in (low, high))
    low = np.where(up, low, x - ONE_SIDED * size)
    high = np.where(down, high, x + ONE_SIDED * size)
    return np.where(down, low, x), np.where(up, high, x)


@suggest_names("prediction")
@dataclass(frozen=True, repr=False, eq=False)
class RowPredictions:
    """Predictions of rows with their errors; made by ``result.get_prediction()``.

    Attributes
    ----------
    matrix : ModelMatrix
    theta : float64 array, shape (k,)
        Coefficients, the intercept first if there is one.
    covariance : Covariance or BootstrapResult
        Of `theta`.
    heights : ResponseScale
        Whether predictions are probabilities or scores.
    has_intercept : bool

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit()
    >>> result.get_prediction(test.head(2)).summary_frame().round(3)
         predicted     se  ci_lower  ci_upper
    200      0.519  0.076     0.374     0.662
    201      0.133  0.038     0.074     0.226
    """

    matrix: ModelMatrix
    theta: Vector
    covariance: wald.Estimate
    heights: ResponseScale
    has_intercept: bool

    @property
    def linpred(self) -> "pd.Series[float]":
        """Scores, for the log loss the log odds; NaN in rows with missing values."""
        return self._usual["linpred"]

    @property
    def linpred_se(self) -> "pd.Series[float]":
        """Standard errors of `linpred`; NaN where only the penalty limits a score."""
        return self._usual["linpred_se"]

    @property
    def predicted(self) -> "pd.Series[float]":
        """Probabilities of the second level; for the hinge, or ``"link"``, scores."""
        return self.summary_frame()["predicted"]

    @property
    def se(self) -> "pd.Series[float]":
        """Standard errors of `predicted`, for probabilities by the delta method."""
        return self.summary_frame()["se"]

    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (n, 2), as in `summary_frame`."""
        return self.summary_frame(alpha)[["ci_lower", "ci_upper"]].to_numpy()

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Columns ``predicted, se, ci_lower, ci_upper``, as those of ``sm.Logit``.

        statsmodels' ``GLM`` calls the same numbers ``mean, mean_se, mean_ci_lower,
        mean_ci_upper``. Intervals are those of the score, by the distribution or the
        resamples that those of the coefficients are from, transformed to probabilities.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        """
        alpha = checks.check_fraction("alpha", alpha)
        table = self._usual if alpha == USUAL else self._table(1.0 - alpha)
        scores = table["linpred"].to_numpy()
        scale = replace(self.heights, shift=0.0)  # which is off the scores already
        columns = {
            "predicted": scale.of(scores),
            "se": table["linpred_se"] * scale.slope(scores),
            "ci_lower": scale.of(table["low"].to_numpy()),
            "ci_upper": scale.of(table["high"].to_numpy()),
        }
        return pd.DataFrame(columns, index=table.index)

    @cached_property
    def _usual(self) -> pd.DataFrame:
        return self._table(1.0 - USUAL)

    def _table(self, level: float) -> pd.DataFrame:
        """Scores of all rows, their errors and limits."""
        values = self.matrix.values
        begins = range(0, values.shape[0], BLOCK)
        parts = [self._block(begin, level) for begin in begins]
        numbers = np.concatenate([*parts, np.zeros((0, 4))])
        names = ("linpred", "linpred_se", "low", "high")
        columns = zip(names, numbers.T, strict=True)
        return pd.DataFrame({name: self.matrix.spread(each) for name, each in columns})

    def _block(self, begin: int, level: float) -> Matrix:
        """Scores of some rows, errors and limits, shape (m, 4)."""
        V, values = self.covariance, self.matrix.values
        R = dense_rows(values[begin : begin + BLOCK])
        if self.has_intercept:
            R = np.column_stack([np.ones(len(R)), R])
        offset, known = self.matrix.offset, np.zeros(len(R))
        if offset is not None:
            known = offset[begin : begin + BLOCK]
        scores = R @ self.theta + known - self.heights.shift
        shifted, resampled = self.heights.curve == "probability", None
        if isinstance(V, wald.BootstrapResult):
            priors = V.priors if shifted else None
            shift = self.heights.shift if priors is None else priors[:, None]
            each = V.estimates @ R.T + known - shift
            covariance = np.diag(each.var(axis=0, ddof=1))
            resampled = V.mapped(scores, each, covariance, R)
            sd = resampled.std_error
        else:
            variances = np.einsum("ij,jk,ik->i", R, V.matrix, R)
            if shifted and V.prior is not None:  # of what balanced weights add
                variances += V.prior[-1] - 2.0 * R @ V.prior[:-1]
            sd = np.sqrt(np.maximum(variances, 0.0))
        if V.unbounded is not None:
            sd = np.where(is_unbounded(R, V.unbounded), np.nan, sd)
        names, nulls = [""] * len(R), np.zeros(len(R))
        tests = wald.ContrastTests(names, scores, sd, nulls, V.df, resampled)
        limits = tests.estimates(level)[["conf_low", "conf_high"]]
        return np.column_stack([scores, sd, limits.to_numpy()])


def get_prediction(
    self: "LinearResults",
    data: object = None,
    *,
    scale: Scale = "response",
    unseen: Unseen = "error",
    offset: object = None,
) -> RowPredictions:
    """Prediction of each row with standard error and interval, as in statsmodels.

    For the log loss the probability of the second level; its standard error by the
    delta method from the covariance of the fit, its interval that of the score,
    transformed. For the hinge the score. With a bootstrap errors and intervals are from
    the coefficients of the resamples. They are of the prediction, not of an outcome.

    Parameters
    ----------
    data : DataFrame or array, optional
        New rows; those of the fit if omitted.
    scale : "response" or "link"
        ``"link"``: scores, for the log loss the log odds.
    unseen, offset : optional
        As for `decision_function`.

    Returns
    -------
    RowPredictions
        With ``summary_frame(alpha)``, whose columns are ``predicted, se, ci_lower,
        ci_upper``, on the index of `data`; NaN in rows with missing values.

    Raises
    ------
    OptionError
        With ``cov_type="none"``, or for files and Dask.
    DataError
        If there are no rows, as for a loaded fit without `data`.
    ColumnError
        As for `decision_function`.
    """
    if isinstance(data, Scan):
        raise OptionError("get_prediction() is of rows in memory; give a data frame.")
    if data is None and not self.problem.has_rows:
        raise DataError(
            "The rows of the fit are not in memory; give others, get_prediction(data)."
        )
    heights = heights_of(self, "link" if self.problem.loss == "hinge" else scale)
    theta = np.asarray(self.params, dtype=np.float64)
    return RowPredictions(
        self._matrix(data, unseen, offset),
        theta,
        self._errors.covariance.original(np.eye(len(theta))),
        heights,
        self.problem.intercept,
    )
