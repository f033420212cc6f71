"""Models: what is minimised, on which data."""

from typing import Any, Literal

import numpy as np
import pandas as pd

from pegasos_stats.design import (
    Design,
    FrameDesign,
    Mask,
    ModelMatrix,
    as_frame,
    selected,
)
from pegasos_stats.errors import DataError, OptionError, counted, listing
from pegasos_stats.formula import FormulaDesign, as_data, outcome_of
from pegasos_stats.labels import Coding, LabelCoding
from pegasos_stats.results import Dropped, Results
from pegasos_stats.solvers import Pegasos, Problem, check_positive

NaAction = Literal["drop", "raise"]


class SVM:
    """Linear support vector machine with an intercept that is not penalised.

    Minimises ``lam/2 ||beta||^2 + mean(max(0, 1 - y_i (x_i'beta + alpha)))`` over
    the rows without missing values, the first level of the outcome coded -1 and the
    second +1.

    Parameters
    ----------
    y : Series or array, shape (n,)
        Outcome with two levels: text, numbers, booleans or categories.
    X : DataFrame, or array of shape (n, p)
        Numeric predictors. A constant column is not needed.
    lam : float, default 1.0
        Penalty, above zero (lambda in the literature).
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    coding : "factor", "first-seen" or a pair (negative, positive)
        Which level is coded -1, see `LabelCoding`.
    na_action : "drop" or "raise"
        What becomes of rows with missing values: left out and counted, or an error.

    Raises
    ------
    LabelError
        If the outcome does not have exactly two levels.
    ColumnError
        If a column is not numeric or holds infinite values.
    DataError
        If `y` and `X` do not fit together, or no complete row is left.
    OptionError
        If an option is not allowed.

    See Also
    --------
    SVM.from_formula : the same from a formula and a data frame, also as ``svm``.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
    equation 1 and section 6.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.SVM(train["digit"], train.drop(columns="digit"), lam=1.0)
    >>> result = model.fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.nobs
    200
    """

    def __init__(
        self,
        y: Any,
        X: Any,
        *,
        lam: float = 1.0,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: NaAction = "drop",
    ) -> None:
        labels, frame = _labels_and_frame(y, X)
        design = FrameDesign.from_data(X if isinstance(X, pd.DataFrame) else frame)
        matrix = design.matrix(frame)
        self._set_up(labels, design, matrix, lam, intercept, coding, na_action)

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        *,
        lam: float = 1.0,
        intercept: bool = True,
        coding: Coding = "factor",
        na_action: NaAction = "drop",
    ) -> "SVM":
        """Build the model from a formula and a data frame.

        Parameters
        ----------
        formula : str
            ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y > 20 ~ log(a)"``. Text and categories
            become treatment contrasts with the first level dropped.
        data : DataFrame
        lam, intercept, coding, na_action
            As for `SVM`.

        Returns
        -------
        SVM

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> ps.SVM.from_formula("digit ~ p34 + p43", train).names
        ('p34', 'p43')
        """
        frame = as_data(data)
        labels = outcome_of(formula, frame)
        usable = labels.notna().to_numpy(dtype=bool)
        design, matrix = FormulaDesign.from_data(formula, frame, usable, intercept)
        model = cls.__new__(cls)
        model._set_up(labels, design, matrix, lam, design.intercept, coding, na_action)
        return model

    def _set_up(
        self,
        labels: "pd.Series[Any]",
        design: Design,
        matrix: ModelMatrix,
        lam: float,
        intercept: bool,
        coding: Coding,
        na_action: NaAction,
    ) -> None:
        usable = labels.notna().to_numpy(dtype=bool)
        kept = usable & matrix.kept
        self.dropped = Dropped(int((~usable).sum()), int((usable & ~matrix.kept).sum()))
        _check_rows(kept, matrix.index, na_action)
        name = "y" if labels.name is None else str(labels.name)
        self.coding = LabelCoding.from_labels(labels[kept], coding, name)
        self.design = design
        self.index = matrix.index[kept]
        self.problem = Problem(
            selected(matrix.values, kept[matrix.kept]),
            self.coding.encode(labels[kept]),
            check_positive("lam", lam),
            bool(intercept),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""
        return self.design.names

    def fit(self, solver: Pegasos | None = None) -> Results:
        """Minimise the objective.

        Parameters
        ----------
        solver : Pegasos, optional
            ``Pegasos()`` if none is given.

        Returns
        -------
        Results

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=2, seed=1))
        >>> result.n_iter
        400
        """
        solver = Pegasos() if solver is None else solver
        if not isinstance(solver, Pegasos):
            raise OptionError(
                f"solver is of type {type(solver).__name__}; give a solver such as "
                "Pegasos(epochs=20, seed=443)."
            )
        solution = solver.solve(self.problem)
        return Results(
            problem=self.problem,
            solver=solver,
            solution=solution,
            design=self.design,
            coding=self.coding,
            index=self.index,
            dropped=self.dropped,
        )


svm = SVM.from_formula


def _labels_and_frame(y: Any, X: Any) -> tuple["pd.Series[Any]", pd.DataFrame]:
    """View `y` and `X` as a Series and a frame on the same rows."""
    frame = as_frame(X)
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    labels = y if isinstance(y, pd.Series) else _as_series(y, frame.index)
    if len(labels) != len(frame):
        raise DataError(
            f"y has {counted(len(labels), 'value')} and X has "
            f"{counted(len(frame), 'row')}; give one label for each row."
        )
    labelled = isinstance(X, pd.DataFrame | pd.Series)
    if labelled and not labels.index.equals(frame.index):
        raise DataError(
            "The row labels of y and X differ; align them (y.loc[X.index]) or give "
            "y.to_numpy() to match by position."
        )
    return labels.set_axis(frame.index), frame


def _as_series(y: Any, index: pd.Index) -> "pd.Series[Any]":
    """View a list or an array of labels as a Series."""
    if np.ndim(y) != 1:
        raise DataError(
            f"y has {counted(np.ndim(y), 'dimension')}; give one column of labels."
        )
    return pd.Series(y, index=index if len(y) == len(index) else None)


def _check_rows(kept: Mask, index: pd.Index, na_action: NaAction) -> None:
    if na_action not in ("drop", "raise"):
        raise OptionError(
            f"na_action={na_action!r} is not known; give 'drop' or 'raise'."
        )
    if na_action == "raise" and not kept.all():
        rows = index[~kept]
        raise DataError(
            f"{counted(len(rows), 'row')} have missing values ({listing(rows)}); fill "
            "them, or leave them out with na_action='drop'."
        )
    if not kept.any():
        raise DataError(
            f"None of {counted(len(kept), 'row')} is complete; give data with values "
            "for the outcome and all predictors."
        )
