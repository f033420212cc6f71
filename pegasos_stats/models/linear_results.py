"""Results of a linear model: coefficients, standard errors, tests, intervals."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.checks import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_log_loss,
)
from pegasos_stats.data.design import unscaled
from pegasos_stats.data.language.formula_design import FormulaDesign, Unseen
from pegasos_stats.data.sample import Groups, RowIndex, mean_one
from pegasos_stats.errors import (
    DataError,
    OptionError,
    UndefinedMetricWarning,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models import diagnostics, effects, sql, summaries
from pegasos_stats.models.inference import options, profile, wald
from pegasos_stats.models.inference.bootstrap import TooLongError, bootstrap
from pegasos_stats.models.inference.options import SANDWICH, Bootstrap, Sandwich
from pegasos_stats.models.inference.sandwich import (
    bread_at,
    inverse_of,
    no_ml,
    null_directions,
    penalty_of,
    sandwich,
)
from pegasos_stats.models.inference.wald import NullSpace
from pegasos_stats.models.notes import (
    FOR_PREDICTIONS,
    LISTED,
    Note,
    is_converged,
    perfect_training_fit,
    shrinkage,
    uneven_scales,
)
from pegasos_stats.models.results import Results, varies
from pegasos_stats.proofs import proof
from pegasos_stats.solvers.firth import rows_of
from pegasos_stats.solvers.intercept import zero_model
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem, Solution, with_cached
from pegasos_stats.solvers.streamed.few_reads import StreamedFit

if TYPE_CHECKING:
    from pegasos_stats.output.plotting.result_plots import LinearPlots

IntervalMethod = Literal["wald", "profile", "simultaneous"]
SHRUNKEN = 0.5  # standard errors: a larger shift by the penalty is reported
ROUNDING = 1e-5  # standard errors: a smaller estimate is shown as 0
MOST_REFERENCES = 6  # factors whose reference level a summary names
# Cached values that do not depend on the kind of standard errors.
CARRIED = (
    "certificate",
    "training_table",
    "shortfall",
    "n_reads",
    "constants",
    "null_space",
    "profiled",
)


@suggest_names("result")
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LinearResults(Results):
    """A fitted linear model: a support vector machine or a logistic regression.

    ``model.fit()`` returns it. It is immutable: methods return new objects. See
    `Results` for further attributes.

    Attributes
    ----------
    errors_by : Sandwich, Cluster, Bootstrap, None or "default"
        Requested kind of standard errors; `cov_type` resolves the default.
    groups : Groups or None
        Groups of rows that depend on each other, from ``fit(groups=)``.
    lines : RowIndex or None
        Positions of the rows in the data; None for a loaded fit, files and Dask.
    unread : DataFrame or None
        Original predictors that `margins` needs, such as ``x`` of ``log(x)``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
    >>> result = model.fit(ps.Optimum(tol=1e-8, seed=1))
    >>> result.tidy()[["term", "estimate", "std_error"]].round(2)
            term  estimate  std_error
    0  Intercept      0.33       0.45
    1        p34     -0.15       0.04
    2        p43      0.05       0.03
    >>> other = result.with_covariance("HC0")
    >>> bool((other.bse < result.bse).all())
    True
    """

    solution: Solution
    errors_by: options.CovType | Literal["default"] = "default"
    groups: Groups | None = None
    lines: RowIndex | None = None
    unread: pd.DataFrame | None = None

    _field_rules = (
        f"{Results._field_rules}, solution.beta p, design.names p, constants p"
    )

    margins = effects.margins
    predictions = effects.predictions
    get_prediction = effects.get_prediction
    get_influence = diagnostics.get_influence
    vif = diagnostics.vif
    llr_pvalue = property(diagnostics.llr_pvalue)
    write_proof = proof.write_proof
    to_sql = sql.to_sql
    to_json = sql.to_json

    @cached_property
    def cov_type(self) -> options.CovType:
        """Options of the standard errors; by default they depend on the loss."""
        return options.chosen_options(self.errors_by, self.problem, self.groups)

    @cached_property
    def _weighed(self) -> tuple[Problem, Solution, Groups | None]:
        """Problem, solution and groups without the rows of weight 0."""
        return drop_zero_weights(self.problem, self.solution, self.groups)

    @property
    def coef(self) -> "pd.Series[float]":
        """Coefficients ``beta`` without the intercept, shape (p,).

        A coefficient that is not estimable, such as that of a constant column, is NaN,
        and `notes` name it.
        """
        first = int(self.problem.intercept)
        beta = np.where(self.null_space.mask(), np.nan, self._theta)[first:]
        return pd.Series(beta, list(self.design.names), name="coef")

    @property
    def _theta(self) -> Vector:
        """Intercept and coefficients, with 0 for excluded columns."""
        alpha = [self.intercept] * self.problem.intercept
        return np.concatenate([alpha, self.solution.beta])

    @cached_property
    def null_space(self) -> NullSpace:
        """Directions of coefficients that the training rows do not determine.

        With ``lam = 0`` each direction belongs to a column that is a linear combination
        of earlier columns; with a penalty, to a constant column.
        """
        names, problem = list(self.design.names), self.problem
        first, estimable = int(problem.intercept), self.solution.estimable
        if estimable is not None and not self.constants[~estimable].all():
            columns = np.flatnonzero(~estimable)
            directions = null_directions(*self._weighed[:2])
            named = tuple(names[j] for j in columns)
            return NullSpace(named, columns + first, directions)
        # With an intercept, constant columns have the coefficient 0 at the optimum.
        at_optimum = isinstance(self.refinement or self.solver, Optimum)
        constant = self.constants & (at_optimum and problem.lam > 0.0)
        if not problem.lam and estimable is not None:
            constant = ~estimable
        values = self._moments[0] if self._moments else np.zeros(len(names))
        return NullSpace.of_constants(names, constant, values, problem.intercept)

    @property
    def params(self) -> "pd.Series[float]":
        """Intercept, if the model has one, and coefficients, by name."""
        if not self.problem.intercept:
            return self.coef.rename("params")
        first = pd.Series({"Intercept": self.intercept})
        return pd.concat([first, self.coef]).rename("params")

    @property
    def params_original(self) -> "pd.Series[float]":
        """`params` on the scale of the predictors before ``standardize=True``.

        The coefficients are ``beta_j / scale_j``, the intercept is ``alpha - sum_j
        centre_j beta_j / scale_j``. If nothing was scaled, they equal `params`.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("abab"), "x": [1.0, 20.0, 3.0, 40.0]})
        >>> model = ps.svm("y ~ x", data, lam=0.01, standardize=True)
        >>> result = model.fit(ps.Optimum(seed=1))
        >>> scores = result.params_original["x"] * data["x"]
        >>> scores += result.params_original["Intercept"]
        >>> bool((scores - result.decision_function()).abs().max() < 1e-12)
        True
        """
        if self.scaling is None:
            return self.params.rename("params_original")
        beta, alpha = self.scaling.undone(self.solution.beta, self.intercept)
        params = pd.Series(beta, index=list(self.design.names)).mask(self.coef.isna())
        if self.problem.intercept:
            params = pd.concat([pd.Series({"Intercept": alpha}), params])
        return params.rename("params_original")

    @property
    def covariance(self) -> wald.Estimate:
        """Estimated covariance with its components.

        A sandwich contains the bread and the bandwidth; a bootstrap contains the
        coefficients of all resamples and the seed.
        """
        return self._errors.covariance

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors of `params`.

        Square roots of the diagonal of `cov_params`, computed on first access.
        They refer to the minimiser of the penalised risk at this ``lam``.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        DataError
            For a loaded model that was saved without standard errors.

        Warns
        -----
        ConvergenceWarning
            If the fit is so far from its optimum that standard errors are unreliable.
        UndefinedMetricWarning
            If standard errors are not defined.
        """
        errors = self._errors.std_error
        return pd.Series(errors, self.params.index, name="bse")

    @property
    def tvalues(self) -> "pd.Series[float]":
        """``params / bse``: z statistics, or t if `covariance` has a finite ``df``.

        With Firth's penalty they are signed square roots of the profile likelihood
        ratio statistics of the hypotheses that a coefficient is 0.
        """
        return self._column("statistic", "tvalues")

    @property
    def pvalues(self) -> "pd.Series[float]":
        """Two-sided p-values of the hypotheses that the coefficients are 0.

        The hypothesis is about the minimiser of the penalised risk in the population,
        with ``lam`` fixed beforehand. With a strong penalty and correlated predictors,
        a coefficient of this minimiser may differ from 0 even if its predictor has no
        effect. With Firth's penalty the tests are profile likelihood ratio tests.
        """
        return self._column("p_value", "pvalues")

    @suggest_arguments
    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, shape (k, k), by name; NaN where `bse` is NaN."""
        errors, names = self._errors, self.params.index
        matrix = errors.covariance.matrix.copy()
        missing = np.isnan(errors.std_error)
        matrix[missing] = matrix[:, missing] = np.nan
        return pd.DataFrame(matrix, index=names, columns=names)

    @suggest_arguments
    def conf_int(
        self, alpha: float = 0.05, method: IntervalMethod | None = None
    ) -> pd.DataFrame:
        """Intervals of level ``1 - alpha`` for `params`.

        Parameters
        ----------
        alpha : float, default 0.05
        method : "wald", "profile" or "simultaneous", optional
            ``"profile"``: values for which the profile deviance exceeds its minimum by
            less than the quantile of chi-squared with one degree of freedom, as by R's
            ``confint()`` of a ``glm``. This requires maximum likelihood or Firth's
            penalty. With Firth's penalty it is the default, the penalty is part of the
            likelihood, and `cov_type` is not used. A limit is infinite if the deviance
            never exceeds its minimum by this quantile, and NaN if a fit does not
            converge. ``"wald"``, the default otherwise: computed from the standard
            errors; with the bootstrap, as the option `interval` of `Bootstrap`
            specifies. ``"simultaneous"``: computed from the standard errors and the
            maximum of the t statistics. The level is then joint for all intervals, as
            in ``confint(glht())`` of R's multcomp.

        Returns
        -------
        DataFrame, shape (k, 2)
            Lower limits in column 0, upper limits in column 1, as in `tidy`.

        Raises
        ------
        OptionError
            If `alpha` is not between 0 and 1, or too small for the number of
            resamples. With ``"profile"``, if the fit is penalised by ``lam``, has
            ``penalty="flic"``, weights or groups, or is not a logistic regression.
            Also as for `bse`.
        DataError
            If the profile needs the training rows, and they are not in memory.

        References
        ----------
        Venzon & Moolgavkar, Applied Statistics 37 (1988).

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("aabbabab"), "x": range(8)})
        >>> ps.logit("y ~ x", data).fit().conf_int(method="profile").round(3)
                       0      1
        Intercept -4.472  1.555
        x         -0.320  1.125
        """
        level = 1.0 - check_fraction("alpha", alpha)
        if method is not None:
            check_choice("method", method, get_args(IntervalMethod))
        if method == "profile" or (method is None and self._is_profiled):
            limits = pd.DataFrame(self._profile_limits(level))
            for sentence in self._missing_limits(limits.to_numpy()):
                warn_caller(sentence[:1].upper() + sentence[1:], UndefinedMetricWarning)
        else:
            tests, jointly = self._errors.tests, method == "simultaneous"
            limits = tests.estimates(level, jointly)[["conf_low", "conf_high"]]
        return limits.set_axis([0, 1], axis=1).set_axis(self.params.index)

    @property
    def _is_profiled(self) -> bool:
        """Whether tables show intervals and tests by profile likelihood."""
        return self.problem.penalty == "firth" and self.cov_type is not None

    @cached_property
    def _profile(self) -> profile.Profile:
        """Profile likelihoods of the coefficients.

        Raises
        ------
        OptionError, DataError
            If profiles are not available.
        """
        check_profile(self)
        problem = self._weighed[0]
        return profile.Profile(rows_of(problem), problem.has_firth)

    @cached_property
    def profiled(self) -> profile.ProfileTable:
        """Profile likelihood tests and 95% intervals for `params`."""
        return self._profile.table()

    @cached_property
    def _profiled_original(self) -> profile.ProfileTable:
        """Profile likelihood tests and 95% intervals for `params_original`."""
        return self._original_profile.table()

    @cached_property
    def _original_profile(self) -> profile.Profile:
        rows = self._profile.rows
        assert self.scaling is not None
        back = self.scaling.undoing(self.problem.intercept) @ rows.back
        return profile.Profile(replace(rows, back=back), self._profile.firth)

    def _profile_limits(self, level: float, original: bool = False) -> Matrix:
        """Limits of profile likelihood intervals, shape (k, 2)."""
        usual = np.isclose(level, 0.95, rtol=0.0, atol=1e-12)
        if self._is_profiled and usual:
            table = self._profiled_original if original else self.profiled
            return np.array(table.limits)
        return (self._original_profile if original else self._profile).limits(level)

    def _missing_limits(self, limits: Matrix) -> list[str]:
        """Warnings about infinite or missing limits of profile intervals."""
        rows = pd.DataFrame(limits, index=self.params.index)[self.params.notna()]
        lost = (
            "fits with the coefficient fixed do not converge, or have a larger "
            "likelihood than the estimates"
        )
        texts = []
        flat = "the likelihood does not decrease enough"
        for is_one, limit, reason in (
            (rows.isna(), "a missing limit", lost),
            (rows.abs() == np.inf, "an infinite limit", flat),
        ):
            if names := list(rows.index[is_one.any(axis=1)]):
                named = listing(names, LISTED)
                texts.append(f"the interval of {named} has {limit}: {reason}.")
        return texts

    @suggest_arguments
    def t_test(self, r_matrix: object) -> wald.ContrastTests:
        """Test each linear hypothesis ``R theta = q`` about `params` separately.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            ``"p34 = p43"``, ``"x1 - x2 = 0, x3 = 1"``; or a matrix ``R`` with a column
            for each of `params`; ``q`` is 0 by default.

        Returns
        -------
        ContrastTests
            With ``effect, sd, tvalue, pvalue, conf_int(), summary_frame()``.

        Raises
        ------
        OptionError
            If the hypotheses cannot be parsed, or as for `bse`.
        """
        return self._errors.t_test(r_matrix)

    @suggest_arguments
    def wald_test(self, r_matrix: object) -> wald.JointTest:
        """Test linear hypotheses ``R theta = q`` about `params` jointly.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic, pvalue, df_num, df_denom``. Several hypotheses are tested
            by F with ``"HC3"``, with the sandwich of the hinge, and with clusters
            unless ``use_t=False``; by the resamples with the default bootstrap;
            otherwise by chi-squared. A single hypothesis has the p-value that `t_test`
            reports. See `Sandwich`, `Cluster` and `Bootstrap`.

        Warns
        -----
        UndefinedMetricWarning
            If a combination has a standard error of 0 or is not estimable, such as the
            coefficient of a constant column. The test excludes this combination, and
            ``df_num`` counts the others.
        """
        return self._errors.wald_test(r_matrix)

    @suggest_arguments
    def f_test(self, r_matrix: object) -> wald.JointTest:
        """Test linear hypotheses ``R theta = q`` jointly by F, as in statsmodels.

        The statistic is Wald's, divided by the number of hypotheses. The denominator
        degrees of freedom are `df_resid`, or with clusters the number that `Cluster`
        defines.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic, pvalue, df_num, df_denom``.
        """
        df = self._errors.covariance.df
        return self._errors.wald_test(
            r_matrix, df if np.isfinite(df) else self.df_resid
        )

    @suggest_arguments
    def wald_test_terms(self) -> pd.DataFrame:
        """Test for each term whether all its coefficients are 0.

        A factor is one term, however many levels it has. Each row is the ``wald_test``
        of a term's coefficients. With an interaction a main effect is the effect if the
        other variable is 0 or at its reference level: this is not a type II test.

        Returns
        -------
        DataFrame
            Columns ``term, statistic, distribution, df, df_denom, p_value``. The
            ``distribution`` of the p-value is ``"chi2"``, ``"F"`` or ``"bootstrap"``.
            With ``"HC3"`` a single coefficient is tested by chi-squared, a term with
            several coefficients by F, see `Sandwich`. ``df_denom`` is infinite for
            chi-squared and missing for resamples. The intercept is the first row.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
        >>> data["x"] = [float(i % 7) for i in range(30)]
        >>> result = ps.logit("y ~ g + x", data, lam=0.01).fit(ps.Optimum(seed=1))
        >>> result.wald_test_terms()[["term", "df"]]
                term  df
        0  Intercept   1
        1          g   2
        2          x   1
        """
        return diagnostics.joint_tests_by_term(self, self._errors.wald_test)

    @suggest_arguments
    def with_covariance(
        self, cov_type: options.CovType | options.CovName, groups: object = None
    ) -> Self:
        """Return the fit with another estimate of the covariance.

        Parameters
        ----------
        cov_type : str, Sandwich, Cluster, Bootstrap or None
            As for ``model.fit()``.
        groups : Series, array or list, shape (n,); or two of them, optional
            As for ``model.fit()``. If omitted, cluster-robust standard errors, the
            bootstrap and ``"default"`` use the groups of the fit.

        Raises
        ------
        OptionError
            If `cov_type` and `groups` cannot be combined.
        """
        row_groups = self.groups
        if groups is not None:
            self.problem.source.check_in_memory(groups=groups)
            # The model holds the data, in which columns are looked up by name.
            model = self.full_model
            lines = self.lines if model is None else model._sample.lines
            assert lines is not None  # rows are in memory
            row_groups = lines.groups(groups)
        elif not options.goes_with_groups(cov_type):
            row_groups = None
        options.chosen_options(cov_type, self.problem, row_groups)  # or refuse it
        kind = options.checked_cov_type(cov_type)
        other = replace(self, errors_by=kind, groups=row_groups)
        cached = {name: value for name, value in vars(self).items() if name in CARRIED}
        return with_cached(other, **cached)

    def _missing(self) -> list[Note]:
        """Return the reason for missing standard errors, if they are missing."""
        if self.problem.no_ml:
            return [Note("separation", "warning", no_ml(self.problem))]
        requested = self.errors_by != "default"
        why = wald.reason_skipped(self.problem, self.cov_type, requested)
        if self._is_trivial and not requested:
            why = wald.TRIVIAL
        elif not (why or requested or self.has_covariance):
            why = self._too_long
        has_errors = self.has_covariance or not why
        return [] if has_errors else [Note("standard errors", "note", why)]

    @cached_property
    def _is_trivial(self) -> bool:
        """Whether a hinge fit has zero slopes and predicts one class.

        Only with default standard errors, which are then not computed.
        """
        answers = self.training_table.counts.sum(axis=0)
        by_bootstrap = self.errors_by == "default" and self.problem.loss == "hinge"
        no_slope = not self.solution.beta.any() and self.problem.has_rows
        return by_bootstrap and no_slope and int((answers > 0).sum()) == 1

    @cached_property
    def _in_time(self) -> wald.Estimate | float:
        """Bootstrap estimate, or the seconds that it would need, if these are many."""
        try:
            return self._estimate(options.MOST_SECONDS)
        except TooLongError as error:
            return error.seconds

    @property
    def _too_long(self) -> str:
        """Reason for not drawing resamples; draws them if this is fast enough."""
        kind = self.cov_type
        if not isinstance(kind, Bootstrap) or not isinstance(self._in_time, float):
            return ""
        return wald.takes_seconds(self._in_time, kind.replicates)

    @cached_property
    def estimated(self) -> wald.Estimate:
        """Estimated covariance with its notes; `covariance` also warns.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        """
        resampled = vars(self).get("_in_time", math.inf)
        return self._estimate(math.inf) if isinstance(resampled, float) else resampled

    def _estimate(self, limit: float) -> wald.Estimate:
        """Estimate the covariance; `limit` is the longest allowed time in seconds.

        Raises
        ------
        OptionError
            If standard errors are off, or are not defined for a trivial fit.
        TooLongError
            If resamples are estimated to need more time.
        """
        if self.cov_type is None:
            raise OptionError(wald.reason_unavailable(self.problem, None))
        if self._is_trivial:
            raise OptionError(wald.TRIVIAL)
        (problem, solution, groups), scaling = self._weighed, self.scaling
        if isinstance(self.cov_type, Sandwich):
            gap = self.relative_gap
            return sandwich(problem, solution, self.cov_type, scaling, groups, gap)
        if problem.no_ml:
            return sandwich(problem, solution, SANDWICH, scaling)
        resampled = bootstrap(problem, solution, self.cov_type, scaling, groups, limit)
        if problem.loss == "hinge" or problem.p > wald.QUICK_COEFFICIENTS:
            return resampled
        plain = sandwich(problem, solution, SANDWICH)
        separated, unbounded = plain.separated, plain.unbounded
        return replace(resampled, separated=separated, unbounded=unbounded)

    @property
    def has_covariance(self) -> bool:
        """Whether the covariance has been estimated already."""
        resampled = vars(self).get("_in_time", math.inf)
        return "estimated" in vars(self) or not isinstance(resampled, float)

    @cached_property
    def _uncertainty(self) -> wald.Uncertainty:
        return wald.Uncertainty(self, self._theta, self.estimated, self.null_space)

    @cached_property
    def _errors(self) -> wald.Uncertainty:
        """`_uncertainty`, with warnings on first access."""
        self._uncertainty.warn()
        return self._uncertainty

    def _column(self, column: str, name: str) -> "pd.Series[float]":
        numbers = self._table(0.95, self._errors)[column]
        return numbers.set_axis(self.params.index).rename(name)

    @property
    def llf(self) -> float:
        """Log-likelihood at the fit, ``-sum_i w_i log(1 + exp(-m_i))``.

        ``m_i = y_i f(x_i)`` is the margin of row ``i``. The value does not include the
        penalty, but a penalised fit has a lower value than maximum likelihood. NaN for
        the hinge losses, which are not likelihoods.
        """
        if self.problem.loss != "log":
            return float("nan")
        beta = self.solution.beta
        with np.errstate(over="ignore"):  # an edited file may have huge coefficients
            penalty = 0.5 * self.problem.lam * float(beta @ beta)
        return -self.nobs * (self.objective - penalty)

    @property
    def llnull(self) -> float:
        """Log-likelihood of the intercept-only model, ``sum_c W_c log(W_c / n)``.

        ``W_c`` is the total weight of the rows of class ``c`` (their number without
        weights), and ``n`` the sum over both classes. With an offset the null model
        contains the offset, and the intercept if the model has one, as for the null
        deviance of R's ``glm``. NaN for the hinge losses.
        """
        if self.problem.loss != "log":
            return float("nan")
        if self.problem.offset is not None:
            return -self.nobs * zero_model(self.problem)[1]
        w, y = self.problem.row_weights, self.problem.y
        shares = np.array([w[y == sign].sum() for sign in (-1.0, 1.0)]) / w.sum()
        return float(self.nobs * (shares @ np.log(shares)))

    @property
    def prsquared(self) -> float:
        """McFadden's ``R^2 = 1 - llf / llnull``, with `llf` at the penalised fit.

        The penalty makes it smaller than for the maximum likelihood fit. NaN for the
        hinge losses.
        """
        return 1.0 - self.llf / self.llnull

    @cached_property
    def df_effective(self) -> float:
        """Effective number of coefficients, ``tr(H^-1 (H - lam J))``.

        ``H`` is the curvature of the penalised risk, and ``J`` the identity with a 0
        for the intercept. Without a penalty the effective number is the number of
        estimable coefficients including the intercept; the penalty makes it smaller. It
        is NaN for the hinge losses, if the computation would be slow, and for a loaded
        penalised fit that was saved without a sandwich covariance. For files and Dask
        it is computed together with the standard errors, and is NaN with
        ``cov_type="none"``.

        References
        ----------
        Gray, *Flexible methods for analyzing survival data using splines*, JASA 87
        (1992).
        """
        if self.problem.loss != "log":
            return float("nan")
        problem = self.problem
        if not problem.lam:
            return float(self.df_model + problem.intercept)
        if (bread := self._bread) is None:
            return float("nan")
        penalised = np.diag(inverse_of(bread))[int(self.problem.intercept) :]
        return float(len(bread) - self.problem.lam * penalised.sum())

    @cached_property
    def _bread(self) -> np.ndarray | None:
        """Curvature ``H`` of the penalised log loss; None if slow or not available."""
        problem = self.problem
        if problem.has_rows and wald.is_quick(problem):
            return bread_at(problem, self.solution)
        reads = problem.source.is_streamed and self.cov_type is not None
        covariance = self.estimated if reads or self.has_covariance else None
        return getattr(covariance, "bread", None)

    @cached_property
    def penalty_shift(self) -> tuple[str, float]:
        """Coefficient that the penalty moves most, and by how many standard errors.

        The shift is a Newton step from the fit towards ``lam = 0``, divided by the
        standard errors of the unpenalised model ::

            |H0^-1 lam J theta|_j / sqrt(diag((n H0)^-1)_j)

        where ``H0`` is the curvature of the risk without the penalty. The shift is NaN
        for the hinge losses, and if ``lam`` is 0, ``H0`` is singular, rows are
        separated or standard errors are missing.
        """
        problem, nothing = self.problem, ("", float("nan"))
        if problem.loss != "log" or not problem.lam or self._missing():
            return nothing
        table = self.training_table
        are_separated = not (table.n_errors or table.n_undecided)
        if are_separated or self._bread is None or self.estimated.separated:
            return nothing
        bread = self._bread
        penalty = penalty_of(problem, len(bread))
        theta = np.append([0.0] * problem.intercept, self.solution.beta)
        inverse = inverse_of(bread - penalty)
        with np.errstate(all="ignore"):
            errors = np.sqrt(np.diag(inverse) / problem.n)
            shifts = np.abs(inverse @ (penalty @ theta)) / errors
        shifts = shifts[int(problem.intercept) :]
        if not np.isfinite(shifts).all() or not shifts.size:
            return nothing
        place = int(shifts.argmax())
        return self.design.names[place], float(shifts[place])

    @property
    def aic(self) -> float:
        """``-2 llf + 2 df_effective``, Akaike's criterion of a penalised fit.

        `llf` is evaluated at the penalised fit. NaN if `df_effective` is NaN.
        """
        return -2.0 * self.llf + 2.0 * self.df_effective

    @property
    def bic(self) -> float:
        """``-2 llf + log(nobs) df_effective``; NaN if `df_effective` is NaN."""
        return -2.0 * self.llf + float(np.log(self.nobs)) * self.df_effective

    @property
    def deviance(self) -> float:
        """``-2 llf``, R's residual deviance; NaN for the hinge losses."""
        return -2.0 * self.llf

    @property
    def null_deviance(self) -> float:
        """``-2 llnull``, the deviance of the intercept-only model with the offset."""
        return -2.0 * self.llnull

    @property
    def df_null(self) -> int:
        """Degrees of freedom of `null_deviance`: ``nobs - 1``.

        For a model with an offset and without intercept: ``nobs``.
        """
        is_fixed = self.problem.offset is not None and not self.problem.intercept
        return self.nobs - (not is_fixed)

    @property
    def llr(self) -> float:
        """``2 (llf - llnull)``, likelihood ratio statistic against the null model."""
        return 2.0 * (self.llf - self.llnull)

    @property
    def fittedvalues(self) -> "pd.Series[float]":
        """Probabilities of the second class in the training rows, shape (n,).

        ``mu = 1 / (1 + exp(-score))``, as statsmodels' ``GLM`` and R's ``fitted()``.
        With class weights these probabilities refer to the weighted data;
        `predict_proba` corrects for class weights.

        Raises
        ------
        OptionError
            For the hinge losses.
        DataError
            If the training rows are not in memory.
        """
        return diagnostics.of_rows(self, "fittedvalues")

    @property
    def resid_response(self) -> "pd.Series[float]":
        """Outcome, 0 or 1, minus `fittedvalues`; raises as `fittedvalues` does."""
        return diagnostics.of_rows(self, "resid_response")

    @property
    def resid_pearson(self) -> "pd.Series[float]":
        """Pearson residuals ``sqrt(w) (y - mu) / sqrt(mu (1 - mu))``.

        Weights ``w`` have mean 1. Raises as `fittedvalues` does.
        """
        return diagnostics.of_rows(self, "resid_pearson")

    @property
    def resid_deviance(self) -> "pd.Series[float]":
        """Deviance residuals, whose squares add up to `deviance`.

        Raises as `fittedvalues` does.
        """
        return diagnostics.of_rows(self, "resid_deviance")

    @suggest_arguments
    def pred_table(self, threshold: float = 0.5) -> Matrix:
        """Table of the training rows, shape (2, 2): actual by predicted class.

        As in statsmodels, entry ``[i, j]`` counts the rows of class ``i`` that are
        predicted as class ``j``. `confusion` names the classes, and accepts new rows.

        Parameters
        ----------
        threshold : float, default 0.5
            Probability above which the second class is predicted, on the scale of
            `predict_proba`. With class weights, `predict` uses another threshold on
            this scale, because it compares uncorrected scores with 0.

        Raises
        ------
        OptionError
            For the hinge losses.
        DataError
            If the training rows are not in memory.
        """
        diagnostics.check_rows(self, "pred_table()")
        table = self.confusion(threshold=threshold, ties="negative").table
        return np.asarray(table, dtype=np.float64)

    @property
    def n_support(self) -> int:
        """Number of support rows, whose dual variable is above zero.

        For the log loss these are all rows of positive weight.
        """
        return int((self.solution.dual > 0.0).sum())

    @cached_property
    def n_reads(self) -> int | None:
        """Number of passes of the fit over files or Dask; None for other fits.

        Standard errors need one to three more passes.
        """
        return None

    @property
    def df_model(self) -> int:
        """Number of estimable coefficients, without the intercept."""
        return int(self.coef.notna().sum())

    @property
    def df_resid(self) -> int:
        """Number of rows minus coefficients and intercept; below 0 for wide data.

        The penalty is ignored; `df_effective` accounts for it.
        """
        return self.nobs - self.df_model - int(self.problem.intercept)

    @suggest_arguments
    def glance(self) -> pd.DataFrame:
        """The fit as a data frame of one row, as by broom's ``glance``.

        Returns
        -------
        DataFrame, one row
            Columns ``nobs, dropped`` (rows used, and excluded for missing values),
            ``loss, lam, objective, dual_objective, gap, relative_gap, n_iter,
            n_violations, n_support, error_rate`` (of the training rows), ``solver,
            seed`` (missing if no random numbers were drawn), ``converged`` (missing for
            a solver without a tolerance), ``llf, df_effective, aic, bic, prsquared,
            deviance, null_deviance`` (NaN for the hinge losses, which are not
            likelihoods), and ``df_null, df_residual``. To compare fits, use
            ``pd.concat``.
        """
        of_likelihood = ("llf", "df_effective", "aic", "bic", "prsquared")
        names = (*of_likelihood, "deviance", "null_deviance", "df_null")
        row = super().glance().assign(**{name: getattr(self, name) for name in names})
        return row.assign(df_residual=self.df_resid)

    @suggest_arguments
    def tidy(
        self,
        conf_level: float = 0.95,
        original: bool = False,
        exponentiate: bool = False,
    ) -> pd.DataFrame:
        """Coefficients as a data frame, with the columns of broom's ``tidy``.

        Parameters
        ----------
        conf_level : float, default 0.95
        original : bool, default False
            Whether to return `params_original`, the coefficients on the original scale
            of the predictors, for a fit with ``standardize=True``.
        exponentiate : bool, default False
            Whether to return odds ratios ``exp(beta)``, for the log loss: ``estimate``,
            ``conf_low`` and ``conf_high`` are exponentiated. The other columns refer to
            the log odds ratios, as in broom.

        Returns
        -------
        DataFrame
            Columns ``term, estimate, std_error, statistic, p_value, conf_low,
            conf_high``; with ``cov_type="none"`` all but the first two are NaN. The
            estimate is NaN if the training rows do not determine the coefficient. With
            Firth's penalty tests and intervals are by profiles, as in `conf_int`.

        Raises
        ------
        OptionError
            If `conf_level` is not between 0 and 1, or odds ratios are requested for a
            hinge loss.
        """
        level = check_fraction("conf_level", conf_level)
        check_flag("original", original)
        check_flag("exponentiate", exponentiate)
        has_none = self.cov_type is None or self._is_trivial
        errors = None if has_none else self._errors
        table = self._table(level, errors, original)
        if not exponentiate:
            return table
        check_log_loss(self.problem.loss, "exponentiate=True (odds)")
        numbers = ["estimate", "conf_low", "conf_high"]
        with np.errstate(over="ignore"):
            table[numbers] = np.exp(table[numbers].astype(np.float64))
        return table

    @suggest_arguments
    def summary(
        self,
        alpha: float = 0.05,
        max_terms: int | None = 30,
        *,
        digits: int = 3,
        details: bool = False,
    ) -> tables.Summary:
        """Summary on one screen: header, coefficients and the most important notes.

        Parameters
        ----------
        alpha : float, default 0.05
            Intervals have level ``1 - alpha``.
        max_terms : int or None, default 30
            With more coefficients than this, only the intercept and the
            `max_terms` largest by absolute value are shown; ``None`` shows all.
        digits : int, default 3
            Number of decimals. Values that would show only zeros, and values of a
            million or more, are shown in scientific notation.
        details : bool, default False
            Whether to add the solver and its options, the order of the rows, seed,
            random number generator, steps, objective, absolute and relative duality
            gap, and all notes.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook shows HTML; ``to_latex()`` returns LaTeX.
            Standard errors that would be slow to compute are omitted, and a note
            explains how to get them.

        Raises
        ------
        OptionError
            If `alpha` is not between 0 and 1, or `max_terms` or `digits` is not a
            whole number above zero.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.logit("digit ~ p34 + p43", train, lam=0.01)
        >>> print(model.fit(ps.Optimum(tol=1e-9, seed=1)).summary())
        Penalised logistic regression           digit: 5 or 6, modelled: 6, 100 of 200
        n 200    training error 29.5% (50.0% if always '5')    Newton, converged
        lambda 0.01   logLik -116.3   AIC 238.7 (3.0 effective df)   McFadden R2 0.161
        ------------------------------------------------------------------------------
                        coef    std err          z      P>|z|     [0.025     0.975]
        Intercept      0.330      0.451       0.73      0.464     -0.554      1.215
        p34           -0.147      0.036      -4.11     <0.001     -0.217     -0.077
        p43            0.049      0.032       1.52      0.129     -0.014      0.111
        ------------------------------------------------------------------------------
        Standard errors: HC3, for penalised coefficients at this lambda.
        More: summary(details=True)
        <BLANKLINE>
        """
        check_flag("details", details)
        check_count("digits", digits)
        cells, notes, footer = self.coefficient_cells(alpha, max_terms, digits)
        kind = "bootstrap" if isinstance(self.cov_type, Bootstrap) else "cluster"
        more = [("Covariance:", f"{kind} ({self.groups})")] if self.groups else []
        if self.lambda_path is not None and (folds := self.lambda_path.folds):
            more.append(("Folds for lambda:", f"{folds.k}, seed {folds.seed}"))
        return summaries.summary_of(
            self,
            cells,
            notes,
            likelihood=self._likelihood(),
            details=details,
            more=more,
            footer=footer,
        )

    def coefficient_cells(
        self, alpha: float = 0.05, max_terms: int | None = 30, digits: int = 3
    ) -> tuple[pd.DataFrame, list[Note], str]:
        """Return the table of `summary` as text, its notes and its footer."""
        alpha = check_fraction("alpha", alpha)
        notes = self.notes_on_errors()
        table = self.coefficient_table(1.0 - alpha)
        shown, omitted = summaries.largest(table, max_terms)
        zero = shown["estimate"].abs() <= ROUNDING * shown["std_error"]
        shown = shown.assign(estimate=shown["estimate"].mask(zero, 0.0))
        footer = []
        if self.scaling is not None:
            footer.append("original: in the units of the data.")
        if references := [f"{n} = {at}" for n, at in self.reference_levels.items()]:
            more = ", ..." * (len(references) > MOST_REFERENCES)
            named = ", ".join(references[:MOST_REFERENCES]) + more
            footer.append(f"Reference: {named}.")
        if len((null := self.null_space).columns):
            footer.append(null.reason(nothing="-"))
        if self._missing() or not self._uncertainty.is_defined:
            cells = tables.estimate_cells(shown, digits=digits)
        else:
            headings = self._uncertainty.tests.headings
            cells = tables.estimate_cells(shown, headings, alpha, digits)
        if self.scaling is not None:
            original = self.params_original.to_numpy()[shown.index]
            original = np.where(zero, 0.0, original)
            cells["original"] = [tables.fixed(value, digits) for value in original]
            cells = cells.replace("nan", "-")
        return cells, notes, " ".join([*footer, *[omitted] * bool(omitted)])

    @property
    def reference_levels(self) -> dict[str, object]:
        """Reference level of each factor, by the name of the factor in the formula."""
        inner = unscaled(self.design)
        return inner.reference_levels if isinstance(inner, FormulaDesign) else {}

    def _likelihood(self) -> list[str]:
        """Log-likelihood, AIC and McFadden's R2 as text, for a converged logistic fit.

        With ``lam="cv"`` also a large shift of a coefficient by the penalty.
        """
        if self.problem.loss != "log" or not is_converged(self):
            return []
        reads = self.problem.source.is_streamed and not self.has_covariance
        aic = np.nan if reads and self.problem.lam else self.aic
        of = f" ({self.df_effective:.1f} effective df)" if self.problem.lam else ""
        name, shift = self.penalty_shift if self.problem.lam_rule == "cv" else ("", 0.0)
        return [
            *([f"penalty moves {name} by {shift:.1f} se"] if shift > SHRUNKEN else []),
            f"logLik {self.llf:.1f}",
            *([f"AIC {aic:.1f}{of}"] if np.isfinite(aic) else []),
            f"McFadden R2 {self.prsquared:.3f}",
        ]

    def _displayed(self) -> tables.Summary:
        if self.has_covariance:
            return self.summary()
        table, footer = summaries.largest(self._table(0.95, None), 30)
        text = "For standard errors, p-values and intervals see summary()."
        notes = [Note("standard errors", "note", text)]
        cells = tables.estimate_cells(table)
        return summaries.summary_of(self, cells, notes, footer=footer)

    def coefficient_table(self, level: float = 0.95) -> pd.DataFrame:
        """The columns of `tidy`, with NaN if standard errors are off or slow."""
        return self._table(level, None if self._missing() else self._uncertainty)

    def _table(
        self, level: float, errors: wald.Uncertainty | None, original: bool = False
    ) -> pd.DataFrame:
        """The columns of `tidy`, with NaN for missing standard errors."""
        original = original and self.scaling is not None
        if errors is None:
            theta = self.params_original if original else self.params
            return wald.untested(theta).frame(level, list(theta.index))
        if original and self.scaling is not None:
            errors = errors.original(self.scaling.undoing(self.problem.intercept))
        table = errors.frame(level)
        if not (self._is_profiled and errors.is_defined):
            return table
        tests = self._profiled_original if original else self.profiled
        table[["conf_low", "conf_high"]] = self._profile_limits(level, original)
        return table.assign(statistic=tests.statistic, p_value=tests.p_value)

    @cached_property
    def _on_predictors(self) -> tuple[float, list[Note]]:
        problem, names = self.problem, self.design.names
        notes, null = list[Note](), self.null_space
        if len(null.columns):
            notes.append(Note("estimability", "note", null.reason()))
        if not problem.lam:
            return np.inf, notes
        if problem.has_rows and self._moments is not None and self.scaling is None:
            spread = np.where(varies(*self._moments), self._moments[1], 0.0)
            by_default = problem.lam_rule == "1/n"
            notes += uneven_scales(problem.lam, spread, names, by_default)
        return np.inf, notes

    def notes_on_errors(self) -> list[Note]:
        """Notes on the standard errors, which are computed here if this is fast."""
        notes = self._missing() or self._uncertainty.remarks()
        if self.problem.penalty == "firth":
            notes = [*notes, FOR_PREDICTIONS]
        if self._is_profiled and not self._missing():
            texts = self._missing_limits(self.profiled.limits)
            notes = [*[Note("separation", "warning", text) for text in texts], *notes]
        name, shift = self.penalty_shift
        if shift > SHRUNKEN and self.problem.lam_rule != "cv":
            notes = [*notes, shrinkage(name, shift)]
        separated = any(note.topic == "separation" for note in notes)
        hinge = self.problem.loss == "hinge"
        if separated or hinge or self.problem.offset is not None:
            return notes
        return [*notes, *perfect_training_fit(self.training_table, len(self.params))]

    def _further_columns(
        self, data: object, unseen: Unseen, offset: object, se_fit: bool
    ) -> "dict[str, pd.Series[float]]":
        columns: dict[str, pd.Series[float]] = {}
        is_log = self.problem.loss == "log"
        if data is None and is_log and self.problem.has_rows:
            columns |= diagnostics.columns_of(self)
        predict = partial(self.get_prediction, data, unseen=unseen, offset=offset)
        if se_fit:
            columns["score_se"] = predict(scale="link").se
        if se_fit and is_log:
            columns["probability_se"] = predict().se
        return columns

    # The package maketables, which writes tables for Word, Typst and others, reads
    # the following attributes. Its releases up to 0.2 read params, bse and pvalues.

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        return tables.maketables_columns(self.tidy())

    @property
    def __maketables_depvar__(self) -> str:
        return f"{self.coding.name} = {self.coding.positive}"

    __maketables_default_stat_keys__ = ("N", "pseudo_r2", "ll", "lam", "se_type")
    __maketables_stat_labels__ = MappingProxyType({"lam": "Lambda"})

    @property
    def __maketables_vcov_info__(self) -> dict[str, str]:
        name = "bootstrap" if isinstance(self.cov_type, Bootstrap) else "none"
        info = {"se_type": getattr(self.cov_type, "correction", name)}
        if self.groups is not None:
            info["cluster_var"] = str(self.groups)
        return info

    def __maketables_stat__(self, key: str) -> object:
        if key == "lam":
            return self.problem.lambda_text
        if key == "se_type":
            return ", ".join(self.__maketables_vcov_info__.values())
        names = {"N": "nobs", "ll": "llf", "pseudo_r2": "prsquared"}
        return getattr(self, names.get(key, key), None)

    @property
    def plot(self) -> "LinearPlots":
        """Figures of the fit, such as ``result.plot.roc(data)``."""
        from pegasos_stats.output.plotting.result_plots import LinearPlots

        return LinearPlots(self)


