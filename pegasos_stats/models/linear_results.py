"""What a linear fit gives: coefficients, standard errors, tests, intervals."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import pandas as pd

from pegasos_stats.checks import check_flag, check_fraction
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.models import summaries
from pegasos_stats.models.inference import estimating, options
from pegasos_stats.models.inference.joint_tests import JointTest
from pegasos_stats.models.inference.uncertainty import Uncertainty
from pegasos_stats.models.inference.wald import TIDY_COLUMNS, ContrastTests
from pegasos_stats.models.notes.note import Note
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.problem import Solution
from pegasos_stats.tables import Summary, aligned, estimate_cells

if TYPE_CHECKING:
    from pegasos_stats.output.plotting.result_plots import LinearPlots

CARRIED = ("certificate", "training_table")  # what another covariance does not change


@dataclass(frozen=True, repr=False, eq=False)
class LinearResults(Results):
    """A fitted linear model: a support vector machine or a logistic regression.

    `Results` says what every fit has: certificate, predictions, reports.

    Attributes
    ----------
    cov_type : Sandwich, Bootstrap or None
        How standard errors are estimated, when they are first asked for.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
    >>> result = model.fit(ps.SDCA(tol=1e-8, seed=1))
    >>> result.tidy()[["term", "estimate", "std_error"]].round(2)
            term  estimate  std_error
    0  Intercept      0.33       0.44
    1        p34     -0.15       0.03
    2        p43      0.05       0.03
    >>> other = result.with_covariance(ps.Sandwich(correction="HC3"))
    >>> bool((other.bse > result.bse).all())
    True
    >>> result.wald_test("p34 = p43 = 0").df_num
    2
    >>> result.confusion(test).table
    Predicted   5   6
    Actual
    5          56  26
    6          27  54
    """

    solution: Solution
    cov_type: options.CovType = options.SANDWICH

    @property
    def coef(self) -> "pd.Series[float]":
        """Coefficients ``beta``, shape (p,), the intercept left out."""
        return pd.Series(self.solution.beta, index=list(self.design.names), name="coef")

    @property
    def params(self) -> "pd.Series[float]":
        """Intercept first, if the model has one, then the coefficients."""
        if not self.problem.intercept:
            return self.coef.rename("params")
        first = pd.Series({"Intercept": self.intercept})
        return pd.concat([first, self.coef]).rename("params")

    @property
    def params_original(self) -> "pd.Series[float]":
        """`params` for the predictors as they were before ``standardize=True``.

        ``beta_j / scale_j``, and ``alpha - sum_j centre_j beta_j / scale_j``; the same
        as `params` where nothing was scaled.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("abab"), "x": [1.0, 20.0, 3.0, 40.0]})
        >>> model = ps.svm("y ~ x", data, lam=0.01, standardize=True)
        >>> result = model.fit(ps.SDCA(seed=1))
        >>> scores = result.params_original["x"] * data["x"]
        >>> scores += result.params_original["Intercept"]
        >>> bool((scores - result.decision_function()).abs().max() < 1e-12)
        True
        """
        if self.scaling is None:
            return self.params.rename("params_original")
        beta, alpha = self.scaling.undone(self.solution.beta, self.intercept)
        found = pd.Series(beta, index=list(self.design.names))
        if self.problem.intercept:
            found = pd.concat([pd.Series({"Intercept": alpha}), found])
        return found.rename("params_original")

    @property
    def llf(self) -> float:
        """Log-likelihood at the fit, ``-sum_i w_i log(1 + exp(-m_i))``.

        The penalty is not in it, so it is below its maximum. NaN for the hinge loss,
        which is no likelihood.
        """
        if self.problem.loss != "log":
            return float("nan")
        beta = self.solution.beta
        loss = self.objective - 0.5 * self.problem.lam * float(beta @ beta)
        return -self.nobs * loss

    @property
    def n_support(self) -> int:
        """Rows with a dual weight above zero; for the log loss all of them."""
        return int((self.solution.dual > 0.0).sum())

    @property
    def df_model(self) -> int:
        """Number of coefficients, the intercept left out."""
        return self.problem.p

    @property
    def df_resid(self) -> int:
        """Rows minus coefficients and intercept, as counted: below 0 for wide data.

        The penalty makes a fit simpler than this count says.
        """
        return self.nobs - self.df_model - int(self.problem.intercept)

    @property
    def covariance(self) -> estimating.Estimate:
        """The estimate as a whole.

        Of the sandwich bread, meat and bandwidth; of the bootstrap the coefficients of
        all replicates, and the seed.
        """
        return self._errors.covariance

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
        """
        errors = self._errors.std_error
        return pd.Series(errors, index=self.params.index, name="bse")

    @property
    def tvalues(self) -> "pd.Series[float]":
        """``params / bse``: z statistics, or t where `covariance` has finite ``df``."""
        return self._column("statistic", "tvalues")

    @property
    def pvalues(self) -> "pd.Series[float]":
        """Two-sided p-values of the hypotheses that a coefficient is 0.

        That is one of the minimiser of the penalised risk in the population, ``lam``
        fixed beforehand: with a strong penalty and correlated predictors not 0 for a
        predictor without effect of its own.
        """
        return self._column("p_value", "pvalues")

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, shape (k, k), by name."""
        matrix, names = self._errors.covariance.matrix, self.params.index
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
        """
        level = 1.0 - check_fraction("alpha", alpha)
        limits = self._errors.frame(level)[["conf_low", "conf_high"]]
        return limits.set_axis([0, 1], axis=1).set_axis(self.params.index)

    def t_test(self, r_matrix: object) -> ContrastTests:
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
        """
        return self._errors.t_test(r_matrix)

    def wald_test(self, r_matrix: object) -> JointTest:
        """Test linear hypotheses ``R theta = q`` about `params` together.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic, pvalue, df_num, df_denom``: by the chi-squared law; by F
            for the hinge, see `Sandwich`; from resamples with symmetric intervals.
        """
        return self._errors.wald_test(r_matrix)

    def with_covariance(self, cov_type: options.CovType | options.CovName) -> Self:
        """The same fit with another estimate of the covariance.

        Parameters
        ----------
        cov_type : "default", "sandwich", "bootstrap", "none", Sandwich or Bootstrap
        """
        chosen = estimating.chosen_options(cov_type, self.problem, self.scaling)
        other = replace(self, cov_type=chosen)
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
            coefficients of the predictors as they were, instead.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high``; with ``cov_type="none"`` NaN but for the first two.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1.
        """
        level = check_fraction("conf_level", conf_level)
        check_flag("original", original)
        if self.cov_type is None:
            chosen = self.params_original if original else self.params
            return self._plain_table().assign(estimate=chosen.to_numpy())
        inference = self._errors
        if original and self.scaling is not None:
            transform = self.scaling.undoing(self.problem.intercept)
            inference = inference.original(transform)
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
        shown, more = summaries.largest(self.coefficient_table(level), max_terms)
        if self._missing() or not self._uncertainty.is_defined:
            cells = estimate_cells(shown)
        else:
            cells = estimate_cells(shown, self.estimated.df, alpha)
        if self.scaling is not None:
            original = self.params_original.to_numpy()[shown.index]
            cells["original"] = [aligned(value) for value in original]
        return summaries.summary_of(self, cells, [*notes, *more])

    def _repr_html_(self) -> str:
        if self.has_covariance:
            return self.summary().as_html()
        return summaries.brief(self, self._plain_table()).as_html()

    def coefficient_table(self, level: float = 0.95) -> pd.DataFrame:
        """Columns as of `tidy`; NaN for intervals that would take long, or are none."""
        known = not self._missing()
        return self._uncertainty.frame(level) if known else self._plain_table()

    def notes_on_errors(self) -> list[Note]:
        """What there is to say of standard errors, computed if that is quick."""
        return self._missing() or self._uncertainty.remarks()

    def _missing(self) -> list[Note]:
        """Why there are no standard errors, if there are none."""
        given = self.problem, self.cov_type
        return [] if self.has_covariance else estimating.why_left_out(*given)

    @property
    def plot(self) -> "LinearPlots":
        """Figures of the fit, ``result.plot.roc(data)`` and others: `ResultPlots`."""
        from pegasos_stats.output.plotting.result_plots import LinearPlots

        return LinearPlots(self)

    @cached_property
    def estimated(self) -> estimating.Estimate:
        """The covariance with notes on it; `covariance` warns of them.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        """
        if self.cov_type is None:
            raise OptionError(estimating.NO_COVARIANCE)
        return estimating.estimated_covariance(
            self.problem, self.solution, self.cov_type, self.scaling
        )

    @property
    def has_covariance(self) -> bool:
        """Whether the covariance has been estimated already."""
        return "estimated" in vars(self)

    @cached_property
    def _uncertainty(self) -> Uncertainty:
        return Uncertainty(
            theta=self.params,
            covariance=self.estimated,
            nobs=self.nobs,
            lam=self.problem.lam,
            certificate=self.certificate,
            goes_on="tol" if self.solver.to_optimum else "refine",
        )

    @property
    def _errors(self) -> Uncertainty:
        """The same; warns, the first time, if the numbers cannot be trusted."""
        if "_has_warned" not in vars(self):
            vars(self)["_has_warned"] = True
            self._uncertainty.warn()
        return self._uncertainty

    def _column(self, column: str, name: str) -> "pd.Series[float]":
        numbers = self._errors.frame(0.95)[column]
        return numbers.set_axis(self.params.index).rename(name)

    def _plain_table(self) -> pd.DataFrame:
        """Coefficients without standard errors."""
        given = {"term": self.params.index, "estimate": self.params.to_numpy()}
        return pd.DataFrame(given).reindex(columns=TIDY_COLUMNS)

    def _size(self) -> str:
        return counted(len(self.coef), "coefficient")
