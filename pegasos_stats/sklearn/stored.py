"""What replaces the fit in a pickle of a fitted classifier: no training row."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.errors import MissingAttributeError, OptionError
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results

State = dict[str, Any]


class StoredFit:
    """Coefficients of a fit whose training rows are not in the pickle.

    Attributes
    ----------
    params : Series
        Coefficients by name; for a kernel model only the intercept.
    relative_gap : float
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.relative_gap = float(state["relative_gap"])

    @property
    def params(self) -> "pd.Series[float]":
        """Coefficients by name."""
        estimates: NDArray[np.float64] = self._state["estimates"]
        return pd.Series(estimates, list(self._state["terms"]), name="params")

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, if it was computed before the fit was pickled.

        Raises
        ------
        OptionError
            If it was not computed.
        """
        covariance, terms = self._state["covariance"], self._state["terms"]
        if covariance is None:
            raise OptionError(
                "The covariance was not computed before the classifier was pickled; "
                "call classifier.result_.summary() first, or keep the fit by "
                "ps.save(classifier.result_, path)."
            )
        return pd.DataFrame(covariance, terms, terms)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingAttributeError(
            f"A pickled classifier has no result_.{name}: that needs the training "
            "rows, which are not in a pickle. Keep the fit by "
            "ps.save(classifier.result_, path)."
        )


def state_of(result: "Results | StoredFit") -> State:
    """Return the content of a pickle: numbers and names, without pandas."""
    if isinstance(result, StoredFit):
        return result._state
    params, covariance = pd.Series(dtype=np.float64), None
    if isinstance(result, LinearResults):
        params = result.params
        if result.has_covariance:
            covariance = result.cov_params().to_numpy()
    elif isinstance(result, KernelResults):
        params = pd.Series({"Intercept": result.intercept})
    return {
        "terms": [str(term) for term in params.index],
        "estimates": params.to_numpy(dtype=np.float64),
        "covariance": covariance,
        "relative_gap": float(result.relative_gap),
    }
