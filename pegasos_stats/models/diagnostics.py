"""Diagnostics of a logistic fit: residuals, leverages, likelihood ratio tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Mask, Matrix, Vector
from pegasos_stats.checks import check_log_loss
from pegasos_stats.data.design import Design, unscaled
from pegasos_stats.data.language.formula_design import FormulaDesign
from pegasos_stats.data.user_data import is_sparse
from pegasos_stats.errors import (
    DataError,
    OptionError,
    UndefinedMetricWarning,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.models.inference.sandwich import bread_at, hat_values, inverse_of
from pegasos_stats.models.inference.wald import JointTest, is_quick, whitening
from pegasos_stats.models.results import Results
from pegasos_stats.tables import significant

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults

NEGLIGIBLE_PENALTY = 1e-3  # lam * n, below which the penalty is ignored in tests
NO_CHI_SQUARED = (
    "so likelihood ratios do not follow the chi-squared distribution; use "
    "result.wald_test_terms()"
)


def of_rows(result: "LinearResults", name: str) -> "pd.Series[float]":
    """Probabilities or residuals of the training rows of a logistic fit.

    Parameters
    ----------
    result : LinearResults
    name : "fittedvalues", "resid_response", "resid_pearson" or "resid_deviance"
        The last two use the weights, scaled to mean 1 over the rows of positive weight.
    """
    from scipy.special import expit, log_expit

    check_rows(result, name)
    y, scores = result.problem.y, np.asarray(result.decision_function(), np.float64)
    w = result.problem.row_weights * (result.nobs / result.problem.n)
    if name == "fittedvalues":
        values = expit(scores)
    elif name == "resid_response":
        values = y * expit(-y * scores)
    elif name == "resid_pearson":  # sqrt(w) (y - mu) / sqrt(mu (1 - mu))
        with np.errstate(over="ignore"):
            values = y * np.sqrt(w) * np.exp(-0.5 * y * scores)
    else:  # signed square roots of the contributions to the deviance
        values = y * np.sqrt(-2.0 * w * log_expit(y * scores))
    return pd.Series(values, result.index, name=name)


@suggest_names("influence")
@dataclass(frozen=True, repr=False, eq=False)
class Influence:
    """Influence of the rows on a logistic fit; returned by ``result.get_influence()``.

    Attributes
    ----------
    index : Index, shape (n,)
    hat_matrix_diag : float64 array, shape (n,)
        Leverages ``h_i``; their sum is `LinearResults.df_effective`.
    resid_pearson : float64 array, shape (n,)
    k_vars : int
        Number of coefficients, including the intercept.
    df_resid : int

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ p34 + p43", train).fit()
    >>> influence = result.get_influence()
    >>> round(float(influence.hat_matrix_diag.sum()), 6)
    3.0
    """

    index: pd.Index
    hat_matrix_diag: Vector
    resid_pearson: Vector
    k_vars: int
    df_resid: int

    @property
    def resid_studentized(self) -> Vector:
        """Pearson residuals divided by ``sqrt(1 - h)``, shape (n,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.resid_pearson / np.sqrt(1.0 - self.hat_matrix_diag)

    @property
    def cooks_distance(self) -> tuple[Vector, Vector]:
        """Cook's distances ``r^2 h / (k (1 - h))``, and their p-values.

        ``r`` is `resid_studentized`, ``h`` the leverage and ``k`` the number of
        coefficients, as for the GLM of R and statsmodels. The p-values are upper tails
        of F with ``k`` and `df_resid` degrees of freedom, as in statsmodels. Both
        arrays have shape (n,).
        """
        from scipy.special import fdtrc

        h = self.hat_matrix_diag
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.square(self.resid_studentized) * h / (1.0 - h) / self.k_vars
        return distances, np.asarray(fdtrc(self.k_vars, self.df_resid, distances))

    def summary_frame(self) -> pd.DataFrame:
        """Columns ``cooks_d, standard_resid, hat_diag``, named as in statsmodels."""
        columns = {
            "cooks_d": self.cooks_distance[0],
            "standard_resid": self.resid_studentized,
            "hat_diag": self.hat_matrix_diag,
        }
        return pd.DataFrame(columns, index=self.index)


def check_rows(result: "LinearResults", name: str) -> None:
    """Raise an error unless the fit is logistic, and its rows are in memory."""
    check_log_loss(result.problem.loss, name)
    if not result.problem.has_rows:
        raise DataError(
            f"{name} needs the training rows, which are not in memory; fit the model "
            "to a data frame."
        )


def get_influence(self: "LinearResults") -> Influence:
    """Leverages, Cook's distances and studentized residuals of the rows.

    The hat matrix is ``W^1/2 X (X'WX + n lam J)^-1 X' W^1/2``; without a penalty it is
    the hat matrix of ``glm()``. ``W`` is diagonal with ``w_i p_i (1 - p_i)`` for the
    weight ``w_i`` and the probability ``p_i`` of row ``i``. ``J`` is the identity with
    a 0 for the intercept. A row with frequency weight k counts as k rows.

    Returns
    -------
    Influence
        With ``hat_matrix_diag, cooks_distance, resid_studentized``, and
        ``summary_frame()``.

    Raises
    ------
    OptionError
        If the fit is not logistic.
    DataError
        If the rows of the fit are not in memory.
    """
    check_rows(self, "get_influence()")
    return Influence(
        self.index,
        hat_values(self.problem, self.solution),
        np.asarray(of_rows(self, "resid_pearson"), dtype=np.float64),
        len(self.params),
        self.df_resid,
    )


def columns_of(result: "LinearResults") -> "dict[str, pd.Series[float]]":
    """Columns of ``augment()`` for training data.

    Leverages and Cook's distances are NaN if computing them would be slow.
    """
    table = pd.DataFrame(np.nan, result.index, ["hat_diag", "cooks_d"])
    if is_quick(result.problem):
        table = get_influence(result).summary_frame()
    resid = of_rows(result, "resid_deviance")
    return {"resid": resid, "hat": table["hat_diag"], "cooks_d": table["cooks_d"]}


def vif(self: "LinearResults") -> pd.DataFrame:
    """Generalised variance inflation factors of the terms.

    The inflation factor of a term is ``det(R_term) det(R_others) / det(R)``, as by R's
    ``car::vif()`` for a ``glm()``. ``R`` is the correlation matrix of the coefficients
    without the intercept, from ``(X'WX + n lam J)^-1`` as in `get_influence`. All
    levels of a categorical predictor form one term. The inflation factor of a term that
    is not estimable is NaN; the other inflation factors ignore this term.

    Returns
    -------
    DataFrame
        Columns ``term, vif, df`` and ``vif_root``, which is ``vif^(1 / (2 df))``.

    Raises
    ------
    OptionError
        If the fit is not logistic.
    DataError
        If the rows of the fit are not in memory.

    References
    ----------
    Fox & Monette, *Generalized collinearity diagnostics*, JASA 87 (1992).
    """
    check_rows(self, "vif()")
    first, names = int(self.problem.intercept), list(self.design.names)
    free = self.coef.notna().to_numpy()
    rows = np.append(np.ones(first, dtype=bool), free)
    bread = bread_at(self.problem, self.solution)[np.ix_(rows, rows)]
    covariance = inverse_of(bread)[first:, first:]
    sd = np.sqrt(np.diag(covariance))
    correlation = np.full((len(names), len(names)), np.nan)
    correlation[np.ix_(free, free)] = covariance / np.outer(sd, sd)

    def log_det(rows: Mask) -> float:
        return float(np.linalg.slogdet(correlation[np.ix_(rows, rows)])[1])

    lines = []
    for term, columns in terms_of(self.design).items():
        own = np.isin(np.arange(len(names)), [names.index(name) for name in columns])
        if not free[own].all():
            lines.append((term, np.nan, own.sum()))
            continue
        log_factor = log_det(own) + log_det(~own & free) - log_det(free)
        lines.append((term, np.exp(log_factor), own.sum()))
    table = pd.DataFrame(lines, columns=["term", "vif", "df"])
    return table.assign(vif_root=table["vif"] ** (0.5 / table["df"]))


def rank_of(X: Any, intercept: bool) -> int:
    """Rank of the predictors, together with the intercept if there is one."""
    n = X.shape[0]
    if is_sparse(X):
        means = np.asarray(X.mean(axis=0)).ravel() * intercept
        products = (X.T @ X).toarray() - n * np.outer(means, means)
    else:
        centred = X - X.mean(axis=0) * intercept
        products = centred.T @ centred
    return len(whitening(np.asarray(products, dtype=np.float64))) + int(intercept)


def ratio_reason(result: "LinearResults") -> str:
    """Reason why the fit has no likelihood ratio test; empty if it has one."""
    problem = result.problem
    positive_weights = problem.row_weights[problem.row_weights > 0.0]
    if result.groups is not None or np.ptp(positive_weights) > 1e-9:
        return f"rows have weights or groups, {NO_CHI_SQUARED}."
    if problem.has_firth:
        return "the likelihood has Firth's penalty; use result.pvalues (profile)."
    if problem.no_ml:
        return f"the maximum likelihood estimate {problem.no_ml}."
    size = problem.lam * problem.n_weighed
    if size <= NEGLIGIBLE_PENALTY * (1.0 + 1e-9):
        return ""
    reason = f"lam * n is {significant(size, 3)}, {NO_CHI_SQUARED}"
    return f"{reason}, or fit without a penalty (lam=0)."


def chi2_p_value(statistic: float, df: int) -> float:
    """Upper tail of chi-squared; NaN without degrees of freedom."""
    from scipy.special import chdtrc

    return float(chdtrc(df, max(statistic, 0.0))) if df > 0 else float("nan")


def llr_pvalue(result: "LinearResults") -> float:
    """P-value of `llr` by the chi-squared distribution.

    The degrees of freedom are the rank of the predictors, minus one if only `llnull`
    has an intercept. The p-value is NaN, with a warning, if ``lam * n`` is above 0.001,
    or if rows have weights (other than counts) or groups: use `wald_test_terms`. It is
    also NaN, with a warning, with Firth's penalty, and if the columns of a model
    without intercept do not span the intercept of `llnull`. If the fit is not logistic,
    it is NaN without a warning.
    """
    problem = result.problem
    if problem.loss != "log":
        return float("nan")
    reason, df = ratio_reason(result), result.df_model
    if problem.has_rows:
        df = rank_of(problem.X, problem.intercept) - int(problem.intercept)
    if not problem.intercept and problem.offset is None:  # llnull has an intercept
        df -= 1
        if not (problem.has_rows and rank_of(problem.X, True) == df + 1):
            reason = reason or "llnull has an intercept, but the fit has none."
    if reason:
        warn_caller(f"llr_pvalue is NaN: {reason}", UndefinedMetricWarning)
        return float("nan")
    return chi2_p_value(result.llr, df)


@suggest_names("test")
@dataclass(frozen=True, repr=False, eq=False)
class LikelihoodRatioTest:
    """Likelihood ratio test of two nested logistic fits; returned by `anova`.

    Attributes
    ----------
    statistic : float
        Difference of the deviances; NaN if it does not follow the chi-squared
        distribution.
    df : int
        Number of additional coefficients in the larger fit.
    pvalue : float
    table : DataFrame, 2 rows
        The table of R's ``anova()``: ``formula, df_residual, deviance, df, statistic,
        p_value``.
    note : str
        Reason why the test is NaN; empty otherwise.
    """

    statistic: float
    df: int
    pvalue: float
    table: pd.DataFrame
    note: str = ""

    _field_rules = "df positive"

    def tidy(self) -> pd.DataFrame:
        """Return a copy of `table`."""
        return self.table.copy()

    def __repr__(self) -> str:
        p_value = significant(self.pvalue, 3)
        chi2 = significant(self.statistic)
        reason = f"; {self.note}" * bool(self.note)
        return (
            f"<Likelihood ratio test: chi2 = {chi2}, df = {self.df}, "
            f"p = {p_value}{reason}>"
        )


@suggest_arguments
def anova(small: "LinearResults", large: "LinearResults") -> LikelihoodRatioTest:
    """Likelihood ratio test of two nested logistic fits.

    ``2 (llf_large - llf_small)`` is compared with chi-squared, as by R's
    ``anova(small, large, test = "Chisq")``. Both must be maximum likelihood fits (the
    default).

    Parameters
    ----------
    small, large : LinearResults
        Fits to the same rows. The columns of `small` are linear combinations of the
        columns of `large`.

    Returns
    -------
    LikelihoodRatioTest
        With ``statistic, df, pvalue, tidy()``. The test is NaN, with the reason in
        ``note``, if ``lam * n`` is above 0.001, or if rows have weights (other than
        counts) or groups: use ``wald_test_terms()``. It is also NaN with Firth's
        penalty.

    Raises
    ------
    OptionError
        If a fit is not logistic, or the fits are not nested.
    DataError
        If the fits have different training data, or the data are not in memory.

    Warns
    -----
    UndefinedMetricWarning
        If the test is NaN.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> small = ps.logit("digit ~ p34", train).fit()
    >>> large = ps.logit("digit ~ p34 + p43 + p26", train).fit()
    >>> ps.anova(small, large)
    <Likelihood ratio test: chi2 = 4.418, df = 2, p = 0.11>
    """
    for result in (small, large):
        if not isinstance(result, Results):
            raise OptionError(
                "anova() needs two fits of ps.logit(): anova(small, large)."
            )
        check_rows(result, "anova()")
    _check_same_rows(small, large)
    ranks = [rank_of(fit.problem.X, fit.problem.intercept) for fit in (small, large)]
    df = ranks[1] - ranks[0]
    _check_nested(small, large, ranks)
    statistic = small.deviance - large.deviance
    note = ratio_reason(small) or ratio_reason(large)
    if note:
        warn_caller(f"The test is NaN: {note}", UndefinedMetricWarning)
        statistic = np.nan
    p_value = chi2_p_value(statistic, df) if not note else np.nan
    fits = [small, large]
    cells = {
        "formula": [str(fit.design.formula or "") for fit in fits],
        "df_residual": np.array([fit.nobs for fit in fits]) - ranks,
        "deviance": [fit.deviance for fit in fits],
        "df": [np.nan, df],
        "statistic": [np.nan, statistic],
        "p_value": [np.nan, p_value],
    }
    table = pd.DataFrame(cells)
    return LikelihoodRatioTest(statistic, df, p_value, table, note)


def _check_same_rows(small: "LinearResults", large: "LinearResults") -> None:
    a, b = small.problem, large.problem
    same = small.index.equals(large.index) and np.array_equal(a.y, b.y)
    for name in ("row_weights", "row_offsets"):
        same = same and np.allclose(getattr(a, name), getattr(b, name), rtol=1e-12)
    if not same:
        advice = "fit both models to the same data."
        if small.nobs != large.nobs and (small.dropped.total or large.dropped.total):
            advice = (
                "each fit excludes other rows for missing values. Drop the incomplete "
                "rows before both fits."
            )
        raise DataError(
            f"The fits, of {small.nobs:,} and {large.nobs:,} rows, differ in rows, "
            f"labels, weights or offsets; {advice}"
        )


def _check_nested(
    small: "LinearResults", large: "LinearResults", ranks: list[int]
) -> None:
    """Raise `OptionError` unless `small` is nested in `large`."""
    from scipy.sparse import hstack

    both = [fit.problem.X for fit in (large, small)]
    joined = (
        hstack(both, format="csr") if any(map(is_sparse, both)) else np.hstack(both)
    )
    intercept = large.problem.intercept
    nested = small.problem.intercept <= intercept
    if not (nested and rank_of(joined, intercept) == ranks[1] > ranks[0]):
        raise OptionError(
            "The fits are not nested: the second model must contain all columns of "
            "the first and further columns; write anova(small, large)."
        )


def terms_of(design: Design) -> dict[str, list[str]]:
    """Names of the columns of every term, without the intercept.

    A factor is one term, an interaction another. Without a formula every column is a
    term.

    Examples
    --------
    >>> from pegasos_stats.data.design import FrameDesign
    >>> terms_of(FrameDesign(("age", "dose"), named=True))
    {'age': ['age'], 'dose': ['dose']}
    """
    design = unscaled(design)
    if not isinstance(design, FormulaDesign):
        return {name: [name] for name in design.names}
    pairs = zip(design.terms, design.columns, strict=True)
    return {str(term): list(names) for term, names in pairs if names}


def joint_tests_by_term(
    result: "LinearResults", test: Callable[[Matrix], JointTest]
) -> pd.DataFrame:
    """Test, for each term, that all its coefficients are 0; the intercept is first.

    Parameters
    ----------
    result : LinearResults
        The fit whose terms are tested.
    test : callable
        Function of a matrix ``R`` that tests ``R theta = 0``.

    Returns
    -------
    DataFrame
        Columns ``term, statistic, distribution, df, df_denom, p_value``; `df_denom` is
        NaN for bootstrap tests.
    """
    names, lines = list(result.params.index), []
    first = {"Intercept": ["Intercept"]} if result.problem.intercept else {}
    for term, columns in (first | terms_of(result.design)).items():
        joint = test(np.eye(len(names))[[names.index(column) for column in columns]])
        df = np.nan if joint.replicates else joint.df_denom
        law = joint.statistic, joint.distribution, joint.df_num, df, joint.pvalue
        lines.append((term, *law))
    titles = ["term", "statistic", "distribution", "df", "df_denom", "p_value"]
    return pd.DataFrame(lines, columns=titles)