def check_profile(result: LinearResults) -> None:
    """Raise `OptionError` or `DataError` if profiles are not available."""
    problem = result.problem
    for is_wrong, reason in (
        (
            problem.penalty == "flic",
            "does not go with penalty='flic', which is for predictions; use 'firth'.",
        ),
        (
            bool(problem.no_ml),
            "needs maximum likelihood, which does not exist; pass penalty='firth'.",
        ),
        (
            problem.loss != "log" or problem.lam > 0.0,
            "is for logistic regression without lam, or with penalty='firth'.",
        ),
        (problem.weights is not None, "does not go with weights=; use 'wald'."),
        (result.groups is not None, "does not go with groups=; use 'wald'."),
    ):
        if is_wrong:
            raise OptionError(reason, "method", "profile")
    if not problem.has_rows and not problem.source.is_streamed:
        raise DataError(
            "Profiles need the training rows; compute intervals before saving the fit."
        )
    problem.source.check_in_memory(method="profile")


def with_passes(result: LinearResults, passes: StreamedFit) -> LinearResults:
    """Cache what the passes of a streamed fit computed, so that no pass repeats it."""
    problem, levels = result.problem, result.coding.levels
    none = pd.DataFrame(columns=["actual", "predicted"])
    # The passes count all rows; one more pass excludes those of weight 0.
    counts = result.confusion().counts if problem.n_weightless else passes.table
    return with_cached(
        result,
        certificate=passes.certificate,
        training_table=ConfusionMatrix(levels, counts, none, source="training"),
        n_reads=problem.X.first_reads + passes.n_reads,
    )


