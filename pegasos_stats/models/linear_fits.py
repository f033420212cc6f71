"""What a linear fit is: coefficients, on the scale of the matrix and of the data."""

from dataclasses import dataclass

import pandas as pd

from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.errors import counted
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.problem import Solution


@dataclass(frozen=True, repr=False, eq=False)
class LinearFit(Results):
    """Coefficients of a fitted linear model, without inference about them."""

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

        Examples
        --------
        >>> import numpy as np, pegasos_stats as ps
        >>> train, test = ps.datasets.load_digits56()
        >>> fit = ps.logit("digit ~ p34", train).fit(ps.SDCA(tol=1e-8, seed=1))
        >>> -200 * np.log(2) < fit.llf < 0
        True
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

    def _size(self) -> str:
        return counted(len(self.coef), "coefficient")
