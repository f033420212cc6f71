"""Average effects, average predictions, and predictions of rows, with standard errors.

Each is a function ``g(theta)`` of the coefficients; the rows are fixed. By the delta
method its variance is ``J V J'``, with the gradient ``J`` of ``g`` and the covariance
``V`` of the coefficients. With a bootstrap, it is the variance of ``g`` over the
resamples.

A score is ``z'theta``. The last two elements of ``theta`` are the shift of the scores
by class weights, and 1. The last two elements of a row ``z`` are the factors of these:
-1 or 0, and the offset. -1 subtracts the shift, for probabilities; 0 does not.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import checks, errors, tables
from pegasos_stats.arrays import Axes, Mask, Matrix, Predictors, Vector, dense_rows
from pegasos_stats.data import design as designs
from pegasos_stats.data import user_data
from pegasos_stats.data.design import ScaledDesign, moments, unscaled
from pegasos_stats.data.labels import AT_ZERO, Level
from pegasos_stats.data.language.formula import factored
from pegasos_stats.data.language.formula_design import FormulaDesign, Unseen
from pegasos_stats.data.sample import (
    Positions,
    RowIndex,
    column_of_counts,
    numbers_of_rows,
)
from pegasos_stats.errors import DataError, OptionError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.options import Bootstrap, Sandwich
from pegasos_stats.models.inference.wald import INTERVAL_ENDS, NullSpace
from pegasos_stats.solvers.separation import is_unbounded

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

Scale = Literal["response", "link"]
Contrasts = Literal["reference", "pairwise"]
Comparison = Literal["difference", "ratio", "lnratio", "lnor"]
Place = dict[Level, object]  # values of some predictors, by name
Key = tuple[str, str, Place, str]  # predictor; contrast or value; values in at=; label

QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
DEFAULT_ALPHA = 0.05
COMPARED: dict[Comparison, tuple[str, str]] = {  # title, and contrast of two levels
    "difference": ("Marginal Effects", "{} - {}"),
    "ratio": ("Risk Ratios", "{} / {}"),
    "lnratio": ("Log Risk Ratios", "ln({} / {})"),
    "lnor": ("Log Odds Ratios", "ln(odds {} / {})"),
}
ROWS_PER_BLOCK = 512  # rows whose scores are computed at once, for all resamples
MOST_SCORES = 1e7  # maximum number of scores in memory
SLOPE = "dY/dX"
MOST_DESIGN_ROWS = 100_000  # maximum number of design rows computed at once
MOST_SHOWN = 20  # maximum number of printed predictions
WHAT = {  # names of predictions, by `Response.curve`
    "probability": "Probabilities of the second class",
    "share": "Predicted classes, 1 for the second,",
    "score": "Scores",
}
RESAMPLES = Bootstrap(399)  # for shares, which have no useful derivative
CENTRAL = float(np.cbrt(np.finfo(float).eps))  # relative step of central differences
ONE_SIDED = float(
    np.sqrt(np.finfo(float).eps)
)  # relative step of one-sided differences
OVER_ROWS = "Means over the rows; other predictors are as observed{}."
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."
OF_PENALISED = (
    "Estimates and intervals are for the penalised model, at this fixed lambda. "
)
OF_THESE_ROWS = (
    "Standard errors treat the rows as fixed; for inference about a population they "
    "are too small."
)
PINNED = (
    "If an estimate is the same in all resamples, its p-value and interval are missing "
    "(NaN)."
)
INCREASED = (
    "+ compares the predictions at x plus this amount and at x; if a term has no value "
    "at x plus this amount, at x and at x minus this amount."
)
NO_RESAMPLES = (
    "There are no standard errors: for shares they need resamples of the training "
    "rows, which are not in memory."
)


# -------------------------------------------------------- rows, with predictors changed


@dataclass(frozen=True, eq=False)
class EffectRows:
    """Complete rows with their weights, and their design.

    Attributes
    ----------
    design : Design
    intercept : bool
        Whether the matrix begins with a column of ones.
    frame : DataFrame, n rows
        Predictors as in the data, neither coded nor standardized.
    weights : float64 array, shape (n,)
        Weights of the rows in means; their sum is 1.
    number : int
        Number of rows; with frequency weights, their sum.
    levels : dict of name to list
        Levels of each factor among the predictors, the reference level first.
    offset : float64 array, shape (n,), or None
        Offsets of the scores.
    shifted : bool
        Whether the shift by class weights is subtracted from scores.
    averaged : bool
        Whether the matrix is a single row, the mean of the rows.
    """

    design: designs.Design
    intercept: bool
    frame: pd.DataFrame
    weights: Vector
    number: int
    levels: Mapping[Level, list[Level]]
    offset: Vector | None = None
    shifted: bool = False
    averaged: bool = False

    @property
    def names(self) -> list[Level]:
        """Predictors, in the order of the formula."""
        return list(self.frame.columns)

    @property
    def formula(self) -> FormulaDesign | None:
        """The design if its formula transforms predictors; otherwise None."""
        inner = unscaled(self.design)
        if not isinstance(inner, FormulaDesign):
            return None
        factors = {f.text for term in inner.terms for f in term.factors}
        return inner if factors - {*inner.variables, "1"} else None

    @property
    def shares(self) -> Vector:
        """Weights of the rows of `matrix`."""
        return np.ones(1) if self.averaged else self.weights

    def checked(self, variables: object) -> list[Level]:
        """Return the predictors with these names, or raise `OptionError`.

        None means all predictors except text that is not a factor.
        """
        if variables is None:
            return [name for name in self.names if not self.is_text(name)]
        predictors = [self._name(name) for name in as_list(variables)]
        if not predictors or len(set(predictors)) < len(predictors):
            raise OptionError(
                f"variables={shown(variables)} is not allowed; name each predictor "
                f"once: {listing(self.names, 8)}."
            )
        return predictors

    def _name(self, name: object) -> Level:
        for predictor in self.names:
            if isinstance(name, type(predictor)) and predictor == name:
                return predictor
        raise OptionError(
            f"{shown(name)} is not a predictor of this fit. The predictors are "
            f"{listing(self.names, 8)}; pass rows as data=."
        )

    def values(self, name: Level) -> list[object]:
        """Levels of a factor, or values of a numeric predictor.

        More than five values are replaced by their minimum, quartiles and maximum.
        """
        if name in self.levels:
            return list(self.levels[name])
        numbers = np.unique(column := self.numbers(name))
        if numbers.size > len(QUARTILES):
            numbers = np.unique(np.quantile(column, QUARTILES))
        return [float(value) for value in numbers]

    def places(self, at: object, varied: Collection[Level] = ()) -> list[Place]:
        """Combinations of the values in ``at=``; for None, one empty combination.

        Predictors in `varied` must not be in ``at=``.
        """
        if at is None:
            return [{}]
        if not isinstance(at, Mapping) or not at:
            raise OptionError(
                f"at={shown(at)} is not allowed; use 'mean', or values by name, such "
                "as at={'x': [1, 2]}."
            )
        values_by_name = {
            self._name(name): self._allowed(name, at[name]) for name in at
        }
        if both := [name for name in values_by_name if name in varied]:
            raise OptionError(
                f"at= and variables= both contain {listing(both)}; leave it out of one "
                "of them."
            )
        chosen = product(*values_by_name.values())
        return [dict(zip(values_by_name, values, strict=True)) for values in chosen]

    def _allowed(self, name: object, requested: object) -> list[object]:
        """Values of a predictor in ``at=``, or raise `OptionError`."""
        values, levels = as_list(requested), self.levels.get(self._name(name))
        if levels is None:
            is_valid = [bool(np.isfinite(checks.number_of(value))) for value in values]
        else:
            positions = [user_data.position_of(value, levels) for value in values]
            is_valid = [position >= 0 for position in positions]
            values = [levels[position] for position in positions]
        if not (values and all(is_valid)):
            cure = "finite numbers" if levels is None else f"of {listing(levels)}"
            raise OptionError(
                f"at= has {shown(requested)} for {shown(name)}; use one or several "
                f"{cure}."
            )
        return values

    def at_means(self) -> "EffectRows":
        """Return these rows with numeric predictors at their means.

        The matrix is the mean of the rows: factors are at the shares of their levels.
        """
        names = (name for name in self.names if not self.is_text(name))
        numeric = [name for name in names if name not in self.levels]
        means = {name: float(self.weights @ self.numbers(name)) for name in numeric}
        return replace(self, frame=self.at(means), averaged=True)

    def at(self, place: Mapping[Level, object]) -> pd.DataFrame:
        """Return the frame with these values in all rows."""
        frame = self.frame.copy(deep=False)
        for name, value in place.items():
            frame[name] = value  # type: ignore[call-overload]
        return frame

    def is_text(self, name: Level) -> bool:
        """Whether a predictor is text that is not a factor."""
        return name not in self.levels and pd.api.types.is_string_dtype(
            self.frame[name]
        )

    def numbers(self, name: Level) -> Vector:
        """Values of a numeric predictor, or `OptionError` if it is text."""
        try:
            values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise OptionError(
                f"{shown(name)} is text that is not a factor, so no effect can be "
                "computed; leave it out of variables=."
            ) from None
        return np.asarray(values)

    def spread(self, name: Level) -> float:
        """Standard deviation of a numeric predictor, with the divisor ``n - 1``."""
        x = self.numbers(name)[:, None]
        return float(moments(x, self.weights, self.number)[1].item())

    def valued(self, place: Place) -> Mask:
        """Mask of the rows in which every term is defined at these values."""
        formula = self.formula
        if formula is None:
            return np.ones(len(self.frame), dtype=bool)
        return formula.valued(self.at(place))

    def with_values(self, place: Place, what: str = "") -> "EffectRows":
        """Return the rows with these values, or raise `DataError`.

        The error is raised if a term of the formula is not defined in some row.
        """
        if without := int((~self.valued(place)).sum()):
            what = what or f"at {written(place) or 'means'}"
            raise DataError(
                f"A term of the formula has no value {what}, in "
                f"{errors.counted(without, 'row')}; use other values."
            )
        return replace(self, frame=self.at(place))

    def matrix(self, place: Mapping[Level, object]) -> Matrix:
        """Matrix of the rows with these values."""
        return self._completed(dense_rows(self.design.matrix(self.at(place)).values))

    def _completed(self, values: Matrix) -> Matrix:
        """Matrix of the rows ``z``, from the columns of the design."""
        if len(values) != len(self.frame):
            raise DataError(
                "A function of the formula changes the number of rows, so no effect "
                "can be computed; fit without it."
            )
        values = completed(values, self.intercept, self.shifted, self.offset)
        return (self.weights @ values)[None] if self.averaged else values

    def matrices(self, places: Sequence[Mapping[Level, object]]) -> list[Matrix]:
        """Return `matrix` for each place.

        Up to `MOST_DESIGN_ROWS` rows are computed in one call, which is 3 times as
        fast. A user's function may depend on all rows of its argument, so it is called
        separately for each place.
        """
        n, inner = len(self.frame), unscaled(self.design)
        own = isinstance(inner, FormulaDesign) and inner.functions
        if own or n * len(places) > MOST_DESIGN_ROWS:
            return [self.matrix(place) for place in places]
        frames = pd.concat([self.at(place) for place in places])
        values = dense_rows(self.design.matrix(frames).values)
        if len(values) != len(frames):
            return [self.matrix(place) for place in places]
        return [self._completed(values[k : k + n]) for k in range(0, len(values), n)]


def completed(
    X: Matrix, intercept: bool, shifted: bool, offset: Vector | None
) -> Matrix:
    """Rows ``z``: 1, predictors, -1 or 0, offset; see the docstring of the module.

    Examples
    --------
    >>> completed(np.array([[2.0]]), True, True, None)
    array([[ 1.,  2., -1.,  0.]])
    """
    ends = np.zeros((len(X), 2))
    ends[:, 0] -= shifted
    if offset is not None:
        ends[:, 1] = offset
    return np.column_stack([*[np.ones(len(X))] * intercept, X, ends])


def as_list(value: object) -> list[object]:
    """Return one or several values as a list."""
    several = isinstance(value, list | tuple | pd.Series | pd.Index | np.ndarray)
    return list(value) if several else [value]  # type: ignore[call-overload]


def written(place: Place) -> str:
    """Write values by name.

    Examples
    --------
    >>> written({"g": "b", "x": 2.0})
    'g = b, x = 2'
    """
    return ", ".join(f"{name} = {value_text(value)}" for name, value in place.items())


def value_text(value: object) -> str:
    """Write a value, a float with at most six digits."""
    value = errors.plain(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def unread_columns(
    design: designs.Design, lines: RowIndex | None
) -> pd.DataFrame | None:
    """Predictors whose original values are not columns of the design matrix.

    These are factors, booleans, and columns that occur only in transformed terms.
    """
    inner = unscaled(design)
    if lines is None or lines.frame is None or not getattr(inner, "named", True):
        return None
    frame, numeric = lines.frame, getattr(inner, "numeric", inner.names)
    columns = {*map(str, numeric)} & {*inner.names}
    unread = [
        name
        for name in predictors_of(inner)
        if str(name) not in columns or are_booleans(frame[name])
    ]
    return frame[unread].iloc[lines.positions].reset_index(drop=True)


def are_booleans(column: pd.Series | pd.DataFrame) -> bool:
    """Whether all values are true, false or missing.

    Examples
    --------
    >>> are_booleans(pd.Series([True, None, False])), are_booleans(pd.Series([1, 0]))
    (True, False)
    """
    return bool(pd.api.types.infer_dtype(column, skipna=True) == "boolean")


def predictors_of(design: designs.Design) -> list[Level]:
    """Predictors in the order of the formula, or of the data's columns."""
    if not isinstance(design, FormulaDesign):
        return list(getattr(design, "columns", ()))
    texts = [f.text for term in design.terms for f in term.factors]
    words = [word for text in texts for word in (text, *re.findall(r"\w+", text))]
    order = {word: i for i, word in reversed([*enumerate(words)])}
    return sorted(design.variables, key=lambda name: order.get(name, len(words)))


