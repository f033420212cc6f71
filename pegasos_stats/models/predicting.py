"""Prediction with a fit: scores, labels, probabilities, and the data with them."""

from abc import ABC
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.checks import check_choice, check_flag, number_of
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    as_frame,
    row_labels,
)
from pegasos_stats.data.labels import LabelCoding, Ties
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.formula_design import UNSEEN, Unseen, without_unseen
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.files import Scan, scanned_frames
from pegasos_stats.data.user_data import (
    as_data,
    in_rows,
    is_sparse,
    is_valid_text,
)
from pegasos_stats.data.weights import Offset
from pegasos_stats.errors import (
    ColumnError,
    OptionError,
    listing,
    shown,
)
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.other_frames import is_dask, partitioned
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solutions import AnySolution, scores_of

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Predictor(ABC):
    """What predicts rows: those of the fit, and new ones.

    Attributes
    ----------
    problem : Problem
        The rows used, as numbers.
    solver : Pegasos or SDCA
    solution : Solution or KernelSolution
    design : Design
        How data become a matrix; used again for new data.
    coding : LabelCoding
        Which level is -1 and which +1.
    index : Index, shape (n,)
        Row labels of the rows used.
    offsets : Offset or None
        Where the offset is from, if the fit has one.
    """

    problem: Problem
    solver: Pegasos | SDCA
    solution: AnySolution
    design: Design
    coding: LabelCoding
    index: pd.Index
    offsets: Offset | None

    @suggest_arguments
    @partitioned
    def decision_function(
        self, data: object = None, *, unseen: Unseen = "error", offset: object = None
    ) -> "pd.Series[float]":
        """Scores ``x'beta + alpha``; a score above 0 predicts the second level.

        The offset is added, if the fit has one.

        Parameters
        ----------
        data : DataFrame or array, a Scan, or a frame of Dask; optional
            New rows; those of the fit if omitted. Files are read block by block, and
            their rows are numbered from 0. A Dask frame gives a lazy result, which
            scores each partition where it is.
        unseen : "error" or "missing"
            Factor levels not seen in the fit raise an error, or count as missing
            values: their rows have no prediction, and a warning gives their number.
        offset : Series or array, shape (n,), or a column's name; optional
            Offset of new rows, if that of the fit was given as numbers; or instead of
            the column that the fit used.

        Returns
        -------
        Series, on the index of `data`; NaN in rows with missing values. For a Dask
        frame it is a Dask series; so are labels and probabilities

        Raises
        ------
        ColumnError
            If `data` lacks a column, or has values that the model cannot use.
        OptionError
            If new rows need an offset that is not given, or must not have one.
        """
        options: dict[str, object] = {"unseen": unseen, "offset": offset}
        if is_dask(data):
            like = pd.Series([0.0], name="score")
            return of_partitions(self, data, "decision_function", options, like)  # type: ignore[no-any-return]
        if isinstance(data, Scan):
            offsets = self.offsets
            also = [] if offsets is None else offsets.columns([*data.kinds], offset)
            rule = partial(by_rule, self, "decision_function", options)
            pieces = scanned_frames(data, self.design, also)
            scores: pd.Series[float] = pd.concat(
                [*map(rule, pieces)], ignore_index=True
            )
            return scores
        matrix = self._matrix(data, unseen, offset)
        return self._scores(matrix)

    @suggest_arguments
    @partitioned
    def predict(
        self,
        data: object = None,
        ties: Ties | None = None,
        unseen: Unseen = "error",
        *,
        threshold: float | None = None,
        offset: object = None,
    ) -> pd.Series:
        """Labels by the sign of the score, or by a threshold.

        Parameters
        ----------
        data : optional
            As for `decision_function`.
        ties : "na", "positive" or "negative", optional
            Label of a row whose score is exactly 0, or exactly at the threshold:
            missing, the second level or the first. By default the `ties` of the solver,
            ``"na"`` unless set there.
        unseen, offset : optional
            As for `decision_function`.
        threshold : float, optional
            Rows above it get the second level, rows below it the first. With the log
            loss it is a probability of the second level, as in `predict_proba`; with
            the hinge, which has no probabilities, a score. `thresholds` chooses one. By
            default the score is compared with 0, which is a probability of 0.5 unless
            classes were weighted.

        Returns
        -------
        Series of the original labels, on the index of `data`; missing in rows with
        missing values

        Raises
        ------
        OptionError
            If `threshold` is not such a number.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.SDCA(seed=1))
        >>> sixes = [result.predict(test, threshold=t).eq(6).sum() for t in (0.5, 0.9)]
        >>> bool(sixes[0] > sixes[1])
        True
        """
        given = self.problem, self.coding, self._ties(ties), threshold
        if is_dask(data):
            like = predicted(pd.Series([1.0, np.nan]), *given)
            options = {"ties": ties, "unseen": unseen, "offset": offset}
            options["threshold"] = threshold
            return of_partitions(self, data, "predict", options, like)  # type: ignore[no-any-return]
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        return predicted(scores, *given)

    @suggest_arguments
    @partitioned
    def predict_proba(
        self, data: object = None, *, unseen: Unseen = "error", offset: object = None
    ) -> pd.DataFrame:
        """Probabilities of both levels, ``1 / (1 + exp(-z))`` for the second.

        ``z`` is the score. With weights of the levels, ``"balanced"`` or a dictionary,
        ``log(w+ / w-)`` is subtracted from it, so that probabilities are for levels as
        frequent as in the training data. With weights of rows they are for the
        population that these make, as those of ``glm()``.
        `predict` uses the sign of the score.

        Parameters
        ----------
        data, unseen, offset : optional
            As for `decision_function`.

        Returns
        -------
        DataFrame, on the index of `data`
            A column for each level, such as ``["yes"]``; NaN in rows with missing
            values.

        Raises
        ------
        OptionError
            If the model has the hinge loss, which gives no probabilities.
        """
        if self.problem.loss != "log":
            raise OptionError(
                "The hinge loss gives no probabilities; ps.calibrate(model) makes them "
                "of its scores, ps.logit() fits them, decision_function() has scores."
            )
        if is_dask(data):
            like = self.coding.probabilities(pd.Series([0.0]))
            options = {"unseen": unseen, "offset": offset}
            return of_partitions(self, data, "predict_proba", options, like)  # type: ignore[no-any-return]
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        return self.coding.probabilities(scores - self.problem.prior_shift)

    @suggest_arguments
    @partitioned
    def augment(
        self,
        data: object = None,
        actual: object = None,
        *,
        ties: Ties | None = None,
        unseen: Unseen = "error",
        prefix: str = "",
        threshold: float | None = None,
        offset: object = None,
        se_fit: bool = False,
    ) -> pd.DataFrame:
        """The data with columns of predictions added, as by broom's ``augment``.

        Parameters
        ----------
        data : DataFrame or array, or a frame of Dask; optional
            New rows. If omitted, the rows of the fit: the outcome and the columns of
            the design matrix, factors as columns of 0 and 1. The partitions of a Dask
            frame are augmented where they are, once the result is computed.
        actual, ties, unseen : optional
            As for `confusion`; without labels there are no margins and losses. Labels
            of a Dask frame must be its column.
        prefix : str, default ""
            Prefix of the new names, for data that have columns of these names already.
        threshold : float, optional
            Threshold for ``predicted``, as for `predict`.
        offset : optional
            As for `decision_function`.
        se_fit : bool, default False
            Whether to add standard errors, ``score_se`` and for the log loss
            ``probability_se``, see `get_prediction`.

        Returns
        -------
        DataFrame, on the index of `data`
            All columns of the data, then ``predicted``, ``score``, for the log loss
            ``probability`` (of the second level; broom's ``.fitted``), and where the
            labels are known ``margin = y score`` and ``loss``. For the rows of a
            logistic fit ``resid`` (the deviance residual), ``hat`` and ``cooks_d``,
            see `get_influence`. Rows with a missing value keep their place, with
            missing predictions.

        Raises
        ------
        ColumnError
            If the data already have a column of one of these names.
        OptionError
            If labels are given for a Dask frame.
        """
        check_flag("se_fit", se_fit)
        if is_dask(data):
            if se_fit or actual is not None:
                raise OptionError(
                    "se_fit=True and actual= do not go with a frame of Dask, whose "
                    f"labels are its column {shown(self.coding.name)}; leave them out."
                )
            options: dict[str, object] = {"ties": ties, "unseen": unseen}
            options |= {"prefix": prefix, "threshold": threshold, "offset": offset}
            rule = self._ties(ties), threshold
            like = self._augmented(
                without_rows(data), pd.Series(dtype=float), None, rule, prefix
            )
            return of_partitions(self, data, "augment", options, like)  # type: ignore[no-any-return]
        scores = self.decision_function(data, unseen=unseen, offset=offset)
        rule = self._ties(ties), threshold
        beside = self._columns_beside(data, unseen, offset, se_fit)
        return self._augmented(data, scores, actual, rule, prefix, beside)

    def _columns_beside(
        self, data: object, unseen: Unseen, offset: object, se_fit: bool
    ) -> "dict[str, pd.Series[float]]":
        """Further columns that `augment` adds; a linear fit has some."""
        if se_fit:
            raise OptionError("se_fit=True needs standard errors, which kernels lack.")
        return {}

    def _augmented(
        self,
        data: object,
        scores: "pd.Series[float]",
        actual: object,
        rule: tuple[Ties, float | None],
        prefix: str,
        beside: "Mapping[str, pd.Series[float]] | None" = None,
    ) -> pd.DataFrame:
        problem, coding = self.problem, self.coding
        labels = self._known_labels(data, actual)
        columns = {"predicted": predicted(scores, problem, coding, *rule)}
        columns["score"] = scores
        if problem.loss == "log":
            both = coding.probabilities(scores - problem.prior_shift)
            columns["probability"] = both.iloc[:, 1]
        added = pd.DataFrame(columns, index=scores.index)
        if labels is not None:
            margin = coding.encode(labels) * scores.to_numpy()
            added["margin"], added["loss"] = margin, losses(problem.loss, margin)
        added = added.assign(**beside or {})
        return with_columns(self._frame(data), added, prefix)

    def _scores(self, matrix: ModelMatrix) -> "pd.Series[float]":
        """Scores of the rows of a matrix; NaN in those that are not complete."""
        return matrix.spread(
            scores_of(self.problem, self.solution, matrix.values, matrix.offset)
        ).rename("score")

    def _matrix(
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
            missing = unseen == "missing"
            known = without_unseen(self.design, data) if missing else data
            matrix = self.design.matrix(known)
            if self.offsets is None:
                return matrix
            return self.offsets.on(matrix, data, offset)
        everything = np.ones(self.problem.n, dtype=bool)
        return ModelMatrix(
            self.problem.X, everything, self.index, offset=self.problem.offset
        )

    def _labels(self, data: object = None) -> pd.Series:
        """Labels in the outcome's column of `data`; those of the fit for None.

        Raises
        ------
        ColumnError
            If there is no such column, or it is a predictor of the same name.
        """
        if data is None:
            return self.coding.decode(self.problem.y, self.index)
        return outcome_column(data, self.design, self.coding, "actual=labels")

    def _known_labels(self, data: object, actual: object) -> pd.Series | None:
        """Labels that were given, or are among the data; None if they are not known."""
        if actual is not None:
            index = self.index.to_frame() if data is None else data
            return aligned_labels(actual, index)
        with suppress(ColumnError):
            return self._labels(data)
        return None

    def _frame(self, data: object) -> pd.DataFrame:
        """View data as a frame; for None, outcome and predictors of the fit."""
        if data is None:
            return self._training_frame()
        if self.design.formula is not None:
            return as_data(data)
        if is_sparse(data) and not isinstance(data, pd.DataFrame):
            return _sparse_frame(data, row_labels(data))
        return as_frame(data)

    def _training_frame(self) -> pd.DataFrame:
        """Outcome and predictors of the rows used, on their original scale.

        A factor stands there as its columns of 0 and 1. A precomputed kernel has no
        predictors.

        Raises
        ------
        ColumnError
            If the outcome and a predictor have the same name.
        """
        outcome, X, design = self._labels().to_frame(), self.problem.X, self.design
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
            raise same_name(self.coding.name, "data and actual=labels")
        return pd.concat([outcome, predictors], axis=1)

    def _ties(self, given: Ties | None) -> Ties:
        return self.solver.ties if given is None else given


def light(result: "Predictor") -> "Predictor":
    """A linear fit as a rule for new rows: without anything that there is of each row.

    It is what is sent to the partitions.
    """
    problem, found = result.problem, result.solution
    if not isinstance(problem, Problem) or not isinstance(found, Solution):
        return result
    offset = None if problem.offset is None else np.zeros(1)
    few = Problem(
        np.zeros((1, problem.p)),
        np.ones(1),
        problem.lam,
        problem.loss,
        problem.intercept,
        offset=offset,
    )
    vars(few)["prior_shift"] = problem.prior_shift
    solution = replace(found, dual=np.zeros(1))
    return replace(result, problem=few, solution=solution, index=pd.RangeIndex(1))


def by_rule(
    result: "Predictor",
    method: str,
    options: Mapping[str, object],
    frame: pd.DataFrame,
) -> Any:
    """What a method gives for the rows of one partition, or of a piece of files."""
    return getattr(result, method)(frame, **options)


def without_rows(frame: "DaskFrame") -> pd.DataFrame:
    """A frame of pandas with the columns of one of Dask."""
    found: pd.DataFrame = frame._meta
    return found


def of_partitions(
    result: "Predictor",
    frame: "DaskFrame",
    method: str,
    options: Mapping[str, object],
    like: pd.Series | pd.DataFrame,
) -> Any:
    """What a method gives, as a Series or frame of Dask that is not computed yet.

    Parameters
    ----------
    result : Predictor
    frame : dask.dataframe.DataFrame
    method : str
    options : dict
        Arguments of the method.
    like : Series or DataFrame
        Rows of the same kind.

    Raises
    ------
    OptionError
        If offsets are given as numbers, of which no partition knows its own.
    ColumnError
        If a column of the offset is not there.
    """
    if result.offsets is not None:
        result.offsets.columns([*frame.columns], options.get("offset"))
    rule = partial(by_rule, light(result), method, options)
    return frame.map_partitions(rule, meta=like.iloc[:0])


def outcome_column(
    data: object, design: Design, coding: LabelCoding, cure: str
) -> pd.Series:
    """The outcome in data that may lack it; without a formula a column of its name.

    Raises
    ------
    ColumnError
        If there is no such column, or it is a predictor of the same name; the `cure`
        names what to give instead.
    """
    if design.formula is not None:
        return outcome_of(design.formula, data, design.functions)
    if coding.name in design.names:
        raise same_name(coding.name, cure)
    if isinstance(data, pd.DataFrame) and coding.name in data.columns:
        return data[coding.name]
    raise ColumnError(
        f"The outcome {coding.name!r} is not among the data; give {cure}."
    )


def same_name(name: str, cure: str) -> ColumnError:
    """The error for an outcome that is called as a predictor is."""
    return ColumnError(
        f"The outcome and a predictor are both called {name!r}; give {cure}."
    )


def predicted(
    scores: "pd.Series[float]",
    problem: Problem,
    coding: LabelCoding,
    ties: Ties,
    threshold: float | None = None,
) -> pd.Series:
    """Labels of scores: by their sign, or by a threshold, see `Predictor.predict`.

    Raises
    ------
    OptionError
        If the threshold is no number, or no probability where it has to be one.
    """
    if threshold is None:
        return coding.predicted(scores, ties)
    cut = checked_threshold(threshold, problem)
    values = thresholded(np.asarray(scores, dtype=np.float64), problem)
    return coding.predicted(pd.Series(values, scores.index), ties, cut)


def checked_threshold(threshold: object, problem: Problem) -> float:
    """A threshold on the scale of `thresholded`, or `OptionError`."""
    if problem.loss == "log":
        return probability_of(threshold)
    found = number_of(threshold)
    if np.isnan(found):
        raise OptionError("is not allowed; give a score.", "threshold", threshold)
    return found


def probability_of(threshold: object) -> float:
    """A threshold that is compared with probabilities of the second level.

    Raises
    ------
    OptionError
        If it is no number from 0 to 1.
    """
    found = number_of(threshold)
    if not 0.0 <= found <= 1.0:
        why = "is not allowed; give a probability of the second level, from 0 to 1."
        raise OptionError(why, "threshold", threshold)
    return found


def thresholded(scores: NDArray[np.float64], problem: Problem) -> NDArray[np.float64]:
    """What a threshold is compared with: the score, or the probability it gives."""
    if problem.loss != "log":
        return scores
    from scipy.special import expit

    return np.asarray(expit(scores - problem.prior_shift))


def score_at(threshold: float, problem: Problem) -> float:
    """The score that a threshold is, the inverse of `thresholded`; may be infinite."""
    if problem.loss != "log":
        return threshold
    from scipy.special import logit

    return float(logit(threshold)) + problem.prior_shift


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
            f"give a prefix, such as prefix={'.' + prefix!r}."
        )
    if data.columns.nlevels > 1:
        rest = [""] * (data.columns.nlevels - 1)
        added.columns = pd.MultiIndex.from_tuples([(c, *rest) for c in added.columns])
    return pd.concat([data, added.set_axis(data.index)], axis=1)


def _sparse_frame(X: object, index: pd.Index) -> pd.DataFrame:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(in_rows(X))
    names = [f"x{j + 1}" for j in range(matrix.shape[1])]
    sparse = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined]
    found: pd.DataFrame = sparse(matrix, index, names)
    return found
