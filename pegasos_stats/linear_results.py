"""What a linear fit gives beside what every fit gives: coefficients."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import counted
from pegasos_stats.objective import Certificate, certificate
from pegasos_stats.problem import Solution, kernel_rows
from pegasos_stats.results import Results
from pegasos_stats.scaling import ScaledDesign, Scaling
from pegasos_stats.tables import significant


@dataclass(frozen=True, repr=False, eq=False)
class LinearResults(Results):
    """A fitted linear model: a support vector machine or a logistic regression.

    Attributes are those of `Results`.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> result.params.index[:3].tolist()
    ['Intercept', 'p00', 'p01']
    """

    solution: Solution

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
    def scaling(self) -> Scaling | None:
        """How the predictors were scaled, by ``standardize=True``; else None."""
        return self.design.scaling if isinstance(self.design, ScaledDesign) else None

    @property
    def params_original(self) -> "pd.Series[float]":
        """`params` for the predictors as they were before ``standardize=True``.

        ``beta_j / scale_j``, and ``alpha - sum_j centre_j beta_j / scale_j``; the same
        as `params` where nothing was scaled.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("abab"), "x": [1.0, 20.0, 3.0, 40.0]})
        >>> result = ps.svm("y ~ x", data, lam=0.01, standardize=True).fit()
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

    @cached_property
    def certificate(self) -> Certificate:
        """Primal and dual objective of the fit, from one pass over the rows."""
        found = self.solution
        return certificate(self.problem, found.beta, found.alpha, found.dual)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        from pegasos_stats.kernels.risk import scores

        beta, alpha = self.solution.beta, self.solution.alpha
        found: NDArray[np.float64] = scores(kernel_rows(X), beta, alpha)
        return found

    def _size(self) -> str:
        return counted(len(self.coef), "coefficient")

    def _coefficients(self, limit: int | None) -> tuple[pd.DataFrame, list[str]]:
        shown, note = self.params, []
        if limit is not None and len(self.coef) > limit:
            by_size = self.coef.abs().sort_values(ascending=False, kind="stable").index
            shown = self.params[~self.params.index.isin(by_size[limit:])]
            note = [
                f"The {limit} largest of {len(self.coef)} coefficients by absolute "
                "value are shown; all are in params."
            ]
        cells = {"coef": [significant(value, 5) for value in shown]}
        return pd.DataFrame(cells, shown.index), note