def training_rows(
    design: designs.Design, X: Predictors, unread: pd.DataFrame | None
) -> pd.DataFrame:
    """Predictors of the training rows on their original scale, or `DataError`."""
    inner = unscaled(design)
    if user_data.is_sparse(X):
        what = f"A table of {X.shape[0]:,} rows and {X.shape[1]:,} columns"
        user_data.check_memory(8.0 * X.shape[0] * X.shape[1], what, "pass data=")
    if isinstance(design, ScaledDesign):
        X = design.scaling.unapply(X)
    values, columns = dense_rows(X), {} if unread is None else dict(unread.items())
    places = {str(name): j for j, name in enumerate(inner.names)}
    return pd.DataFrame(
        {
            name: columns[name] if name in columns else values[:, places[str(name)]]
            for name in predictors_of(inner)
        }
    )


def new_rows(
    design: designs.Design, data: pd.DataFrame, positions: Positions
) -> pd.DataFrame:
    """Predictors of complete new rows, at these positions."""
    inner = unscaled(design)
    if not len(positions):
        raise DataError("No row of data= is complete; pass rows with all predictors.")
    columns = predictors_of(inner)
    if isinstance(inner, designs.FrameDesign) and not inner.named:
        data = data.set_axis(columns, axis=1)
    frame = data[columns].iloc[positions].reset_index(drop=True)
    for name in columns:
        column = frame[name]
        if isinstance(column.dtype, pd.SparseDtype):
            frame[name] = column.sparse.to_dense()
    return frame