def drop_zero_weights(
    problem: Problem, solution: Solution, groups: Groups | None = None
) -> tuple[Problem, Solution, Groups | None]:
    """Problem, solution and groups without rows of weight 0.

    The objective and its minimiser do not change. Rows in files are not removed: rows
    of weight 0 do not change the sums over them.

    Examples
    --------
    >>> X, y, w = np.eye(3), np.array([-1.0, 1.0, 1.0]), np.array([1.5, 0.0, 1.5])
    >>> at = Solution(np.zeros(3), 0.0, w.copy(), 0, 0, None)
    >>> problem, at, _ = drop_zero_weights(Problem(X, y, 0.1, weights=w), at)
    >>> problem.n, problem.weights, at.dual
    (2, None, array([1., 1.]))
    """
    if not (problem.n_weightless and problem.has_rows):
        return problem, solution, groups
    rows = np.flatnonzero(problem.row_weights)
    problem = problem.of_rows(rows)
    weights = mean_one(np.asarray(problem.weights))
    if (weights == weights[0]).all():
        problem, weights = replace(problem, weights=None), np.ones(problem.n)
    else:
        problem = replace(problem, weights=weights)
    share = len(rows) / len(solution.dual)
    dual = np.minimum(share * solution.dual[rows], weights)
    groups = None if groups is None else groups.among(rows)
    return problem, replace(solution, dual=dual), groups
