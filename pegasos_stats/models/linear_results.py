"""What a linear fit gives: standard errors, tests, intervals, a summary of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from pegasos_stats.checks import check_flag, check_fraction
from pegasos_stats.errors import OptionError
from pegasos_stats.models.coefficients import Inference
from pegasos_stats.models.frames import TIDY_COLUMNS
from pegasos_stats.models.hypothesis_tests import ContrastTests, JointTest
from pegasos_stats.models.inference.bootstrap import BootstrapResult
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inferring import (
    SANDWICH,
    CovName,
    CovType,
    checked_cov_type,
    estimated_covariance,
)
from pegasos_stats.models.linear_fits import LinearFit
from pegasos_stats.models.linear_summaries import NO_COVARIANCE, largest, why_left_out
from pegasos_stats.models.notes import Note
from pegasos_stats.tables import Summary, aligned, estimate_cells

CARRIED = ("certificate", "training_table")  # what another covariance does not change

if TYPE_CHECKING:
    from pegasos_stats.output.plotting.linear_results import LinearPlots


@dataclass(frozen=True, repr=False, eq=False)
class LinearResults(LinearFit):
    """A fitted linear model: a support vector machine or a logistic regression.

    What a fit of any kind has, certificate, predictions and reports, is here too; see
    `Results`.

    Attributes
    ----------
    cov_type : Sandwich, Bootstrap or None
        How standard errors are estimated, when they are first asked for.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.params.index[:3].tolist()
    ['Intercept', 'p00', 'p01']
    """

    cov_type: CovType = SANDWICH

    @property
    def covariance(self) -> Covariance | BootstrapResult:
        """The estimate as a whole.

        Of the sandwich bread, meat and bandwidth; of the bootstrap the coefficients of
        all replicates, and the seed.
        """
        return self._inference.with_warnings().covariance

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors of `params`.

        Square roots of the diagonal of `cov_params`. For this ``lam`` they are those of
        the minimiser of the penalised risk; estimated when first asked for.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        DataError
            For a loaded model that was saved without them.

        Warns
        -----
        ConvergenceWarning
            If the fit may be further from its optimum than is small beside them.
        UndefinedMetricWarning
            If they are not defined.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> model.fit(ps.SDCA(tol=1e-8, seed=1)).bse.round(3).tolist()
        [...]
        """
        errors = self._inference.with_warnings().std_error
        return pd.Series(errors, index=self.params.index, name="bse")

    @property
    def tvalues(self) -> "pd.Series[float]":
        """``params / bse``: z statistics, or t where `covariance` has finite ``df``."""
        return self._column("statistic", "tvalues")

    @property
    def pvalues(self) -> "pd.Series[float]":
        """Two-sided p-values of the hypotheses that a coefficient is 0."""
        return self._column("p_value", "pvalues")

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, shape (k, k), by name.

        Examples
        --------
        >>> import numpy as np, pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.SDCA(tol=1e-8, seed=1))
        >>> bool(np.allclose(np.sqrt(np.diag(result.cov_params())), result.bse))
        True
        """
        matrix, names = self._inference.with_warnings().matrix, self.params.index
        return pd.DataFrame(matrix.copy(), index=names, columns=names)

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Intervals of level ``1 - alpha`` for `params`.

        Parameters
        ----------
        alpha : float, default 0.05

        Returns
        -------
        DataFrame, shape (k, 2)
            Lower limits in column 0 and upper ones in column 1.

        Raises
        ------
        OptionError
            If `alpha` is not between 0 and 1; and as for `bse`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> model.fit(ps.SDCA(tol=1e-8, seed=1)).conf_int(alpha=0.1).shape
        (3, 2)
        """
        level = 1.0 - check_fraction("alpha", alpha)
        frame = self._inference.with_warnings().frame(level)
        limits = frame[["conf_low", "conf_high"]].set_axis([0, 1], axis=1)
        return limits.set_axis(self.params.index)

    def t_test(self, r_matrix: Any) -> ContrastTests:
        """Test linear hypotheses ``R theta = q`` about `params`, each alone.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            ``"p34 = p43"``, ``"x1 - x2 = 0, x3 = 1"``; or a matrix with a column for
            each of `params`, the values ``q`` being 0 unless they are given.

        Returns
        -------
        ContrastTests
            With ``effect, sd, tvalue, pvalue, conf_int(), summary_frame()``.

        Raises
        ------
        OptionError
            If the hypotheses cannot be read; and as for `bse`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.SDCA(tol=1e-8, seed=1))
        >>> result.t_test("p34 = p43").hypotheses
        ['p34 - p43 = 0']
        """
        return self._inference.with_warnings().t_test(r_matrix)

    def wald_test(self, r_matrix: Any) -> JointTest:
        """Test linear hypotheses ``R theta = q`` about `params` together.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic, pvalue, df_num, df_denom``: a chi-squared test.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.SDCA(tol=1e-8, seed=1))
        >>> result.wald_test("p34 = p43 = 0").df_num
        2
        """
        return self._inference.with_warnings().wald_test(r_matrix)

    def with_covariance(self, cov_type: CovType | CovName) -> Self:
        """The same fit with another estimate of the covariance.

        Parameters
        ----------
        cov_type : "sandwich", "bootstrap", "none", Sandwich or Bootstrap

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> result = model.fit(ps.SDCA(tol=1e-8, seed=1))
        >>> other = result.with_covariance(ps.Sandwich(correction="HC3"))
        >>> bool((other.bse > result.bse).all())
        True
        """
        other = replace(self, cov_type=checked_cov_type(cov_type))
        kept = {name: value for name, value in vars(self).items() if name in CARRIED}
        vars(other).update(kept)
        return other

    def tidy(self, conf_level: float = 0.95, original: bool = False) -> pd.DataFrame:
        """Coefficients, a row each, with the columns of broom's ``tidy``.

        Parameters
        ----------
        conf_level : float, default 0.95
        original : bool, default False
            Of a fit with ``standardize=True`` whether to give `params_original`, the
            coefficients of the predictors as they were, instead; the means and standard
            deviations that scaled them are taken as known.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high``; with ``cov_type="none"`` NaN but for the first two.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> model.fit(ps.SDCA(tol=1e-8, seed=1)).tidy()["term"].tolist()
        ['Intercept', 'p34', 'p43']
        """
        level = check_fraction("conf_level", conf_level)
        check_flag("original", original)
        if self.cov_type is None:
            table = self._plain_table()
            chosen = self.params_original if original else self.params
            return table.assign(estimate=chosen.to_numpy())
        inference = self._inference.with_warnings()
        if original and self.scaling is not None:
            transform = self.scaling.undoing(self.problem.intercept)
            inference = inference.transformed(transform)
        return inference.frame(level)

    def summary(self, alpha: float = 0.05, max_terms: int | None = 30) -> Summary:
        """Header, coefficients with standard errors and intervals, and notes.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals are of level ``1 - alpha``.
        max_terms : int or None, default 30
            With more coefficients than this only the largest by absolute value are
            shown, as many; ``None`` shows all.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook HTML; ``as_latex()`` gives LaTeX. Where
            standard errors would take long they are left out, and a note says how to
            get them.

        Raises
        ------
        OptionError
            If `alpha` is not between 0 and 1, or `max_terms` not a whole number.
        """
        level = 1.0 - check_fraction("alpha", alpha)
        notes = self.notes_on_errors()
        if self._missing() or not self._inference.is_defined:
            shown, more = largest(self._plain_table(), max_terms)
            cells = estimate_cells(shown)
        else:
            shown, more = largest(self._inference.frame(level), max_terms)
            cells = estimate_cells(shown, self._inference.df, alpha)
        if self.scaling is not None:
            original = self.params_original.to_numpy()[shown.index]
            cells["original"] = [aligned(value) for value in original]
        return self._summarised(cells, [*notes, *more])

    def coefficient_table(self) -> pd.DataFrame:
        """Columns as of `tidy`; NaN for intervals that would take long, or are none."""
        return self._plain_table() if self._missing() else self._inference.frame(0.95)

    def notes_on_errors(self) -> list[Note]:
        """What there is to say of standard errors, computed if that is quick."""
        return self._missing() or self._inference.notes()

    def _missing(self) -> list[Note]:
        """Why there are no standard errors, if there are none."""
        if self.has_covariance:
            return []
        return why_left_out(self.problem, self.cov_type)

    @property
    def plot(self) -> "LinearPlots":
        """Figures of the fit, ``result.plot.roc(data)`` and others: `ResultPlots`."""
        from pegasos_stats.output.plotting.linear_results import LinearPlots

        return LinearPlots(self)

    @cached_property
    def estimated(self) -> Covariance | BootstrapResult:
        """The covariance with notes on it; `covariance` warns of them.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        """
        if self.cov_type is None:
            raise OptionError(NO_COVARIANCE)
        return estimated_covariance(self.problem, self.solution, self.cov_type)

    @property
    def has_covariance(self) -> bool:
        """Whether the covariance has been estimated already."""
        return "estimated" in vars(self)

    @cached_property
    def _inference(self) -> Inference:
        return Inference(
            theta=self.params,
            covariance=self.estimated,
            nobs=self.nobs,
            lam=self.problem.lam,
            certificate=self.certificate,
            goes_on="tol" if self.solver.to_optimum else "refine",
        )

    def _column(self, column: str, name: str) -> "pd.Series[float]":
        frame = self._inference.with_warnings().frame(0.95)
        return frame.set_index("term")[column].rename(name).rename_axis(None)

    def _plain_table(self) -> pd.DataFrame:
        """Coefficients without standard errors."""
        given = {"term": self.params.index, "estimate": self.params.to_numpy()}
        others = dict.fromkeys(TIDY_COLUMNS[2:], float("nan"))
        return pd.DataFrame(given | others)
