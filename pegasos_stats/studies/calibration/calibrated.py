"""Probabilities from any model: Platt's sigmoid of out-of-fold scores."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.models.results import Results
from pegasos_stats.studies.calibration.platt import Sigmoid
from pegasos_stats.studies.calibration.reliability import (
    Reliability,
    Strategy,
    reliability,
)
from pegasos_stats.studies.selection.metrics import brier_score, log_loss
from pegasos_stats.studies.selection.validated import CrossValidation
from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class CalibratedResults:
    """A fit with probabilities by Platt's sigmoid; made by `calibrate`.

    The scores are those of the fit on all rows. The sigmoid was fitted on
    out-of-fold scores: those of each row by a fit that has not seen it.

    Attributes
    ----------
    result : Results
        The fit on all rows.
    sigmoid : Sigmoid
        ``P(second level) = 1 / (1 + exp(A score + B))``, fitted on all out-of-fold
        scores.
    validation : CrossValidation
        Where these scores come from.
    logits : DataFrame, shape (n, repeats)
        Out-of-fold log odds: of each row by a fit and a sigmoid that have not seen
        it, the sigmoid of the other folds of the repeat.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ p34 + p43 + p22", train, lam=0.01)
    >>> calibrated = ps.calibrate(model, ps.SDCA(seed=1), seed=443)
    >>> calibrated.tidy()["term"].tolist()
    ['brier_score', 'log_loss']
    >>> calibrated.predict_proba(test).columns.tolist()
    [5, 6]
    """

    result: Results
    sigmoid: Sigmoid
    validation: CrossValidation
    logits: pd.DataFrame

    def predict_proba(self, data: Any = None) -> pd.DataFrame:
        """Probabilities of both levels.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out, which the fit has seen: for
            these see `probabilities`.

        Returns
        -------
        DataFrame, a column for each level, on the index of `data`; NaN in rows with
        missing values
        """
        scores = self.result.decision_function(data)
        return self.result.coding.probabilities(self._logits(scores))

    def predict(self, data: Any = None) -> "pd.Series[Any]":
        """Labels by the larger probability; missing where both are one half.

        A label may differ from that of ``result.predict()``, which goes by the sign
        of the score.

        Parameters
        ----------
        data : DataFrame or array, optional
            New rows; those of the fit if left out.
        """
        scores = self.result.decision_function(data)
        return self.result.coding.predicted(self._logits(scores), "na")

    @property
    def probabilities(self) -> pd.DataFrame:
        """Out-of-fold probabilities of both levels, on the index of the rows.

        Neither fit nor sigmoid have seen the row; over repeats the mean.
        """
        from scipy.special import expit

        negative, positive = self.result.coding.levels
        upper = pd.DataFrame(
            expit(self.logits.to_numpy()), self.logits.index, self.logits.columns
        ).mean(axis=1)
        return pd.DataFrame({negative: 1.0 - upper, positive: upper})

    @cached_property
    def _losses(self) -> pd.DataFrame:
        problem = self.result.problem
        seen = self._logits(self.result.decision_function())
        lines = []
        for name, measure in (("brier_score", brier_score), ("log_loss", log_loss)):
            found = []
            for column in (*self.logits.to_numpy(dtype=np.float64).T, seen.to_numpy()):
                known = ~np.isnan(column)
                weights = problem.row_weights[known]
                found.append(measure(problem.y[known], column[known], weights, "na"))
            lines.append((name, float(np.mean(found[:-1])), found[-1]))
        return pd.DataFrame(lines, columns=["term", "estimate", "in_sample"])

    def tidy(self) -> pd.DataFrame:
        """Brier score and log loss: ``term, estimate, in_sample``.

        The estimate is cross-fitted: neither the fit nor the sigmoid behind a
        probability have seen the row. ``in_sample`` is that of ``predict_proba()``
        on the rows of the fit, for comparison; it is too good.
        """
        return self._losses.copy()

    def reliability(
        self, bins: Any = 10, *, strategy: Strategy = "uniform", level: float = 0.95
    ) -> Reliability:
        """Out-of-fold probabilities beside observed shares.

        Parameters
        ----------
        bins, strategy, level
            As for `pegasos_stats.reliability`.
        """
        return reliability(
            self.validation.actual,
            self.probabilities,
            bins,
            strategy=strategy,
            level=level,
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the reliability of the out-of-fold probabilities, in ten bins.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        """
        return self.reliability().plot(ax)

    def summary(self) -> Summary:
        """Header, losses and notes; ``print()`` shows text, a notebook HTML."""
        frame = self._losses
        cells = {
            "cross-fitted": [significant(v) for v in frame["estimate"]],
            "in sample": [significant(v) for v in frame["in_sample"]],
        }
        table = pd.DataFrame(cells, frame["term"].tolist())
        return Summary(
            "Cross-Fitted Platt Scaling",
            self._left(),
            self._right(),
            table,
            self._notes(),
        )

    def __repr__(self) -> str:
        brier = significant(self._losses["estimate"].iloc[0])
        return (
            f"<CalibratedResults: Platt's sigmoid A {significant(self.sigmoid.A)}, B "
            f"{significant(self.sigmoid.B)}, cross-fitted on "
            f"{self.validation.folds.description}, Brier score {brier} out of fold>"
        )

    def _logits(self, scores: "pd.Series[float]") -> "pd.Series[float]":
        values = self.sigmoid.logits(np.asarray(scores, dtype=np.float64))
        return pd.Series(values, scores.index)

    def _left(self) -> Fields:
        result = self.result
        return [
            ("Outcome:", result.coding.name),
            ("Probability of:", str(result.coding.positive)),
            ("Loss of the fit:", result.problem.loss),
            ("lambda:", significant(result.problem.lam, 6)),
            ("No. Observations:", f"{result.nobs:,}"),
        ]

    def _right(self) -> Fields:
        folds = self.validation.folds
        return [
            ("A:", significant(self.sigmoid.A, 6)),
            ("B:", significant(self.sigmoid.B, 6)),
            ("Folds:", folds.kind),
            ("Seed:", str(self.validation.seed)),
        ]

    def _notes(self) -> list[str]:
        return [
            "Probabilities are 1 / (1 + exp(A score + B)), with the score of the fit "
            "on all rows; A and B were fitted on out-of-fold scores.",
            "Cross-fitted: neither the fit nor the sigmoid have seen the row. In "
            "sample: the rows of the fit, which makes it too good.",
        ]