def levels_of(
    design: designs.Design, frame: pd.DataFrame, dummy: bool
) -> dict[Level, list[Level]]:
    """Levels of factors, the reference level first; booleans have False and True.

    With `dummy`, a numeric predictor with only the values 0 and 1 has these as levels.
    """
    inner = unscaled(design)
    levels_by_name: dict[Level, list[Level]] = {}
    if isinstance(inner, FormulaDesign):
        levels_by_name.update(inner.levels)
        for text, coding in inner.codings.items():
            name, levels = factored(text, inner.variables), coding.levels
            if name in levels_by_name and coding.base is not None:
                base = levels[coding.base]
                levels_by_name[name] = [
                    base,
                    *(level for level in levels if level != base),
                ]
    for name in (name for name in frame.columns if name not in levels_by_name):
        if are_booleans(frame[name]):
            levels_by_name[name] = [False, True]
        elif dummy and set(frame[name].unique()) == {0, 1}:
            levels_by_name[name] = [0, 1]
    return levels_by_name


def rows_of(
    result: "LinearResults",
    data: object,
    weights_of_rows: object = None,
    dummy: bool = False,
    offset: object = None,
    shifted: bool = False,
) -> EffectRows:
    """Rows to average over: training rows, or complete rows of new data.

    Raises
    ------
    DataError
        If there are no such rows, or their weights are missing or all 0.
    """
    design, problem, are_counts = result.design, result.problem, False
    if data is None:
        if not problem.has_rows:
            raise DataError(
                "Effects are averages over rows, and the training rows are not in "
                "memory (files, or a loaded fit); pass data=."
            )
        checks.check_rows_have_own(weights=weights_of_rows)
        frame = training_rows(design, problem.X, result.unread)
        row_offset = result._matrix(offset=offset).offset
        row_weights = problem.outcome_weights
    else:
        new_data = result._frame(data)
        matrix = result._matrix(new_data, offset=offset)
        complete, row_offset = np.flatnonzero(matrix.complete), matrix.offset
        frame = new_rows(design, new_data, complete)
        row_weights = np.ones(len(frame))
        if weights_of_rows is None:
            weights_of_rows = column_of_counts(None, result.counted, new_data)
            are_counts = weights_of_rows is not None
        if weights_of_rows is not None:
            weights_of_rows = user_data.by_position(weights_of_rows, data)
            source = "weights", weights_of_rows, new_data, new_data.index
            row_weights = numbers_of_rows(*source, "one number for each row")[complete]
    if not (np.isfinite(row_weights).all() and row_weights.sum() > 0.0):
        raise DataError(
            "weights are missing in a complete row, or 0 in all rows; pass one number "
            "for each row, above 0 in at least one."
        )
    return EffectRows(
        design,
        problem.intercept,
        frame,
        row_weights / row_weights.sum(),
        int(row_weights.sum()) if are_counts else len(frame),
        levels_of(design, frame, dummy),
        row_offset,
        shifted,
    )


# ------------------------------------------------ functions of coefficients, and errors


@dataclass(frozen=True, eq=False)
class Response:
    """Prediction as a function of the score.

    Attributes
    ----------
    curve : "probability", "share" or "score"
        Kind of prediction for a score ``f``. ``"probability"``: ``1 / (1 + exp(-f))``.
        ``"share"``: 1 if ``f > 0``, otherwise 0; scores between -1e-5 and 1e-5 count
        one half, because at a minimum of the hinge loss the scores of several rows may
        be exactly 0. ``"score"``: ``f`` itself.
    """

    curve: Literal["probability", "share", "score"]

    @classmethod
    def by(cls, result: "LinearResults", scale: Scale) -> "Response":
        """Return the prediction of a fit on this scale."""
        checks.check_choice("scale", scale, ("response", "link"))
        if scale == "link":
            return cls("score")
        if result.problem.loss == "log":
            return cls("probability")
        return cls("share")

    @property
    def shifts(self) -> bool:
        """Whether the shift by class weights is subtracted from scores."""
        return self.curve == "probability"

    def of(self, scores: Matrix) -> Matrix:
        """Return predictions for scores."""
        if self.curve == "score":
            return scores
        if self.curve == "share":
            at_zero = np.abs(scores) <= AT_ZERO
            return np.where(at_zero, 0.5, scores > 0.0)
        from scipy.special import expit

        return np.asarray(expit(scores))

    def derivatives(self, scores: Matrix) -> tuple[Matrix, Matrix]:
        """First and second derivatives with respect to the score; 0 for shares."""
        if self.curve != "probability":
            return np.full_like(scores, float(self.curve == "score")), 0.0 * scores
        chance = self.of(scores)
        slope = chance * (1.0 - chance)
        return slope, slope * (1.0 - 2.0 * chance)


