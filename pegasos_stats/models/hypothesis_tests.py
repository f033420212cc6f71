"""Tests of hypotheses about coefficients, with the names that statsmodels has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.checks import check_fraction
from pegasos_stats.models.inference.bootstrap import BootstrapResult
from pegasos_stats.models.inference.wald import Estimates, WaldTest, estimates
from pegasos_stats.tables import (
    estimate_cells,
    params_html,
    params_text,
    significant,
    statistic_name,
)

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

NUMBER = re.compile(r"[\d.]+")  # a name that is one stands in backticks


@dataclass(frozen=True, repr=False, eq=False)
class ContrastTests:
    """Linear combinations of coefficients, each estimated and tested alone.

    Made by ``result.t_test()``; attributes have the names that statsmodels gives them.

    Attributes
    ----------
    hypotheses : list of str, length m
    effect : float64 array, shape (m,)
        ``R theta``.
    sd : float64 array, shape (m,)
        Standard errors.
    null : float64 array, shape (m,)
        Values ``q`` under the hypotheses.
    df_denom : float
        Degrees of freedom of Student's t; infinite for the normal law.
    resampled : BootstrapResult or None
        The bootstrap of these combinations, where intervals are from it.

    Examples
    --------
    >>> found = ContrastTests(["a - b = 0"], np.ones(1), np.ones(1), np.zeros(1))
    >>> print(found)
    ==============================================================================
                    coef    std err          z      P>|z|     [0.025     0.975]
    ------------------------------------------------------------------------------
    a - b = 0     1.0000      1.000      1.000      0.317    -0.9600      2.960
    ==============================================================================
    """

    hypotheses: Sequence[str]
    effect: Vector
    sd: Vector
    null: Vector
    df_denom: float = np.inf
    resampled: BootstrapResult | None = None

    @property
    def statistic(self) -> Vector:
        """``(effect - null) / sd``, shape (m,)."""
        return self._estimates(0.05).statistic

    @property
    def tvalue(self) -> Vector:
        """The same as `statistic`."""
        return self.statistic

    @property
    def pvalue(self) -> Vector:
        """Two-sided p-values, shape (m,)."""
        return self._estimates(0.05).p_value

    def conf_int(self, alpha: float = 0.05) -> Matrix:
        """Intervals of level ``1 - alpha``, shape (m, 2)."""
        found = self._estimates(alpha)
        return np.column_stack([found.conf_low, found.conf_high])

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Estimates, tests and intervals, a row for each hypothesis."""
        found, letter = self._estimates(alpha), statistic_name(self.df_denom)
        columns = {
            "coef": found.estimate,
            "std err": found.std_error,
            letter: found.statistic,
            f"P>|{letter}|": found.p_value,
            "Conf. Int. Low": found.conf_low,
            "Conf. Int. Upp.": found.conf_high,
        }
        return pd.DataFrame(columns, index=list(self.hypotheses))

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """The same with broom's columns."""
        level = check_fraction("conf_level", conf_level)
        found = self._estimates(1.0 - level)
        return pd.DataFrame(
            {
                "term": list(self.hypotheses),
                "null_value": self.null,
                "estimate": found.estimate,
                "std_error": found.std_error,
                "statistic": found.statistic,
                "p_value": found.p_value,
                "conf_low": found.conf_low,
                "conf_high": found.conf_high,
            }
        )

    def _estimates(self, alpha: float) -> Estimates:
        level = 1.0 - check_fraction("alpha", alpha)
        found = estimates(self.effect, self.sd, self.df_denom, level, self.null)
        if self.resampled is None:
            return found
        low, high = self.resampled.conf_int(level).T
        return replace(found, conf_low=low, conf_high=high)

    def _cells(self) -> pd.DataFrame:
        return estimate_cells(self.tidy(), self.df_denom)

    def __repr__(self) -> str:
        return "\n".join(params_text(self._cells()))

    def _repr_html_(self) -> str:
        return params_html(self._cells())


@dataclass(frozen=True, repr=False, eq=False)
class JointTest:
    """Wald's test of several hypotheses together; made by ``result.wald_test()``.

    Attributes
    ----------
    hypotheses : list of str
    statistic : float
        ``(R theta - q)' (R V R')^-1 (R theta - q)``, for the F law divided by `df_num`.
    pvalue : float
    df_num : int
        Number of hypotheses that do not follow from the others.
    df_denom : float
        Of the F law; infinite for the chi-squared law.

    Examples
    --------
    >>> JointTest(["a = 0", "b = 0"], 10.0, 0.00674, 2)
    <Wald test of a = 0, b = 0: chi2 = 10, df = 2, p = 0.00674>
    """

    hypotheses: Sequence[str]
    statistic: float
    pvalue: float
    df_num: int
    df_denom: float = np.inf

    @classmethod
    def of(cls, hypotheses: Sequence[str], found: WaldTest) -> "JointTest":
        """Name what was tested."""
        df = found.df, found.df_denominator
        return cls(hypotheses, found.statistic, found.p_value, *df)

    @property
    def distribution(self) -> Literal["chi2", "F"]:
        """Law of the statistic."""
        return "F" if np.isfinite(self.df_denom) else "chi2"

    def __repr__(self) -> str:
        finite = np.isfinite(self.df_denom)
        df = f"{self.df_num}, {self.df_denom:g}" if finite else f"{self.df_num}"
        return (
            f"<Wald test of {', '.join(self.hypotheses)}: {self.distribution} = "
            f"{significant(self.statistic)}, df = {df}, p = "
            f"{significant(self.pvalue, 3)}>"
        )


def written_hypotheses(R: Matrix, q: Vector, names: Sequence[str]) -> list[str]:
    """Write ``R theta = q`` in names, a text for each row.

    Examples
    --------
    >>> written_hypotheses(np.array([[1.0, -0.5]]), np.array([2.0]), ["a", "b"])
    ['a - 0.5 * b = 2']
    """
    return [
        f"{_combination(row, names)} = {significant(value, 6)}"
        for row, value in zip(R, q, strict=True)
    ]


def _combination(row: Vector, names: Sequence[str]) -> str:
    text = ""
    for place in np.flatnonzero(row).tolist():
        value = float(row[place])
        times = "" if abs(value) == 1.0 else f"{significant(abs(value), 6)} * "
        name = names[place]
        name = f"`{name}`" if NUMBER.fullmatch(name) else name
        text += f" {'-' if value < 0.0 else '+'} {times}{name}"
    return f"-{text[3:]}" if text.startswith(" -") else text[3:]
