"""Data of a fit and new data: their labels, and the columns that `augment` adds."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.checks import check_choice
from pegasos_stats.data.columns import in_rows, is_sparse
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    as_frame,
    row_labels,
)
from pegasos_stats.data.foreign import is_valid_text
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.design import UNSEEN, Unseen, blanked_for
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.weights import Offset
from pegasos_stats.errors import (
    ColumnError,
    ColumnWarning,
    OptionError,
    listing,
    shown,
    warn_caller,
)
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.problem import Problem


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit, and how it reads others: labels and columns of both.

    Attributes
    ----------
    problem : Problem
        The rows of the fit, as numbers.
    design : Design
    coding : LabelCoding
    index : Index, shape (n,)
    offsets : Offset or None
        Where the offset is from, if there is one.
    """

    problem: Problem
    design: Design
    coding: LabelCoding
    index: pd.Index
    offsets: Offset | None = None

    def matrix(
        self, data: object = None, unseen: Unseen = "error", offset: object = None
    ) -> ModelMatrix:
        """The matrix of `data`; that of the fit for None.

        Raises
        ------
        OptionError
            If there is an offset that the fit does not ask for.

        Warns
        -----
        ColumnWarning
            With ``unseen="missing"``, the number of rows with unseen levels.
        """
        check_choice("unseen", unseen, UNSEEN)
        if offset is not None and (data is None or self.offsets is None):
            has = "rows of the fit have theirs" if data is None else "fit has none"
            raise OptionError(f"offset= was given, and the {has}; leave it out.")
        if data is not None:
            known = blanked_for(self.design, data) if unseen == "missing" else None
            if known is not None and known.found:
                warn_caller(f"{known.text}.", ColumnWarning)
            matrix = self.design.matrix(data if known is None else known.data)
            if self.offsets is None:
                return matrix
            return self.offsets.on(matrix, data, offset)
        everything = np.ones(self.problem.n, dtype=bool)
        return ModelMatrix(
            self.problem.X, everything, self.index, offset=self.problem.offset
        )

    def labels(self, data: object = None) -> pd.Series:
        """Labels in the outcome's column of `data`; those of the fit for None.

        Raises
        ------
        ColumnError
            If there is no such column, or it is a predictor of the same name.
        """
        if data is None:
            return self.coding.decode(self.problem.y, self.index)
        if self.design.formula is not None:
            return outcome_of(self.design.formula, data, self.design.functions)
        name = self.coding.name
        if name in self.design.names:
            raise ColumnError(_same_name(name, "confusion"))
        if not isinstance(data, pd.DataFrame) or name not in data.columns:
            raise ColumnError(
                f"The outcome {name!r} is not among the data; give the labels: "
                "confusion(data, actual=labels)."
            )
        return data[name]

    def known_labels(self, data: object, actual: object) -> pd.Series | None:
        """Labels that were given, or are among the data; None if they are not known."""
        if actual is not None:
            index = self.index.to_frame() if data is None else data
            return aligned_labels(actual, index)
        with suppress(ColumnError):
            return self.labels(data)
        return None

    def frame(self, data: object) -> pd.DataFrame:
        """View data as a frame; for None, outcome and predictors of the fit."""
        if data is None:
            return self.training_frame()
        if self.design.formula is not None:
            return as_data(data)
        if is_sparse(data) and not isinstance(data, pd.DataFrame):
            return _sparse_frame(data, row_labels(data))
        return as_frame(data)

    def training_frame(self) -> pd.DataFrame:
        """Outcome and predictors of the rows used, on their original scale.

        A factor stands there as its columns of 0 and 1. A precomputed kernel has no
        predictors.

        Raises
        ------
        ColumnError
            If the outcome and a predictor have the same name.
        """
        outcome, X, design = self.labels().to_frame(), self.problem.X, self.design
        problem = self.problem
        if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
            return outcome
        if isinstance(design, ScaledDesign):
            X, design = design.scaling.unapply(X), design.design
        names = design.columns if isinstance(design, FrameDesign) else design.names
        columns = pd.Index(list(names), tupleize_cols=False)
        if is_sparse(X):
            predictors = _sparse_frame(X, self.index).set_axis(columns, axis=1)
        else:
            predictors = pd.DataFrame(np.array(X), index=self.index, columns=columns)
        if self.coding.name in columns:
            raise ColumnError(_same_name(self.coding.name, "augment"))
        return pd.concat([outcome, predictors], axis=1)


def predictions(
    scores: "pd.Series[float]",
    predicted: pd.Series,
    labels: pd.Series | None,
    coding: LabelCoding,
    problem: Problem,
) -> pd.DataFrame:
    """Columns that a fit adds to its data, see `Results.augment`."""
    loss = problem.loss
    columns = {"predicted": predicted, "score": scores}
    if loss == "log":
        chances = coding.probabilities(scores - problem.prior_shift)
        columns["probability"] = chances.iloc[:, 1]
    added = pd.DataFrame(columns, index=scores.index)
    if labels is not None:
        margin = coding.encode(labels) * scores.to_numpy()
        added["margin"], added["loss"] = margin, losses(loss, margin)
    return added


def losses(loss: str, margin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Loss of every row at its margin.

    Examples
    --------
    >>> losses("hinge", np.array([-1.0, 2.0])), losses("log", np.zeros(1)).round(4)
    (array([2., 0.]), array([0.6931]))
    """
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - margin)
    from scipy.special import log_expit

    return np.asarray(-log_expit(margin))


def with_columns(
    data: pd.DataFrame, added: pd.DataFrame, prefix: object
) -> pd.DataFrame:
    """Data with columns at their end, none of which may be there already.

    Raises
    ------
    OptionError
        If the prefix is not text.
    ColumnError
        If `data` have a column of one of the names.
    """
    if not (isinstance(prefix, str) and is_valid_text(prefix)):
        raise OptionError(
            f"prefix={shown(prefix)} is not allowed; give text, such as prefix='.'."
        )
    added = added.add_prefix(prefix)
    taken = [name for name in added.columns if name in data.columns]
    if taken:
        raise ColumnError(
            f"The data have columns called {listing(taken)}, which augment() adds; "
            "give another beginning of the new names, such as "
            f"prefix={'.' + prefix!r}."
        )
    if data.columns.nlevels > 1:
        rest = [""] * (data.columns.nlevels - 1)
        added.columns = pd.MultiIndex.from_tuples([(c, *rest) for c in added.columns])
    return pd.concat([data, added.set_axis(data.index)], axis=1)


def _same_name(name: str, method: str) -> str:
    return (
        f"The outcome and a predictor are both called {name!r}; give the data and the "
        f"labels: {method}(data, actual=labels)."
    )


def _sparse_frame(X: object, index: pd.Index) -> pd.DataFrame:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(in_rows(X))
    names = [f"x{j + 1}" for j in range(matrix.shape[1])]
    sparse = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined]
    found: pd.DataFrame = sparse(matrix, index, names)
    return found