@dataclass(frozen=True, eq=False)
class Estimand:
    """Mean of predictions or of their slopes over rows, or a comparison of two means.

    Attributes
    ----------
    shares : float64 array, shape (n,)
        Weights of the rows, whose sum is 1.
    rows : float64 array, shape (n, k + 2)
        Rows ``z`` at which predictions or slopes are computed.
    other : float64 array, shape (n, k + 2), optional
        Rows ``z`` of the second mean, which is subtracted or is the denominator.
    direction : float64 array, shape (n, k + 2), optional
        Derivative ``D`` of `rows` with respect to a predictor, for a mean slope: the
        mean of ``dP/df D'theta``.
    comparison : str
        How the two means are compared, see `margins`.
    """

    shares: Vector
    rows: Matrix
    other: Matrix | None = None
    direction: Matrix | None = None
    comparison: Comparison = "difference"

    def values(self, thetas: Matrix, response: Response) -> Vector:
        """Values for several fits, the columns of `thetas`; shape (b,)."""
        size, means = max(1, int(MOST_SCORES / len(self.rows))), []
        for first in range(0, thetas.shape[1], size):
            theta = thetas[:, first : first + size]
            scores = self.rows @ theta
            if self.direction is not None:
                row_values = response.derivatives(scores)[0] * (self.direction @ theta)
            else:
                row_values = response.of(scores)
            mean = self.shares @ row_values
            if self.other is not None:
                other = self.shares @ response.of(self.other @ theta)
                mean = compared(self.comparison, mean, other)[0]
            means.append(mean)
        return np.concatenate(means)

    def gradient(self, theta: Vector, response: Response) -> Vector:
        """Gradient with respect to ``theta``, shape (k + 2,)."""
        slope, second = response.derivatives(self.rows @ theta)
        if self.direction is not None:
            curvatures = self.shares * second * (self.direction @ theta)
            return curvatures @ self.rows + (self.shares * slope) @ self.direction
        total = (self.shares * slope) @ self.rows
        if self.other is not None:
            means = (self.shares @ response.of(Z @ theta) for Z in self._sides)
            _, by_mean, by_other = compared(self.comparison, *means)
            slope, _ = response.derivatives(self.other @ theta)
            total = by_mean * total + by_other * ((self.shares * slope) @ self.other)
        return np.asarray(total)

    @property
    def _sides(self) -> list[Matrix]:
        """Rows whose predictions are compared."""
        return [self.rows] if self.other is None else [self.rows, self.other]

    def broken(self, null: NullSpace, response: Response) -> Mask:
        """Mask of the equations of `NullSpace` that do not hold for the estimand, (q,).

        It is estimable if it satisfies all equations. A mean score satisfies an
        equation if the mean row does; a mean of probabilities or shares, if all rows
        do. A difference or derivative of scores is a linear combination of
        coefficients: it satisfies an equation if its coefficient of the excluded
        column is 0.
        """
        k, counted = len(null.directions), self.shares != 0.0
        if response.curve == "score":
            J = self.gradient(np.zeros(self.rows.shape[1]), response)[None, :k]
            predicts = self.other is None and self.direction is None
            broken = null.broken_by(J) if predicts else null.hypothesised(J)
            return np.asarray(broken[0])
        broken = np.concatenate([null.broken_by(Z[counted, :k]) for Z in self._sides])
        if self.direction is not None:
            moves = null.hypothesised(self.direction[counted, :k])
            broken = np.concatenate([broken, moves])
        return np.asarray(broken.any(axis=0))

    def is_unlimited(self, unbounded: Matrix | None) -> bool:
        """Whether only the penalty bounds the scores of half of the rows, by weight.

        A comparison is unlimited if one of its two means is; a slope, also if only the
        penalty bounds half of the derivatives.
        """
        sides = self._sides
        if self.direction is not None:
            sides = [*sides, self.direction]
        shares = [self.shares @ is_unbounded(Z[:, :-2], unbounded) for Z in sides]
        return bool(max(shares) >= 0.5)


def compared(
    comparison: Comparison, mean: Vector, other: Vector
) -> tuple[Vector, Vector, Vector]:
    """A comparison of two means, with its derivatives by each.

    Examples
    --------
    >>> compared("ratio", np.array([0.6]), np.array([0.3]))[0]
    array([2.])
    """
    one = np.ones_like(mean)
    if comparison == "difference":
        return mean - other, one, -one
    if comparison == "ratio":
        return mean / other, 1.0 / other, -mean / other**2
    if comparison == "lnratio":
        return np.log(mean / other), 1.0 / mean, -1.0 / other
    odds = mean / (1.0 - mean) * (1.0 - other) / other
    slopes = (1.0 / (p * (1.0 - p)) for p in (mean, other))
    by_mean, by_other = slopes
    return np.log(odds), by_mean, -by_other


def fits_of(theta: Vector, estimate: wald.Estimate | None, shift: float) -> Matrix:
    """``theta`` of a fit and of each of its resamples, shape (k + 2, 1 + b)."""
    fits, shifts = theta[None], np.array([shift])
    if isinstance(estimate, wald.BootstrapResult):
        fits, priors = np.vstack([fits, estimate.estimates]), estimate.priors
        resample_shifts = (
            np.full(len(estimate.estimates), shift) if priors is None else priors
        )
        shifts = np.append(shifts, resample_shifts)
    return np.column_stack([fits, shifts, np.ones(len(fits))]).T


def with_errors(
    estimate: wald.Estimate | None,
    values: Matrix,
    J: Matrix,
    unlimited: Mask,
    undetermined: Mask,
    names: Sequence[str],
    null: float = 0.0,
    jointly: bool = False,
) -> wald.ContrastTests:
    """Functions of the coefficients with standard errors by delta method or bootstrap.

    If the shift by balanced class weights was subtracted, standard errors allow for the
    estimation of the shift from the class shares. Where only the penalty bounds the
    scores (separated rows), there is no standard error. Values that the training rows
    do not determine are NaN.

    Parameters
    ----------
    estimate : Covariance, BootstrapResult or None
    values : float64 array, shape (m, 1 + b)
        Values for the fit, and for each resample.
    J : float64 array, shape (m, k + 2)
        Derivatives with respect to ``theta``.
    unlimited, undetermined : bool arrays, shape (m,)
        Masks of the values without standard errors, and of the values that are NaN.
    names : list of str, length m
    null : float
        Value under the null hypothesis.
    jointly : bool
        Whether to compute the covariances between values, for simultaneous intervals.
    """
    covariances = None
    effect, (J, shift) = values[:, 0], (J[:, :-2], J[:, -2])
    sd, df, resampled = np.full(len(effect), np.nan), np.inf, None
    if isinstance(estimate, wald.BootstrapResult):
        replicates = values[:, 1:].T
        covariance = np.diag(replicates.var(axis=0, ddof=1))
        if jointly:
            covariances = np.atleast_2d(np.cov(replicates, rowvar=False))
        resampled = estimate.mapped(effect, replicates, covariance, J)
        sd = resampled.std_error
    elif estimate is not None:
        sd, df = np.sqrt(estimate.variances(J, shift)), estimate.df
        covariances = estimate.combined(J).matrix if jointly else None
    effect = np.where(undetermined, np.nan, effect)
    sd = np.where(unlimited | undetermined, np.nan, sd)
    tested = np.full(len(effect), null)
    return wald.ContrastTests(names, effect, sd, tested, df, resampled, covariances)


# ------------------------------------------------------ average effects and predictions


