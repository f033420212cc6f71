"""Results of a kernel model: its support rows and their coefficients."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Predictors, dense_rows
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.user_data import check_memory
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import summary_of
from pegasos_stats.solvers import kernel_problem as kernels
from pegasos_stats.solvers.solutions import AnySolution
from pegasos_stats.tables import Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.output.plotting.result_plots import ResultPlots


@suggest_names("result", "kernel")
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class KernelResults(Results):
    """A fitted kernel model; made by ``KernelSVM(...).fit()``.

    Attributes
    ----------
    problem : KernelProblem
    solution : KernelSolution
    columns : int64 array or None
        For a precomputed kernel, the columns of the given matrix for the rows used.

    The other attributes are those of `Results`.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.kernel_svm("digit ~ .", train, kernel="polynomial", lam=1e4)
    >>> result = model.fit(ps.Pegasos(epochs=5, seed=443))
    >>> bool(result.n_support == (result.counts > 0).sum())
    True
    >>> best = model.fit(ps.SDCA(tol=1e-6, seed=443))
    >>> bool(best.n_support == len(best.dual_coef))
    True
    """

    problem: kernels.KernelProblem
    solution: kernels.KernelSolution
    columns: NDArray[np.int64] | None = None

    @property
    def counts(self) -> "pd.Series[int]":
        """Violations of each training row, an integer, shape (n,).

        Raises
        ------
        OptionError
            If the fit is by SDCA, which has dual weights instead.
        """
        if self.solution.counts is None:
            raise OptionError(
                "SDCA keeps dual weights in the place of counts of violations; take "
                "dual_coef or tidy()."
            )
        return pd.Series(self.solution.counts, index=self.index, name="count")

    @property
    def n_support(self) -> int:
        """Number of support rows: training rows that predictions depend on."""
        return len(self._support)

    @property
    def dual_coef(self) -> "pd.Series[float]":
        """Coefficients of the support rows: multipliers of their kernel values.

        ``c_j w_j y_j / (lam T)`` after ``T`` steps of Pegasos with violation counts
        ``c``; ``a_j y_j / (lam n)`` for SDCA with dual weights ``a``.
        """
        support, each = kernels.support_of(self.problem, self.solution)
        return pd.Series(each, index=self.index[support], name="dual_coef")

    @property
    def _support(self) -> NDArray[np.intp]:
        """Rows that predictions depend on, counted from zero."""
        support: NDArray[np.intp] = kernels.support_of(self.problem, self.solution)[0]
        return support

    @property
    def plot(self) -> "ResultPlots":
        """Figures of the fit, ``result.plot.roc(data)`` and others: `ResultPlots`."""
        from pegasos_stats.output.plotting.result_plots import ResultPlots

        return ResultPlots(self)

    def _scores(self, matrix: ModelMatrix) -> "pd.Series[float]":
        scores: pd.Series[float] = matrix.spread(
            new_scores(self.problem, self.solution, matrix.values, self.columns)
        )
        return scores.rename("score")

    def _size(self) -> str:
        return counted(self.n_support, "support row")

    def tidy(self) -> pd.DataFrame:
        """Intercept and coefficients of the support rows, as a data frame.

        Returns
        -------
        DataFrame
            Columns ``term`` (``"Intercept"``, then row labels), ``estimate`` (the
            intercept and `dual_coef`), and ``count`` (of violations) of a fit by
            Pegasos; by SDCA ``dual_weight``, from 0 to the weight of the row, which it
            reaches where the margin is below 1.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> model = ps.kernel_svm("digit ~ .", train, kernel="linear", lam=1.0)
        >>> result = model.fit(ps.Pegasos(epochs=2, seed=1))
        >>> len(result.tidy()) == 1 + result.n_support
        True
        """
        weights = self.dual_coef
        cells: dict[str, object] = {
            "term": weights.index.to_numpy(dtype=object),
            "estimate": weights.to_numpy(),
        }
        if self.solution.dual is not None:
            cells["dual_weight"] = self.solution.dual[self._support]
        else:
            counts = self.counts.to_numpy()[self._support]
            cells["count"] = pd.array(counts, "Int64")
        rows = pd.DataFrame(cells)
        if not self.problem.intercept:
            return rows
        first = {"term": ["Intercept"], "estimate": [self.intercept]}
        return pd.concat([pd.DataFrame(first), rows], ignore_index=True)

    def summary(self, *, details: bool = False) -> Summary:
        """Header, number of support rows, and at most three notes.

        Parameters
        ----------
        details : bool, default False
            Whether to add the solver, the certificate and all notes.

        Returns
        -------
        Summary
            ``print()`` shows text, a notebook HTML; ``to_latex()`` gives LaTeX.
        """
        cells = {
            "Support rows": f"{self.n_support:,} of {self.nobs:,}",
            "Intercept": significant(self.intercept, 5),
        }
        function = pd.DataFrame({"value": list(cells.values())}, list(cells))
        return summary_of(self, function, details=details)


def new_scores(
    problem: kernels.KernelProblem,
    found: AnySolution,
    X: Predictors,
    columns: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Scores of rows, shape (q,).

    Parameters
    ----------
    problem : KernelProblem
    found : KernelSolution
    X : array or scipy sparse array, shape (q, p)
        For a precomputed kernel ``K(x, x_j)`` with the rows of the fit, or with all
        rows given to the model, among which `columns` are those of the fit.
    columns : int64 array, shape (n,), optional
    """
    assert isinstance(found, kernels.KernelSolution)
    X = dense(X)
    if problem.kernel.name == "precomputed" and X.shape[1] != problem.n:
        X = X[:, columns]
    return np.asarray(kernels.scores_of_kernel(problem, found, X))


def dense(X: Predictors) -> Matrix:
    """Rows as an array of float64; sparse ones if there is memory for it.

    Raises
    ------
    DataError
        If there is not.
    """
    if not isinstance(X, np.ndarray):
        check_memory(
            8.0 * X.shape[0] * X.shape[1],
            "A kernel model computes with dense rows, and X as an array",
            "give fewer columns, or fit a linear model",
        )
    return np.ascontiguousarray(dense_rows(X))
