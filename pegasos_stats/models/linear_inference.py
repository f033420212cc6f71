"""Coefficients of a linear fit, their standard errors, tests and intervals."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_fraction
from pegasos_stats.data.design import Design
from pegasos_stats.data.groups import Groups, Lines
from pegasos_stats.data.language.design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.matrix_in_files import Elsewhere, in_memory_only
from pegasos_stats.data.weights import mean_one
from pegasos_stats.errors import OptionError
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.inference import options, uncertainty
from pegasos_stats.models.inference.covariance import Estimate
from pegasos_stats.models.inference.uncertainty import Uncertainty
from pegasos_stats.models.inference.wald import (
    ContrastTests,
    JointTest,
    without_noise,
)
from pegasos_stats.models.notes import Note
from pegasos_stats.models.results import Judged
from pegasos_stats.solvers.problem import Problem, Solution


def without_weightless(
    problem: Problem, found: Solution, groups: Groups | None = None
) -> tuple[Problem, Solution, Groups | None]:
    """Problem, solution and groups of the rows that have a weight, with mean 1 again.

    The objective and its minimiser are the same. Rows in files stay: sums over them do
    not change.

    Examples
    --------
    >>> X, y, w = np.eye(3), np.array([-1.0, 1.0, 1.0]), np.array([1.5, 0.0, 1.5])
    >>> at = Solution(np.zeros(3), 0.0, w.copy(), 0, 0, None)
    >>> problem, at, _ = without_weightless(Problem(X, y, 0.1, weights=w), at)
    >>> problem.n, problem.weights, at.dual
    (2, None, array([1., 1.]))
    """
    if not (problem.n_weightless and problem.has_rows):
        return problem, found, groups
    rows = np.flatnonzero(problem.row_weights)
    problem = problem.of_rows(rows)
    weights = mean_one(np.asarray(problem.weights))
    if (weights == weights[0]).all():
        problem, weights = replace(problem, weights=None), np.ones(problem.n)
    else:
        problem = replace(problem, weights=weights)
    share = len(rows) / len(found.dual)
    dual = np.minimum(share * found.dual[rows], weights)
    groups = None if groups is None else groups.among(rows)
    return problem, replace(found, dual=dual), groups


def terms_of(design: Design) -> dict[str, list[str]]:
    """Names of the columns of every term, the intercept left out.

    A factor is one term, an interaction another; of data without a formula every
    column is one.

    Examples
    --------
    >>> from pegasos_stats.data.design import FrameDesign
    >>> terms_of(FrameDesign(("age", "dose"), named=True))
    {'age': ['age'], 'dose': ['dose']}
    """
    if isinstance(design, ScaledDesign):
        return terms_of(design.design)
    if not isinstance(design, FormulaDesign):
        return {name: [name] for name in design.names}
    columns = [str(name) for name in design.spec.column_names]
    found = {str(t): columns[where] for t, where in design.spec.term_slices.items()}
    kept = {t: [n for n in names if n != "Intercept"] for t, names in found.items()}
    return {term: names for term, names in kept.items() if names}


# What another covariance does not change.
CARRIED = frozenset(
    (
        *("certificate", "training_table", "shortfall", "n_reads"),
        *("constants", "_spread"),
    )
)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LinearInference(Judged):
    """What `LinearResults` says of coefficients and how well they are known.

    Attributes
    ----------
    errors_by : Sandwich, Cluster, Bootstrap, None or "default"
        How standard errors are estimated, as asked for; see `cov_type`.
    groups : Groups or None
        Of rows that depend on each other, where ``fit(groups=)`` gave them.
    lines : Lines or None
        Where the rows of the fit stand in the data; None for a loaded fit.
    """

    solution: Solution
    errors_by: options.CovType | Literal["default"] = "default"
    groups: Groups | None = None
    lines: Lines | None = None

    @cached_property
    def cov_type(self) -> options.CovType:
        """How standard errors are estimated; by default the loss says, see `fit`."""
        return options.chosen_options(self.errors_by, self.problem, self.groups)

    @cached_property
    def _weighed(self) -> tuple[Problem, Solution, Groups | None]:
        """Problem, solution and groups without the rows of weight 0."""
        return without_weightless(self.problem, self.solution, self.groups)

    @property
    def coef(self) -> "pd.Series[float]":
        """Coefficients ``beta``, shape (p,), the intercept left out."""
        beta = self.solution.beta.copy()
        return pd.Series(beta, index=list(self.design.names), name="coef")

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

        ``beta_j / scale_j``, and ``alpha - sum_j centre_j beta_j / scale_j``; the same
        as `params` if nothing was scaled.

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
    def covariance(self) -> Estimate:
        """The estimated covariance with all that it was computed from.

        For the sandwich the bread and the bandwidth; for the bootstrap the coefficients
        of all resamples, and the seed.
        """
        return self._errors.covariance

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors of `params`.

        Square roots of the diagonal of `cov_params`, estimated when first asked for.
        They are for the minimiser of the penalised risk at this ``lam``.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        DataError
            For a loaded model that was saved without standard errors.

        Warns
        -----
        ConvergenceWarning
            If the distance of the fit from its optimum may be large relative to them.
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

        The hypothesis is about the minimiser of the penalised risk in the population,
        with ``lam`` fixed beforehand. With a strong penalty and correlated predictors,
        that coefficient may differ from 0 for a predictor without effect of its own.
        """
        return self._column("p_value", "pvalues")

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, shape (k, k), by name; NaN where `bse` is."""
        errors, names = self._errors, self.params.index
        matrix = errors.covariance.matrix.copy()
        matrix[errors.unlimited] = np.nan
        matrix[:, errors.unlimited] = np.nan
        return pd.DataFrame(matrix, index=names, columns=names)

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Intervals of level ``1 - alpha`` for `params`.

        Parameters
        ----------
        alpha : float, default 0.05

        Returns
        -------
        DataFrame, shape (k, 2)
            Lower limits in column 0, upper limits in column 1, as in `tidy`.

        Raises
        ------
        OptionError
            If `alpha` is not between 0 and 1, or too small for the number of
            resamples; or as for `bse`.
        """
        level = 1.0 - check_fraction("alpha", alpha)
        table = without_noise(self._errors.frame(level), self._noise)
        limits = table[["conf_low", "conf_high"]]
        return limits.set_axis([0, 1], axis=1).set_axis(self.params.index)

    def t_test(self, r_matrix: object) -> ContrastTests:
        """Test each linear hypothesis ``R theta = q`` about `params` separately.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            ``"p34 = p43"``, ``"x1 - x2 = 0, x3 = 1"``; or a matrix ``R`` with a column
            for each of `params`; ``q`` is 0 unless given.

        Returns
        -------
        ContrastTests
            With ``effect, sd, tvalue, pvalue, conf_int(), summary_frame()``.

        Raises
        ------
        OptionError
            If the hypotheses cannot be read, or as for `bse`.
        """
        return self._errors.t_test(r_matrix)

    def wald_test(self, r_matrix: object) -> JointTest:
        """Test linear hypotheses ``R theta = q`` about `params` jointly.

        Parameters
        ----------
        r_matrix : str, list of str, dict, array or pair (R, q)
            As for `t_test`.

        Returns
        -------
        JointTest
            With ``statistic, pvalue, df_num, df_denom``: several hypotheses by F with
            ``"HC3"``, ``"sandwich"`` and clusters, from the resamples with the default
            bootstrap, by chi-squared otherwise; one hypothesis has the p-value of its
            coefficient. See `Sandwich` and `Bootstrap`.

        Warns
        -----
        UndefinedMetricWarning
            If hypotheses are about what is the same in all samples, as the coefficient
            of a constant column: they are left out, and `df_num` counts the others.
        """
        return self._errors.wald_test(r_matrix)

    def wald_test_terms(self) -> pd.DataFrame:
        """Test each term separately: that all its coefficients are 0.

        A factor is one term, however many levels it has. Each row is the ``wald_test``
        of a term's coefficients. Beside an interaction a main effect is that where the
        other variable is 0 or at its reference level: no test of type II.

        Returns
        -------
        DataFrame
            Columns ``term, statistic, distribution, df, df_denom, p_value``:
            `distribution` is ``"chi2"``, ``"F"`` or ``"bootstrap"``, the law that the
            statistic of this row is compared with; one coefficient by ``"HC3"`` has
            chi-squared, a term of several F, see `Sandwich`. `df_denom` is infinite
            for chi-squared and missing for resamples. The intercept is the first row.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
        >>> data["x"] = [float(i % 7) for i in range(30)]
        >>> result = ps.logit("y ~ g + x", data, lam=0.01).fit(ps.SDCA(seed=1))
        >>> result.wald_test_terms()[["term", "df"]]
                term  df
        0  Intercept   1
        1          g   2
        2          x   1
        """
        names, lines = list(self.params.index), []
        own = {"Intercept": ["Intercept"]} if self.problem.intercept else {}
        for term, columns in (own | terms_of(self.design)).items():
            rows = np.eye(len(names))[[names.index(column) for column in columns]]
            found = self._errors.wald_test(rows)
            df = np.nan if found.replicates else found.df_denom
            law = found.statistic, found.distribution, found.df_num, df
            lines.append((term, *law, found.pvalue))
        titles = ["term", "statistic", "distribution", "df", "df_denom", "p_value"]
        return pd.DataFrame(lines, columns=titles)

    @suggest_arguments
    def with_covariance(
        self, cov_type: options.CovType | options.CovName, groups: object = None
    ) -> Self:
        """The same fit with another estimate of the covariance.

        Parameters
        ----------
        cov_type : str, Sandwich, Cluster, Bootstrap or None
            As for `fit` of the model.
        groups : Series, array or list, shape (n,); or two of them, optional
            As for `fit`. If omitted, ``"cluster"``, ``"bootstrap"`` and ``"default"``
            use the groups of the fit.

        Raises
        ------
        OptionError
            If `cov_type` and `groups` cannot be combined.
        """
        found = self.groups
        if groups is not None:
            if isinstance(self.problem.X, Elsewhere):
                raise in_memory_only("groups", self.problem.X.title)
            if self.lines is None:
                raise OptionError(
                    "groups= are of the training rows, which a loaded fit does not "
                    "hold; ask for standard errors before saving."
                )
            # The model holds the data, of which a column may be named.
            known = None if self.model is None else self.model._sample.lines
            found = (known or self.lines).groups(groups)
        elif not options.goes_with_groups(cov_type):
            found = None
        options.chosen_options(cov_type, self.problem, found)  # or refuse it
        kind = options.checked_cov_type(cov_type)
        other = replace(self, errors_by=kind, groups=found)
        kept = {name: value for name, value in vars(self).items() if name in CARRIED}
        vars(other).update(kept)
        return other

    def _missing(self) -> list[Note]:
        """Why there are no standard errors, if there are none."""
        if self.has_covariance:
            return []
        asked = self.errors_by != "default"
        return uncertainty.why_left_out(self.problem, self.cov_type, asked)

    @cached_property
    def estimated(self) -> Estimate:
        """The estimated covariance with its notes, of which `covariance` warns.

        Raises
        ------
        OptionError
            With ``cov_type="none"``.
        """
        if self.cov_type is None:
            (note,) = uncertainty.why_none(self.problem, None)
            raise OptionError(note.text)
        problem, solution, groups = self._weighed
        return uncertainty.estimated(
            problem, solution, self.cov_type, self.scaling, groups, self.relative_gap
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
            options=self.cov_type,
            problem=self.problem,
            relative_gap=self.relative_gap,
            groups=self._weighed[2],
            noise=self._noise,
            to_optimum=self.refinement is None and self.solver.to_optimum,
        )

    @property
    @abstractmethod
    def _noise(self) -> Vector:
        """What of each of `params` is the solver's, shape (k,)."""

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