@suggest_names("margins")
@dataclass(frozen=True, repr=False, eq=False)
class Margins(tables.Summarised):
    """Average effects or predictions; returned by `margins` and `predictions`.

    Attributes
    ----------
    keys : DataFrame
        Labels of the estimates: columns ``term, contrast`` (``term, value`` for
        predictions), and for each predictor in ``at=`` a column ``at_`` plus its name.
    estimates : ContrastTests
        With ``effect, sd, pvalue, conf_int()``.
    title : str
    header : list of pairs of str
    notes : list of str
    are_shares : bool
        Whether the estimates are probabilities or shares, or differences of two of
        them. If so, intervals are clipped to [0, 1], for differences to [-1, 1].
        Intervals of slopes are not clipped.
    comparison : str
        How predictions are compared, see `margins`.
    observed : dict of name to float64 array
        For predictions: observed values of each numeric predictor that is set.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit(ps.Optimum(seed=1))
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
    comparison: Comparison = "difference"
    observed: dict[str, Vector] = field(default_factory=dict)

    def _conditions(self) -> Iterator[object]:
        """Check that the first column of `keys` is ``term``, and that names differ."""
        yield self.keys.columns[0] == "term" and self.keys.columns.is_unique

    @property
    def are_predictions(self) -> bool:
        """Whether these are predictions, which are not tested."""
        return "value" in self.keys.columns

    @suggest_arguments
    def tidy(
        self, conf_level: float = 0.95, *, simultaneous: bool = False
    ) -> pd.DataFrame:
        """Estimates as a data frame.

        Parameters
        ----------
        conf_level : float, default 0.95
        simultaneous : bool, default False
            Whether the level is joint for all intervals, so that the intervals of a
            curve form a simultaneous band.

        Returns
        -------
        DataFrame
            The columns of `keys`, then ``estimate, std_error, statistic, p_value,
            conf_low, conf_high``; predictions have neither statistic nor p-value.
            Without standard errors, as with ``cov_type="none"``, all columns after
            ``estimate`` are NaN.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1.
        """
        level = checks.check_fraction("conf_level", conf_level)
        checks.check_flag("simultaneous", simultaneous)
        numbers = self._estimates(level, simultaneous)
        if self.are_predictions:
            numbers = numbers.drop(columns=["statistic", "p_value"])
        return pd.concat([self.keys, numbers], axis=1)

    @suggest_arguments
    def summary(self, alpha: float = 0.05, *, digits: int = 3) -> tables.Summary:
        """Return header, estimates and notes: text in ``print()``, HTML in a notebook.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        digits : int, default 3
            Number of decimals.
        """
        alpha, headings = checks.check_fraction("alpha", alpha), self.estimates.headings
        unknown = bool(np.isnan(self.estimates.sd).all())
        table = self._estimates(1.0 - alpha)
        table.insert(0, "term", self.estimates.hypotheses)
        checks.check_count("digits", digits)
        headings = [] if unknown else headings
        cells = tables.estimate_cells(table, headings, alpha, digits)
        cells = cells.rename(columns={"coef": "estimate"})
        if self.are_predictions:
            cells = cells.drop(columns=headings)
        half = (len(self.header) + 1) // 2
        sides = self.header[:half], self.header[half:]
        return tables.Summary([self.title], cells, self.notes, *sides)

    @suggest_arguments
    def plot(
        self,
        *,
        conf_level: float = 0.95,
        simultaneous: bool = False,
        ax: "Axes | Sequence[Axes] | None" = None,
        **line: object,
    ) -> "Axes | NDArray[np.object_]":
        """Draw predictions against a numeric predictor, or a forest of estimates.

        Predictions at several values of a numeric predictor are drawn as a line with a
        band, and a rug shows the observed values. Each combination of other predictors
        has its own panel; on a single `ax` all combinations are lines without bands.

        Parameters
        ----------
        conf_level : float, default 0.95
        simultaneous : bool, default False
            Whether bands are simultaneous for all estimates, see `tidy`.
        ax : Axes or sequence of Axes, optional
            By default the axes of a new figure.
        **line
            Properties of the lines, such as ``color`` or ``label``.

        Returns
        -------
        Axes, or array of Axes
            An array if there are several panels.

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

        return draw_averages(self, conf_level, ax, line, simultaneous)

    def _estimates(self, level: float, simultaneous: bool = False) -> pd.DataFrame:
        """Estimates with intervals and tests.

        Intervals of probabilities and shares are clipped to [0, 1], of their
        differences to [-1, 1]. Without resamples, intervals and tests of ratios are
        computed for their logarithms.
        """
        tests = self.estimates
        table = tests.estimates(level, simultaneous)
        if self.comparison == "ratio" and tests.resampled is None:
            effect, zero = np.log(tests.effect), np.zeros(len(table))
            tests = replace(tests, effect=effect, sd=tests.sd / tests.effect, null=zero)
            logarithms = tests.estimates(level, simultaneous)
            table[INTERVAL_ENDS] = np.exp(logarithms[INTERVAL_ENDS])
            tested = ["statistic", "p_value"]
            table[tested] = logarithms[tested]
        if self.are_shares:
            lowest = 0.0 if self.are_predictions else -1.0
            bounded = self.keys.iloc[:, 1].ne(SLOPE).to_numpy(dtype=bool)
            limits = table.loc[bounded, INTERVAL_ENDS].clip(lowest, 1.0)
            table.loc[bounded, INTERVAL_ENDS] = limits
        return table


