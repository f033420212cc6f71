"""Predictions of single rows with standard errors and intervals."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Matrix, Vector, dense_rows
from pegasos_stats.checks import check_fraction
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.effects.averages import Heights, Scale, heights_of
from pegasos_stats.models.inference.separation import is_unbounded
from pegasos_stats.models.inference.wald import BootstrapResult, ContrastTests, Estimate

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

USUAL = 0.05
BLOCK = 512  # rows whose scores by all resamples are held at once


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
    heights : Heights
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
    covariance: Estimate
    heights: Heights
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
        alpha = check_fraction("alpha", alpha)
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
        if isinstance(V, BootstrapResult):
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
        tests = ContrastTests(names, scores, sd, nulls, V.df, resampled)
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