@suggest_arguments
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def margins(
    self: "LinearResults",
    variables: object = None,
    data: object = None,
    *,
    at: object = None,
    contrasts: Contrasts = "reference",
    comparison: Comparison = "difference",
    change: object = None,
    scale: Scale = "response",
    dummy: bool = False,
    weights: object = None,
    offset: object = None,
) -> Margins:
    """Average marginal effects of predictors on the probability of the second class.

    For a numeric ``x`` the effect is the mean over the rows of ``dP/dx = P (1 - P)
    df/dx``, with this probability ``P`` and the score ``f``. The derivative ``df/dx``
    includes every term with ``x``, such as ``log(x)`` or ``x:g``. For factors and
    booleans the effect is the mean change of ``P`` from the reference level to each
    other level. For an SVM, which has no probabilities, it is the change in the share
    of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Names of predictors in the data. By default all, except factors in ``at=``, and
        text that is not a factor, such as ``g`` in ``I(g == "a")``.
    data : DataFrame or array, optional
        Rows to average over; the training rows if omitted.
    at : "mean" or mapping of name to values, optional
        ``"mean"``: effects at the means of the predictors, and for factors at the
        shares of their levels. A mapping sets predictors to these values in all
        rows, in every combination.
    contrasts : "reference" or "pairwise"
        Whether to compare each level with the reference level, or all pairs of levels.
        Numeric predictors are not compared in pairs: see `change`.
    comparison : "difference", "ratio", "lnratio" or "lnor"
        How two mean probabilities are compared: by their difference, their ratio (a
        risk ratio), its logarithm, or the logarithm of the ratio of their odds (a
        marginal odds ratio). For all but differences, numeric predictors increase by
        `change`. If `change` is omitted, they increase by 1, or from 0 to 1 if they
        have only these values. The interval and the test of a ratio are based on its
        logarithm; with a bootstrap, on the ratios of the resamples.
    change : "sd", float or mapping of name to these, optional
        For numeric predictors, the effect of an increase by one standard deviation
        or by this amount, instead of the derivative. The default is ``"sd"`` where
        there is no derivative: for the shares of an SVM, and for predictors in
        step functions such as ``I(x > 3)``. In rows in which a term has no value at
        ``x + change``, as beyond the range of a spline, ``x`` changes from
        ``x - change`` to ``x``.
    scale : "response" or "link"
        ``"link"``: effects on the score, which for the log loss is the log odds.
    dummy : bool, default False
        Whether to treat numeric predictors with only the values 0 and 1 as factors,
        as booleans are.
    weights : array, Series or a column's name, optional
        Weights of the rows of `data` in the means. Without `data`, the row weights (not
        class weights) and ``freq_weights=`` of the fit are used.
    offset : array, Series or a column's name, optional
        Offset of the rows of `data`. It is required if the offset of the fit was an
        array; otherwise it replaces the column that the fit used.

    Returns
    -------
    Margins
        With ``tidy()``. Standard errors are by the delta method from the covariance
        of the fit, or from its bootstrap resamples. For the shares of an SVM they are
        always from resamples; a fit without resamples draws 399, and with
        ``cov_type="none"`` they are NaN.

    Raises
    ------
    OptionError
        If a name or an option is not allowed.
    DataError
        If no rows are available, as for a loaded fit without `data`.

    Notes
    -----
    An offset stays at its observed values, even if it depends on a predictor that
    changes. Standard errors are conditional on the rows, as in ``get_margeff`` of
    statsmodels and the R packages margins and marginaleffects.

    References
    ----------
    Bartus, *Estimation of marginal effects using margeff*, Stata Journal 5 (2005).
    Norton, Miller & Kleinman, *Computing adjusted risk ratios and risk differences*,
    Stata Journal 13 (2013).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    >>> data["x"] = [float(i % 7) for i in range(30)]
    >>> result = ps.logit("y ~ g + x", data, lam=1e-6).fit(ps.Optimum(seed=1))
    >>> result.margins().tidy()[["term", "contrast", "estimate"]].round(3)
      term contrast  estimate
    0    g    v - u    -0.006
    1    g    w - u    -0.002
    2    x    dY/dX    -0.016
    >>> ratios = result.margins(comparison="ratio").tidy()
    >>> ratios[["term", "contrast", "estimate"]].round(3)
      term contrast  estimate
    0    g    v / u     0.984
    1    g    w / u     0.996
    2    x      + 1     0.960
    """
    checks.check_choice("contrasts", contrasts, ("reference", "pairwise"))
    checks.check_choice("comparison", comparison, tuple(COMPARED))
    if comparison != "difference" and scale == "link":
        raise OptionError(
            "compares probabilities; leave scale= out.", "comparison", comparison
        )
    checks.check_flag("dummy", dummy)
    response = Response.by(self, scale)
    dummy = dummy or (comparison != "difference" and change is None)
    rows = rows_of(self, data, weights, dummy, offset, response.shifts)
    names, at_means = rows.checked(variables), isinstance(at, str) and at == "mean"
    varied = set() if variables is None else {*names} & {*rows.levels}
    places = [{}] if at_means else rows.places(at, varied)
    if variables is None:
        fixed = {*places[0]} & {*rows.levels}
        names = [name for name in names if name not in fixed]
    if not names:
        raise OptionError(
            "at= sets every predictor, so no effect can be computed; leave one out."
            if places[0]
            else "The model has neither numeric predictors nor factors, so no effect "
            "can be computed."
        )
    numbers = [name for name in names if name not in rows.levels]
    if comparison != "difference" and change is None and numbers:
        change = dict.fromkeys(numbers, 1)
    sloping = response.curve != "share" and isinstance(change, Mapping | None)
    steps = without_slopes(rows, numbers) if sloping else numbers
    moved = checked_changes(change, rows, numbers, steps)

    def estimands() -> Iterable[tuple[Key, Estimand]]:
        for place in places:
            here = (
                rows.at_means().with_values({}) if at_means else rows.with_values(place)
            )
            changes = effects(here, rows, names, moved, contrasts, comparison)
            for name, contrast, estimand in changes:
                key = str(name), contrast, place, f"{name}: {contrast}"
                yield key, estimand

    kinds = {change is None for _, change in moved.values()}
    notes = ["dY/dX is the derivative of the prediction."] * (True in kinds)
    notes += [INCREASED] * (False in kinds)
    notes += [
        f"{name} is in a step function, which has no derivative: it is changed by one "
        "standard deviation unless change= is set."
        for name in steps
        if sloping and moved[name][1] is not None
    ]
    result = estimated(
        self, estimands(), rows, response, "contrast", at_means, notes, comparison
    )
    return replace(result, comparison=comparison)


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

    An adjusted prediction is the mean over the rows of the probability of the second
    class, with the named predictors set to the same values in all rows and the others
    as observed. For an SVM it is the share of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Predictors to set. A factor is set to each of its levels, a numeric predictor to
        its minimum, quartiles and maximum, or to all values if it has at most five.
        Several predictors are set in all combinations. Without predictors, the result
        is the mean prediction. For other values use ``at=``.
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
    >>> result = ps.logit("y ~ g", data).fit()
    >>> result.predictions("g").tidy()[["term", "value", "estimate"]].round(3)
      term value  estimate
    0    g     u       0.4
    1    g     v       0.4
    2    g     w       0.4
    """
    response = Response.by(self, scale)
    rows = rows_of(self, data, weights, False, offset, response.shifts)
    names = [] if variables is None else rows.checked(variables)
    at_means = isinstance(at, str) and at == "mean"
    base = rows.at_means() if at_means else rows
    places = [{}] if at_means else rows.places(at, names)
    values = [rows.values(name) for name in names]
    term = ":".join(str(name) for name in names) or "all rows"

    def estimands() -> Iterable[tuple[Key, Estimand]]:
        for place, combination in product(places, product(*values)):
            chosen = dict(zip(names, combination, strict=True))
            Z = base.with_values(place | chosen).matrix({})
            value = ", ".join(map(value_text, combination))
            key = term, value, place, written(chosen) or term
            yield key, Estimand(base.shares, Z)

    averages = estimated(self, estimands(), rows, response, "value", at_means, [])
    numeric = [name for name in [*names, *places[0]] if name not in rows.levels]
    return replace(
        averages, observed={str(name): rows.numbers(name) for name in numeric}
    )


def estimated(
    result: "LinearResults",
    estimands: Iterable[tuple[Key, Estimand]],
    rows: EffectRows,
    response: Response,
    column: str,
    at_means: bool,
    notes: list[str],
    comparison: Comparison = "difference",
) -> Margins:
    """Estimate effects with standard errors; for shares from resamples."""
    theta, null = result._theta, result.null_space
    options, problem = result.cov_type, result.problem
    why = "" if result.has_covariance else wald.reason_unavailable(problem, options)
    why = why or (wald.TRIVIAL if result._is_trivial else "")
    missing = [why] * bool(why)
    if response.curve == "share" and isinstance(options, Sandwich):
        missing = [] if problem.has_rows else [NO_RESAMPLES]
        result = result.with_covariance(RESAMPLES) if problem.has_rows else result
    # means and standard deviations of standardized predictors are treated as fixed
    estimate = None if missing else wald.at_fixed_scale(result._errors.covariance)
    fits = fits_of(theta, estimate, problem.prior_shift)
    keys, names, values, gradients, unlimited, broken = [], [], [], [], [], []
    for (term, contrast, place, label), estimand in estimands:
        at_place = {f"at_{name}": value for name, value in place.items()}
        keys.append({"term": term, column: contrast} | at_place)
        names.append(f"{label} at {written(place)}" if place else label)
        values.append(estimand.values(fits, response))
        gradients.append(estimand.gradient(fits[:, 0], response))
        unlimited.append(estimand.is_unlimited(getattr(estimate, "unbounded", None)))
        broken.append(estimand.broken(null, response))
    if not keys:
        raise OptionError(
            "A factor with one level has no effect; use other variables=."
        )
    breaks = np.array(broken, dtype=bool).reshape(len(keys), -1)
    undetermined = np.asarray(breaks.any(axis=1))
    tests = with_errors(
        estimate,
        np.array(values),
        np.array(gradients),
        np.array(unlimited),
        undetermined,
        names,
        float(comparison == "ratio"),
        jointly=len(keys) <= 2000,
    )
    if undetermined.any():
        notes.append(null.reason(breaks))
    if tests.is_pinned.any():
        notes.append(PINNED)
    if estimate is not None:
        defined = not np.isnan(estimate.matrix).all()
        kind = f"{result._uncertainty.kind}."
        notes += [kind] * defined + [note.sentence for note in estimate.notes]
        notes += [note.sentence for note in result._uncertainty.separated()]
        if defined:
            notes.append(OF_PENALISED * bool(problem.lam) + OF_THESE_ROWS)
    positive = errors.plain(result.coding.positive)
    outcomes = {
        "probability": f"probability of {positive}",
        "share": f"share predicted {positive}",
        "score": "log odds" if problem.loss == "log" else "score",
    }
    header = [
        (f"{result.coding.name}:", outcomes[response.curve]),
        ("Averaged over:", errors.counted(rows.number, "row")),
        ("Loss:", problem.loss),
        ("lambda:", problem.lambda_text),
    ]
    shares = response.curve != "score" and comparison == "difference"
    what = "Predictions" if column == "value" else COMPARED[comparison][0]
    title = f"{what} at Means" if at_means else f"Average {what}"
    over_rows = OVER_ROWS.format(" or as in at=" if len(keys[0]) > 2 else "")
    notes = [AT_MEANS if at_means else over_rows, *notes, *missing]
    return Margins(pd.DataFrame(keys), tests, title, header, notes, shares)


def checked_changes(
    change: object, rows: EffectRows, names: Sequence[Level], steps: Collection[Level]
) -> dict[Level, tuple[str, float | None]]:
    """Return label and size of the change of each numeric predictor; None for slopes.

    Parameters
    ----------
    change : None, "sd", number, or mapping of name to one of these
    rows : EffectRows
    names : list
    steps : collection
        Predictors without slopes: by default they change by a standard deviation.

    Raises
    ------
    OptionError
        If `change` names a factor, an unknown predictor or nothing, or is not positive.
    """
    of_names = change if isinstance(change, Mapping) else dict.fromkeys(names, change)
    changes = {rows.checked([name])[0]: amount for name, amount in of_names.items()}
    factors = [name for name in changes if name in rows.levels]
    if isinstance(change, Mapping) and not change:
        why = "names no predictor; leave it out, or give amounts by name, as in"
        raise OptionError(f"{why} change={{'x': 10}}.", "change", change)
    if factors or (change is not None and not changes):
        named = listing(factors or list(rows.levels))
        raise OptionError(
            f"is for numeric predictors, not for {named}; pass contrasts=.",
            "change",
            change,
        )
    moves: dict[Level, tuple[str, float | None]] = {}
    for name in names:
        requested = changes.get(name)
        if requested is None and name not in steps:
            moves[name] = SLOPE, None
        elif requested is None or (isinstance(requested, str) and requested == "sd"):
            moves[name] = "+ 1 sd", rows.spread(name)
        else:
            amount = checks.check_positive("change", requested)
            moves[name] = f"+ {errors.plain(requested)}", amount
    return moves


def without_slopes(rows: EffectRows, names: Sequence[Level]) -> list[Level]:
    """Numeric predictors in step functions, such as ``I(x > 3)``.

    If its predictor moves by very little, a step function does not change, or jumps.
    """
    steps: list[Level] = []
    terms = () if rows.formula is None else rows.formula.terms
    texts = [factor.text for term in terms for factor in term.factors]
    for name in names:
        if not any(str(name) in text and str(name) != text for text in texts):
            continue
        x = rows.numbers(name)
        others = np.where(rows.valued({name: np.roll(x, 1)}), np.roll(x, 1), x)
        versions = [x, others, *around(rows, rows, name)]
        Z, other, below, above = rows.matrices([{name: values} for values in versions])
        size = np.abs(other - Z).max(axis=0)
        move = np.abs(above - below).max(axis=0)
        if ((size > 0.0) & ((move == 0.0) | (move > 1e-3 * size))).any():
            steps.append(name)
    return steps


def effects(
    here: EffectRows,
    whole: EffectRows,
    names: Sequence[Level],
    changes: Mapping[Level, tuple[str, float | None]],
    contrasts: Contrasts,
    comparison: Comparison = "difference",
) -> Iterator[tuple[Level, str, Estimand]]:
    """Name, contrast and estimand of each effect.

    Parameters
    ----------
    here : EffectRows
        Rows at which effects are computed, for example at means.
    whole : EffectRows
        The same rows with their observed values.
    names : list
    changes : dict
        Changes of the numeric predictors, see `checked_changes`.
    contrasts : "reference" or "pairwise"
    comparison : str
        As for `margins`.
    """
    estimand = partial(Estimand, here.shares, comparison=comparison)
    for name in names:
        if name in here.levels:
            levels = here.levels[name]
            Z = here.matrices([{name: level} for level in levels])
            for a, b in combinations(range(len(levels)), 2):
                if a == 0 or contrasts == "pairwise":
                    of_levels = value_text(levels[b]), value_text(levels[a])
                    words = COMPARED[comparison][1].format(*of_levels)
                    yield name, words, estimand(Z[b], Z[a])
            continue
        (words, change), x = changes[name], here.numbers(name)
        if change is None:
            low, high = around(here, whole, name)
        else:  # from x to x + change; if a term has no value there, x - change to x
            up = here.valued({name: x + change})
            low, high = np.where(up, x, x - change), np.where(up, x + change, x)
            down = words.replace("+", "-", 1)
            here.with_values({name: low}, f"at {name} {words} and at {name} {down}")
        below, above, middle = here.matrices([{name: low}, {name: high}, {}])
        if change is not None:
            yield name, words, estimand(above, below)
            continue
        width = (high - low)[: len(above)]  # at means all widths are the same
        direction = (above - below) / width[:, None]
        yield name, words, estimand(middle, direction=direction)


def around(here: EffectRows, whole: EffectRows, name: Level) -> tuple[Vector, Vector]:
    """Return values just below and above each value of a predictor.

    Steps are proportional to the standard deviation, because years and dates are much
    larger than theirs. If all values have the same sign, steps are proportional to the
    value if that is smaller, so that ``log(x)`` stays defined. Where a term has no
    value on one side, the step on that side is 0.
    """
    x, observed = here.numbers(name), whole.numbers(name)
    spread = whole.spread(name)
    one_sign = (observed >= 0.0).all() or (observed <= 0.0).all()
    size = np.full(x.shape, spread or 1.0)
    if one_sign or not spread:
        size = np.where(x == 0.0, size, np.minimum(np.abs(x), spread or np.inf))
    low, high = x - CENTRAL * size, x + CENTRAL * size
    down, up = (here.valued({name: values}) for values in (low, high))
    low = np.where(up, low, x - ONE_SIDED * size)
    high = np.where(down, high, x + ONE_SIDED * size)
    return np.where(down, low, x), np.where(up, high, x)


# ------------------------------------------------------------------ predictions of rows


@suggest_names("prediction")
@dataclass(frozen=True, repr=False, eq=False)
class RowPredictions(tables.Displayed):
    """Predictions of rows with standard errors; returned by `get_prediction`.

    Attributes
    ----------
    matrix : ModelMatrix
    fits : float64 array, shape (k + 2, 1 + b)
        Coefficients of the fit and of its ``b`` resamples. The last two rows contain
        the shift of the score by class weights, and ones.
    covariance : Covariance or BootstrapResult
        Covariance of the coefficients, the intercept first if there is one.
    response : Response
        Probabilities, or scores.
    has_intercept : bool
    null : NullSpace
        Directions of the coefficients that the training rows do not determine.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train, lam=0.01).fit()
    >>> result.get_prediction(test.head(2)).summary_frame().round(3)
         predicted     se  ci_lower  ci_upper
    200      0.519  0.076     0.374     0.662
    201      0.133  0.038     0.074     0.226
    >>> result.get_prediction(test.head(2))
    ------------------------------------------------------------------------------
         predicted         se   ci_lower   ci_upper
    200      0.519      0.076      0.374      0.662
    201      0.133      0.038      0.074      0.226
    ------------------------------------------------------------------------------
    Probabilities of the second class for 2 rows, with 95% intervals.
    """

    matrix: designs.ModelMatrix
    fits: Matrix
    covariance: wald.Estimate
    response: Response
    has_intercept: bool
    null: NullSpace

    @property
    def predicted(self) -> "pd.Series[float]":
        """Probabilities of the second class; scores for an SVM or ``"link"``."""
        return self.summary_frame()["predicted"]

    @property
    def se(self) -> "pd.Series[float]":
        """Standard errors of `predicted`, for probabilities by the delta method."""
        return self.summary_frame()["se"]

    @suggest_arguments
    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (n, 2), as in `summary_frame`."""
        return self.summary_frame(alpha)[["ci_lower", "ci_upper"]].to_numpy()

    @suggest_arguments
    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Columns ``predicted, se, ci_lower, ci_upper``, as in ``sm.Logit``.

        statsmodels' ``GLM`` calls the same numbers ``mean, mean_se, mean_ci_lower,
        mean_ci_upper``. Intervals are computed for the score, from the normal or t
        distribution or from the resamples, and transformed to probabilities.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        """
        alpha = checks.check_fraction("alpha", alpha)
        table = self._usual if alpha == DEFAULT_ALPHA else self._table(1.0 - alpha)
        values = self.response.of(table.drop(columns="std_error").to_numpy())
        slope, _ = self.response.derivatives(table["estimate"].to_numpy())
        names = ["predicted", "ci_lower", "ci_upper"]
        frame = pd.DataFrame(values, table.index, names)
        frame.insert(1, "se", table["std_error"] * slope)
        return frame

    def __str__(self) -> str:
        cells, sentence = self._shown()
        return "\n".join([*tables.params_text(cells), *tables.note_text(sentence)])

    __repr__ = __str__

    def _parts(self) -> Sequence[tables.Part]:
        cells, sentence = self._shown()
        return [tables.Cells(cells), tables.Lines([sentence])]

    def _shown(self) -> tuple[pd.DataFrame, str]:
        """Return the first rows as text, and a caption."""
        frame = self.summary_frame()
        rows = errors.counted(len(frame), "row")
        sentence = f"{WHAT[self.response.curve]} for {rows}, with 95% intervals"
        if len(frame) > MOST_SHOWN:
            sentence += f"; the first {MOST_SHOWN} are shown, summary_frame() has all"
        return frame.head(MOST_SHOWN).map(tables.fixed), f"{sentence}."

    @cached_property
    def _usual(self) -> pd.DataFrame:
        return self._table(1.0 - DEFAULT_ALPHA)

    def _table(self, level: float) -> pd.DataFrame:
        """Scores of all rows, with standard errors and interval limits."""
        names = ["estimate", "std_error", *INTERVAL_ENDS]
        parts = [pd.DataFrame(columns=names, dtype=float)]
        for Z in self._blocks():
            undetermined = self.null.undetermined(Z[:, :-2])
            unlimited = is_unbounded(Z[:, :-2], self.covariance.unbounded)
            of_rows = Z @ self.fits, Z, unlimited, undetermined, [""] * len(Z)
            parts.append(with_errors(self.covariance, *of_rows).estimates(level))
        numbers = pd.concat(parts, join="inner")
        return pd.DataFrame(
            {name: self.matrix.spread(numbers[name].to_numpy()) for name in names}
        )

    def _blocks(self) -> Iterator[Matrix]:
        """Blocks of rows ``z``, see `completed`."""
        X, offset = self.matrix.values, self.matrix.offset
        for begin in range(0, X.shape[0], ROWS_PER_BLOCK):
            some = slice(begin, begin + ROWS_PER_BLOCK)
            block = None if offset is None else offset[some]
            rows = dense_rows(X[some])
            yield completed(rows, self.has_intercept, self.response.shifts, block)

    def warn(self) -> None:
        """Warn if the training rows do not determine the predictions of some rows."""
        if not len(self.null.columns):
            return
        broken = np.concatenate(
            [self.null.broken_by(Z[:, :-2]) for Z in self._blocks()]
        )
        if number := int(broken.any(axis=1).sum()):
            errors.warn_caller(
                f"{errors.counted(number, 'prediction')} "
                f"{'is' if number == 1 else 'are'} "
                f"{self.null.reason(broken)}",
                errors.UndefinedMetricWarning,
            )


@suggest_arguments
def get_prediction(
    self: "LinearResults",
    data: object = None,
    *,
    scale: Scale = "response",
    unseen: Unseen = "error",
    offset: object = None,
) -> RowPredictions:
    """Prediction of each row with standard error and interval, as in statsmodels.

    A logistic regression predicts probabilities of the second class. Their standard
    errors are by the delta method, and their intervals are transformed intervals of the
    scores. An SVM predicts scores. With a bootstrap, standard errors and intervals come
    from the coefficients of the resamples. All intervals are confidence intervals of
    the predictions, not prediction intervals of an outcome.

    Parameters
    ----------
    data : DataFrame or array, optional
        New rows; the training rows if omitted.
    scale : "response" or "link"
        ``"link"``: scores, which for logistic regression are the log odds.
    unseen, offset : optional
        As for `decision_function`.

    Returns
    -------
    RowPredictions
        With ``summary_frame(alpha)``, whose columns are ``predicted, se, ci_lower,
        ci_upper``, on the index of `data`. Rows have NaN if a value is missing, or if
        the training rows do not determine the prediction, as with a new value in a
        column that was constant.

    Raises
    ------
    OptionError
        With ``cov_type="none"``.
    DataError
        If `data` is omitted and the training rows are not in memory, as for a loaded
        fit, files and Dask.
    ColumnError
        As for `decision_function`.

    Warns
    -----
    UndefinedMetricWarning
        If the training rows do not determine a prediction.
    """
    if data is None and not self.problem.has_rows:
        raise DataError("The training rows are not in memory; pass rows as data=.")
    response, theta = Response.by(self, scale), self._theta
    covariance = wald.at_fixed_scale(self._errors.covariance)
    prediction = RowPredictions(
        self._matrix(data, unseen, offset),
        fits_of(theta, covariance, self.problem.prior_shift),
        covariance,
        response if self.problem.loss == "log" else Response("score"),
        self.problem.intercept,
        self.null_space,
    )
    if data is not None:
        prediction.warn()
    return prediction
